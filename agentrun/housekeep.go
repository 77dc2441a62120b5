package agentrun

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// housekeep does what is due: results that were suspended for too long are discarded, children that ended long ago are
// archived.
func (s *Service) housekeep(ctx context.Context) error {
	for {
		now := s.options.Now().UnixMilli()
		var due []sessile.Run
		err := s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
			due, err = tx.DueRuns(now, dueBatch)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		err = s.store.Update(ctx, func(tx sessile.Tx) error {
			for i := range due {
				if err := s.doDue(tx, due[i].Row, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.sessions.Purge()
	}
}

func (s *Service) doDue(tx sessile.Tx, row, now int64) error {
	r, found, err := tx.RunByRow(row)
	if err != nil || !found || r.DueAt == 0 || r.DueAt > now || r.Status == sessile.RunQueued {
		return err
	}
	if r.Kind == sessile.RunKindSpawn && r.Delivery == sessile.DeliverySuspended {
		return s.discard(tx, &r)
	}
	r.DueAt = 0
	if r.Kind != sessile.RunKindSpawn {
		return tx.UpdateRun(&r)
	}
	w, err := workOf(&r)
	if err != nil {
		return err
	}
	child, found, err := tx.SessionByKey(r.Account, r.SessionKey)
	if err != nil {
		return err
	}
	if !found {
		return tx.DeleteRun(r.Row) // nothing is left of the child
	}
	w.Spawn.Archived = true
	if err := w.store(&r); err != nil {
		return err
	}
	if err := tx.UpdateRun(&r); err != nil || child.Status == sessile.SessionArchived {
		return err
	}
	child.Status, child.ArchivedAt = sessile.SessionArchived, tx.Now()
	child.UpdatedAt = tx.Now()
	return tx.UpdateSession(&child)
}
