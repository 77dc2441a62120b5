package storetest

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
)

func (f *fixture) event(tx sessile.Tx, key string, at int64) sessile.Event {
	f.Helper()
	e := sessile.Event{
		Account: "a", SessionKey: key, SessionID: "ses_" + key, AgentID: "main", Kind: sessile.EventGoalChanged,
		ActorType: sessile.ActorHuman, OccurredAt: at, Summary: "s",
	}
	f.ok(tx.AddEvent(&e))
	return e
}

func eventLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		f.same("no head", must(tx.EventHead("a", "k")), sessile.EventHead{})
		first, other, second := f.event(tx, "k", 1), f.event(tx, "l", 2), f.event(tx, "k", 3)
		if first.Sequence <= 0 || other.Sequence <= first.Sequence || second.Sequence <= other.Sequence {
			f.Errorf("sequences %d, %d, %d", first.Sequence, other.Sequence, second.Sequence)
		}
		f.same("all", must(tx.Events("a", "k", 0, 10)), []sessile.Event{first, second})
		f.same("since", must(tx.Events("a", "k", first.Sequence, 10)), []sessile.Event{second})
		f.same("limit", must(tx.Events("a", "k", 0, 1)), []sessile.Event{first})
		f.same("another account", len(must(tx.Events("b", "k", 0, 10))), 0)
		f.same("head", must(tx.EventHead("a", "k")), sessile.EventHead{Head: second.Sequence, Earliest: first.Sequence})
		f.same("versions", must(tx.StateVersions("a", []string{"k", "l", "none"})), map[string]int64{"k": second.Sequence, "l": other.Sequence})

		named := sessile.Event{Account: "a", SessionKey: "k", Kind: sessile.EventRunFailed, Dedupe: "d", Payload: []byte(`{"outcome":"error"}`)}
		f.ok(tx.AddEvent(&named))
		f.same("named", found(tx.EventNamed("a", "d")), named)
		if !missing(tx.EventNamed("b", "d")) || !missing(tx.EventNamed("a", "e")) {
			f.Error("an event is found by another name")
		}

		f.ok(tx.ForgetEvents("a", "k"))
		f.same("forgotten", must(tx.EventHead("a", "k")), sessile.EventHead{})
		if again := f.event(tx, "k", 4); again.Sequence <= named.Sequence {
			f.Errorf("a sequence number is used again: %d after %d", again.Sequence, named.Sequence)
		}
	})
}

func eventPruning(f *fixture) {
	f.update(func(tx sessile.Tx) {
		var events []sessile.Event
		for at := int64(1); at <= 5; at++ {
			events = append(events, f.event(tx, "k", at))
		}
		// The two oldest by time, in one step of one and one of the rest.
		f.same("more", must(tx.PruneEvents(3, 100, 1)), true)
		for must(tx.PruneEvents(3, 100, 10)) {
			continue
		}
		f.same("by age", must(tx.EventHead("a", "k")), sessile.EventHead{Head: events[4].Sequence, Pruned: events[1].Sequence, Earliest: events[2].Sequence})
		for must(tx.PruneEvents(0, 1, 10)) {
			continue
		}
		f.same("by count", must(tx.EventHead("a", "k")), sessile.EventHead{Head: events[4].Sequence, Pruned: events[3].Sequence, Earliest: events[4].Sequence})
		for must(tx.PruneEvents(100, 100, 10)) {
			continue
		}
		f.same("the head stays", must(tx.EventHead("a", "k")), sessile.EventHead{Head: events[4].Sequence, Pruned: events[4].Sequence})
	})
}

func eventWatches(f *fixture) {
	f.update(func(tx sessile.Tx) {
		w := sessile.Watch{Watcher: "w", Target: "t", LastSeen: 1, Notified: 2, Material: 3}
		f.ok(tx.PutWatch("a", w))
		w.Material = 4
		f.ok(tx.PutWatch("a", w))
		f.ok(tx.PutWatch("a", sessile.Watch{Watcher: "v", Target: "t"}))
		f.ok(tx.PutWatch("a", sessile.Watch{Watcher: "w", Target: "s"}))
		f.ok(tx.PutWatch("b", sessile.Watch{Watcher: "w", Target: "t"}))
		f.same("one", found(tx.Watch("a", "w", "t")), w)
		f.same("of a watcher", targets(tx.Watches("a", "w")), "w>s w>t")
		f.same("of a target", targets(tx.WatchersOf("a", "t")), "v>t w>t")

		n := sessile.Notice{Watcher: "w", Target: "t", Since: 1}
		f.ok(tx.AddNotice("a", &n))
		f.ok(tx.AddNotice("a", &sessile.Notice{Watcher: "w", Target: "t", Since: 9}))
		waiting := must(tx.Notices("a", "w"))
		if len(waiting) != 1 || waiting[0].Since != 1 || waiting[0].Row != n.Row {
			f.Errorf("of two notices of a pair the first waits: %v", waiting)
		}
		f.ok(tx.DeleteNotice("a", "w", "t"))
		f.same("acknowledged", len(must(tx.Notices("a", "w"))), 0)

		f.ok(tx.AddNotice("a", &sessile.Notice{Watcher: "w", Target: "t", Since: 2}))
		f.same("ended", must(tx.DeleteWatch("a", "w", "t")), true)
		f.same("ended again", must(tx.DeleteWatch("a", "w", "t")), false)
		f.same("its notice goes with it", len(must(tx.Notices("a", "w"))), 0)
		f.ok(tx.ForgetWatcher("a", "w"))
		f.same("forgotten", targets(tx.Watches("a", "w")), "")
		f.same("others stay", targets(tx.WatchersOf("a", "t")), "v>t")
		f.same("other accounts stay", targets(tx.Watches("b", "w")), "w>t")
		f.ok(tx.PruneWatches(tx.Now() + 1))
		f.same("untouched", targets(tx.WatchersOf("a", "t")), "")
	})
}

func targets(watches []sessile.Watch, err error) string {
	var pairs []string
	for _, w := range must(watches, err) {
		pairs = append(pairs, w.Watcher+">"+w.Target)
	}
	return strings.Join(pairs, " ")
}

func sessionWalk(f *fixture) {
	f.update(func(tx sessile.Tx) {
		add := func(key string, pinned, updated int64, change func(*sessile.Session)) {
			s := sessile.Session{
				ID: "ses_" + key, Account: "a", Key: key, AgentID: "main", Status: sessile.SessionActive, Settings: []byte("{}"),
				PinnedAt: pinned, CreatedAt: 1, UpdatedAt: updated,
			}
			if change != nil {
				change(&s)
			}
			f.ok(tx.AddSession(&s))
		}
		add("p1", 1, 1, nil)
		add("p2", 2, 1, nil)
		add("b", 0, 5, nil)
		add("a", 0, 5, nil)
		label := "L"
		add("w", 0, 9, func(s *sessile.Session) { s.AgentID, s.Label, s.SpawnedBy = "work", &label, "a" })
		add("o", 0, 2, func(s *sessile.Session) { s.OwnerKey, s.ParentKey = "a", "a" })
		add("z", 0, 3, func(s *sessile.Session) { s.Status, s.ArchivedAt = sessile.SessionArchived, 3 })
		walk := func(selection sessile.SessionSelection, limit int) string {
			var keys []string
			f.ok(tx.ListSessions("a", selection, func(s *sessile.Session) (bool, error) {
				keys = append(keys, s.Key)
				return len(keys) != limit, nil
			}))
			return strings.Join(keys, " ")
		}
		f.same("order", walk(sessile.SessionSelection{}, 0), "p2 p1 w a b o")
		f.same("stopped", walk(sessile.SessionSelection{}, 2), "p2 p1")
		f.same("archived", walk(sessile.SessionSelection{Archived: true}, 0), "z")
		f.same("agent", walk(sessile.SessionSelection{Agent: "work"}, 0), "w")
		f.same("label", walk(sessile.SessionSelection{Label: "L"}, 0), "w")
		f.same("since", walk(sessile.SessionSelection{Since: 5}, 0), "w a b")
		f.same("of", walk(sessile.SessionSelection{Of: "a"}, 0), "w a o")
		f.same("after a pin", walk(sessile.SessionSelection{After: &sessile.SessionPlace{PinnedAt: 2, UpdatedAt: 1, Key: "p2"}}, 0), "p1 w a b o")
		f.same("after a tie", walk(sessile.SessionSelection{After: &sessile.SessionPlace{UpdatedAt: 5, Key: "a"}}, 0), "b o")
		f.same("children", fmt.Sprint(must(tx.Children("a", []string{"a", "b"}, 9, 9))), "map[a:[w]]")
		parent := found(tx.SessionByKey("a", "a"))
		child := found(tx.SessionByKey("a", "w"))
		if _, ran, err := tx.LastRun(child.Row); err != nil || ran {
			f.Errorf("a session without runs has one: %v", err)
		}
		ended := int64(50)
		run := sessile.Run{
			ID: "run_c", Account: "a", SessionKey: child.Key, Session: child.Row, Branch: 1, Kind: sessile.RunKindSpawn,
			Status: sessile.RunSucceeded, StartedAt: 40, EndedAt: &ended, Requester: parent.Key, Attempt: 1,
		}
		f.ok(tx.AddRun(&run))
		f.ok(tx.AddRun(&sessile.Run{
			ID: "run_i", Account: "a", SessionKey: child.Key, Session: child.Row, Branch: 1, Kind: sessile.RunKindIngest,
			Status: sessile.RunSucceeded, StartedAt: 60, EndedAt: &ended, Attempt: 1,
		}))
		f.ok(tx.AddRun(&sessile.Run{
			ID: "run_q", Account: "a", SessionKey: child.Key, Session: child.Row, Branch: 1, Kind: sessile.RunKindSend, Status: sessile.RunQueued,
		}))
		f.same("last run", found(tx.LastRun(child.Row)).ID, "run_c")
		children := func(touched, ended int64) string {
			return fmt.Sprint(must(tx.Children("a", []string{"a"}, touched, ended))["a"])
		}
		f.ok(tx.DeleteRun(found(tx.Run("a", "run_q")).Row))
		f.same("ended later", children(9, 50), "[w]")
		f.same("ended before", children(9, 51), "[]")
		run.Open = true
		f.ok(tx.UpdateRun(&run))
		f.same("at work", children(100, 100), "[w]")
		run.Open = false
		f.ok(tx.UpdateRun(&run))
		f.same("old children", fmt.Sprint(must(tx.Children("a", []string{"a"}, 10, 10))), "map[]")
	})
}
