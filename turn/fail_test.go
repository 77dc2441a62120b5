package turn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/turn"
)

func TestGenerationFails(t *testing.T) {
	tests := []struct {
		name string
		line line
		code sessile.Code
		run  sessile.RunStatus
	}{
		{"an error", failWith(errors.New("no answer")), sessile.CodeOrchestrationFailed, sessile.RunFailed},
		{"too slow", stall, sessile.CodeGenerationTimeout, sessile.RunTimeout},
	}
	for _, test := range tests {
		for _, k := range kinds() {
			t.Run(test.name+", "+k.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, turn.Options{})
					first := s.respond("main", "hello").FloorID
					s.script.add(test.line)
					began := time.Now()
					s.failsWithout(s.ctx, k, first, test.code, test.run)
					if took := time.Since(began); test.code == sessile.CodeGenerationTimeout && took != time.Minute {
						t.Errorf("it was given up after %s, want the default of 60s", took)
					}
				})
			})
		}
	}
}

func TestGenerationCancelled(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			s := newStage(t, turn.Options{})
			first := s.respond("main", "hello").FloorID
			ctx, cancel := context.WithCancel(s.ctx)
			s.script.add(func(limited context.Context, r model.Request) (model.Response, error) {
				cancel() // who asked has gone
				return stall(limited, r)
			})
			s.failsWithout(ctx, k, first, sessile.CodeGenerationCancelled, sessile.RunCancelled)
		})
	}
}

// failsWithout takes a turn that fails before anything was staged, and checks that it left nothing but its floor, that
// what was there is as it was, and that the branch takes further turns.
func (s *stage) failsWithout(ctx context.Context, k kind, first string, code sessile.Code, status sessile.RunStatus) {
	s.Helper()
	failed := s.fails(ctx, k, first, code)
	_, run, err := s.sessions.FloorRun(s.ctx, owner, failed)
	s.must(err)
	if run == nil || run.Status != status || run.ErrorCode != string(code) || run.EndedAt == nil {
		s.Errorf("the run is %+v, want status %s and code %s", run, status, code)
	}
	if k.name == "retry" {
		s.wantMutations(failed, "scene applied", "world applied")
	} else {
		s.wantMutations(failed)
	}
	s.stillWorks(k, first)
}

// fails takes a turn with a write and returns the id of its floor.
func (s *stage) fails(ctx context.Context, k kind, first string, code sessile.Code) (failed string) {
	s.Helper()
	var events []turn.Event
	_, err := k.take(ctx, s, first, turn.Request{Writes: writes("mood", `"x"`), Observe: func(e turn.Event) {
		startOf(&failed)(e)
		events = append(events, e)
	}})
	s.refused(err, code)
	s.wantState(failed, k.failedState())
	if got := s.value(k.branch(), "mood"); got != "" {
		s.Errorf("the failed turn wrote %s", got)
	}
	last := events[len(events)-1].Run
	if last == nil || last.Code != code || last.CompletedAt == nil || last.Status == "running" || last.Status == "completed" {
		s.Errorf("the last event is %+v", events[len(events)-1])
	}
	return failed
}

// stillWorks checks the floor that was there before a turn failed, and takes the turn again.
func (s *stage) stillWorks(k kind, first string) {
	s.Helper()
	s.wantState(first, sessile.FloorCommitted)
	if got := s.answerOf(first); got != "said" {
		s.Errorf("the old answer is %q", got)
	}
	before := s.floor(first)
	if before.SupersededAt != nil {
		s.Errorf("the old floor is superseded by %v", before.SupersededByID)
	}
	result, err := k.take(s.ctx, s, first, turn.Request{Writes: writes("mood", `"y"`)})
	s.must(err)
	if got := s.value(k.branch(), "mood"); got != `"y"` {
		s.Errorf("the next turn wrote %q", got)
	}
	// A failed floor keeps its number, but for one that would have replaced another (ruling 9).
	want := map[string]int64{"respond": 2, "regenerate": 0, "retry": 0, "edit": 2}[k.name]
	if result.FloorNo != want {
		s.Errorf("the next floor has the number %d, want %d", result.FloorNo, want)
	}
}

// A turn that fails after the model has answered keeps what it meant to write as discarded, with a reason.
func TestCommitFails(t *testing.T) {
	few := sessile.DefaultQuotas()
	few.ItemsPerNamespace = 1
	tests := []struct {
		name   string
		quotas sessile.Quotas
		full   bool  // the namespace takes no further item
		busy   int32 // so many updates after the answer are refused
		broken bool
		code   sessile.Code
		reason string
	}{
		{name: "limit", quotas: few, full: true, code: sessile.CodeNamespaceItemLimit, reason: "session_state_stage_failed"},
		{name: "busy", quotas: sessile.DefaultQuotas(), busy: 3, code: sessile.CodeCommitBusy, reason: "commit_busy"},
		{name: "broken", quotas: sessile.DefaultQuotas(), broken: true, code: sessile.CodeTurnCommitFailed, reason: "turn_commit_failed"},
	}
	for _, test := range tests {
		for _, k := range kinds() {
			t.Run(test.name+", "+k.name, func(t *testing.T) {
				var store *flaky
				s := stageOver(t, turn.Options{CommitRetryDelay: time.Nanosecond}, test.quotas, func(inner sessile.Store) sessile.Store {
					store = &flaky{Store: inner}
					return store
				})
				first := s.respond("main", "hello").FloorID
				if test.full {
					s.write(k.branch(), "full", "1")
				}
				s.script.add(func(ctx context.Context, r model.Request) (model.Response, error) {
					store.busy.Store(test.busy)
					store.broken.Store(test.broken)
					return say("in vain")(ctx, r)
				})
				failed := s.fails(s.ctx, k, first, test.code)
				want := []string{"scene discarded " + test.reason, "world discarded " + test.reason, "mood discarded " + test.reason}
				if k.name == "retry" {
					want = append(want, "scene applied", "world applied")
				}
				s.wantMutations(failed, want...)
				store.broken.Store(false)
				if test.full {
					s.wantState(first, sessile.FloorCommitted)
					s.respond(k.branch(), "and on")
					return
				}
				s.stillWorks(k, first)
			})
		}
	}
}

// A busy database is asked again as often as the options say.
func TestCommitRetries(t *testing.T) {
	tests := []struct {
		name    string
		retries int
		busy    int32
		want    sessile.Code
		waited  time.Duration
	}{
		{"default, in time", 0, 2, "", 300 * time.Millisecond},
		{"default, too late", 0, 3, sessile.CodeCommitBusy, 300 * time.Millisecond},
		{"four, in time", 4, 4, "", 1500 * time.Millisecond},
		{"one, too late", 1, 2, sessile.CodeCommitBusy, 100 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var store *flaky
				s := stageOver(t, turn.Options{CommitRetries: test.retries}, sessile.DefaultQuotas(), func(inner sessile.Store) sessile.Store {
					store = &flaky{Store: inner}
					return store
				})
				s.script.add(func(ctx context.Context, r model.Request) (model.Response, error) {
					store.busy.Store(test.busy)
					return say("said")(ctx, r)
				})
				began := time.Now()
				var floor string
				_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{
					Message: "go", Request: turn.Request{Writes: writes("mood", "1"), Observe: startOf(&floor)},
				})
				s.refused(err, test.want)
				if waited := time.Since(began); waited != test.waited {
					t.Errorf("it waited %s, want %s", waited, test.waited)
				}
				want := sessile.FloorCommitted
				if test.want != "" {
					want = sessile.FloorFailed
				}
				s.wantState(floor, want)
			})
		})
	}
}

// A turn that cannot even note its failure holds its branch until its lease runs out, and no longer.
func TestFailureThatIsNotNoted(t *testing.T) {
	var store *flaky
	s := stageOver(t, turn.Options{CommitRetryDelay: time.Nanosecond}, sessile.DefaultQuotas(), func(inner sessile.Store) sessile.Store {
		store = &flaky{Store: inner}
		return store
	})
	first := s.respond("main", "hello").FloorID
	s.script.add(func(ctx context.Context, r model.Request) (model.Response, error) {
		store.busy.Store(4)
		return say("in vain")(ctx, r)
	})
	_, err := s.turns.Retry(s.ctx, owner, first, turn.Request{})
	s.refused(err, sessile.CodeCommitBusy)
	s.wantState(first, sessile.FloorGenerating)
	_, err = s.turns.Retry(s.ctx, owner, first, turn.Request{})
	s.refused(err, sessile.CodeGenerationConflict)
	s.clock.Add(past.Milliseconds())
	s.script.add(say("at last"))
	_, err = s.turns.Retry(s.ctx, owner, first, turn.Request{})
	s.must(err)
	if got := s.answerOf(first); got != "at last" {
		t.Errorf("the answer is %q", got)
	}
}

// A branch on which only edits failed takes the next one (ruling 25), and one that has a committed floor takes none.
func TestEditAfterFailedEdit(t *testing.T) {
	s := newStage(t, turn.Options{})
	first := s.respond("main", "hello").FloorID
	message := s.userMessage(first)
	edit := func(content string) (turn.Result, error) {
		return s.turns.Edit(s.ctx, owner, message, turn.EditRequest{Content: content, BranchID: "alt"})
	}
	for range 2 {
		s.script.add(failWith(errors.New("no answer")))
		_, err := edit("in vain")
		s.refused(err, sessile.CodeOrchestrationFailed)
	}
	result, err := edit("other")
	s.must(err)
	if result.FloorNo != 3 || result.SourceFloorID != first || result.SourceMessageID != message {
		t.Errorf("the edit is %+v", result)
	}
	if parent := s.floor(result.FloorID).ParentID; parent == nil || *parent != first {
		t.Errorf("its parent is %v, want %s", parent, first)
	}
	_, err = edit("too late")
	s.refused(err, sessile.CodeBranchExists)
	_, err = s.turns.Edit(s.ctx, owner, message, turn.EditRequest{Content: "other", BranchID: "main"})
	s.refused(err, sessile.CodeBranchExists)
}

// Retry and edit check in the order of 5.5.
func TestRerunRefusals(t *testing.T) {
	s := newStage(t, turn.Options{})
	_, err := s.turns.Regenerate(s.ctx, owner, s.id, turn.Request{})
	s.refused(err, sessile.CodeNoFloorToRegenerate)
	first := s.respond("main", "hello").FloorID
	result, err := s.sessions.FloorResult(s.ctx, owner, first)
	s.must(err)
	message := s.userMessage(first)
	bare, err := s.sessions.CreateFloor(s.ctx, owner, newFloor(s.id, "bare", sessile.FloorCommitted))
	s.must(err)
	s.script.add(failWith(errors.New("no answer")))
	var failed string
	_, err = s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "in vain", Request: turn.Request{Observe: startOf(&failed)}})
	s.refused(err, sessile.CodeOrchestrationFailed)
	failedMessage := s.userMessage(failed)

	retry := func(account, floor string) error {
		_, err := s.turns.Retry(s.ctx, account, floor, turn.Request{})
		return err
	}
	edit := func(account, message, branch string) error {
		_, err := s.turns.Edit(s.ctx, account, message, turn.EditRequest{Content: "x", BranchID: branch})
		return err
	}
	s.refused(retry(owner, "flr_none"), sessile.CodeFloorNotFound)
	s.refused(retry("stranger", first), sessile.CodeFloorNotFound)
	s.refused(retry(owner, failed), sessile.CodeInvalidState)
	s.refused(retry(owner, bare.ID), sessile.CodeNoUserMessage)
	s.refused(edit(owner, "msg_none", "alt"), sessile.CodeMessageNotFound)
	s.refused(edit("stranger", message, "alt"), sessile.CodeMessageNotFound)
	s.refused(edit(owner, *result.AssistantMessageID, "main"), sessile.CodeInvalidMessageRole)
	s.refused(edit(owner, failedMessage, "main"), sessile.CodeInvalidState)
	s.refused(edit(owner, message, "bare"), sessile.CodeBranchExists)

	_, err = s.turns.Regenerate(s.ctx, owner, s.id, turn.Request{})
	s.must(err)
	s.refused(retry(owner, first), sessile.CodeInvalidState) // superseded

	s.archive()
	s.refused(retry(owner, first), sessile.CodeSessionArchived)
	s.refused(edit(owner, *result.AssistantMessageID, "main"), sessile.CodeSessionArchived)
}

// A user message on a page that is an output, or no longer active, is none that can be edited.
func TestEditScope(t *testing.T) {
	s := newStage(t, turn.Options{})
	first := s.respond("main", "hello").FloorID
	var inactive, output sessile.Message
	s.must(s.store.Update(s.ctx, func(tx sessile.Tx) error {
		floor, _, err := tx.Floor(owner, first)
		if err != nil {
			return err
		}
		for _, p := range []struct {
			page sessile.ContentPage
			m    *sessile.Message
		}{
			{sessile.ContentPage{ID: "page_inactive", Kind: sessile.PageInput, No: 1}, &inactive},
			{sessile.ContentPage{ID: "page_output", Kind: sessile.PageOutput, No: 7, Active: true}, &output},
		} {
			p.page.Floor = floor.Row
			if err := tx.AddPage(&p.page); err != nil {
				return err
			}
			*p.m = sessile.Message{ID: "msg_" + p.page.ID, Page: p.page.Row, Role: "user", Content: "x", ContentFormat: "text"}
			if err := tx.AddMessage(p.m); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, m := range []sessile.Message{inactive, output} {
		_, err := s.turns.Edit(s.ctx, owner, m.ID, turn.EditRequest{Content: "x", BranchID: "main"})
		s.refused(err, sessile.CodeInvalidMessageScope)
	}
}
