package session

import (
	"context"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
)

// GoalStatuses are what the status of a goal may be.
func GoalStatuses() []string {
	return []string{"active", "paused", "blocked", "budget_limited", "usage_limited", "complete"}
}

// NewGoal is what a person wants a session to achieve. Status "" keeps the present one, active for a new goal.
type NewGoal struct {
	Objective   string
	Status      string
	TokenBudget *int64
}

// SetGoal gives a session a goal or changes the one it has. The change is logged in the same transaction and its watchers get
// a notice (spec/session-tools.md, 1.10 and 7.3). Codes: not_found.
func (s *Service) SetGoal(ctx context.Context, account, id string, n NewGoal) (goal Goal, err error) {
	err = s.changeGoal(ctx, account, id, func(tx sessile.Tx, row *sessile.Session, d *Details) string {
		changed := "a person changed the goal"
		if d.Goal != nil && n.sameAs(d.Goal) {
			goal = *d.Goal
			return ""
		}
		if d.Goal == nil {
			changed = "a person set a goal"
			d.Goal = &Goal{
				SchemaVersion: 1, ID: s.options.IDs.UUID(), Status: "active", CreatedAt: tx.Now(),
				TokenStart: d.TotalTokens, TokenStartFresh: d.TotalTokens > 0,
			}
		}
		d.Goal.Objective, d.Goal.TokenBudget, d.Goal.UpdatedAt = n.Objective, n.TokenBudget, tx.Now()
		if n.Status != "" && n.Status != d.Goal.Status {
			d.Goal.Status = n.Status
			changed += ", now " + n.Status
		}
		goal = *d.Goal
		return changed
	})
	return goal, err
}

// sameAs reports whether the goal is what it is to be already: then nothing changes.
func (n *NewGoal) sameAs(g *Goal) bool {
	budgets := (n.TokenBudget == nil) == (g.TokenBudget == nil) && (n.TokenBudget == nil || *n.TokenBudget == *g.TokenBudget)
	return budgets && n.Objective == g.Objective && (n.Status == "" || n.Status == g.Status)
}

// ClearGoal takes the goal of a session away and reports whether there was one. Codes: not_found.
func (s *Service) ClearGoal(ctx context.Context, account, id string) (cleared bool, err error) {
	err = s.changeGoal(ctx, account, id, func(_ sessile.Tx, _ *sessile.Session, d *Details) string {
		cleared = d.Goal != nil
		if !cleared {
			return ""
		}
		d.Goal = nil
		return "a person cleared the goal"
	})
	return cleared, err
}

// changeGoal applies a change and logs what it says; nothing happens when it says nothing.
func (s *Service) changeGoal(ctx context.Context, account, id string, change func(sessile.Tx, *sessile.Session, *Details) string) error {
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		d, err := DetailsOf(&row)
		if err != nil {
			return err
		}
		summary := change(tx, &row, &d)
		if summary == "" {
			return nil
		}
		if err := d.store(&row); err != nil {
			return err
		}
		row.UpdatedAt = tx.Now()
		if err := tx.TouchSession(&row); err != nil {
			return err
		}
		return changelog.Record(tx, &row, &sessile.Event{
			Kind: sessile.EventGoalChanged, ActorType: sessile.ActorHuman, Summary: summary,
		})
	})
	if err == nil {
		s.options.Announce()
	}
	return err
}
