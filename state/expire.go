package state

import (
	"context"
	"time"

	"github.com/sessile-dev/sessile"
)

const (
	expiryBatch = 500         // entries that one transaction removes
	expiryRetry = time.Second // how long to wait after an error
	expiryPause = time.Second // and at least between two rounds, so that many small lifetimes share one
)

// Run removes entries that have expired until the context ends. Nobody sees them from that time on in any case; this
// gives their room back. It sleeps until the next one expires. One caller at a time.
func (e *Entries) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait, any, err := e.expire(ctx)
		if err != nil {
			wait, any = expiryRetry, true
		}
		if !e.sleep(ctx, wait, any) {
			return nil
		}
	}
	return nil
}

// expire removes what has expired and tells how long it is to the next one, if there is any.
func (e *Entries) expire(ctx context.Context) (wait time.Duration, any bool, err error) {
	next := int64(0)
	ask := func(tx sessile.ReadTx) (err error) {
		next, err = tx.NextExpiry()
		return err
	}
	if err := e.store.View(ctx, ask); err != nil || next == 0 {
		return 0, false, err
	}
	if left := next - e.now().UnixMilli(); left > 0 {
		return max(time.Duration(left)*time.Millisecond, expiryPause), true, nil
	}
	err = e.store.Update(ctx, func(tx sessile.Tx) error { return tx.PurgeExpired(expiryBatch) })
	return expiryPause, true, err
}

// sleep waits, for ever without a time, until a new entry expires sooner perhaps; false when the context ended.
func (e *Entries) sleep(ctx context.Context, wait time.Duration, timed bool) bool {
	var due <-chan time.Time
	if timed {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-due:
	case <-e.expires:
	}
	return true
}

func (e *Entries) wake() {
	select {
	case e.expires <- struct{}{}:
	default: // a signal waits already
	}
}
