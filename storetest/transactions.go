package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sessile-dev/sessile"
)

func rollsBackAlone(f *fixture) {
	refused := errors.New("refused")
	var group sync.WaitGroup
	errs := make([]error, 40)
	for i := range errs { // many at once, so that they share commits
		group.Go(func() {
			errs[i] = f.store.Update(context.Background(), func(tx sessile.Tx) error {
				s := sessile.Session{ID: fmt.Sprintf("ses_%02d", i), Account: "a", Key: fmt.Sprint(i), Status: sessile.SessionActive, Settings: []byte("{}")}
				if err := tx.AddSession(&s); err != nil {
					return err
				}
				if err := tx.AddNamespaceCount(s.AccountRow, 1); err != nil {
					return err
				}
				if i%2 == 1 {
					return refused
				}
				return nil
			})
		})
	}
	group.Wait()
	for i, err := range errs {
		if i%2 == 1 != errors.Is(err, refused) {
			f.Errorf("update %d answered %v", i, err)
		}
	}
	f.view(func(tx sessile.ReadTx) {
		sessions, total, err := tx.Sessions("a", sessile.SessionFilter{Page: sessile.Page{Limit: 100}})
		f.ok(err)
		if total != 20 || len(sessions) != 20 {
			f.Errorf("%d sessions, listed %d, want 20", total, len(sessions))
		}
		f.same("namespaces", must(tx.Usage(sessions[0].AccountRow)).Namespaces, int64(20))
	})
}

func panicReachesCaller(f *fixture) {
	func() {
		defer func() {
			if recover() == nil {
				f.Error("the panic was swallowed")
			}
		}()
		_ = f.store.Update(context.Background(), func(tx sessile.Tx) error {
			f.session(tx, "a")
			panic("boom")
		})
	}()
	f.view(func(tx sessile.ReadTx) {
		_, total, err := tx.Sessions("a", sessile.SessionFilter{Page: sessile.Page{Limit: 1}})
		f.ok(err)
		f.same("sessions", total, 0)
	})
	f.update(func(tx sessile.Tx) { f.session(tx, "a") })
}

func timeIsMonotonic(f *fixture) {
	last := int64(0)
	for range 50 {
		f.update(func(tx sessile.Tx) {
			if tx.Now() < last || tx.Now() == 0 {
				f.Errorf("time went from %d to %d", last, tx.Now())
			}
			last = tx.Now()
		})
	}
}

func endedContext(f *fixture) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := f.store.Update(ctx, func(tx sessile.Tx) error {
		f.session(tx, "a")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		f.Errorf("update answered %v", err)
	}
	f.view(func(tx sessile.ReadTx) {
		_, total, err := tx.Sessions("a", sessile.SessionFilter{Page: sessile.Page{Limit: 1}})
		f.ok(err)
		f.same("sessions", total, 0)
	})
}

func viewIsOneState(f *fixture) {
	f.update(func(tx sessile.Tx) { f.session(tx, "a") })
	count := func(tx sessile.ReadTx) int {
		_, total, err := tx.Sessions("a", sessile.SessionFilter{Page: sessile.Page{Limit: 1}})
		f.ok(err)
		return total
	}
	f.view(func(tx sessile.ReadTx) {
		before := count(tx)
		f.update(func(tx sessile.Tx) { f.session(tx, "a") })
		f.same("sessions inside the view", count(tx), before)
	})
	f.view(func(tx sessile.ReadTx) { f.same("sessions after it", count(tx), 2) })
}

func viewSeesCommitted(f *fixture) {
	for range 100 {
		var s sessile.Session
		f.update(func(tx sessile.Tx) { s = f.session(tx, "a") })
		f.view(func(tx sessile.ReadTx) {
			if missing(tx.Session("a", s.ID)) {
				f.Error("a view after an update does not see it")
			}
		})
	}
}

func closeTwice(f *fixture) {
	f.ok(f.store.Close())
	f.ok(f.store.Close())
	if err := f.store.Update(context.Background(), func(sessile.Tx) error { return nil }); err == nil {
		f.Error("a closed store takes updates")
	}
	if err := f.store.View(context.Background(), func(sessile.ReadTx) error { return nil }); err == nil {
		f.Error("a closed store takes views")
	}
}

func closeFinishes(f *fixture) {
	var group sync.WaitGroup
	accepted := make(chan string, 100)
	for i := range 100 {
		group.Go(func() {
			id := fmt.Sprintf("ses_%03d", i)
			err := f.store.Update(context.Background(), func(tx sessile.Tx) error {
				return tx.AddSession(&sessile.Session{ID: id, Account: "a", Key: fmt.Sprint(i), Status: sessile.SessionActive, Settings: []byte("{}")})
			})
			if err == nil {
				accepted <- id
			}
		})
	}
	f.ok(f.store.Close())
	group.Wait()
	close(accepted)
	f.store = f.open(f.T, f.dir)
	f.view(func(tx sessile.ReadTx) {
		for id := range accepted {
			if missing(tx.Session("a", id)) {
				f.Errorf("%s was accepted and is gone", id)
			}
		}
	})
}

func reopenKeeps(f *fixture) {
	var s sessile.Session
	var m sessile.Mutation
	f.update(func(tx sessile.Tx) {
		s = f.session(tx, "a")
		b := f.branch(tx, s.Row, "main")
		n := f.namespace(tx, s.Row, "notes")
		m = f.write(tx, b.Row, f.slot(tx, n.Row, "x").Row, `{"a":1}`)
		f.ok(tx.AddUsage(s.AccountRow, n.Row, 1, 7))
	})
	f.reopen()
	f.view(func(tx sessile.ReadTx) {
		again := found(tx.Session("a", s.ID))
		f.same("session", again, s)
		b := found(tx.Branch(s.Row, "main"))
		heads := must(tx.Heads(s.Row, b.Row, 0, false, sessile.SlotFilter{Namespace: "notes"}))
		if len(heads) != 1 || heads[0].Seq != m.Seq || string(heads[0].Value) != `{"a":1}` {
			f.Errorf("heads %+v", heads)
		}
		f.same("usage", must(tx.Usage(s.AccountRow)), sessile.Usage{Items: 1, Bytes: 7})
	})
}

// noLostUpdates reads and writes one counter from many goroutines: each must see the one before it.
func noLostUpdates(f *fixture) {
	var s sessile.Session
	f.update(func(tx sessile.Tx) { s = f.session(tx, "a") })
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for range 8 {
				err := f.store.Update(context.Background(), func(tx sessile.Tx) error {
					row := found(tx.Session("a", s.ID))
					row.UpdatedAt++
					return tx.UpdateSession(&row)
				})
				if err != nil {
					f.Error(err)
				}
			}
		})
	}
	group.Wait()
	f.view(func(tx sessile.ReadTx) {
		f.same("counter", found(tx.Session("a", s.ID)).UpdatedAt-s.UpdatedAt, int64(32*8))
	})
}

// readersBesideWriters writes the same value to two slots at once and never sees them differ.
func readersBesideWriters(f *fixture) {
	var s sessile.Session
	var b sessile.Branch
	slots := [2]int64{}
	f.update(func(tx sessile.Tx) {
		s = f.session(tx, "a")
		b = f.branch(tx, s.Row, "main")
		n := f.namespace(tx, s.Row, "pair")
		for i := range slots {
			slots[i] = f.slot(tx, n.Row, fmt.Sprint(i)).Row
			f.write(tx, b.Row, slots[i], "0")
		}
	})
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(done)
		for i := range 200 {
			err := f.store.Update(context.Background(), func(tx sessile.Tx) error {
				for _, slot := range slots {
					m := sessile.Mutation{
						Branch: b.Row, Slot: slot, Present: true, Value: fmt.Append(nil, i), OnLine: true,
						Kind: sessile.KindDirect, Status: sessile.StatusApplied,
					}
					if err := tx.AppendMutation(&m); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				f.Error(err)
			}
		}
	})
	for range 3 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				err := f.store.View(context.Background(), func(tx sessile.ReadTx) error {
					heads, err := tx.Heads(s.Row, b.Row, 0, false, sessile.SlotFilter{Namespace: "pair"})
					if err == nil && string(heads[0].Value) != string(heads[1].Value) {
						err = fmt.Errorf("saw %s and %s", heads[0].Value, heads[1].Value)
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
