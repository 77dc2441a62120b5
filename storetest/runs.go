package storetest

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
)

// run makes a run of a session on its main branch.
func (f *fixture) run(tx sessile.Tx, s sessile.Session, kind string, status sessile.RunStatus, change func(*sessile.Run)) sessile.Run {
	f.Helper()
	r := sessile.Run{
		ID: f.id(sessile.PrefixRun), Account: s.Account, SessionKey: s.Key, Session: s.Row, Branch: found(tx.Branch(s.Row, sessile.MainBranch)).Row,
		Kind: kind, Status: status,
	}
	if change != nil {
		change(&r)
	}
	f.ok(tx.AddRun(&r))
	return r
}

func runIDs(runs []sessile.Run, err error) string {
	var ids []string
	for _, r := range must(runs, err) {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func runLife(f *fixture) {
	var s sessile.Session
	var r sessile.Run
	f.update(func(tx sessile.Tx) {
		s = f.session(tx, "a")
		r = f.run(tx, s, sessile.RunKindSpawn, sessile.RunQueued, func(r *sessile.Run) {
			r.Parent, r.Requester, r.Open, r.Work = "run_p", "agent:main:main", true, []byte(`{"message":"m"}`)
		})
		f.same("made now", r.CreatedAt, tx.Now())
	})
	f.reopen()
	f.update(func(tx sessile.Tx) {
		f.same("as it was made", found(tx.Run("a", r.ID)), r)
		if !missing(tx.Run("b", r.ID)) || !missing(tx.Run("a", "run_none")) {
			f.Error("a run is found by another account or id")
		}
		ended := int64(99)
		r.Floor, r.RunType, r.Status, r.Attempt, r.LeaseUntil, r.StartedAt, r.EndedAt = 7, "respond", sessile.RunTimeout, 3, 80, 70, &ended
		r.ErrorCode, r.Error, r.WaitsOn, r.Open, r.Delivery, r.DueAt = "generation_timeout", "too slow", 5, false, sessile.DeliverySuspended, 120
		r.Work, r.Result = []byte(`{"tries":2}`), "what it said\x00"
		before := r.Version
		f.ok(tx.UpdateRun(&r))
		f.same("the version grows", r.Version, before+1)
		f.same("as it was changed", found(tx.RunByRow(r.Row)), r)

		f.same("renewed in vain", must(tx.RenewRun(r.Row, 3, 200)), false)
		r.Status = sessile.RunRunning
		f.ok(tx.UpdateRun(&r))
		f.same("renewed by an earlier attempt", must(tx.RenewRun(r.Row, 2, 200)), false)
		f.same("renewed", must(tx.RenewRun(r.Row, 3, 200)), true)
		f.same("its lease", found(tx.RunByRow(r.Row)).LeaseUntil, int64(200))
		f.ok(tx.DeleteRun(r.Row))
		if !missing(tx.Run("a", r.ID)) {
			f.Error("a removed run is there")
		}
	})
}

func runList(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s, t := f.session(tx, "a"), f.session(tx, "a")
		by := func(requester string) func(*sessile.Run) {
			return func(r *sessile.Run) { r.Requester = requester }
		}
		one := f.run(tx, s, sessile.RunKindSend, sessile.RunSucceeded, by("x"))
		two := f.run(tx, s, sessile.RunKindSpawn, sessile.RunFailed, by("y"))
		three := f.run(tx, t, sessile.RunKindSend, sessile.RunQueued, by("x"))
		f.run(tx, f.session(tx, "b"), sessile.RunKindSend, sessile.RunQueued, by("x"))
		list := func(change func(*sessile.RunFilter)) string {
			filter := sessile.RunFilter{Account: "a", Limit: 10}
			change(&filter)
			return runIDs(tx.Runs(filter))
		}
		f.same("all, the newest first", list(func(*sessile.RunFilter) {}), three.ID+" "+two.ID+" "+one.ID)
		f.same("a page", list(func(r *sessile.RunFilter) { r.Limit = 1 }), three.ID)
		f.same("the next", list(func(r *sessile.RunFilter) { r.Before, r.Limit = three.Row, 1 }), two.ID)
		f.same("of a session", list(func(r *sessile.RunFilter) { r.SessionKey = s.Key }), two.ID+" "+one.ID)
		f.same("for a requester", list(func(r *sessile.RunFilter) { r.Requester = "x" }), three.ID+" "+one.ID)
		f.same("of both", list(func(r *sessile.RunFilter) { r.SessionKey, r.Requester = s.Key, "x" }), one.ID)
		f.same("of a kind", list(func(r *sessile.RunFilter) { r.Kind = sessile.RunKindSend }), three.ID+" "+one.ID)
		f.same("of a status", list(func(r *sessile.RunFilter) { r.Requester, r.Status = "x", sessile.RunQueued }), three.ID)
		f.same("of nobody", runIDs(tx.Runs(sessile.RunFilter{Account: "c", Limit: 10})), "")
	})
}

func runQueue(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s, t, u := f.session(tx, "a"), f.session(tx, "a"), f.session(tx, "b")
		due := func(at int64) func(*sessile.Run) {
			return func(r *sessile.Run) { r.DueAt = at }
		}
		first := f.run(tx, s, sessile.RunKindSend, sessile.RunQueued, nil)
		child := f.run(tx, t, sessile.RunKindSpawn, sessile.RunQueued, nil)
		second := f.run(tx, s, sessile.RunKindAnnouncement, sessile.RunQueued, nil)
		behind := f.run(tx, t, sessile.RunKindSend, sessile.RunQueued, nil)
		later := f.run(tx, u, sessile.RunKindSend, sessile.RunQueued, due(50))
		f.same("one of each branch, in their order", runIDs(tx.StartableRuns(49, true, 10)), first.ID+" "+child.ID)
		f.same("what has come due", runIDs(tx.StartableRuns(50, true, 10)), first.ID+" "+child.ID+" "+later.ID)
		f.same("no children", runIDs(tx.StartableRuns(49, false, 10)), first.ID+" "+behind.ID)
		f.same("not more than asked for", runIDs(tx.StartableRuns(50, true, 1)), first.ID)
		f.same("of a branch", runIDs(tx.QueuedRuns(first.Branch)), first.ID+" "+second.ID)

		f.same("no lease", must(tx.FirstLease()), int64(0))
		first.Status, first.LeaseUntil = sessile.RunRunning, 900
		f.ok(tx.UpdateRun(&first))
		child.Status, child.LeaseUntil = sessile.RunRunning, 800
		f.ok(tx.UpdateRun(&child))
		f.same("held branches", runIDs(tx.StartableRuns(49, true, 10)), "")
		f.same("the first lease", must(tx.FirstLease()), int64(800))
		f.same("in the lane", fmt.Sprint(must(tx.RunsInLane(sessile.RunKindSpawn)), must(tx.RunsInLane(sessile.RunKindWake))), "1 0")

		first.Status, first.DueAt = sessile.RunSucceeded, 30
		f.ok(tx.UpdateRun(&first))
		child.Status, child.DueAt = sessile.RunFailed, 20
		f.ok(tx.UpdateRun(&child))
		f.same("due", runIDs(tx.DueRuns(30, 10)), child.ID+" "+first.ID)
		f.same("due before", runIDs(tx.DueRuns(29, 10)), child.ID)
		f.same("the most overdue", runIDs(tx.DueRuns(60, 1)), child.ID)
		f.same("the next, queued or not", fmt.Sprint(must(tx.NextDue(0)), must(tx.NextDue(20)), must(tx.NextDue(30)), must(tx.NextDue(50))), "20 30 50 0")
	})
}

func runChildren(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s, t := f.session(tx, "a"), f.session(tx, "a")
		child := func(s sessile.Session, status sessile.RunStatus, open bool, delivery sessile.DeliveryState) sessile.Run {
			return f.run(tx, s, sessile.RunKindSpawn, status, func(r *sessile.Run) { r.Requester, r.Open, r.Delivery = "p", open, delivery })
		}
		old := child(s, sessile.RunSucceeded, false, sessile.DeliverySuspended)
		active := child(s, sessile.RunPaused, true, sessile.DeliveryNone)
		pending := child(t, sessile.RunFailed, false, sessile.DeliveryPending)
		child(t, sessile.RunFailed, false, sessile.DeliveryDelivered)
		child(t, sessile.RunFailed, false, sessile.DeliveryDiscarded)
		telling := child(t, sessile.RunSucceeded, false, sessile.DeliveryInProgress)
		f.same("active", runIDs(tx.OpenRuns("a", "p")), active.ID)
		f.same("the run of a child", found(tx.OpenRun("a", s.Key)).ID, active.ID)
		if !missing(tx.OpenRun("a", t.Key)) || !missing(tx.OpenRun("b", s.Key)) {
			f.Error("a child that ended is active")
		}
		f.same("undelivered", runIDs(tx.UndeliveredRuns("a", "p")), old.ID+" "+pending.ID+" "+telling.ID)
		f.same("another account", runIDs(tx.OpenRuns("b", "p"))+runIDs(tx.UndeliveredRuns("b", "p")), "")
	})
}

// Of a deleted session the runs go, but for what its requester may ask for and what somebody waits for.
func runPurge(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		child := f.run(tx, s, sessile.RunKindSpawn, sessile.RunSucceeded, func(r *sessile.Run) { r.Requester, r.Floor = "p", 5 })
		waiting := f.run(tx, s, sessile.RunKindSend, sessile.RunQueued, nil)
		gone := f.run(tx, s, sessile.RunKindTurn, sessile.RunSucceeded, nil)
		f.ok(tx.DeleteSession(&s))
		for must(tx.PurgeDeleted(1)) {
			continue
		}
		if !missing(tx.Run("a", gone.ID)) {
			f.Error("the run of a deleted session is there")
		}
		for _, kept := range []sessile.Run{child, waiting} {
			r := found(tx.Run("a", kept.ID))
			f.same("what it hung on", []int64{r.Session, r.Branch, r.Floor}, []int64{0, 0, 0})
			f.same("whose it was", r.SessionKey, s.Key)
		}
		f.same("it can begin, to hear that it cannot", runIDs(tx.StartableRuns(tx.Now(), true, 10)), waiting.ID)
	})
}
