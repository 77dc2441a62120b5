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
	err := s.store.Update(context.WithoutCancel(ctx), func(tx sessile.Tx) error {
		run, found, err := tx.RunByRow(a.run.Row)
		if err != nil {
			return err
		}
		if !found || run.Status != sessile.RunRunning {
			return nil // whoever took the branch over has cleaned up
		}
		if said != nil {
			if err := s.discard(tx, a, said, discardReason(code)); err != nil {
				return err
			}
		}
		return giveUp(tx, &run, runStatus(code), string(code))
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
func giveUp(tx sessile.Tx, run *sessile.Run, status sessile.RunStatus, code string) error {
	floor, found, err := tx.FloorByRow(run.Floor)
	if err != nil {
		return err
	}
	if found && floor.State == sessile.FloorGenerating {
		after := sessile.FloorFailed
		if floor.HasSnapshot() {
			after = sessile.FloorCommitted
		}
		if err := tx.SetFloorState(floor.Row, after); err != nil {
			return err
		}
	}
	return endRun(tx, run, status, code)
}

// Recover gives up every run that a crash left running (1.2). The process that owns the store calls it before it serves.
func (s *Service) Recover(ctx context.Context) error {
	return s.store.Update(ctx, func(tx sessile.Tx) error {
		runs, err := tx.RunningRuns(0)
		if err != nil {
			return err
		}
		for i := range runs {
			if err := giveUp(tx, &runs[i], sessile.RunFailed, reasonStale); err != nil {
				return err
			}
		}
		return nil
	})
}
