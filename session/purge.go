package session

import (
	"context"
	"time"

	"github.com/sessile-dev/sessile"
)

// Run removes the rows of deleted sessions in small transactions, so that nobody waits for a large one, until the
// context ends. It starts with what an earlier process left. One caller at a time.
func (s *Service) Run(ctx context.Context) error {
	for {
		more, err := s.purge(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end of the context is how this ends
		}
		if err != nil {
			s.options.Logger.Warn("remove the rows of deleted sessions", "error", err)
		}
		if more && err == nil {
			continue
		}
		if !s.waitForPurge(ctx, err != nil) {
			return nil
		}
	}
}

func (s *Service) purge(ctx context.Context) (more bool, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		more, err = tx.PurgeDeleted(s.options.PurgeBatch)
		return err
	})
	return more, err
}

// waitForPurge waits for the next deletion, or for a while after an error; false when the context ended.
func (s *Service) waitForPurge(ctx context.Context, failed bool) bool {
	var later <-chan time.Time
	if failed {
		timer := time.NewTimer(s.options.PurgeRetry)
		defer timer.Stop()
		later = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-s.deleted:
	case <-later:
	}
	return true
}

// deletedSome tells of deletions that were committed.
func (s *Service) deletedSome() {
	s.wakePurge()
	s.options.Announce()
}

func (s *Service) wakePurge() {
	select {
	case s.deleted <- struct{}{}:
	default: // a signal waits already
	}
}
