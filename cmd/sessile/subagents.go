package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// subagentsCommand is sessile subagents: the children of a session, and what people do with them.
type subagentsCommand struct {
	connection
	Session string `placeholder:"KEY" help:"The session, by key or id. [SESSILE_SESSION_KEY]"`

	List  subagentsList  `cmd:"" help:"List the active sub-agents of a session, and those that ended lately."`
	Kill  subagentsKill  `cmd:"" help:"Stop a sub-agent and all below it."`
	Steer subagentsSteer `cmd:"" help:"Have a sub-agent do something else."`
	Wait  subagentsWait  `cmd:"" help:"Wait for the end of a sub-agent and show its result."`
}

// on has work done with the id of the session.
func (c *subagentsCommand) on(ctx context.Context, to streams, work func(ctx context.Context, s *shell, id string) error) error {
	key, err := sessionKeyOr(c.Session)
	if err != nil {
		return err
	}
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		id, err := s.sessionID(ctx, key)
		if err != nil {
			return err
		}
		return work(ctx, s, id)
	})
}

type subagentsList struct {
	Recent int `default:"30" placeholder:"MINUTES" help:"How long ago they may have ended, in minutes (30)."`
}

// Run lists sub-agents.
func (c *subagentsList) Run(ctx context.Context, to streams, all *subagentsCommand) error {
	return all.on(ctx, to, func(ctx context.Context, s *shell, id string) error {
		page, err := s.ListSubagents(ctx, id, "", c.Recent)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"#", "STATUS", "STARTED", "NAME", "LABEL", "TOKENS", "SESSION", "RUN"}}
			for i := range page.Items {
				one := &page.Items[i]
				t.add(number(i+1), text(one.Status), moment(one.StartedAt), optional(one.TaskName), text(one.Label), number(one.TotalTokens),
					text(one.SessionKey), text(one.RunID))
			}
			t.write(b, s.printer)
		})
	})
}

// oneSubagent names a child.
type oneSubagent struct {
	Target string `arg:"" help:"last, a place in the list, a session key, a task name, a label, or the beginning of one."`
}

func (c *oneSubagent) find(ctx context.Context, s *shell, sessionID string) (client.Subagent, error) {
	page, err := s.ListSubagents(ctx, sessionID, c.Target, 0)
	if err != nil {
		return client.Subagent{}, err
	}
	if len(page.Items) == 0 {
		return client.Subagent{}, sessile.NotFound()
	}
	return page.Items[0], nil
}

type subagentsKill struct {
	Target string `arg:"" help:"all, last, a place in the list, a session key, a task name, a label, or the beginning of one."`
}

// Run stops sub-agents. With all, each is stopped even when another one cannot be.
func (c *subagentsKill) Run(ctx context.Context, to streams, all *subagentsCommand) error {
	return all.on(ctx, to, func(ctx context.Context, s *shell, id string) error {
		targets := []client.Subagent{}
		if c.Target == "all" {
			page, err := s.ListSubagents(ctx, id, "", 1)
			if err != nil {
				return err
			}
			for _, one := range page.Items {
				if one.Active {
					targets = append(targets, one)
				}
			}
		} else {
			one, err := (&oneSubagent{c.Target}).find(ctx, s, id)
			if err != nil {
				return err
			}
			targets = append(targets, one)
		}
		var failed error
		for _, one := range targets {
			r, err := s.CancelRun(ctx, one.RunID)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			if err := s.say("%s is %s", r.SessionKey, r.Status); err != nil {
				return err
			}
		}
		return failed
	})
}

type subagentsSteer struct {
	oneSubagent
	Message string `arg:"" help:"What it is to do instead."`
}

// Run steers a sub-agent.
func (c *subagentsSteer) Run(ctx context.Context, to streams, all *subagentsCommand) error {
	return all.on(ctx, to, func(ctx context.Context, s *shell, id string) error {
		one, err := c.find(ctx, s, id)
		if err != nil {
			return err
		}
		r, err := s.SteerRun(ctx, one.RunID, c.Message)
		if err != nil {
			return err
		}
		return s.say("%s goes on with the message", r.SessionKey)
	})
}

type subagentsWait struct {
	oneSubagent
	Timeout time.Duration `default:"10m" placeholder:"TIME" help:"How long to wait, such as 30s (10m)."`
}

// Run waits for a sub-agent.
func (c *subagentsWait) Run(ctx context.Context, to streams, all *subagentsCommand) error {
	return all.on(ctx, to, func(ctx context.Context, s *shell, id string) error {
		one, err := c.find(ctx, s, id)
		if err != nil {
			return err
		}
		r, err := s.GetRun(ctx, one.RunID, c.Timeout)
		if err != nil {
			return err
		}
		return s.showRun(&r)
	})
}
