package turn_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/turn"
)

func newFloor(sessionID, branch string, state sessile.FloorState) session.NewFloor {
	return session.NewFloor{SessionID: sessionID, BranchID: branch, State: state}
}

func (s *stage) respondInBackground(ctx context.Context, message string) chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := s.turns.Respond(ctx, owner, s.id, turn.RespondRequest{Message: message})
		ended <- err
	}()
	return ended
}

func TestQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, turn.Options{Queue: true})
		h := hold()
		first := h.onStage(s, "said", func() error {
			_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "turn 0"})
			return err
		})
		want := []string{"turn 0"}
		var waiting []chan error
		for i := range 5 {
			want = append(want, fmt.Sprintf("turn %d", i+1))
			waiting = append(waiting, s.respondInBackground(s.ctx, want[i+1]))
			synctest.Wait() // it stands in the queue
		}
		close(h.letGo)
		s.must(<-first)
		for _, ended := range waiting {
			s.must(<-ended)
		}
		if got := s.script.heard(); !slices.Equal(got, want) {
			t.Errorf("the model heard %q, want %q", got, want)
		}
	})
}

func TestQueueTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, turn.Options{Queue: true})
		h := hold()
		first := h.onStage(s, "said", func() error {
			_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "slow"})
			return err
		})
		began := time.Now()
		_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "waits"})
		s.refused(err, sessile.CodeGenerationQueueTimeout)
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("it waited %s, want the default of 5s", waited)
		}
		// Who waits for another branch does not wait here.
		s.respond("alt", "at once")
		close(h.letGo)
		s.must(<-first)
		s.respond("main", "free again")
		if floors, total := s.floors("main"); total != 2 || floors[1].No != 1 {
			t.Errorf("main has %d floors: who waited in vain leaves none", total)
		}
	})
}

func (s *stage) floors(branch string) ([]sessile.Floor, int) {
	s.Helper()
	floors, total, err := s.sessions.Floors(s.ctx, sessile.FloorFilter{
		Account: owner, SessionID: s.id, Branch: branch, Page: sessile.Page{Limit: 100, SortBy: "floor_no"},
	})
	s.must(err)
	return floors, total
}

func TestQueueCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, turn.Options{Queue: true})
		h := hold()
		first := h.onStage(s, "said", func() error {
			_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "slow"})
			return err
		})
		ctx, cancel := context.WithCancel(s.ctx)
		given := s.respondInBackground(ctx, "given up")
		synctest.Wait()
		behind := s.respondInBackground(s.ctx, "behind it")
		synctest.Wait()
		cancel()
		s.refused(<-given, sessile.CodeGenerationCancelled)
		close(h.letGo)
		s.must(<-first)
		s.must(<-behind)
		if got, want := s.script.heard(), []string{"slow", "behind it"}; !slices.Equal(got, want) {
			t.Errorf("the model heard %q, want %q", got, want)
		}
	})
}

// What a rerun means is settled when it is asked for, not when its turn comes.
func TestQueuedTargetStale(t *testing.T) {
	respond := func(s *stage) error {
		_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "before it"})
		return err
	}
	regenerate := func(s *stage) error {
		_, err := s.turns.Regenerate(s.ctx, owner, s.id, turn.Request{})
		return err
	}
	tests := []struct {
		name   string
		floors int // before
		before func(s *stage) error
		fails  bool // what runs before
		queued func(s *stage, floor string) error
		want   sessile.Code
	}{
		{"regenerate behind respond", 1, respond, false, func(s *stage, _ string) error { return regenerate(s) }, sessile.CodeGenerationTargetStale},
		{"regenerate behind the first respond", 0, respond, false, func(s *stage, _ string) error { return regenerate(s) }, sessile.CodeGenerationTargetStale},
		{"regenerate behind regenerate", 1, regenerate, false, func(s *stage, _ string) error { return regenerate(s) }, sessile.CodeGenerationTargetStale},
		{"regenerate behind a respond that fails", 1, respond, true, func(s *stage, _ string) error { return regenerate(s) }, ""},
		{"retry behind regenerate", 1, regenerate, false, func(s *stage, floor string) error {
			_, err := s.turns.Retry(s.ctx, owner, floor, turn.Request{})
			return err
		}, sessile.CodeGenerationTargetStale},
		{"retry behind respond", 1, respond, false, func(s *stage, floor string) error {
			_, err := s.turns.Retry(s.ctx, owner, floor, turn.Request{})
			return err
		}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, turn.Options{Queue: true})
				floor := ""
				for range test.floors {
					floor = s.respond("main", "hello").FloorID
				}
				h := hold()
				line := h.line("said")
				if test.fails {
					line = h.failing()
				}
				s.script.add(line)
				before := make(chan error, 1)
				go func() { before <- test.before(s) }()
				<-h.reached
				queued := make(chan error, 1)
				go func() { queued <- test.queued(s, floor) }()
				synctest.Wait()
				close(h.letGo)
				if err := <-before; (err != nil) != test.fails {
					t.Errorf("the turn before it: %v", err)
				}
				s.refused(<-queued, test.want)
			})
		})
	}
}
