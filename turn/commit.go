package turn

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// Reasons with which the writes of a failed turn are discarded (spec/governed-state.md, 1.5).
const (
	reasonStage    = "session_state_stage_failed"
	reasonBusy     = "commit_busy"
	reasonConflict = "commit_conflict"
	reasonStale    = "turn_attempt_stale"
	reasonCommit   = "turn_commit_failed"
)

// commit stores the answer, the state and the floor in one transaction. What the caller's context does no longer
// matters: the answer has been paid for.
func (s *Service) commit(ctx context.Context, a *attempt, said *answer) (Result, error) {
	ctx = context.WithoutCancel(ctx)
	a.enter(PhaseTransactionPrepared, s.now())
	delay := s.options.CommitRetryDelay
	for try := 0; ; try++ {
		var floor sessile.Floor
		err := s.store.Update(ctx, func(tx sessile.Tx) (err error) {
			floor, err = s.commitTx(tx, a, said)
			return err
		})
		if err == nil {
			a.enter(PhaseTransactionCommitted, s.now())
			record := a.record("completed", s.now())
			record.CompletedAt = &record.UpdatedAt
			a.tell(Event{Run: record})
			return resultOf(a, &floor, said), nil
		}
		if sessile.CodeOf(err) != sessile.CodeServerBusy {
			return Result{}, s.fail(ctx, a, said, commitError(err))
		}
		if try >= s.options.CommitRetries {
			return Result{}, s.fail(ctx, a, said, &sessile.Error{Code: sessile.CodeCommitBusy, Message: "the database was too busy to commit the turn", Cause: err})
		}
		wait(delay)
		delay *= 2
	}
}

func wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// commitError keeps errors that carry a code of ours; everything else is a failed commit.
func commitError(err error) error {
	if _, ok := errors.AsType[*sessile.Error](err); ok {
		return err
	}
	return &sessile.Error{Code: sessile.CodeTurnCommitFailed, Message: "the turn could not be committed", Cause: err}
}

func (s *Service) commitTx(tx sessile.Tx, a *attempt, said *answer) (sessile.Floor, error) {
	floor, err := s.holds(tx, a)
	if err != nil {
		return floor, err
	}
	if err := s.addOutput(tx, a, said); err != nil {
		return floor, err
	}
	floor.TokenIn, floor.TokenOut = said.usage.InputTokens, said.usage.OutputTokens
	c, err := s.floorCommit(tx, a, said, &floor)
	if err != nil {
		return floor, err
	}
	if a.replaced != nil {
		if err := tx.SupersedeFloor(a.replaced.Row, floor.Row); err != nil {
			return floor, err
		}
	}
	if err := s.cells.CommitFloor(tx, c); err != nil {
		return floor, err
	}
	if err := settle(tx, a, said); err != nil {
		return floor, err
	}
	return floor, s.succeed(tx, a, said)
}

// holds proves that the turn still has its branch: its run, the fencing token, is running and its floor generating.
func (s *Service) holds(tx sessile.ReadTx, a *attempt) (sessile.Floor, error) {
	run, found, err := tx.RunByRow(a.run.Row)
	if err != nil {
		return sessile.Floor{}, err
	}
	if !found || !a.isRun(&run) {
		return sessile.Floor{}, sessile.Errorf(sessile.CodeCommitConflict, "another turn has taken over the branch")
	}
	a.run = run
	floor, found, err := tx.FloorByRow(a.floor.Row)
	if err != nil {
		return floor, err
	}
	if !found || floor.Deleted || floor.State != sessile.FloorGenerating {
		return floor, sessile.Errorf(sessile.CodeCommitConflict, "the floor is no longer generating")
	}
	return floor, nil
}

// floorCommit gathers what the turn writes. The branch is read again: a direct write may have changed it meanwhile.
func (s *Service) floorCommit(tx sessile.Tx, a *attempt, said *answer, floor *sessile.Floor) (*state.FloorCommit, error) {
	branch, _, err := tx.Branch(a.session.Row, a.branch.Name)
	if err != nil {
		return nil, err
	}
	c := &state.FloorCommit{
		Session: &a.session, Branch: &branch, Floor: floor, RunType: a.runType, Writes: a.request.Writes, RequestID: a.request.RequestID,
	}
	if s.options.StateDisabled {
		return c, nil
	}
	c.Scene, c.World, err = a.builtIn(said, tx.Now())
	return c, err
}

// addOutput stores the answer on a new active output page.
func (s *Service) addOutput(tx sessile.Tx, a *attempt, said *answer) error {
	ids := s.options.IDs
	if a.isRetry() {
		if err := tx.DeactivatePages(a.floor.Row, sessile.PageOutput); err != nil {
			return err
		}
	}
	summaries, err := json.Marshal(said.summaries)
	if err != nil {
		return err
	}
	page := sessile.ContentPage{
		ID: ids.New(sessile.PrefixPage), Floor: a.floor.Row, Kind: sessile.PageOutput, No: a.retryPage + 1, Active: true,
		Version: a.retryPage + 1, Summaries: summaries,
	}
	if err := tx.AddPage(&page); err != nil {
		return err
	}
	for i, r := range said.rows {
		m := sessile.Message{
			ID: ids.New(sessile.PrefixMessage), Page: page.Row, Seq: int64(i), Role: r.role, Content: r.content, ContentFormat: "text",
			Extra: r.extra, TokenCount: r.tokens, CreatedAt: tx.Now(),
		}
		if r.blocks {
			m.ContentFormat = "blocks"
		}
		if err := tx.AddMessage(&m); err != nil {
			return err
		}
	}
	if !said.final || said.text == "" && said.calls > 0 {
		return nil
	}
	m := sessile.Message{
		ID: ids.New(sessile.PrefixMessage), Page: page.Row, Seq: int64(len(said.rows)), Role: "assistant", Content: said.text,
		ContentFormat: "text", TokenCount: said.last.OutputTokens, CreatedAt: tx.Now(),
	}
	if a.offerTools {
		if m.Extra, err = usageExtra(said.last); err != nil {
			return err
		}
	}
	return tx.AddMessage(&m)
}

func resultOf(a *attempt, floor *sessile.Floor, said *answer) Result {
	r := Result{
		FloorID: floor.ID, FloorNo: floor.No, BranchID: a.branch.Name, GeneratedText: said.text, Summaries: said.summaries,
		PromptTokens: said.usage.InputTokens, CompletionTokens: said.usage.OutputTokens, TotalTokens: said.usage.TotalTokens,
	}
	if a.replaced != nil {
		r.PreviousFloorID = a.replaced.ID
	}
	if a.edited != nil {
		r.SourceFloorID, r.SourceMessageID = a.edited.floorID, a.edited.messageID
	}
	return r
}
