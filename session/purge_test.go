package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

// purged is a store that counts the transactions that remove rows, and fails some of them.
type purged struct {
	sessile.Store
	calls atomic.Int32
	left  atomic.Bool // by the last one
	fail  atomic.Int32
}

func (p *purged) Update(ctx context.Context, fn func(sessile.Tx) error) error {
	return p.Store.Update(ctx, func(tx sessile.Tx) error { return fn(purgeTx{tx, p}) })
}

type purgeTx struct {
	sessile.Tx
	p *purged
}

func (t purgeTx) PurgeDeleted(limit int) (bool, error) {
	t.p.calls.Add(1)
	if t.p.fail.Load() > 0 {
		t.p.fail.Add(-1)
		return false, errors.New("the disk is full")
	}
	more, err := t.Tx.PurgeDeleted(limit)
	t.p.left.Store(more)
	return more, err
}

// The worker removes what an earlier process left, waits for the next deletion, and ends with its context.
func TestPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		store := &purged{Store: s.store}
		s.sessions = session.New(store, s.cells, session.Options{PurgeBatch: 3})
		filled := func() string {
			id := s.create(owner, "full")
			s.floor(id, "main", "one", sessile.FloorCommitted)
			s.floor(id, "alt", "two", sessile.FloorFailed)
			s.write(id, "main")
			return id
		}
		kept := filled()
		s.must(s.sessions.Delete(s.Context(), owner, filled()))
		if store.calls.Load() != 0 {
			t.Error("a deletion removed rows itself")
		}

		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.sessions.Run(ctx) }()
		synctest.Wait()
		before := store.calls.Load()
		if before < 4 || store.left.Load() {
			t.Errorf("after %d transactions of 3 rows, more is left: %v", before, store.left.Load())
		}
		if s.leftOver() {
			t.Error("the rows of a deleted session are still there")
		}

		synctest.Wait()
		if got := store.calls.Load(); got != before {
			t.Errorf("it did %d transactions with nothing to do", got-before)
		}
		_, err := s.sessions.DeleteMany(s.Context(), owner, []string{filled(), filled()})
		s.must(err)
		synctest.Wait()
		if got := store.calls.Load(); got <= before || s.leftOver() {
			t.Errorf("a deletion of many did not wake it (%d transactions)", got-before)
		}

		// An error is tried again after a while, or with the next deletion.
		store.fail.Store(2)
		before = store.calls.Load()
		s.must(s.sessions.Delete(s.Context(), owner, filled()))
		synctest.Wait()
		if got := store.calls.Load() - before; got != 1 {
			t.Errorf("after an error it did %d transactions at once", got)
		}
		began := time.Now()
		time.Sleep(time.Second)
		synctest.Wait()
		if got := store.calls.Load() - before; got != 2 {
			t.Errorf("after %s it had tried %d times, want 2", time.Since(began), got)
		}
		s.must(s.sessions.Delete(s.Context(), owner, filled()))
		synctest.Wait()
		if s.leftOver() {
			t.Error("a deletion did not wake it out of its wait")
		}

		cancel()
		s.must(<-ended)
		if texts, _ := s.told(kept, "main", 10, 0); len(texts) != 2 {
			t.Errorf("the session that was kept tells %q", texts)
		}
	})
}

// leftOver reports whether any row of a deleted session is there.
func (s *stage) leftOver() (left bool) {
	s.Helper()
	s.must(s.store.Update(s.Context(), func(tx sessile.Tx) (err error) {
		left, err = tx.PurgeDeleted(1)
		return err
	}))
	return left
}

func TestPurgeEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if err := s.sessions.Run(ctx); err != nil {
		t.Errorf("got %v", err)
	}
}
