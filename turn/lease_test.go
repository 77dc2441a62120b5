package turn_test

import (
	"context"
	"testing"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/turn"
)

// past is when every lease has run out: the generation timeout and the margin for the commit are a minute each.
const past = 2*time.Minute + time.Millisecond

// A turn whose lease ran out loses its branch to the next one, and can no longer commit.
func TestTakeover(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			s := newStage(t, turn.Options{})
			first := s.respond("main", "hello").FloorID
			var dead string
			h := hold()
			ended := h.onStage(s, "too late", func() error {
				_, err := k.take(s.ctx, s, first, turn.Request{Writes: writes("mood", `"late"`), Observe: startOf(&dead)})
				return err
			})
			s.wantState(dead, sessile.FloorGenerating)

			s.clock.Add(past.Milliseconds() - 2)
			_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "too early", BranchID: k.branch()})
			s.refused(err, sessile.CodeGenerationConflict)
			s.clock.Add(2)

			result, err := k.take(s.ctx, s, first, turn.Request{Writes: writes("mood", `"new"`)})
			s.must(err)
			if k.name != "retry" {
				s.wantState(dead, sessile.FloorFailed)
			}
			s.wantRun(dead, k, sessile.RunTimeout)

			close(h.letGo)
			s.refused(<-ended, sessile.CodeCommitConflict)
			if got := s.value(k.branch(), "mood"); got != `"new"` {
				t.Errorf("the branch shows %s", got)
			}
			if got := s.answerOf(result.FloorID); got != "said" {
				t.Errorf("the floor of the new turn says %q", got)
			}
			s.wantState(result.FloorID, sessile.FloorCommitted)
			if k.name != "retry" {
				s.wantState(dead, sessile.FloorFailed)
				s.wantMutations(dead)
			}
			s.respond(k.branch(), "and on")
		})
	}
}

// wantRun checks how the dead run ended; a retry that took over is the latest run of the same floor.
func (s *stage) wantRun(floorID string, k kind, want sessile.RunStatus) {
	s.Helper()
	if k.name == "retry" {
		want = sessile.RunSucceeded
	}
	_, run, err := s.sessions.FloorRun(s.ctx, owner, floorID)
	s.must(err)
	if run == nil || run.Status != want {
		s.Errorf("the run of floor %s is %+v, want status %s", floorID, run, want)
	}
}

// A turn of another kind takes over too, and finds the floor under retry as it was before.
func TestTakeoverOfRetry(t *testing.T) {
	s := newStage(t, turn.Options{})
	first := s.respond("main", "hello").FloorID
	h := hold()
	ended := h.onStage(s, "too late", func() error {
		_, err := s.turns.Retry(s.ctx, owner, first, turn.Request{})
		return err
	})
	s.clock.Add(past.Milliseconds())
	next := s.respond("main", "more").FloorID
	close(h.letGo)
	s.refused(<-ended, sessile.CodeCommitConflict)
	s.wantState(first, sessile.FloorCommitted)
	if got := s.answerOf(first); got != "said" {
		t.Errorf("the old answer is %q", got)
	}
	if parent := s.floor(next).ParentID; parent == nil || *parent != first {
		t.Errorf("the next floor has the parent %v, want %s", parent, first)
	}
}

func TestIngestTakesOver(t *testing.T) {
	s := newStage(t, turn.Options{})
	var dead string
	h := hold()
	ended := h.onStage(s, "too late", func() error {
		_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "hello", Request: turn.Request{Observe: startOf(&dead)}})
		return err
	})
	rows := turn.IngestRequest{Messages: []turn.IngestedMessage{{Role: "user", Content: "from elsewhere"}}}
	_, err := s.turns.Ingest(s.ctx, owner, s.id, rows)
	s.refused(err, sessile.CodeGenerationConflict)
	s.clock.Add(past.Milliseconds())
	in, err := s.turns.Ingest(s.ctx, owner, s.id, rows)
	s.must(err)
	if in.FloorNo != 1 {
		t.Errorf("the rows are on floor %d, want 1: a failed floor keeps its number", in.FloorNo)
	}
	close(h.letGo)
	s.refused(<-ended, sessile.CodeCommitConflict)
	s.wantState(dead, sessile.FloorFailed)
}

func TestBranchesRunSideBySide(t *testing.T) {
	s := newStage(t, turn.Options{})
	s.respond("main", "hello")
	h := hold()
	ended := h.onStage(s, "slow", func() error {
		_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "slow"})
		return err
	})
	_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "refused"})
	s.refused(err, sessile.CodeGenerationConflict)
	s.respond("alt", "quick")
	close(h.letGo)
	s.must(<-ended)
}

// A floor that generates without a run, as a bare floor may, blocks its branch and no other.
func TestGeneratingFloorBlocks(t *testing.T) {
	s := newStage(t, turn.Options{})
	s.respond("main", "hello")
	_, err := s.sessions.CreateFloor(s.ctx, owner, newFloor(s.id, "alt", sessile.FloorGenerating))
	s.must(err)
	_, err = s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "go", BranchID: "alt"})
	s.refused(err, sessile.CodeInvalidState)
	s.respond("main", "go")
}

// Recover gives up what a crash left, lease or not.
func TestRecover(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			s := newStage(t, turn.Options{})
			first := s.respond("main", "hello").FloorID
			var lost string
			h := hold()
			ctx, cancel := context.WithCancel(s.ctx)
			defer cancel()
			ended := h.onStage(s, "lost", func() error {
				_, err := k.take(ctx, s, first, turn.Request{Writes: writes("mood", "1"), Observe: startOf(&lost)})
				return err
			})
			s.must(s.turns.Recover(s.ctx))
			s.wantState(lost, k.failedState())
			_, run, err := s.sessions.FloorRun(s.ctx, owner, lost)
			s.must(err)
			if run == nil || run.Status != sessile.RunFailed || run.ErrorCode != "turn_attempt_stale" {
				t.Errorf("the run is %+v", run)
			}
			s.wantState(first, sessile.FloorCommitted)
			if got := s.answerOf(first); got != "said" {
				t.Errorf("the old answer is %q", got)
			}
			active, err := s.sessions.ActiveRun(s.ctx, owner, s.id)
			s.must(err)
			if active != nil {
				t.Errorf("a run is active: %+v", active)
			}
			_, err = k.take(s.ctx, s, first, turn.Request{})
			s.must(err)
			close(h.letGo)
			s.refused(<-ended, sessile.CodeCommitConflict)
			if got := s.value(k.branch(), "mood"); got != "" {
				t.Errorf("the lost turn wrote %s", got)
			}
		})
	}
}
