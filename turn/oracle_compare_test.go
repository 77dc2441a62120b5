package turn_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/statemodel"
	"github.com/sessile-dev/sessile/state"
)

// compare reads everything on both sides; of what there is much of, a part that changes from step to step.
func (o *oracle) compare() {
	for _, id := range o.want.Sessions() {
		branches := append([]string{"nowhere"}, o.branches...)
		for i, branch := range branches {
			for _, v := range o.compareResolve(id, branch, 0) {
				if i == o.steps%len(branches) {
					o.compareNamed(id, branch, v)
				}
			}
		}
		floors := o.want.Floors(id)
		for _, f := range floors {
			o.compareSnapshot(id, f.ID)
		}
		if n := len(floors); n > 0 {
			branch, floor := o.branches[o.steps%len(o.branches)], floors[o.steps%n].ID
			o.compareResolve(id, branch, floor)
			o.compareDiff(id, floor, 0, branch)
			o.compareDiff(id, floor, floors[(o.steps/2)%n].ID, "")
		}
		o.compareFloors(id)
		o.compareBranches(id)
		o.compareDiscovery(id)
	}
	o.compareGone()
	o.compareUsage()
}

func (o *oracle) compareResolve(id statemodel.SessionID, branch string, source statemodel.FloorID) []statemodel.Value {
	got, err := o.cells.Resolve(o.ctx, o.account, o.sessionIDs[id], state.ResolveQuery{
		Branch: branch, SourceFloorID: o.floorIDs[source],
	})
	want, code := o.want.Resolve(id, branch, source)
	if sessile.CodeOf(err) != sessile.Code(code) {
		o.Fatalf("resolve session %d %s from %d: got %v, want %q", id, branch, source, err, code)
	}
	if len(got) != len(want) {
		o.Fatalf("resolve session %d %s from %d: got %d slots, want %d", id, branch, source, len(got), len(want))
	}
	for i := range want {
		o.compareValue(got[i], want[i], id)
	}
	return want
}

// compareNamed reads one slot by its name, which may take another way than a list.
func (o *oracle) compareNamed(id statemodel.SessionID, branch string, want statemodel.Value) {
	query := state.ResolveQuery{Branch: branch, Filter: sessile.SlotFilter{Namespace: want.Namespace, Slot: want.Name}}
	got, err := o.cells.Resolve(o.ctx, o.account, o.sessionIDs[id], query)
	o.must(err)
	if len(got) != 1 {
		o.Fatalf("resolve %v by name: %d values", want.Slot, len(got))
	}
	o.compareValue(got[0], want, id)
	_, err = o.cells.Resolve(o.ctx, o.account+"-scratch", o.sessionIDs[id], query)
	if sessile.CodeOf(err) != sessile.CodeNotFound {
		o.Fatalf("resolve %v by name for another account: %v", want.Slot, err)
	}
}

func (o *oracle) compareValue(got state.Value, want statemodel.Value, id statemodel.SessionID) {
	data := string(got.Data)
	if want.Namespace == sessile.GameState && want.Present {
		data = want.Value // made by the turn
	}
	g := fmt.Sprintf("%s.%s %s on %s@%s: %t %s %v at %s", got.Namespace, got.Slot, got.Source, got.BranchID, got.FloorID,
		got.Present, data, fmt.Sprint(got.MutationIDs), timeText(got.UpdatedAt))
	w := fmt.Sprintf("%s.%s %s on %s@%s: %t %s %v at %d", want.Namespace, want.Name, want.Source, want.Branch,
		o.floorIDs[want.Floor], want.Present, want.Value, o.ids(want.Version), want.At)
	if g != w || got.SessionID != o.sessionIDs[id] {
		o.Fatalf("resolve in session %d:\n got %s\nwant %s (floor %d, mutation %d)", id, g, w, want.Floor, want.Mutation)
	}
}

func (o *oracle) compareSnapshot(id statemodel.SessionID, floor statemodel.FloorID) {
	got, err := o.cells.Snapshot(o.ctx, o.account, o.sessionIDs[id], o.floorIDs[floor], sessile.SlotFilter{})
	o.must(err)
	want, _ := o.want.Snapshot(id, floor)
	if len(got) != len(want) {
		o.Fatalf("snapshot of floor %d: got %d slots, want %d", floor, len(got), len(want))
	}
	for i, v := range want {
		data := string(got[i].Data)
		if v.Namespace == sessile.GameState && v.Present {
			data = v.Value
		}
		g := fmt.Sprintf("%s.%s on %s@%s: %t %s %v at %s", got[i].Namespace, got[i].Slot, got[i].BranchID, got[i].FloorID,
			got[i].Present, data, fmt.Sprint(got[i].MutationIDs), timeText(got[i].CommittedAt))
		w := fmt.Sprintf("%s.%s on %s@%s: %t %s %v at %d", v.Namespace, v.Name, v.Branch, o.floorIDs[floor],
			v.Present, v.Value, o.ids(v.Version), v.CommittedAt)
		if g != w || got[i].SessionID != o.sessionIDs[id] {
			o.Fatalf("snapshot of floor %d:\n got %s\nwant %s (mutation %d)", floor, g, w, v.Mutation)
		}
	}
}

// timeText shows an absent time as the model does.
func timeText(at *int64) string {
	if at == nil {
		return "0"
	}
	return fmt.Sprint(*at)
}

func (o *oracle) listFloors(id statemodel.SessionID) []sessile.Floor {
	floors, _, err := o.sessions.Floors(o.ctx, sessile.FloorFilter{
		Account: o.account, SessionID: o.sessionIDs[id], Page: sessile.Page{Limit: sessile.MaxPageSize, SortBy: "floor_no"},
	})
	o.must(err)
	return floors
}

// compareFloors compares the list of floors, and those that it leaves out one by one.
func (o *oracle) compareFloors(id statemodel.SessionID) {
	var got, want []string
	add := func(f sessile.Floor) {
		parent := ""
		if f.ParentID != nil {
			parent = *f.ParentID
		}
		got = append(got, floorText(f.ID, f.BranchName, f.No, string(f.State), parent, f.SupersededAt != nil))
	}
	for _, f := range o.listFloors(id) {
		add(f)
	}
	for _, f := range o.want.Floors(id) {
		want = append(want, floorText(o.floorIDs[f.ID], f.Branch, f.No, string(f.State), o.floorIDs[f.Parent], f.Superseded))
		if f.Superseded {
			hidden, err := o.sessions.Floor(o.ctx, o.account, o.floorIDs[f.ID])
			o.must(err)
			add(hidden)
		}
	}
	o.same("floors", got, want)
}

// same compares two sets.
func (o *oracle) same(what string, got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		o.Fatalf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func floorText(id, branch string, no int64, state, parent string, superseded bool) string {
	return fmt.Sprintf("%s: %s %d %s under %q, superseded %t", id, branch, no, state, parent, superseded)
}

// compareBranches compares the list of branches with their number of floors.
func (o *oracle) compareBranches(id statemodel.SessionID) {
	branches, _, err := o.sessions.Branches(o.ctx, o.account, o.sessionIDs[id], sessile.Page{Limit: sessile.MaxPageSize})
	o.must(err)
	var got, want []string
	for _, b := range branches {
		got = append(got, fmt.Sprintf("%s: %d", b.Name, b.FloorCount))
	}
	floors := map[string]int{}
	for _, f := range o.want.Floors(id) {
		if !f.Superseded {
			floors[f.Branch]++
		}
	}
	for _, name := range o.want.Branches(id) {
		want = append(want, fmt.Sprintf("%s: %d", name, floors[name]))
	}
	o.same("branches", got, want)
}

// compareDiscovery compares the namespaces and the materialised slots, and reads with a filter.
func (o *oracle) compareDiscovery(id statemodel.SessionID) {
	definitions, err := o.cells.Namespaces(o.ctx, o.account, o.sessionIDs[id])
	o.must(err)
	var got, filtered []string
	for _, d := range definitions {
		got = append(got, d.Name)
		for _, slot := range d.Slots {
			got = append(got, d.Name+"."+slot.Name)
		}
		values, err := o.cells.Resolve(o.ctx, o.account, o.sessionIDs[id], state.ResolveQuery{
			Branch: "main", Filter: sessile.SlotFilter{Namespace: d.Name},
		})
		o.must(err)
		for _, v := range values {
			filtered = append(filtered, v.Namespace+"."+v.Slot)
		}
	}
	want := append([]string{sessile.GameState}, o.want.Registered(id)...)
	values, _ := o.want.Resolve(id, "main", 0)
	var all []string
	for _, v := range values {
		all = append(all, v.Namespace+"."+v.Name)
	}
	o.same("discovery", got, append(want, all...))
	o.same("resolve by namespace", filtered, all)
}

func (o *oracle) compareDiff(id statemodel.SessionID, floor, against statemodel.FloorID, branch string) {
	entries, err := o.cells.Diff(o.ctx, o.account, o.sessionIDs[id], state.DiffQuery{
		FloorID: o.floorIDs[floor], AgainstFloorID: o.floorIDs[against], Branch: branch,
	})
	o.must(err)
	differences, _ := o.want.Diff(id, floor, against, branch)
	var got, want []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s.%s %s from %q to %q", e.Namespace, e.Slot, e.Change, e.LeftFloorID, e.RightFloorID))
	}
	for _, d := range differences {
		want = append(want, fmt.Sprintf("%s.%s %s from %q to %q", d.Namespace, d.Name, d.Change, o.floorIDs[d.Left], o.floorIDs[d.Right]))
	}
	if !slices.Equal(got, want) {
		o.Fatalf("diff of %d against %d or %s:\n got %q\nwant %q", floor, against, branch, got, want)
	}
}

// compareGone makes sure that one of the deleted floors is not found, and neither is one of the deleted sessions.
func (o *oracle) compareGone() {
	floors, sessions := maps.Clone(o.floorIDs), maps.Clone(o.sessionIDs)
	live := o.want.Sessions()
	for _, id := range live {
		delete(sessions, id)
		for _, f := range o.want.Floors(id) {
			delete(floors, f.ID)
		}
	}
	if floor, any := gone(o, floors); any {
		for _, id := range live {
			_, err := o.cells.Snapshot(o.ctx, o.account, o.sessionIDs[id], o.floorIDs[floor], sessile.SlotFilter{})
			if sessile.CodeOf(err) != sessile.CodeNotFound {
				o.Fatalf("deleted floor %d: %v", floor, err)
			}
		}
	}
	if id, any := gone(o, sessions); any {
		for _, name := range append(slices.Clip(o.slots), "") {
			_, err := o.cells.Resolve(o.ctx, o.account, o.sessionIDs[id], state.ResolveQuery{
				Branch: "main", Filter: sessile.SlotFilter{Namespace: "bond", Slot: name},
			})
			if sessile.CodeOf(err) != sessile.CodeNotFound {
				o.Fatalf("deleted session %d, slot %q: %v", id, name, err)
			}
		}
	}
}

// gone picks one of what is left over, another one from step to step.
func gone[K ~int](o *oracle, left map[K]string) (K, bool) {
	if len(left) == 0 {
		return 0, false
	}
	return slices.Sorted(maps.Keys(left))[o.steps%len(left)], true
}

// compareUsage compares the counters that the store keeps with a recount.
func (o *oracle) compareUsage() {
	var got, want []string
	o.must(o.store.View(o.ctx, func(tx sessile.ReadTx) error {
		for _, id := range o.want.Sessions() {
			s, found, err := tx.Session(o.account, o.sessionIDs[id])
			if err != nil || !found {
				return fmt.Errorf("session %d: found %t, %w", id, found, err)
			}
			o.accountRow = s.AccountRow
			namespaces, err := tx.Namespaces(s.Row)
			if err != nil {
				return err
			}
			for _, n := range namespaces {
				usage, err := tx.NamespaceUsage(n.Row)
				if err != nil {
					return err
				}
				got = append(got, usageText(id, n.Name, usage.Items, usage.Bytes))
			}
		}
		usage, err := tx.Usage(o.accountRow)
		got = append(got, fmt.Sprintf("account of %d namespaces: %d items of %d bytes", usage.Namespaces, usage.Items, usage.Bytes))
		return err
	}))
	for _, id := range o.want.Sessions() {
		names := append([]string{sessile.GameState}, o.want.Registered(id)...)
		slices.Sort(names)
		for _, name := range names {
			usage := o.want.NamespaceUsage(id, name)
			want = append(want, usageText(id, name, usage.Items, usage.Bytes))
		}
	}
	usage := o.want.Usage()
	want = append(want, fmt.Sprintf("account of %d namespaces: %d items of %d bytes", o.want.Namespaces(), usage.Items, usage.Bytes))
	if !slices.Equal(got, want) {
		o.Fatalf("counters:\n got %q\nwant %q", got, want)
	}
}

func usageText(id statemodel.SessionID, namespace string, items, bytes int64) string {
	return fmt.Sprintf("session %d %s: %d items of %d bytes", id, namespace, items, bytes)
}
