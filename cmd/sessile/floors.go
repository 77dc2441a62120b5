package main

import (
	"context"
	"os"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// floorsCommand is sessile floors.
type floorsCommand struct {
	connection
	List floorsList `cmd:"" help:"List floors, newest first."`
	Show floorsShow `cmd:"" help:"Show a floor and what it produced."`
}

type floorsList struct {
	paging
	Session string `placeholder:"ID" help:"Only those of this session. [SESSILE_SESSION]"`
	Branch  string `placeholder:"NAME" help:"Only those of this branch."`
	State   string `enum:",draft,generating,committed,failed" default:"" help:"Only those in this state: draft, generating, committed or failed."`
	SortBy  string `enum:"created_at,updated_at,floor_no" default:"created_at" help:"Sort by created_at, updated_at or floor_no (created_at)."`
}

// Run lists floors.
func (c *floorsList) Run(ctx context.Context, to streams, all *floorsCommand) error {
	sessionID := c.Session
	if sessionID == "" {
		sessionID = os.Getenv(envSession)
	}
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		page, err := s.ListFloors(ctx, client.FloorQuery{
			SessionID: sessionID, BranchID: c.Branch, State: sessile.FloorState(c.State), Paging: c.by(c.SortBy),
		})
		if err != nil {
			return err
		}
		defer s.more(page.Meta.Total, page.Meta.Offset, len(page.Items), page.Meta.HasMore)
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"ID", "BRANCH", "NO", "STATE", "TOKENS IN", "OUT", "CREATED"}}
			for _, f := range page.Items {
				t.add(text(f.ID), text(f.BranchID), number(f.FloorNo), text(string(f.State)), number(f.TokenIn), number(f.TokenOut),
					moment(f.CreatedAt))
			}
			t.write(b, s.printer)
		})
	})
}

type floorsShow struct {
	Floor string `arg:"" help:"Floor."`
}

// Run shows a floor.
func (c *floorsShow) Run(ctx context.Context, to streams, all *floorsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		f, err := s.GetFloor(ctx, c.Floor)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(s.data)
		}
		run, err := s.FloorRun(ctx, f.ID)
		if err != nil {
			return err
		}
		var result client.FloorResult
		if f.State == sessile.FloorCommitted {
			if result, err = s.FloorResult(ctx, f.ID); err != nil {
				return err
			}
		}
		return s.show(func(b *strings.Builder) { showFloor(b, s.printer, f, run.Run, result) })
	})
}

func showFloor(b *strings.Builder, p *printer, f client.Floor, run *client.Run, result client.FloorResult) {
	var all facts
	all.add("id", text(f.ID))
	all.add("session", text(f.SessionID))
	all.add("branch", text(f.BranchID))
	all.add("number", number(f.FloorNo))
	all.add("parent", optional(f.ParentFloorID))
	all.add("state", text(string(f.State)))
	if f.SupersededByFloorID != nil {
		all.add("superseded by", text(*f.SupersededByFloorID))
	}
	all.add("tokens in", number(f.TokenIn))
	all.add("tokens out", number(f.TokenOut))
	all.add("created", moment(f.CreatedAt))
	if run != nil {
		all.add("run", text(run.RunType+", "+run.Status))
		if run.Error != nil {
			all.add("error", cell{run.Error.Code, styleRed})
		}
	}
	all.write(b, p)
	if result.GeneratedText == "" {
		return
	}
	b.WriteByte('\n')
	shown := result.GeneratedText
	if p.terminal {
		shown = visible(shown)
	}
	b.WriteString(strings.TrimSuffix(shown, "\n") + "\n")
}
