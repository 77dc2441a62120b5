package turn_test

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/statemodel"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

var (
	oracleStrange = []statemodel.Slot{
		{Namespace: "nowhere", Name: "a"},
		{Namespace: "third", Name: "a"},
		{Namespace: "game_state", Name: "a"},
		{Namespace: "game_state", Name: "world"},
	}
	oracleValues = []string{"1", "null", `"text"`, `{"level":3}`, `[1,[2]]`, `"a longer text than a low limit allows"`}
)

// index draws from 0 to n-1, all equally often; rapid's own choices favour the first.
func (o *oracle) index(label string, n int) int {
	const bits = 10
	return rapid.Custom(func(t *rapid.T) int {
		x := 0
		for range bits {
			x <<= 1
			if rapid.Bool().Draw(t, "") {
				x++
			}
		}
		return x * n >> bits
	}).Draw(o.T, label)
}

func pick[T any](o *oracle, label string, values []T) T { return values[o.index(label, len(values))] }

func (o *oracle) seldom(label string) bool { return o.index(label, 10) == 9 }

func (o *oracle) branch() string { return pick(o, "branch", o.branches) }

// session picks a session, and makes one when there is none.
func (o *oracle) session() statemodel.SessionID {
	if len(o.want.Sessions()) == 0 {
		o.createSession()
	}
	return pick(o, "session", o.want.Sessions())
}

// floor picks one of the session's floors, seldom one that can be neither retried nor forked. Where there is none it
// is a floor that nobody knows.
func (o *oracle) floor(id statemodel.SessionID) statemodel.Floor {
	floors := o.want.Floors(id)
	if !o.seldom("any floor") {
		floors = slices.DeleteFunc(floors, func(f statemodel.Floor) bool { return f.State != statemodel.Committed || f.Superseded })
	}
	if len(floors) == 0 {
		return statemodel.Floor{}
	}
	return pick(o, "floor", floors)
}

// source picks a floor of the session, or none.
func (o *oracle) source(id statemodel.SessionID) statemodel.FloorID {
	if o.index("with source", 2) == 0 {
		return 0
	}
	return o.floor(id).ID
}

func (o *oracle) slot() statemodel.Slot {
	slot := statemodel.Slot{Namespace: pick(o, "namespace", o.namespaces), Name: pick(o, "slot", o.slots)}
	if o.index("strange", 25) == 24 {
		slot = pick(o, "slot", oracleStrange)
	}
	return slot
}

func (o *oracle) createSession() statemodel.SessionID {
	o.tick()
	created, err := o.sessions.Create(o.ctx, o.account, session.NewSession{})
	o.must(err)
	id := o.want.CreateSession()
	o.sessionIDs[id] = created.ID
	o.Logf("session %d", id)
	for _, namespace := range []string{"bond", "notes"} {
		o.registerIn(id, namespace)
	}
	return id
}

func (o *oracle) manageSessions() {
	switch {
	case len(o.want.Sessions()) < 2 && o.index("create", 2) == 1:
		o.createSession()
	case o.index("delete", 3) == 1:
		o.tick()
		id := o.session()
		err := o.sessions.Delete(o.ctx, o.account, o.sessionIDs[id])
		o.agree(err, o.want.DeleteSession(id), "delete session %d", id)
	default:
		o.tick()
		id := o.session()
		status := sessile.SessionActive
		if o.index("archive", 3) == 1 {
			status = sessile.SessionArchived
		}
		_, err := o.sessions.Update(o.ctx, o.account, o.sessionIDs[id], session.Patch{Status: status})
		o.agree(err, o.want.Archive(id, status == sessile.SessionArchived), "session %d becomes %s", id, status)
	}
}

func (o *oracle) register() {
	o.tick()
	o.registerIn(o.session(), pick(o, "namespace", []string{"bond", "notes", "third", "game_state", "game_state.x"}))
}

func (o *oracle) registerIn(id statemodel.SessionID, namespace string) {
	_, err := o.cells.Register(o.ctx, o.account, o.sessionIDs[id], state.Registration{
		Namespace: namespace, OwnerType: "plugin", OwnerID: "test-kit",
	})
	o.agree(err, o.want.Register(id, namespace), "session %d registers %s", id, namespace)
}

func (o *oracle) write() {
	o.tick()
	o.writeAt(o.session(), o.branch(), o.slot(), pick(o, "value", oracleValues))
}

func (o *oracle) writeAt(id statemodel.SessionID, branch string, slot statemodel.Slot, value string) {
	got, err := o.cells.Write(o.ctx, o.account, o.sessionIDs[id], addressOf(branch, slot), jsontext.Value(value), "")
	mutation, code := o.want.Write(id, branch, slot, value)
	if o.agree(err, code, "session %d writes %v = %s on %s", id, slot, value, branch) {
		o.bind(mutation, got.MutationIDs)
		o.compareValue(got, o.resolved(id, branch, slot), id)
	}
}

func (o *oracle) deleteValue() {
	o.tick()
	id, branch, slot := o.session(), o.branch(), o.slot()
	got, err := o.cells.Delete(o.ctx, o.account, o.sessionIDs[id], addressOf(branch, slot), "")
	mutation, code := o.want.Delete(id, branch, slot)
	if o.agree(err, code, "session %d deletes %v on %s", id, slot, branch) {
		o.bind(mutation, got.MutationIDs)
		o.compareValue(got, o.resolved(id, branch, slot), id)
	}
}

// resolved is what the model reads after a write.
func (o *oracle) resolved(id statemodel.SessionID, branch string, slot statemodel.Slot) statemodel.Value {
	values, _ := o.want.Resolve(id, branch, 0)
	return values[slices.IndexFunc(values, func(v statemodel.Value) bool { return v.Slot == slot })]
}

func addressOf(branch string, slot statemodel.Slot) state.Address {
	return state.Address{Branch: branch, Namespace: slot.Namespace, Slot: slot.Name}
}

// turn draws what a turn brings.
func (o *oracle) turn(branch, runType string) (statemodel.Turn, turn.Request) {
	var writes []statemodel.TurnWrite
	fails := o.seldom("generation fails")
	for range o.index("writes", o.writes+1) {
		writes = append(writes, statemodel.TurnWrite{Slot: o.slot(), Value: pick(o, "value", append([]string{""}, oracleValues...))})
	}
	return o.turnOf(branch, runType, fails, writes)
}

// turnOf tells both sides what a turn brings.
func (o *oracle) turnOf(branch, runType string, fails bool, writes []statemodel.TurnWrite) (statemodel.Turn, turn.Request) {
	o.parrot.fails = fails
	var request turn.Request
	for _, w := range writes {
		real := state.TurnWrite{Namespace: w.Namespace, Slot: w.Name}
		if w.Value != "" {
			real.Data = jsontext.Value(w.Value)
		}
		request.Writes = append(request.Writes, real)
	}
	names := int64(len(branch) + len(runType))
	return statemodel.Turn{
		Writes:    writes,
		SceneSize: o.builtIn[sessile.SlotScene] + names,
		WorldSize: o.builtIn[sessile.SlotWorld] + names,
		Fails:     fails,
	}, request
}

func (o *oracle) respond(branch string) {
	o.tick()
	id := o.session()
	source := o.source(id)
	t, request := o.turn(branch, turn.RunTypeRespond)
	o.respondWith(id, branch, source, t, request)
}

func (o *oracle) respondWith(id statemodel.SessionID, branch string, source statemodel.FloorID, t statemodel.Turn, request turn.Request) statemodel.FloorID {
	got, err := o.turns.Respond(o.ctx, o.account, o.sessionIDs[id], turn.RespondRequest{
		Request: request, Message: "go", BranchID: branch, SourceFloorID: o.floorIDs[source],
	})
	floor, code := o.want.Respond(id, branch, source, t)
	ok := o.agree(err, code, "session %d responds on %s from %d with %v, fails %t: floor %d", id, branch, source, t.Writes, t.Fails, floor)
	switch {
	case ok:
		o.committed(id, floor, got)
	case floor != 0:
		o.floorIDs[floor] = o.failedFloor(id, floor)
	}
	return floor
}

func (o *oracle) regenerate() {
	o.tick()
	id := o.session()
	t, request := o.turn("main", turn.RunTypeRegenerate)
	got, err := o.turns.Regenerate(o.ctx, o.account, o.sessionIDs[id], request)
	old, floor, code := o.want.Regenerate(id, t)
	if o.agree(err, code, "session %d regenerates %d with %v, fails %t: floor %d", id, old, t.Writes, t.Fails, floor) {
		o.committed(id, floor, got)
		if got.PreviousFloorID != o.floorIDs[old] {
			o.Fatalf("regenerate replaced %q, want %q", got.PreviousFloorID, o.floorIDs[old])
		}
	}
}

func (o *oracle) retry() {
	o.tick()
	id := o.session()
	floor := o.floor(id)
	t, request := o.turn(floor.Branch, turn.RunTypeRetry)
	o.retryWith(id, floor.ID, t, request)
}

func (o *oracle) retryWith(id statemodel.SessionID, floor statemodel.FloorID, t statemodel.Turn, request turn.Request) {
	got, err := o.turns.Retry(o.ctx, o.account, o.floorIDs[floor], request)
	if o.agree(err, o.want.Retry(floor, t), "retry floor %d with %v, fails %t", floor, t.Writes, t.Fails) {
		o.committed(id, floor, got)
	}
}

// committed checks the result of a turn and learns the ids it gave.
func (o *oracle) committed(id statemodel.SessionID, floor statemodel.FloorID, got turn.Result) {
	if known, again := o.floorIDs[floor]; again && known != got.FloorID {
		o.Fatalf("floor %d is %q, want %q", floor, got.FloorID, known)
	}
	o.floorIDs[floor] = got.FloorID
	want := o.floorOf(id, floor)
	if got.FloorNo != want.No || got.BranchID != want.Branch {
		o.Fatalf("floor %d has number %d on %s, want %d on %s", floor, got.FloorNo, got.BranchID, want.No, want.Branch)
	}
	shown, _ := o.want.Snapshot(id, floor)
	snapshot, err := o.cells.Snapshot(o.ctx, o.account, o.sessionIDs[id], got.FloorID, sessile.SlotFilter{})
	o.must(err)
	if len(snapshot) != len(shown) {
		o.Fatalf("the snapshot of floor %d shows %d slots, want %d", floor, len(snapshot), len(shown))
	}
	for i, v := range shown {
		if _, known := o.mutations[v.Mutation]; v.Mutation != 0 && !known {
			o.bind(v.Mutation, snapshot[i].MutationIDs)
		}
	}
}

func (o *oracle) floorOf(id statemodel.SessionID, floor statemodel.FloorID) statemodel.Floor {
	floors := o.want.Floors(id)
	return floors[slices.IndexFunc(floors, func(f statemodel.Floor) bool { return f.ID == floor })]
}

// failedFloor finds the id of the floor that a failed turn left, by its place.
func (o *oracle) failedFloor(id statemodel.SessionID, floor statemodel.FloorID) string {
	want := o.floorOf(id, floor)
	for _, f := range o.listFloors(id) {
		if f.BranchName == want.Branch && f.No == want.No && f.State == sessile.FloorFailed {
			return f.ID
		}
	}
	o.Fatalf("no failed floor %d on %s", want.No, want.Branch)
	return ""
}

func (o *oracle) fork() {
	o.tick()
	floor, branch := o.floor(o.session()), o.branch()
	if branch == "main" {
		branch = "alt"
	}
	_, err := o.sessions.ForkBranch(o.ctx, o.account, o.floorIDs[floor.ID], branch)
	o.agree(err, o.want.Fork(floor.ID, branch), "fork %s from floor %d", branch, floor.ID)
}

func (o *oracle) deleteBranch() {
	o.tick()
	id := o.session()
	branch := pick(o, "branch", append(o.want.Branches(id), "twig", "alt"))
	got, err := o.sessions.DeleteBranch(o.ctx, o.account, o.sessionIDs[id], branch)
	floors, code := o.want.DeleteBranch(id, branch)
	if o.agree(err, code, "session %d deletes branch %s", id, branch) && got.Floors != floors {
		o.Fatalf("deleted %d floors, want %d", got.Floors, floors)
	}
}

func (o *oracle) deleteFloor() {
	o.tick()
	o.remove(o.floor(o.session()).ID)
}

func (o *oracle) clearBranch() {
	o.tick()
	o.clear(o.session(), o.branch())
}

// clear deletes the floors of a branch one by one; its heads stay and it may start again anywhere.
func (o *oracle) clear(id statemodel.SessionID, branch string) {
	for _, f := range o.want.Floors(id) {
		if f.Branch == branch {
			o.remove(f.ID)
		}
	}
}

func (o *oracle) remove(floor statemodel.FloorID) {
	err := o.sessions.DeleteFloor(o.ctx, o.account, o.floorIDs[floor])
	o.agree(err, o.want.DeleteFloor(floor), "delete floor %d", floor)
}

func (o *oracle) bareFloor() {
	o.tick()
	id, branch := o.session(), o.branch()
	no := int64(o.index("number", 8))
	parent := o.source(id)
	floorState := pick(o, "state", []statemodel.State{statemodel.Committed, statemodel.Failed, statemodel.Draft})
	got, err := o.sessions.CreateFloor(o.ctx, o.account, session.NewFloor{
		SessionID: o.sessionIDs[id], BranchID: branch, No: no,
		ParentFloorID: o.floorIDs[parent], State: sessile.FloorState(floorState),
	})
	floor, code := o.want.BareFloor(id, branch, no, parent, floorState)
	if o.agree(err, code, "session %d: bare %s floor %d: number %d on %s under %d", id, floorState, floor, no, branch, parent) {
		o.floorIDs[floor] = got.ID
	}
}

// bind notes that a mutation of the model is one of the store.
func (o *oracle) bind(mutation statemodel.MutationID, ids []string) {
	if len(ids) != 1 {
		o.Fatalf("mutation %d has ids %v, want one", mutation, ids)
	}
	if other, taken := o.mutationOf[ids[0]]; taken {
		o.Fatalf("mutation %d has the id of %d", mutation, other)
	}
	o.mutations[mutation], o.mutationOf[ids[0]] = ids[0], mutation
}

// ids are the mutation ids that a version should show.
func (o *oracle) ids(v statemodel.Version) string {
	if v.Mutation == 0 {
		return fmt.Sprint([]string{})
	}
	return fmt.Sprint([]string{o.mutations[v.Mutation]})
}
