package changelog

import (
	"context"
	"time"

	"github.com/sessile-dev/sessile"
)

// pruneBatch is how many events one transaction removes.
const pruneBatch = 500

// Run removes what is kept no longer, at once and then from time to time, until the context ends. One caller at a time.
func (l *Log) Run(ctx context.Context) error {
	ticker := time.NewTicker(l.options.PruneEvery)
	defer ticker.Stop()
	for {
		if err := l.Prune(ctx); err != nil && ctx.Err() == nil {
			l.options.Logger.Warn("remove old events", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Prune removes the events that are too old or too many and the cursors that nothing happened to for as long, in small
// transactions. For each session it stays known how far the removed ones went; heads stay.
func (l *Log) Prune(ctx context.Context) error {
	before := l.options.Now().Add(-l.options.MaxAge).UnixMilli()
	for more := true; more; {
		err := l.store.Update(ctx, func(tx sessile.Tx) (err error) {
			more, err = tx.PruneEvents(before, l.options.MaxEvents, pruneBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	return l.store.Update(ctx, func(tx sessile.Tx) error { return tx.PruneWatches(before) })
}
