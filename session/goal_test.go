package session_test

import (
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
)

// Section 1.10 and 7.3: each change of a goal is logged, and nothing else is.
func TestGoal(t *testing.T) {
	s := agents(t, session.Options{})
	one := s.add(session.NewSession{Key: "agent:main:main"})
	events := func() (summaries []string) {
		s.must(s.store.View(t.Context(), func(tx sessile.ReadTx) error {
			changes, err := changelog.ReadChanges(tx, owner, one.Key, 0, 100)
			for _, e := range changes.Events {
				if e.Kind != sessile.EventGoalChanged || e.ActorType != sessile.ActorHuman {
					t.Errorf("event %+v", e)
				}
				summaries = append(summaries, e.Summary)
			}
			return err
		}))
		return summaries
	}
	budget, same := int64(100), int64(100)
	for i, c := range []struct {
		goal   session.NewGoal
		status string
		events int
	}{
		{session.NewGoal{Objective: "a"}, "active", 1},
		{session.NewGoal{Objective: "a"}, "active", 1},
		{session.NewGoal{Objective: "a", Status: "active"}, "active", 1},
		{session.NewGoal{Objective: "a", TokenBudget: &budget}, "active", 2},
		{session.NewGoal{Objective: "a", TokenBudget: &same}, "active", 2},
		{session.NewGoal{Objective: "a", TokenBudget: &same, Status: "paused"}, "paused", 3},
		{session.NewGoal{Objective: "a", TokenBudget: &same}, "paused", 3},
		{session.NewGoal{Objective: "b"}, "paused", 4},
	} {
		goal, err := s.sessions.SetGoal(t.Context(), owner, one.ID, c.goal)
		s.must(err)
		if goal.Status != c.status || goal.Objective != c.goal.Objective || len(events()) != c.events {
			t.Errorf("step %d: %+v, events %q", i, goal, events())
		}
	}
	for i, want := range []bool{true, false} {
		cleared, err := s.sessions.ClearGoal(t.Context(), owner, one.ID)
		s.must(err)
		if cleared != want || len(events()) != 5 {
			t.Errorf("clearing %d: %v, events %q", i, cleared, events())
		}
	}
}
