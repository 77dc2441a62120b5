package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile/client"
)

// oneSession names the session that a command is about.
type oneSession struct {
	ID string `arg:"" optional:"" help:"Session, by id or key; by default the one that SESSILE_SESSION names."`
}

// namedSession is a session before other arguments, which cannot be left out.
type namedSession struct {
	ID string `arg:"" help:"Session, by id or key."`
}

// on has work done with the id of one session.
func (c *sessionsCommand) on(ctx context.Context, to streams, name string, work func(ctx context.Context, s *shell, id string) error) error {
	name, err := sessionOr(name)
	if err != nil {
		return err
	}
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		id, err := s.sessionID(ctx, name)
		if err != nil {
			return err
		}
		return work(ctx, s, id)
	})
}

// say prints a line about what was done.
func (s *shell) say(format string, args ...any) error {
	return s.show(func(b *strings.Builder) { fmt.Fprintln(b, oneLine(fmt.Sprintf(format, args...))) })
}

type (
	sessionsPin   struct{ oneSession }
	sessionsUnpin struct{ oneSession }
)

// Run pins a session.
func (c *sessionsPin) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.pin(ctx, to, c.ID, true)
}

// Run takes the pin of a session away.
func (c *sessionsUnpin) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.pin(ctx, to, c.ID, false)
}

func (c *sessionsCommand) pin(ctx context.Context, to streams, name string, pinned bool) error {
	return c.on(ctx, to, name, func(ctx context.Context, s *shell, id string) error {
		one, err := s.UpdateSession(ctx, id, client.SessionInput{Pinned: &pinned})
		if err != nil {
			return err
		}
		if pinned {
			return s.say("%s is pinned", one.ID)
		}
		return s.say("%s is not pinned", one.ID)
	})
}

type sessionsLabel struct {
	namedSession
	Label string `arg:"" optional:"" help:"The label; without one it is taken away."`
}

// Run labels a session.
func (c *sessionsLabel) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		one, err := s.UpdateSession(ctx, id, client.SessionInput{Label: client.SetTo(c.Label)})
		if err != nil {
			return err
		}
		if one.Label == nil {
			return s.say("%s has no label", one.ID)
		}
		return s.say("%s is labelled %s", one.ID, *one.Label)
	})
}

type sessionsGoal struct {
	namedSession
	Objective string `arg:"" optional:"" help:"What is to be achieved; without it the goal is taken away."`
	Status    string `enum:",active,paused,blocked,budget_limited,usage_limited,complete" default:"" help:"How it stands (active at first)."`
	Budget    int64  `placeholder:"TOKENS" help:"How many tokens it may take."`
}

// Run gives a session a goal, changes it or takes it away.
func (c *sessionsGoal) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	if c.Objective == "" && (c.Status != "" || c.Budget != 0) {
		return &usageError{"a goal needs an objective", "say what is to be achieved, also when only the status changes"}
	}
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		if c.Objective == "" {
			if _, err := s.ClearGoal(ctx, id); err != nil {
				return err
			}
			return s.say("%s has no goal", id)
		}
		goal := client.NewGoal{Objective: c.Objective, Status: c.Status}
		if c.Budget != 0 {
			goal.TokenBudget = &c.Budget
		}
		g, err := s.SetGoal(ctx, id, goal)
		if err != nil {
			return err
		}
		return s.say("%s has a goal, which is %s: %s", id, g.Status, g.Objective)
	})
}

type sessionsReset struct{ oneSession }

// Run begins a session anew and prints its new id.
func (c *sessionsReset) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		fresh, err := s.ResetSession(ctx, id)
		if err != nil {
			return err
		}
		return s.say("%s", fresh.ID)
	})
}

type sessionsFork struct {
	oneSession
	State string `enum:",empty,copy,share" default:"" help:"What becomes of the key-value state: empty, copy or share (empty)."`
	Key   string `placeholder:"KEY" help:"Key of the new session; one is made by default."`
	Label string `placeholder:"TEXT" help:"Label of the new session."`
}

// Run forks a session and prints the id of the new one.
func (c *sessionsFork) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		fork, err := s.ForkSession(ctx, id, client.SessionFork{State: c.State, Key: c.Key, Label: c.Label})
		if err != nil {
			return err
		}
		return s.say("%s", fork.ID)
	})
}

type sessionsEvents struct {
	oneSession
	Since int64 `default:"0" help:"Only what came after this sequence number (0)."`
}

// Run lists what happened to a session, up to 200 changes at once.
func (c *sessionsEvents) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		changes, err := s.ListChanges(ctx, id, c.Since)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"SEQUENCE", "TIME", "KIND", "ACTOR", "SUMMARY"}}
			for i := range changes {
				e := &changes[i]
				actor := e.ActorType
				if e.ActorID != nil {
					actor += " " + *e.ActorID
				}
				t.add(number(e.Sequence), moment(e.OccurredAt), text(e.Kind), text(actor), text(e.Summary))
			}
			t.write(b, s.printer)
		})
	})
}

type sessionsNotices struct {
	oneSession
	Ack bool `help:"Acknowledge them: the session is not told of them any more."`
}

// Run lists the notices that wait for a session.
func (c *sessionsNotices) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		notices, err := s.ListNotices(ctx, id)
		if err != nil {
			return err
		}
		t := table{head: []string{"ID", "TIME", "SESSION", "SINCE"}}
		ids := make([]string, len(notices))
		for i := range notices {
			n := &notices[i]
			ids[i] = n.ID
			t.add(text(n.ID), moment(n.CreatedAt), text(n.TargetKey), number(n.ChangesSince))
		}
		if err := s.show(func(b *strings.Builder) { t.write(b, s.printer) }); err != nil || !c.Ack || len(ids) == 0 {
			return err
		}
		_, err = s.AcknowledgeNotices(ctx, id, ids)
		return err
	})
}

type sessionsWatches struct{ oneSession }

// Run lists what a session watches.
func (c *sessionsWatches) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		watches, err := s.ListWatches(ctx, id)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"SESSION", "SEEN", "NOTICE"}}
			for _, w := range watches {
				waits := nothing()
				if w.Pending {
					waits = text("waits")
				}
				t.add(text(w.TargetKey), number(w.LastSeen), waits)
			}
			t.write(b, s.printer)
		})
	})
}

type sessionsWatch struct {
	namedSession
	Target string `arg:"" help:"Key of the session to watch."`
}

// Run has a session watch another.
func (c *sessionsWatch) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		w, err := s.AddWatch(ctx, id, c.Target)
		if err != nil {
			return err
		}
		return s.say("%s watches %s", id, w.TargetKey)
	})
}

type sessionsUnwatch struct {
	namedSession
	Target string `arg:"" help:"Key of the session that is watched."`
}

// Run ends a watch.
func (c *sessionsUnwatch) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.on(ctx, to, c.ID, func(ctx context.Context, s *shell, id string) error {
		if _, err := s.DeleteWatch(ctx, id, c.Target); err != nil {
			return err
		}
		return s.say("%s does not watch %s", id, c.Target)
	})
}
