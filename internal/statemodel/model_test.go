package statemodel

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is a model with one session S, bond_log registered in it. Its methods fail the test when the model refuses.
type world struct {
	*testing.T
	*Model
	S SessionID
}

var (
	trust = Slot{"bond_log", "trust"}
	hint  = Slot{"bond_log", "hint"}
	scene = Slot{GameState, Scene}
)

func newWorld(t *testing.T, quotas Quotas) *world {
	t.Helper()
	w := &world{T: t, Model: New(quotas)}
	w.S = w.CreateSession()
	w.ok(w.Register(w.S, "bond_log"))
	return w
}

func (w *world) ok(code Code) {
	w.Helper()
	w.want(code, OK)
}

func (w *world) want(got, want Code) {
	w.Helper()
	if got != want {
		w.Fatalf("got code %q, want %q", got, want)
	}
}

func (w *world) write(branch string, slot Slot, value string) MutationID {
	w.Helper()
	id, code := w.Write(w.S, branch, slot, value)
	w.ok(code)
	return id
}

func (w *world) respond(branch string, source FloorID, writes ...TurnWrite) FloorID {
	w.Helper()
	id, code := w.Respond(w.S, branch, source, turn(writes...))
	w.ok(code)
	return id
}

func turn(writes ...TurnWrite) Turn { return Turn{Writes: writes, SceneSize: 400, WorldSize: 300} }

// live reads a slot from a branch as "source value@floor".
func (w *world) live(branch string, slot Slot) string {
	w.Helper()
	return w.at(branch, slot, 0)
}

func (w *world) at(branch string, slot Slot, source FloorID) string {
	w.Helper()
	values, code := w.Resolve(w.S, branch, source)
	w.ok(code)
	for _, v := range values {
		if v.Slot == slot {
			return fmt.Sprintf("%s %s@%d", v.Source, v.Value, v.Floor)
		}
	}
	return "unlisted"
}

// shown reads a slot from a floor's snapshot.
func (w *world) shown(floor FloorID, slot Slot) string {
	w.Helper()
	values, code := w.Snapshot(w.S, floor)
	w.ok(code)
	for _, v := range values {
		if v.Slot == slot && v.CommittedAt != 0 {
			return v.Value
		}
	}
	return "not stored"
}

func (w *world) floor(id FloorID) Floor {
	w.Helper()
	for _, f := range w.Floors(w.S) {
		if f.ID == id {
			return f
		}
	}
	w.Fatalf("floor %d is not there", id)
	return Floor{}
}

func (w *world) equal(got, want any) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("(-want +got)\n%s", diff)
	}
}

func TestRegistration(t *testing.T) {
	w := newWorld(t, Quotas{NamespacesPerAccount: 2})
	w.want(w.Register(w.S, "bond_log"), NamespaceAlreadyRegistered) // R2
	w.want(w.Register(w.S, "game_state"), NamespaceReserved)        // R5
	w.want(w.Register(w.S, "game_state.x"), NamespaceReserved)
	other := w.CreateSession()
	w.ok(w.Register(other, "bond_log"))                           // R4
	w.want(w.Register(other, "game_states"), NamespaceCountLimit) // R15
	w.ok(w.DeleteSession(w.S))                                    // R16
	w.ok(w.Register(other, "game_states"))
	w.ok(w.Archive(other, true))
	w.want(w.Register(other, "bond_log"), HostArchived) // R11
	w.want(w.Register(w.S, "bond_log"), NotFound)       // I4
}

func TestDirectWrites(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	w.equal(w.live("main", trust), "unlisted") // Q3
	first := w.write("main", trust, "1")
	w.equal(w.live("main", trust), "live_head 1@0")
	_, code := w.Delete(w.S, "main", trust) // W9
	w.ok(code)
	w.equal(w.live("main", trust), "live_head null@0")
	if second := w.write("main", trust, "2"); second == first { // W2, W10
		t.Fatal("a write made no new mutation")
	}
	w.equal(w.live("main", trust), "live_head 2@0")
	w.write("alt", trust, "3") // W13
	w.equal(w.live("main", trust), "live_head 2@0")
	w.equal(w.live("alt", trust), "live_head 3@0")

	_, code = w.Write(w.S, "main", scene, "1") // W6
	w.want(code, PublicWriteForbidden)
	_, code = w.Write(w.S, "main", Slot{"nope", "x"}, "1") // W7
	w.want(code, NamespaceNotRegistered)
	_, code = w.Write(w.CreateSession(), "main", trust, "1") // W8
	w.want(code, NamespaceNotRegistered)
	w.ok(w.Archive(w.S, true)) // W11
	_, code = w.Write(w.S, "main", trust, "4")
	w.want(code, HostArchived)
	_, code = w.Delete(w.S, "main", trust)
	w.want(code, HostArchived)
	w.equal(w.live("main", trust), "live_head 2@0")
	w.ok(w.Archive(w.S, false))
	w.write("main", trust, "4")
}

func TestResolve(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	values, _ := w.Resolve(w.S, "main", 0) // Q1, Q11
	w.equal(values, []Value{
		{Slot: scene, Version: empty, Source: None, Branch: "main"},
		{Slot: Slot{GameState, World}, Version: empty, Source: None, Branch: "main"},
	})
	w.ok(w.Register(w.S, "z"))
	w.ok(w.Register(w.S, "a"))
	for _, slot := range []Slot{{"z", "b"}, {"z", "a"}, {"a", "c"}} {
		w.write("alt", slot, "1")
	}
	var order []Slot
	values, _ = w.Resolve(w.S, "main", 0)
	for _, v := range values { // Q4, Q5
		order = append(order, v.Slot)
		w.equal(v.Source, None)
	}
	w.equal(order, []Slot{{"a", "c"}, scene, {GameState, World}, {"z", "a"}, {"z", "b"}})

	w.SetTime(7)
	f1 := w.respond("main", 0) // Q6
	w.equal(w.live("main", scene), "live_head @1")
	w.respond("main", 0)
	w.equal(w.live("main", scene), "live_head @2")
	w.equal(w.at("main", scene, f1), "source_floor_snapshot @1") // Q7
	_, code := w.Resolve(w.S, "main", 99)                        // Q8
	w.want(code, NotFound)
	_, code = w.Resolve(w.CreateSession(), "main", f1)
	w.want(code, NotFound)
	w.equal(w.live("no-such-branch", scene), "none null@0") // Q9

	// Ruling 1: no fall-through to the live value.
	w.write("main", trust, "5")
	w.equal(w.at("main", trust, f1), "none null@1")
	// A branch without a head of the slot reads its latest floor, absent values included.
	w.write("alt", hint, "6")
	f3 := w.respond("main", 0)
	w.equal(w.live("main", hint), "latest_branch_snapshot null@3")
	w.equal(w.at("alt", hint, f3), "source_floor_snapshot null@3")
	values, _ = w.Resolve(w.S, "main", f3)
	w.equal(values[0].At, int64(7))
}

func TestSnapshot(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	m := w.write("main", trust, "1")
	f1 := w.respond("main", 0)
	w.equal(w.shown(f1, trust), "1") // S1
	values, _ := w.Snapshot(w.S, f1)
	w.equal(values[0].Mutation, m)
	w.write("main", trust, "2")
	w.equal(w.shown(f1, trust), "1") // S2
	f2 := w.respond("main", 0)
	w.equal(w.shown(f2, trust), "2")
	_, code := w.Delete(w.S, "main", trust)
	w.ok(code)
	f3 := w.respond("main", 0)
	w.equal(w.shown(f3, trust), "null") // S3
	w.write("main", hint, "1")
	w.equal(w.shown(f1, hint), "not stored") // S4

	fails := turn()
	fails.Fails = true
	f4, code := w.Respond(w.S, "main", 0, fails)
	w.want(code, OrchestrationFailed)
	w.equal(w.shown(f4, trust), "not stored") // S5
	w.equal(w.floor(f4), Floor{ID: f4, Branch: "main", No: 3, Parent: f3, State: Failed})
	w.equal(w.floor(w.respond("main", 0)), Floor{ID: 5, Branch: "main", No: 4, Parent: f3, State: Committed})
	_, code = w.Snapshot(w.CreateSession(), f1) // S6
	w.want(code, NotFound)
}

func TestTurnWrites(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{trust, "5"}, TurnWrite{hint, ""}) // T1
	w.equal(w.live("main", trust), "live_head 5@1")
	w.equal(w.live("main", hint), "live_head null@1")
	w.equal(w.shown(f1, trust), "5")

	for code, write := range map[Code]TurnWrite{
		PublicWriteForbidden:   {scene, "1"}, // T3
		SlotNotRegistered:      {Slot{GameState, "nonsense"}, "1"},
		NamespaceNotRegistered: {Slot{"nope", "x"}, "1"}, // T4
	} {
		_, got := w.Respond(w.S, "main", 0, turn(TurnWrite{Slot{"bond_log", "new"}, "1"}, write))
		w.want(got, code)
		w.equal(w.live("main", Slot{"bond_log", "new"}), "unlisted") // T5
	}
	fails := turn(TurnWrite{Slot{"bond_log", "new"}, "1"})
	fails.Fails = true
	_, code := w.Respond(w.S, "main", 0, fails) // T6
	w.want(code, OrchestrationFailed)
	w.equal(w.live("main", Slot{"bond_log", "new"}), "unlisted")

	f := w.respond("main", 0, TurnWrite{trust, "6"}, TurnWrite{trust, "7"}) // ruling 21
	w.equal(w.shown(f, trust), "7")
	w.ok(w.Archive(w.S, true)) // T13
	_, code = w.Respond(w.S, "main", 0, turn())
	w.want(code, SessionArchived)
}
