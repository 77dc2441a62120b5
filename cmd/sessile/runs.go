package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// runsCommand is sessile runs: what agents do for one another.
type runsCommand struct {
	connection
	List     runsList     `cmd:"" help:"List runs, the newest first."`
	Show     runsShow     `cmd:"" help:"Show a run, or wait for its end."`
	Follow   runsFollow   `cmd:"" help:"Show a run whenever it changes, until it is over."`
	Cancel   runsCancel   `cmd:"" help:"End a run and all sub-agents below it."`
	Announce runsAnnounce `cmd:"" help:"Hand the result of a sub-agent over again that was suspended or discarded."`
}

type runsList struct {
	Session   string `placeholder:"KEY" help:"Only those that work in this session."`
	Requester string `placeholder:"KEY" help:"Only those that this session asked for."`
	Kind      string `enum:",turn,ingest,send,reply_back,announce_step,spawn,announcement,wake" default:"" placeholder:"KIND" help:"Only those of a kind, such as send or spawn."`
	Status    string `enum:",queued,running,paused,succeeded,failed,timeout,cancelled" default:"" placeholder:"STATUS" help:"Only those with a status, such as running."`
	Limit     int    `default:"50" help:"How many to list, 1 to 200 (50)."`
	Cursor    string `help:"Go on where the page before ended."`
}

// Run lists runs.
func (c *runsList) Run(ctx context.Context, to streams, all *runsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		page, err := s.ListRuns(ctx, client.RunQuery{
			SessionKey: c.Session, RequesterKey: c.Requester, Kind: c.Kind, Status: sessile.RunStatus(c.Status), Limit: c.Limit, Cursor: c.Cursor,
		})
		if err != nil {
			return err
		}
		if page.Meta.NextCursor != "" && !s.json {
			defer fmt.Fprintf(s.err, "more; go on with --cursor %s\n", page.Meta.NextCursor)
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"ID", "KIND", "STATUS", "CREATED", "SESSION", "ASKED BY"}}
			for i := range page.Items {
				one := &page.Items[i]
				t.add(text(one.ID), text(one.Kind), runStatus(one.Status), moment(one.CreatedAt), text(one.SessionKey), optional(one.RequesterKey))
			}
			t.write(b, s.printer)
		})
	})
}

// runStatus shows how a run stands.
func runStatus(status sessile.RunStatus) cell {
	c := text(string(status))
	switch status {
	case sessile.RunSucceeded:
		c.style = styleGreen
	case sessile.RunFailed, sessile.RunTimeout, sessile.RunCancelled:
		c.style = styleRed
	case sessile.RunRunning, sessile.RunPaused:
		c.style = styleYellow
	}
	return c
}

type oneRun struct {
	ID string `arg:"" help:"The id of a run."`
}

// showRun prints a run.
func (s *shell) showRun(r *client.AgentRun) error {
	return s.show(func(b *strings.Builder) {
		var f facts
		f.add("id", text(r.ID))
		f.add("kind", text(r.Kind))
		f.add("status", runStatus(r.Status))
		f.add("session", text(r.SessionKey))
		f.add("branch", text(r.BranchID))
		f.add("floor", optional(r.FloorID))
		f.add("asked by", optional(r.RequesterKey))
		f.add("created", moment(r.CreatedAt))
		f.add("started", optionalMoment(r.StartedAt))
		f.add("ended", optionalMoment(r.EndedAt))
		f.add("attempts", number(r.Attempt))
		if r.Delivery != nil {
			f.add("result is", text(*r.Delivery))
		}
		if r.Error != nil {
			f.add("error", text(strings.TrimSpace(r.Error.Code+" "+r.Error.Message)))
		}
		f.write(b, s.printer)
		if r.Result != nil {
			shown := *r.Result
			if s.terminal {
				shown = visible(shown)
			}
			fmt.Fprintf(b, "\n%s\n", shown)
		}
	})
}

type runsShow struct {
	oneRun
	Wait time.Duration `placeholder:"TIME" help:"Wait so long for the end, such as 30s."`
}

// Run shows a run.
func (c *runsShow) Run(ctx context.Context, to streams, all *runsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		r, err := s.GetRun(ctx, c.ID, c.Wait)
		if err != nil {
			return err
		}
		return s.showRun(&r)
	})
}

type runsFollow struct{ oneRun }

// Run shows a run whenever it changes.
func (c *runsFollow) Run(ctx context.Context, to streams, all *runsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		return s.FollowRun(ctx, c.ID, func(r client.AgentRun) error {
			if s.json {
				return s.printJSON(s.data)
			}
			line := fmt.Sprintf("%s  %s", time.Now().Format(time.TimeOnly), r.Status)
			if r.Delivery != nil {
				line += ", result " + *r.Delivery
			}
			return s.print(line + "\n")
		})
	})
}

type runsCancel struct{ oneRun }

// Run ends a run.
func (c *runsCancel) Run(ctx context.Context, to streams, all *runsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		r, err := s.CancelRun(ctx, c.ID)
		if err != nil {
			return err
		}
		return s.say("%s is %s", r.ID, r.Status)
	})
}

type runsAnnounce struct{ oneRun }

// Run hands a result over again.
func (c *runsAnnounce) Run(ctx context.Context, to streams, all *runsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		r, err := s.AnnounceRun(ctx, c.ID)
		if err != nil {
			return err
		}
		return s.say("the result of %s is on its way again", r.ID)
	})
}
