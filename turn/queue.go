package turn

import (
	"context"
	"sync"
	"time"

	"github.com/sessile-dev/sessile"
)

// lane names a branch for those who wait for it.
type lane struct{ sessionID, branch string }

// lanes holds the turns of this process that wait for a branch. The lease in the store decides who runs; the queue only
// spares turns of one process from being refused.
type lanes struct {
	mu   sync.Mutex
	held map[lane]*turnstile
}

// turnstile lets one through at a time, in the order of arrival.
type turnstile struct {
	free  chan struct{} // holds one token while nobody is inside
	users int           // inside or waiting
}

func (l *lanes) join(where lane) *turnstile {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[lane]*turnstile)
	}
	t := l.held[where]
	if t == nil {
		t = &turnstile{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		l.held[where] = t
	}
	t.users++
	return t
}

func (l *lanes) leave(where lane, t *turnstile, inside bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(l.held, where)
	}
	if inside {
		t.free <- struct{}{}
	}
}

// queue waits until no earlier turn of this process is on the branch, where the service is told to. Codes:
// generation_queue_timeout, generation_cancelled.
func (s *Service) queue(ctx context.Context, where lane) (leave func(), err error) {
	if !s.options.Queue {
		return func() {}, nil
	}
	t := s.lanes.join(where)
	timer := time.NewTimer(s.options.QueueTimeout)
	defer timer.Stop()
	select {
	case <-t.free:
		return func() { s.lanes.leave(where, t, true) }, nil
	case <-timer.C:
		err = sessile.Errorf(sessile.CodeGenerationQueueTimeout, "the turns before this one took too long")
	case <-ctx.Done():
		err = cancelled(ctx.Err())
	}
	s.lanes.leave(where, t, false)
	return nil, err
}

// regenerateTarget is the floor that a regenerate means, before it waits in the queue: "" when main has none, nil when there
// is no queue.
func (s *Service) regenerateTarget(ctx context.Context, account, sessionID string) (id *string, err error) {
	if !s.options.Queue {
		return nil, nil
	}
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, found, err := tx.Session(account, sessionID)
		if err != nil || !found {
			return err // the turn itself says so
		}
		main, found, err := tx.Branch(session.Row, sessile.MainBranch)
		if err != nil || !found {
			return err
		}
		floor, _, err := tx.LatestFloor(main.Row, true)
		id = &floor.ID
		return err
	})
	return id, err
}

// retryLane is the branch of a floor, nothing in particular when there is no such floor; live says whether the floor could
// be run again now.
func (s *Service) retryLane(ctx context.Context, account, floorID string) (where lane, live bool, err error) {
	if !s.options.Queue {
		return lane{}, false, nil
	}
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		floor, found, err := tx.Floor(account, floorID)
		if found {
			where, live = lane{floor.SessionID, floor.BranchName}, isLive(&floor)
		}
		return err
	})
	return where, live, err
}

func errStale() error {
	return sessile.Errorf(sessile.CodeGenerationTargetStale, "the floor is no longer the one that was meant")
}
