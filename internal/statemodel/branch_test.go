package statemodel

import "testing"

func TestBranches(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{trust, "1"})
	w.write("main", trust, "9")
	a1 := w.respond("alt", f1) // B1
	w.equal(w.floor(a1), Floor{ID: a1, Branch: "alt", No: 1, Parent: f1, State: Committed})
	w.equal(w.live("main", trust), "live_head 9@0")
	w.equal(w.live("alt", trust), "latest_branch_snapshot 1@2")
	w.respond("alt", f1, TurnWrite{trust, "2"}) // B2
	w.equal(w.live("main", trust), "live_head 9@0")
	w.equal(w.live("alt", trust), "live_head 2@3")
	w.want(w.Fork(f1, "alt"), BranchExists) // B3
	w.want(w.Fork(f1, "main"), BranchExists)
	w.ok(w.Fork(f1, "twig"))
	w.want(w.Fork(f1, "twig"), BranchExists)

	fails := turn()
	fails.Fails = true
	failed, _ := w.Respond(w.S, "main", 0, fails)
	w.want(w.Fork(failed, "bud"), InvalidState)
	_, code := w.Respond(w.S, "bud", failed, turn()) // B4
	w.want(code, SourceFloorNotFound)
	_, code = w.Respond(w.S, "bud", 99, turn())
	w.want(code, SourceFloorNotFound)
	_, _, code = w.Regenerate(w.S, turn())
	w.ok(code)
	_, code = w.Respond(w.S, "bud", f1, turn())
	w.want(code, SourceFloorNotFound)
	w.want(w.Fork(f1, "bud"), InvalidState)

	// B10: an edit is a turn on a new branch from the edited message's floor.
	e := w.respond("edit", a1)
	w.equal(w.floor(e), Floor{ID: e, Branch: "edit", No: 2, Parent: a1, State: Committed})
	w.equal(w.live("edit", trust), "latest_branch_snapshot 1@6")
}

func TestRuling2RegisteredBranchInherits(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{trust, "1"})
	w.ok(w.Fork(f1, "alt"))
	w.equal(w.live("alt", trust), "latest_branch_snapshot 1@1")
	w.write("main", trust, "9")
	w.equal(w.live("alt", trust), "latest_branch_snapshot 1@1")
	w.write("alt", trust, "2")
	w.equal(w.live("alt", trust), "live_head 2@0")
	w.equal(w.live("alt", scene), "latest_branch_snapshot @1")
	a1 := w.respond("alt", 0)
	w.equal(w.shown(a1, trust), "2")
	w.equal(w.live("alt", scene), "live_head @2")

	// A retry of the source shows through until the branch has a floor of its own.
	w.ok(w.Fork(f1, "twig"))
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "7"})))
	w.equal(w.live("twig", trust), "latest_branch_snapshot 7@1")
	w.equal(w.live("main", trust), "live_head 9@0")
	w.equal(w.shown(a1, trust), "2")

	// Heads older than the source floor are shadowed in the branch's snapshots, not in its live values.
	w.write("bud", trust, "3")
	f2 := w.respond("main", 0)
	b1 := w.respond("bud", f2)
	w.equal(w.shown(b1, trust), "9")
	w.equal(w.live("bud", trust), "live_head 3@0")
}

func TestRuling13SourceOfAnEmptyBranch(t *testing.T) {
	w := newWorld(t, Quotas{})
	f1 := w.respond("main", 0, TurnWrite{trust, "1"})
	f2 := w.respond("main", 0, TurnWrite{trust, "2"})
	w.ok(w.Fork(f1, "alt"))
	w.ok(w.Fork(f2, "twig"))
	w.ok(w.Fork(f2, "bud"))
	w.equal(w.floor(w.respond("alt", 0)).Parent, f1)
	_, f3, code := w.Regenerate(w.S, turn())
	w.ok(code)
	w.equal(w.floor(w.respond("twig", 0)).Parent, f2) // superseded since
	w.ok(w.DeleteFloor(f2))
	w.equal(w.live("bud", trust), "none null@0")
	w.want(w.Retry(f2, turn()), FloorNotFound)
	w.equal(w.floor(w.respond("bud", 0)).Parent, f3) // unregistered: the end of main

	empty := newWorld(t, Quotas{})
	empty.equal(empty.floor(empty.respond("alt", 0)), Floor{ID: 1, Branch: "alt", State: Committed})
}

func TestRuling14DeletedBranch(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.want(deleteBranch(w, "main"), ProtectedBranch)
	w.want(deleteBranch(w, "alt"), NotFound)
	w.write("alt", hint, "1")
	w.want(deleteBranch(w, "alt"), NotFound) // writes alone make no branch
	f1 := w.respond("main", 0)
	a1 := w.respond("alt", f1, TurnWrite{trust, "2"})
	w.ok(w.Fork(a1, "twig"))
	n, code := w.DeleteBranch(w.S, "alt")
	w.ok(code)
	w.equal(n, 1)
	w.equal(w.live("alt", trust), "none null@0")  // heads gone, slot materialised
	w.equal(w.live("twig", trust), "none null@0") // its source is gone
	_, code = w.Snapshot(w.S, a1)
	w.want(code, NotFound)
	w.equal(w.Usage().Items, int64(2)) // scene and world of main
	w.ok(w.Fork(f1, "twig"))
}

func deleteBranch(w *world, name string) Code {
	_, code := w.DeleteBranch(w.S, name)
	return code
}

func TestRegenerate(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	_, _, code := w.Regenerate(w.S, turn()) // B6
	w.want(code, NoFloorToRegenerate)
	w.respond("main", 0)
	f2 := w.respond("main", 0, TurnWrite{trust, "1"})
	fails := turn(TurnWrite{trust, "3"})
	fails.Fails = true
	_, _, code = w.Regenerate(w.S, fails) // B7, ruling 9
	w.want(code, OrchestrationFailed)
	w.equal(w.floor(f2).Superseded, false)
	w.equal(w.live("main", scene), "live_head @2")
	w.equal(len(w.Floors(w.S)), 2)

	old, f4, code := w.Regenerate(w.S, turn()) // B5
	w.ok(code)
	w.equal(old, f2)
	w.equal(w.floor(f2).Superseded, true)
	w.equal(w.floor(f4), Floor{ID: f4, Branch: "main", No: 1, Parent: f2, State: Committed})
	w.equal(w.live("main", scene), "live_head @4")
	w.equal(w.shown(f4, trust), "1") // not rolled back
	w.equal(w.shown(f2, trust), "1") // still readable
	w.want(w.Retry(f2, turn()), InvalidState)
	w.equal(w.floor(w.respond("main", 0)).No, int64(2))
}

func TestRetry(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{hint, "1"})
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "7"}))) // B8
	w.equal(w.shown(f1, trust), "7")
	w.equal(w.shown(f1, hint), "1") // of the first attempt
	w.equal(w.live("main", trust), "live_head 7@1")
	fails := turn(TurnWrite{trust, "8"})
	fails.Fails = true
	w.want(w.Retry(f1, fails), OrchestrationFailed) // ruling 10
	w.equal(w.floor(f1).State, Committed)
	w.equal(w.shown(f1, trust), "7")
	failed, _ := w.Respond(w.S, "main", 0, fails)
	w.want(w.Retry(failed, turn()), InvalidState) // B9
	w.want(w.Retry(99, turn()), FloorNotFound)
}

func TestRuling11RetryOfAForksFirstFloor(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{trust, "1"})
	a1 := w.respond("alt", f1)
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "2"})))
	w.equal(w.shown(a1, trust), "1")
	w.ok(w.Retry(a1, turn()))
	w.equal(w.shown(a1, trust), "2") // what the parent shows now
}

func TestRuling12RetryBehindLaterWrites(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{trust, "1"}, TurnWrite{hint, "1"})
	w.respond("main", 0, TurnWrite{trust, "2"})
	w.write("main", Slot{"bond_log", "late"}, "3")
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "7"}, TurnWrite{hint, "8"})))
	w.equal(w.shown(f1, trust), "7")
	w.equal(w.live("main", trust), "live_head 2@2") // written later
	w.equal(w.live("main", hint), "live_head 8@1")  // its own
	w.equal(w.live("main", scene), "live_head @2")
	w.equal(w.shown(f1, Slot{"bond_log", "late"}), "null") // materialised now, but not leaked
	w.equal(w.shown(2, hint), "1")
	f3 := w.respond("main", 0)
	w.equal(w.shown(f3, hint), "8")
	w.equal(w.shown(f3, trust), "2")
	w.equal(w.shown(f3, Slot{"bond_log", "late"}), "3")

	// A head written between parent and floor is the floor's, whatever is written later.
	w.write("main", trust, "4")
	f4 := w.respond("main", 0)
	w.write("main", trust, "5")
	w.ok(w.Retry(f4, turn()))
	w.equal(w.shown(f4, trust), "4")
	w.equal(w.live("main", trust), "live_head 5@0")

	// A write that does not move the head materialises all the same.
	w.ok(w.Retry(f1, turn(TurnWrite{Slot{"bond_log", "fresh"}, "1"})))
	w.equal(w.live("main", Slot{"bond_log", "fresh"}), "live_head 1@1")
}

func TestBareFloors(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	f1 := w.respond("main", 0, TurnWrite{trust, "1"})
	a1 := w.respond("alt", f1)
	w.equal(w.live("alt", trust), "latest_branch_snapshot 1@2")
	_, code := w.BareFloor(w.S, "alt", 1, 0, Committed)
	w.want(code, FloorExists)
	_, code = w.BareFloor(w.S, "alt", 2, 99, Committed)
	w.want(code, NotFound)
	bare, code := w.BareFloor(w.S, "alt", 2, a1, Committed)
	w.ok(code)
	w.equal(w.shown(bare, trust), "not stored")
	w.equal(w.live("alt", trust), "none null@0")
	w.equal(w.live("alt", scene), "live_head @2")
	w.want(w.Retry(bare, turn()), NoUserMessage)
	a2 := w.respond("alt", 0) // its parent shows nothing
	w.equal(w.floor(a2).Parent, bare)
	w.equal(w.shown(a2, trust), "null")

	_, code = w.BareFloor(w.S, "bud", 5, 0, Draft) // numbers count, whatever the state
	w.ok(code)
	w.equal(w.floor(w.respond("bud", f1)).No, int64(6))
	_, code = w.BareFloor(w.S, "main", 4, 0, Committed)
	w.ok(code)
	_, _, code = w.Regenerate(w.S, turn())
	w.want(code, NoUserMessage)
}
