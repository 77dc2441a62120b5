package agentrun

import (
	"context"
	"os"
	"time"

	"github.com/sessile-dev/sessile"
)

// dueBatch bounds how many rows one transaction of the housekeeping touches.
const dueBatch = 100

// busyPause is how long the housekeeping lets a child be that is at work again.
const busyPause = time.Minute

// finish ends the life of a child whose result is settled: its session is deleted, or archived later (5.12), and its files go
// unless they are to stay with the session (5.7). What cannot be done in a transaction, or not yet, is due later.
func (s *Service) finish(tx sessile.Tx, r *sessile.Run, w *work) error {
	p := w.Spawn
	r.DueAt = 0
	child, found, err := tx.SessionByKey(r.Account, r.SessionKey)
	if err != nil {
		return err
	}
	if found && p.Delete && p.Mode == modeRun {
		if err := tx.UpdateRun(r); err != nil {
			return err
		}
		switch err := s.sessions.Remove(tx, &child); sessile.CodeOf(err) {
		case "":
			found = false
		case sessile.CodeActiveRunInProgress:
			r.DueAt = tx.Now() + busyPause.Milliseconds()
			return tx.UpdateRun(r)
		default:
			return err
		}
	}
	if p.Files != "" && (!found || !s.options.Attachments.RetainWithKept) {
		p.DropFiles = true
		if err := w.store(r); err != nil {
			return err
		}
	}
	s.schedule(tx, r, p)
	return tx.UpdateRun(r)
}

// schedule says when something is to be done about a child whose result is settled.
func (s *Service) schedule(tx sessile.Tx, r *sessile.Run, p *spawn) {
	switch {
	case p.DropFiles:
		r.DueAt = tx.Now()
	case s.options.ArchiveAfter > 0 && p.Mode == modeRun && !p.Archived:
		r.DueAt = tx.Now() + s.options.ArchiveAfter.Milliseconds()
	}
}

// dropFiles marks the files of a child whose session is deleted.
func (s *Service) dropFiles(tx sessile.Tx, gone *sessile.Session) error {
	runs, err := tx.Runs(sessile.RunFilter{Account: gone.Account, SessionKey: gone.Key, Kind: sessile.RunKindSpawn, Limit: 1})
	if err != nil || len(runs) == 0 {
		return err
	}
	r := &runs[0]
	w, err := workOf(r)
	if err != nil || w.Spawn.Files == "" || !r.Status.Ended() {
		return err
	}
	switch r.Delivery {
	case sessile.DeliveryUnneeded, sessile.DeliveryDelivered, sessile.DeliveryDiscarded:
	default: // when its result settles, its files go
		return nil
	}
	w.Spawn.DropFiles, r.DueAt = true, tx.Now()
	if err := w.store(r); err != nil {
		return err
	}
	return tx.UpdateRun(r)
}

// housekeep does what is due: results that were suspended for too long are discarded, files that nobody needs are removed,
// children that ended long ago are archived.
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
		for i := range due {
			if err := s.removeFiles(&due[i]); err != nil {
				return err
			}
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

// removeFiles removes what a child was given. After a crash before the transaction that notes it, it is done again.
func (s *Service) removeFiles(r *sessile.Run) error {
	if r.Kind != sessile.RunKindSpawn {
		return nil
	}
	w, err := workOf(r)
	if err != nil || !w.Spawn.DropFiles || w.Spawn.Files == "" {
		return err
	}
	if err := os.RemoveAll(w.Spawn.Files); err != nil {
		s.options.Logger.Warn("files of a sub-agent could not be removed", "run", r.ID, "error", err)
	}
	return nil
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
	if w.Spawn.DropFiles {
		w.Spawn.DropFiles, w.Spawn.Files = false, ""
		s.schedule(tx, &r, w.Spawn)
		if err := w.store(&r); err != nil {
			return err
		}
		return tx.UpdateRun(&r)
	}
	child, found, err := tx.SessionByKey(r.Account, r.SessionKey)
	switch {
	case err != nil:
		return err
	case !found:
		return tx.DeleteRun(r.Row) // nothing is left of the child
	case w.Spawn.Delete:
		return s.finish(tx, &r, &w) // it was at work when it was to be deleted
	}
	return s.archive(tx, &r, &w, &child)
}

// archive archives a child, later when it is at work again or is about to be.
func (s *Service) archive(tx sessile.Tx, r *sessile.Run, w *work, child *sessile.Session) error {
	busy, err := s.atWork(tx, child)
	if err != nil {
		return err
	}
	if busy {
		r.DueAt = tx.Now() + busyPause.Milliseconds()
		return tx.UpdateRun(r)
	}
	w.Spawn.Archived = true
	if err := w.store(r); err != nil {
		return err
	}
	if err := tx.UpdateRun(r); err != nil || child.Status == sessile.SessionArchived {
		return err
	}
	child.Status, child.ArchivedAt = sessile.SessionArchived, tx.Now()
	child.UpdatedAt = tx.Now()
	return tx.UpdateSession(child)
}

// atWork reports whether something runs in a session or waits for it.
func (s *Service) atWork(tx sessile.ReadTx, row *sessile.Session) (bool, error) {
	running, err := tx.RunningRuns(row.Row)
	if err != nil || len(running) > 0 {
		return len(running) > 0, err
	}
	main, found, err := tx.Branch(row.Row, sessile.MainBranch)
	if err != nil || !found {
		return false, err
	}
	queued, err := tx.QueuedRuns(main.Row)
	if err != nil || len(queued) > 0 {
		return len(queued) > 0, err
	}
	open, err := tx.OpenRuns(row.Account, row.Key)
	return len(open) > 0, err
}
