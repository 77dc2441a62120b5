package apitest

import (
	"context"
	"testing"
	"time"

	"github.com/sessile-dev/sessile"
)

// Worker executes queued runs.
type Worker interface {
	Run(ctx context.Context) error
	Changed() <-chan struct{}
}

// Work executes queued runs until there are none, so that a test knows when they are done.
func Work(t testing.TB, worker Worker, store sessile.Store) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	for busy := true; busy; {
		changed := worker.Changed()
		err := store.View(ctx, func(tx sessile.ReadTx) error {
			running, err := tx.RunningRuns(0)
			if err != nil {
				return err
			}
			queued, err := tx.StartableRuns(time.Now().UnixMilli(), true, 1)
			busy = len(running)+len(queued) > 0
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if busy {
			<-changed
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
