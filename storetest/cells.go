package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/sessile-dev/sessile"
)

var everything = sessile.SlotFilter{}

// ground is what most cases about cells stand on: a session with a namespace and two slots, and its main branch.
type ground struct {
	session sessile.Session
	main    sessile.Branch
	ns      sessile.Namespace
	x, y    sessile.Slot
}

func (f *fixture) ground(tx sessile.Tx) ground {
	f.Helper()
	g := ground{session: f.session(tx, "a")}
	g.main = found(tx.Branch(g.session.Row, "main"))
	g.ns = f.namespace(tx, g.session.Row, "notes")
	g.x, g.y = f.slot(tx, g.ns.Row, "x"), f.slot(tx, g.ns.Row, "y")
	return g
}

// shows writes down what a list of versions shows of the custom slots: slot, value and number.
func shows(versions []sessile.Version, err error) string {
	out := ""
	for _, v := range must(versions, err) {
		if v.Namespace == sessile.GameState {
			continue
		}
		value := "-"
		if v.Seq != 0 {
			value = fmt.Sprintf("%d", v.Seq)
		}
		out += v.Slot + value + " "
	}
	return out
}

func cellNamespaces(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		for _, name := range []string{"z", "a_b", "a.b", "a1", "ab"} {
			f.namespace(tx, s.Row, name)
		}
		names := []string{}
		for _, n := range must(tx.Namespaces(s.Row)) {
			names = append(names, n.Name)
		}
		f.same("byte order", names, []string{"a.b", "a1", "a_b", "ab", "game_state", "z"})
		z := found(tx.Namespace(s.Row, "z"))
		f.same("owner", []string{z.OwnerType, z.OwnerID}, []string{"plugin", "kit"})
		if !missing(tx.Namespace(s.Row, "nope")) {
			f.Error("an unknown namespace is found")
		}
		if tx.AddNamespace(&sessile.Namespace{Session: s.Row, Name: "z"}) == nil {
			f.Error("a name is taken twice")
		}
		b := found(tx.Branch(s.Row, "main"))
		for _, name := range []string{"b", "a", "B", "é", "10", "9"} {
			f.write(tx, b.Row, f.slot(tx, z.Row, name).Row, "1")
		}
		f.slot(tx, z.Row, "never written")
		slots := []string{}
		for _, slot := range must(tx.Slots(s.Row)) {
			slots = append(slots, slot.Name)
		}
		f.same("materialised slots in byte order", slots, []string{"scene", "world", "10", "9", "B", "a", "b", "é"})
	})
}

func cellLocate(f *fixture) {
	f.update(func(tx sessile.Tx) {
		g := f.ground(tx)
		at := sessile.CellAddress{Account: "a", SessionID: g.session.ID, Branch: "main", Namespace: "notes", Slot: "x"}
		f.same("no session", must(tx.Locate(sessile.CellAddress{Account: "a", SessionID: "nope"})), sessile.Cell{})
		empty := sessile.Cell{
			Session: g.session.Row, SessionStatus: sessile.SessionActive, Account: g.session.AccountRow, Branch: g.main.Row,
			Namespace: g.ns.Row, Slot: g.x.Row,
		}
		f.same("an empty cell", must(tx.Locate(at)), empty)
		unknown := at
		unknown.Branch, unknown.Namespace, unknown.Slot = "new", "nope", "new"
		f.same("nothing of it exists", must(tx.Locate(unknown)), sessile.Cell{
			Session: g.session.Row, SessionStatus: sessile.SessionActive, Account: g.session.AccountRow,
		})

		m := f.write(tx, g.main.Row, g.x.Row, "12")
		f.ok(tx.AddUsage(g.session.AccountRow, g.ns.Row, 1, 2))
		written := empty
		written.Materialised, written.HeadSeq, written.HeadSize = true, m.Seq, 2
		written.NamespaceUsage, written.AccountUsage = sessile.Usage{Items: 1, Bytes: 2}, sessile.Usage{Items: 1, Bytes: 2}
		f.same("written", must(tx.Locate(at)), written)

		floor := f.commit(tx, f.floor(tx, g.main, 0, 0, sessile.FloorGenerating))
		written.LastCommitSeq = floor.CommitSeq
		f.same("with a floor", must(tx.Locate(at)), written)

		retry := sessile.Mutation{Branch: g.main.Row, Slot: g.x.Row, OnLine: true, Status: sessile.StatusApplied, Floor: floor.Row, Size: 9}
		f.ok(tx.AppendMutation(&retry))
		written.HeadSeq, written.HeadSize, written.HeadFloor, written.HeadFromRetry = retry.Seq, 9, floor.Row, true
		f.same("from a retry", must(tx.Locate(at)), written)

		alt := f.branch(tx, g.session.Row, "alt")
		f.ok(tx.LayBase(alt.Row, &floor))
		at.Branch = "alt"
		f.same("an inherited value is no head", must(tx.Locate(at)).HeadSeq, int64(0))
	})
}

func cellHeadsAndPoints(f *fixture) {
	f.update(func(tx sessile.Tx) {
		g := f.ground(tx)
		x1 := f.write(tx, g.main.Row, g.x.Row, "1")
		y2 := f.write(tx, g.main.Row, g.y.Row, "")
		x3 := f.write(tx, g.main.Row, g.x.Row, "3")
		read := func(after, at int64) string {
			return shows(tx.Versions(g.session.Row, sessile.Point{Branch: g.main.Row, After: after, At: at}, everything, false))
		}
		f.same("at the end", read(0, math.MaxInt64), fmt.Sprintf("x%d y%d ", x3.Seq, y2.Seq))
		f.same("before the last", read(0, y2.Seq), fmt.Sprintf("x%d y%d ", x1.Seq, y2.Seq))
		f.same("at the first", read(0, x1.Seq), fmt.Sprintf("x%d y- ", x1.Seq))
		f.same("before everything", read(0, x1.Seq-1), "x- y- ")
		f.same("after the first", read(x1.Seq, y2.Seq), fmt.Sprintf("x- y%d ", y2.Seq))
		f.same("heads", shows(tx.Heads(g.session.Row, g.main.Row, 0, false, everything)), fmt.Sprintf("x%d y%d ", x3.Seq, y2.Seq))
		f.same("filtered", shows(tx.Heads(g.session.Row, g.main.Row, 0, false, sessile.SlotFilter{Namespace: "notes", Slot: "y"})), fmt.Sprintf("y%d ", y2.Seq))
		f.same("no such slot", len(must(tx.Heads(g.session.Row, g.main.Row, 0, false, sessile.SlotFilter{Namespace: "notes", Slot: "Y"}))), 0)
		heads := must(tx.Heads(g.session.Row, g.main.Row, 0, false, sessile.SlotFilter{Namespace: "notes"}))
		f.same("values", []any{string(heads[0].Value), heads[0].Present, heads[1].Value == nil, heads[1].Present}, []any{"3", true, true, false})
		f.same("origin", []any{heads[0].Branch, heads[0].Floor, heads[0].CreatedAt}, []any{g.main.Row, int64(0), tx.Now()})

		off := sessile.Mutation{Branch: g.main.Row, Slot: g.x.Row, Status: sessile.StatusApplied}
		f.ok(tx.AppendMutation(&off))
		f.same("off the line", shows(tx.Heads(g.session.Row, g.main.Row, 0, false, everything)), fmt.Sprintf("x%d y%d ", x3.Seq, y2.Seq))
		f.same("is head", []bool{must(tx.IsHead(x1.Seq)), must(tx.IsHead(x3.Seq)), must(tx.IsHead(off.Seq))}, []bool{false, true, false})
	})
}

// cellHead reads heads by name in every way a driver may keep them at hand.
func cellHead(f *fixture) {
	var g ground
	f.update(func(tx sessile.Tx) { g = f.ground(tx) })
	at := sessile.CellAddress{Account: "a", SessionID: g.session.ID, Branch: "main", Namespace: "notes", Slot: "x"}
	read := func(at sessile.CellAddress) string {
		out := ""
		for range 2 { // the second time perhaps from memory
			f.view(func(tx sessile.ReadTx) {
				v, ok, err := tx.Head(at)
				f.ok(err)
				if out = "none"; ok {
					out = fmt.Sprintf("%d %s %q", v.Seq, v.Value, v.FloorID)
				}
			})
		}
		return out
	}
	write := func(value string, floor int64) sessile.Mutation {
		m := sessile.Mutation{
			Address: at, Branch: g.main.Row, Slot: g.x.Row, Present: true, Value: []byte(value), OnLine: true, Materialises: true,
			Kind: sessile.KindDirect, Status: sessile.StatusApplied, Floor: floor,
		}
		f.update(func(tx sessile.Tx) {
			f.ok(tx.AppendMutation(&m))
			f.same("inside", found(tx.Head(at)).Seq, m.Seq)
		})
		return m
	}
	f.same("never written", read(at), "none")
	m := write("1", 0)
	f.same("written", read(at), fmt.Sprintf("%d 1 \"\"", m.Seq))
	m = write("2", 0)
	f.same("written again", read(at), fmt.Sprintf("%d 2 \"\"", m.Seq))
	var floor sessile.Floor
	f.update(func(tx sessile.Tx) { floor = f.floor(tx, g.main, 0, 0, sessile.FloorGenerating) })
	m = write("3", floor.Row)
	f.same("by a turn", read(at), fmt.Sprintf("%d 3 %q", m.Seq, floor.ID))
	refused := f.store.Update(f.Context(), func(tx sessile.Tx) error {
		n := sessile.Mutation{Address: at, Branch: g.main.Row, Slot: g.x.Row, Present: true, Value: []byte("4"), OnLine: true, Status: sessile.StatusApplied}
		f.ok(tx.AppendMutation(&n))
		return sessile.NotFound()
	})
	f.same("refused", sessile.CodeOf(refused), sessile.CodeNotFound)
	f.same("a refused write", read(at), fmt.Sprintf("%d 3 %q", m.Seq, floor.ID))

	foreign, other := at, at
	foreign.Account, other.Branch = "b", "alt"
	f.same("of another account", read(foreign), "none")
	f.same("on another branch", read(other), "none")

	var alt sessile.Branch
	f.update(func(tx sessile.Tx) {
		alt = f.branch(tx, g.session.Row, "alt")
		f.ok(tx.AppendMutation(&sessile.Mutation{
			Address: other, Branch: alt.Row, Slot: g.x.Row, Present: true, Value: []byte("5"), OnLine: true, Status: sessile.StatusApplied,
		}))
	})
	if read(other) == "none" {
		f.Error("the head of the other branch is not found")
	}
	f.update(func(tx sessile.Tx) { must(tx.DeleteBranch(g.session.Row, alt.Row)) })
	f.same("its branch deleted", read(other), "none")
	f.update(func(tx sessile.Tx) { f.ok(tx.DeleteSession(&g.session)) })
	f.same("its session deleted", read(at), "none")
}

// cellHeadRace lets readers and a writer race for the memory a driver may keep: nobody may see a head older than one
// that had been acknowledged before the reader asked.
func cellHeadRace(f *fixture) {
	var g ground
	f.update(func(tx sessile.Tx) { g = f.ground(tx) })
	at := sessile.CellAddress{Account: "a", SessionID: g.session.ID, Branch: "main", Namespace: "notes", Slot: "x"}
	var acknowledged atomic.Int64
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(done)
		for i := range 400 {
			m := sessile.Mutation{
				Address: at, Branch: g.main.Row, Slot: g.x.Row, Present: true, Value: fmt.Append(nil, i), OnLine: true, Status: sessile.StatusApplied,
				Materialises: i == 0,
			}
			if err := f.store.Update(context.Background(), func(tx sessile.Tx) error { return tx.AppendMutation(&m) }); err != nil {
				f.Error(err)
			}
			acknowledged.Store(m.Seq)
		}
	})
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				least := acknowledged.Load()
				err := f.store.View(context.Background(), func(tx sessile.ReadTx) error {
					v, ok, err := tx.Head(at)
					if err == nil && least > 0 && (!ok || v.Seq < least) {
						err = fmt.Errorf("saw %d after %d was acknowledged", v.Seq, least)
					}
					return err
				})
				if err != nil {
					f.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func cellBase(f *fixture) {
	f.update(func(tx sessile.Tx) {
		g := f.ground(tx)
		x1 := f.write(tx, g.main.Row, g.x.Row, "1")
		floor := f.commit(tx, f.floor(tx, g.main, 0, 0, sessile.FloorGenerating))
		f.write(tx, g.main.Row, g.x.Row, "2") // after the floor: not inherited
		alt := f.branch(tx, g.session.Row, "alt")
		y3 := f.write(tx, alt.Row, g.y.Row, "3")
		f.ok(tx.LayBase(alt.Row, &floor))
		alt = found(tx.Branch(g.session.Row, "alt"))
		f.same("branch", []any{alt.Based, alt.ForkSeq}, []any{true, floor.CommitSeq})
		f.same("inherits", shows(tx.Heads(g.session.Row, alt.Row, 0, true, everything)), fmt.Sprintf("x%d y%d ", x1.Seq, y3.Seq))
		f.same("own only", shows(tx.Heads(g.session.Row, alt.Row, 0, false, everything)), fmt.Sprintf("x- y%d ", y3.Seq))
		x4 := f.write(tx, alt.Row, g.x.Row, "4")
		child := f.commit(tx, f.floor(tx, alt, 1, floor.Row, sessile.FloorGenerating))
		f.same("own over inherited", shows(tx.Heads(g.session.Row, alt.Row, child.Row, true, everything)), fmt.Sprintf("x%d y%d ", x4.Seq, y3.Seq))
		point := sessile.PointOf(&child)
		f.same("point", point, sessile.Point{Branch: alt.Row, After: floor.CommitSeq, At: child.CommitSeq, Floor: child.Row})
		point.At = y3.Seq
		f.same("before its own", shows(tx.Versions(g.session.Row, point, everything, true)), fmt.Sprintf("x%d y%d ", x1.Seq, y3.Seq))

		second := f.commit(tx, f.floor(tx, g.main, 1, floor.Row, sessile.FloorGenerating))
		f.ok(tx.LayBase(alt.Row, &second))
		f.same("laid anew: its own heads stay", shows(tx.Heads(g.session.Row, alt.Row, 0, true, everything)), fmt.Sprintf("x%d y%d ", x4.Seq, y3.Seq))
	})
}

func cellOverrides(f *fixture) {
	f.update(func(tx sessile.Tx) {
		g := f.ground(tx)
		x1 := f.write(tx, g.main.Row, g.x.Row, "1")
		x2 := f.write(tx, g.main.Row, g.x.Row, "2")
		f.write(tx, g.main.Row, g.y.Row, "3")
		floor := f.commit(tx, f.floor(tx, g.main, 0, 0, sessile.FloorGenerating))
		overrides := []sessile.Override{{Slot: g.x.Row, Seq: x1.Seq}, {Slot: g.y.Row}}
		f.ok(tx.SetOverrides(floor.Row, overrides))
		f.same("overrides", must(tx.Overrides(floor.Row)), overrides)
		f.same("an older value and none at all", shows(tx.Versions(g.session.Row, sessile.PointOf(&floor), everything, true)), fmt.Sprintf("x%d y- ", x1.Seq))
		bare := sessile.PointOf(&floor)
		bare.Floor = 0
		if shows(tx.Versions(g.session.Row, bare, everything, false)) == fmt.Sprintf("x%d y- ", x1.Seq) {
			f.Error("exceptions count where no floor was asked for")
		}
		f.same("heads come first", shows(tx.Heads(g.session.Row, g.main.Row, floor.Row, true, sessile.SlotFilter{Namespace: "notes", Slot: "x"})), fmt.Sprintf("x%d ", x2.Seq))

		alt := f.branch(tx, g.session.Row, "alt")
		f.ok(tx.LayBase(alt.Row, &floor))
		f.same("a fork inherits what the floor shows", shows(tx.Heads(g.session.Row, alt.Row, 0, true, everything)), fmt.Sprintf("x%d y- ", x1.Seq))
		f.ok(tx.SetOverrides(floor.Row, nil))
		f.same("none left", len(must(tx.Overrides(floor.Row))), 0)
	})
}

func cellShown(f *fixture) {
	f.update(func(tx sessile.Tx) {
		g := f.ground(tx)
		shown := func(m sessile.Mutation) bool { return must(tx.Shown(m.Seq)) }
		replaced := f.write(tx, g.main.Row, g.x.Row, "0")
		x1 := f.write(tx, g.main.Row, g.x.Row, "1")
		f.same("no floor yet", shown(x1), false)
		one := f.commit(tx, f.floor(tx, g.main, 0, 0, sessile.FloorGenerating))
		x2 := f.write(tx, g.main.Row, g.x.Row, "2")
		f.same("by its floor", []bool{shown(replaced), shown(x1), shown(x2)}, []bool{false, true, false})
		two := f.commit(tx, f.floor(tx, g.main, 1, one.Row, sessile.FloorGenerating))
		f.same("by the next", shown(x2), true)

		alt := f.branch(tx, g.session.Row, "alt")
		f.ok(tx.LayBase(alt.Row, &one))
		child := f.commit(tx, f.floor(tx, alt, 1, one.Row, sessile.FloorGenerating))
		f.ok(tx.DeleteFloor(g.session.Row, one.Row))
		f.same("by the fork alone", shown(x1), true)
		f.ok(tx.SetOverrides(child.Row, []sessile.Override{{Slot: g.x.Row, Seq: replaced.Seq}}))
		f.same("by an exception", []bool{shown(x1), shown(replaced)}, []bool{false, true})
		f.ok(tx.SetOverrides(child.Row, nil))
		f.write(tx, alt.Row, g.x.Row, "5")
		f.commit(tx, f.floor(tx, alt, 2, child.Row, sessile.FloorGenerating))
		f.same("still by the fork's first floor", shown(x1), true)

		candidates := map[int64]bool{}
		for _, v := range must(tx.BranchVersions(alt.Row)) {
			candidates[v.Seq] = true
		}
		f.same("versions of the branch", []bool{len(candidates) == 2, candidates[x1.Seq], candidates[x2.Seq]}, []bool{true, true, false})
		must(tx.DeleteBranch(g.session.Row, alt.Row))
		f.same("by nothing", shown(x1), false)
		f.ok(tx.DeleteFloor(g.session.Row, two.Row))
		f.same("nothing shows the head", []bool{shown(x2), must(tx.IsHead(x2.Seq))}, []bool{false, true})
	})
}

func cellUsage(f *fixture) {
	var g ground
	f.update(func(tx sessile.Tx) {
		g = f.ground(tx)
		f.ok(tx.AddUsage(g.session.AccountRow, g.ns.Row, 2, 30))
		f.ok(tx.AddUsage(g.session.AccountRow, g.ns.Row, -1, -10))
		f.ok(tx.AddNamespaceCount(g.session.AccountRow, 1))
		f.same("inside", must(tx.Usage(g.session.AccountRow)), sessile.Usage{Namespaces: 1, Items: 1, Bytes: 20})
		f.same("of the namespace", must(tx.NamespaceUsage(g.ns.Row)), sessile.Usage{Items: 1, Bytes: 20})
		f.same("in its row", found(tx.Namespace(g.session.Row, "notes")).Bytes, int64(20))
	})
	f.view(func(tx sessile.ReadTx) {
		f.same("after", must(tx.Usage(g.session.AccountRow)), sessile.Usage{Namespaces: 1, Items: 1, Bytes: 20})
		f.same("after, of the namespace", must(tx.NamespaceUsage(g.ns.Row)), sessile.Usage{Items: 1, Bytes: 20})
	})
}

func cellOddNames(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		n := f.namespace(tx, s.Row, "notes")
		for _, name := range []string{"a/b: ü", "with\x00nul", " ", "%_'\"", "\U0001F600"} {
			b := f.branch(tx, s.Row, name)
			m := f.write(tx, b.Row, f.slot(tx, n.Row, name).Row, `"\u0000 < & é"`)
			heads := must(tx.Heads(s.Row, b.Row, 0, false, sessile.SlotFilter{Namespace: "notes", Slot: name}))
			if len(heads) != 1 || heads[0].Slot != name || heads[0].Seq != m.Seq || string(heads[0].Value) != `"\u0000 < & é"` {
				f.Errorf("%q: %+v", name, heads)
			}
			cell := must(tx.Locate(sessile.CellAddress{Account: "a", SessionID: s.ID, Branch: name, Namespace: "notes", Slot: name}))
			f.same(fmt.Sprintf("%q", name), cell.HeadSeq, m.Seq)
		}
	})
}

func mutationLog(f *fixture) {
	f.update(func(tx sessile.Tx) {
		g := f.ground(tx)
		floor := f.floor(tx, g.main, 0, 0, sessile.FloorGenerating)
		direct := f.write(tx, g.main.Row, g.x.Row, `"v"`)
		turn := sessile.Mutation{
			Branch: g.main.Row, Slot: g.y.Row, Present: true, Value: []byte("1"), Size: 26, OnLine: true, Materialises: true,
			Kind: sessile.KindTurn, Status: sessile.StatusApplied, Floor: floor.Row, RunID: "run", RequestID: "req",
			Safety: sessile.ReplayConfirm,
		}
		f.ok(tx.AppendMutation(&turn))
		discarded := sessile.Mutation{Branch: g.main.Row, Slot: g.x.Row, Kind: sessile.KindTurn, Status: sessile.StatusDiscarded, Floor: floor.Row, DiscardReason: "why"}
		f.ok(tx.AppendMutation(&discarded))
		f.same("order", direct.Seq < turn.Seq && turn.Seq < discarded.Seq, true)
		f.same("last", must(tx.LastSeq()), discarded.Seq)

		records := must(tx.FloorMutations(floor.Row))
		f.same("of the floor", []any{len(records), records[0].Seq, records[1].Seq}, []any{2, turn.Seq, discarded.Seq})
		record := found(tx.Mutation(g.session.Row, turn.Seq))
		got := record.Mutation
		got.Materialises = true // says what to do, not what was
		f.same("record", got, turn)
		f.same("names", []string{record.Namespace, record.SlotName, record.SessionID, record.BranchName, *record.FloorID},
			[]string{"notes", "y", g.session.ID, "main", floor.ID})
		other := f.session(tx, "a")
		if !missing(tx.Mutation(other.Row, turn.Seq)) {
			f.Error("a mutation of another session is found")
		}
		is := func(v bool) *bool { return &v }
		later := tx.Now() + 1
		for _, c := range []struct {
			name   string
			filter sessile.MutationFilter
			want   []int64
		}{
			{"all", sessile.MutationFilter{}, []int64{direct.Seq, turn.Seq, discarded.Seq}},
			{"newest first", sessile.MutationFilter{Page: sessile.Page{Limit: 2, Descending: true}}, []int64{discarded.Seq, turn.Seq}},
			{"discarded", sessile.MutationFilter{Status: sessile.StatusDiscarded}, []int64{discarded.Seq}},
			{"direct", sessile.MutationFilter{Direct: is(true)}, []int64{direct.Seq}},
			{"of turns", sessile.MutationFilter{Direct: is(false)}, []int64{turn.Seq, discarded.Seq}},
			{"slot", sessile.MutationFilter{Namespace: "notes", Slot: "x"}, []int64{direct.Seq, discarded.Seq}},
			{"floor", sessile.MutationFilter{FloorID: floor.ID}, []int64{turn.Seq, discarded.Seq}},
			{"run", sessile.MutationFilter{RunID: "run"}, []int64{turn.Seq}},
			{"branch", sessile.MutationFilter{Branch: "alt"}, nil},
			{"since tomorrow", sessile.MutationFilter{CreatedAfter: &later}, nil},
			{"until tomorrow", sessile.MutationFilter{CreatedBefore: &later}, []int64{direct.Seq, turn.Seq, discarded.Seq}},
		} {
			if c.filter.Page.Limit == 0 {
				c.filter.Page.Limit = 10
			}
			records, total, err := tx.Mutations(g.session.Row, c.filter)
			f.ok(err)
			var seqs []int64
			for _, r := range records {
				seqs = append(seqs, r.Seq)
			}
			f.same(c.name, seqs, c.want)
			if total < len(seqs) {
				f.Errorf("%s: total %d", c.name, total)
			}
		}
	})
}

func mutationNumbers(f *fixture) {
	last := int64(0)
	for range 3 {
		f.update(func(tx sessile.Tx) {
			g := f.ground(tx)
			m := f.write(tx, g.main.Row, g.x.Row, "1")
			if m.Seq <= last {
				f.Errorf("number %d after %d", m.Seq, last)
			}
			last = m.Seq
			f.ok(tx.DeleteSession(&g.session))
		})
		for more := true; more; {
			f.update(func(tx sessile.Tx) { more = must(tx.PurgeDeleted(1000)) })
		}
		f.reopen() // the log is empty now, the counter is not
	}
}

// numbersAfterFailure: a write that was taken back leaves no gap at which a floor could stand, to be shown, after a
// restart, a later write as its own.
func numbersAfterFailure(f *fixture) {
	var g ground
	f.update(func(tx sessile.Tx) {
		g = f.ground(tx)
		f.write(tx, g.main.Row, g.x.Row, "1")
	})
	failed := errors.New("taken back")
	if err := f.store.Update(context.Background(), func(tx sessile.Tx) error {
		f.write(tx, g.main.Row, g.x.Row, "2")
		return failed
	}); !errors.Is(err, failed) {
		f.Fatalf("the failing update answered %v", err)
	}
	var floor sessile.Floor
	f.update(func(tx sessile.Tx) {
		floor = f.commit(tx, f.floor(tx, g.main, 1, 0, sessile.FloorDraft))
	})
	f.reopen()
	f.update(func(tx sessile.Tx) {
		if m := f.write(tx, g.main.Row, g.x.Row, "3"); m.Seq <= floor.CommitSeq {
			f.Errorf("a write after the floor at %d has number %d", floor.CommitSeq, m.Seq)
		}
	})
}
