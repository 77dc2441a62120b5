package turn

import (
	"context"
	"errors"

	"github.com/sessile-dev/sessile"
)

// fail ends the turn and returns its error: a new floor becomes failed, one under retry committed again (ruling 10),
// and writes that had been staged are kept as discarded. It does not depend on the caller's context.
func (s *Service) fail(ctx context.Context, a *attempt, said *answer, cause error) error {
	code := sessile.CodeOf(cause)
	a.tellFailure(cause, s.now())
	if a.queued && errors.Is(context.Cause(ctx), ErrStopping) {
		return cause // the run goes on when the program is started again
	}
	err := s.store.Update(context.WithoutCancel(ctx), func(tx sessile.Tx) error {
		run, found, err := tx.RunByRow(a.run.Row)
		if err != nil {
			return err
		}
		if !found || !a.isRun(&run) {
			return nil // whoever took the branch over has cleaned up
		}
		if said != nil {
			if err := s.discard(tx, a, said, discardReason(code)); err != nil {
				return err
			}
		}
		return s.giveUp(tx, &run, runStatus(code), cause)
	})
	if err != nil {
		// The turn has failed either way. Its lease runs out, and the next turn or the next start gives it up.
		return errors.Join(cause, err)
	}
	return cause
}

func (a *attempt) tellFailure(cause error, now int64) {
	status := "failed"
	if sessile.CodeOf(cause) == sessile.CodeGenerationCancelled {
		status = "cancelled"
	}
	record := a.record(status, now)
	record.CompletedAt = &record.UpdatedAt
	record.Code = sessile.CodeOf(cause)
	if e, ok := errors.AsType[*sessile.Error](cause); ok {
		record.Message = e.Message
	}
	a.tell(Event{Run: record})
}

func (s *Service) discard(tx sessile.Tx, a *attempt, said *answer, reason string) error {
	floor, found, err := tx.FloorByRow(a.floor.Row)
	if err != nil || !found {
		return err
	}
	c, err := s.floorCommit(tx, a, said, &floor)
	if err != nil {
		return err
	}
	return s.cells.DiscardFloor(tx, c, reason)
}

func discardReason(code sessile.Code) string {
	switch code {
	case sessile.CodeCommitBusy:
		return reasonBusy
	case sessile.CodeCommitConflict:
		return reasonConflict
	case sessile.CodeTurnCommitFailed:
		return reasonCommit
	}
	return reasonStage
}

func runStatus(code sessile.Code) sessile.RunStatus {
	switch code {
	case sessile.CodeGenerationTimeout:
		return sessile.RunTimeout
	case sessile.CodeGenerationCancelled:
		return sessile.RunCancelled
	}
	return sessile.RunFailed
}

// giveUp ends a run without result. A floor that was committed before is so again, any other one has failed.
func (s *Service) giveUp(tx sessile.Tx, run *sessile.Run, status sessile.RunStatus, cause error) error {
	if err := closeFloor(tx, run.Floor); err != nil {
		return err
	}
	session, found, err := tx.SessionByKey(run.Account, run.SessionKey) // it may have been reset while the run waited
	if err != nil {
		return err
	}
	end := End{Run: run, Status: status}
	if found {
		end.Session = &session
	}
	run.ErrorCode = string(sessile.CodeOf(cause))
	if e, ok := errors.AsType[*sessile.Error](cause); ok {
		run.Error = e.Message
	}
	return s.end(tx, &end)
}

func closeFloor(tx sessile.Tx, row int64) error {
	floor, found, err := tx.FloorByRow(row)
	if err != nil || !found || floor.State != sessile.FloorGenerating {
		return err
	}
	after := sessile.FloorFailed
	if floor.HasSnapshot() {
		after = sessile.FloorCommitted
	}
	return tx.SetFloorState(floor.Row, after)
}

// lose deals with a run whose process is gone. What was queued is queued again, to be started after a pause.
func (s *Service) lose(tx sessile.Tx, run *sessile.Run, status sessile.RunStatus, cause error) error {
	if run.Kind == sessile.RunKindTurn || run.Kind == sessile.RunKindIngest {
		return s.giveUp(tx, run, status, cause)
	}
	if err := closeFloor(tx, run.Floor); err != nil {
		return err
	}
	run.Status, run.Floor, run.DueAt, run.WaitsOn = sessile.RunQueued, 0, tx.Now()+s.options.ResumeDelay.Milliseconds(), 0
	return tx.UpdateRun(run)
}

// Reap deals with every run whose lease ran out, as [Service.Recover] does: its end could not be stored, or its holder is gone.
// It tells when the next lease ends, in milliseconds since 1970; 0 when nothing runs. Who starts queued runs calls it from time
// to time, since they wait behind the branches that such runs hold.
func (s *Service) Reap(ctx context.Context) (next int64, err error) {
	first := func() error {
		return s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
			next, err = tx.FirstLease()
			return err
		})
	}
	if err := first(); err != nil || next == 0 || next > s.now() {
		return next, err
	}
	var lost []int64
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		lost = nil
		runs, err := tx.RunningRuns(0)
		if err != nil {
			return err
		}
		for i := range runs {
			if runs[i].LeaseUntil > tx.Now() {
				continue
			}
			if err := s.lose(tx, &runs[i], sessile.RunTimeout, errNoSign()); err != nil {
				return err
			}
			lost = append(lost, runs[i].Row)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, row := range lost {
		s.Interrupt(row)
	}
	s.follower.Settled(lost...)
	return next, first()
}

func errNoSign() error {
	return sessile.Errorf(sessile.CodeGenerationTimeout, "the turn gave no sign of life")
}

// Recover deals with every run that a crash left running (spec/governed-state.md, 1.2; spec/session-tools.md, 5.13): turns are
// given up, queued runs start again. The process that owns the store calls it before it serves.
func (s *Service) Recover(ctx context.Context) error {
	return s.store.Update(ctx, func(tx sessile.Tx) error {
		runs, err := tx.RunningRuns(0)
		if err != nil {
			return err
		}
		stale := &sessile.Error{Code: reasonStale, Message: "the program was stopped while the turn ran"}
		for i := range runs {
			if err := s.lose(tx, &runs[i], sessile.RunFailed, stale); err != nil {
				return err
			}
		}
		return nil
	})
}
