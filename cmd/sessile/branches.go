package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile/client"
)

// branchesCommand is sessile branches.
type branchesCommand struct {
	connection
	Session string         `placeholder:"ID" help:"Session to work on. [SESSILE_SESSION]"`
	List    branchesList   `cmd:"" help:"List the branches of a session."`
	Fork    branchesFork   `cmd:"" help:"Start a branch from a committed floor and print its name."`
	Delete  branchesDelete `cmd:"" help:"Delete a branch with its floors."`
}

type branchesList struct {
	paging
	SortBy string `enum:"updated_at,branch_id,floor_count,latest_floor_no" default:"updated_at" help:"Sort by updated_at, branch_id, floor_count or latest_floor_no (updated_at)."`
}

// Run lists branches.
func (c *branchesList) Run(ctx context.Context, to streams, all *branchesCommand) error {
	sessionID, err := sessionOr(all.Session)
	if err != nil {
		return err
	}
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		page, err := s.ListBranches(ctx, sessionID, c.by(c.SortBy))
		if err != nil {
			return err
		}
		defer s.more(page.Meta.Total, page.Meta.Offset, len(page.Items), page.Meta.HasMore)
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"BRANCH", "FLOORS", "LATEST", "STATE", "FLOOR ID", "UPDATED"}}
			for _, one := range page.Items {
				t.add(text(one.BranchID), number(one.FloorCount), latest(one), latestState(one), optional(one.LatestFloorID), moment(one.UpdatedAt))
			}
			t.write(b, s.printer)
		})
	})
}

func latest(b client.Branch) cell {
	if b.LatestFloorNo == nil {
		return nothing()
	}
	return number(*b.LatestFloorNo)
}

func latestState(b client.Branch) cell {
	if b.LatestState == nil {
		return nothing()
	}
	return text(string(*b.LatestState))
}

type branchesFork struct {
	Floor string `arg:"" help:"Floor to start from."`
	Name  string `arg:"" optional:"" help:"Name of the branch; by default one is made up."`
}

// Run forks a branch.
func (c *branchesFork) Run(ctx context.Context, to streams, all *branchesCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		fork, err := s.ForkBranch(ctx, c.Floor, c.Name)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) { fmt.Fprintln(b, oneLine(fork.BranchID)) })
	})
}

type branchesDelete struct {
	Name string `arg:"" help:"Branch."`
}

// Run deletes a branch.
func (c *branchesDelete) Run(ctx context.Context, to streams, all *branchesCommand) error {
	sessionID, err := sessionOr(all.Session)
	if err != nil {
		return err
	}
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		gone, err := s.DeleteBranch(ctx, sessionID, c.Name)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			fmt.Fprintf(b, "%s is deleted, with %d floors\n", oneLine(gone.BranchID), gone.DeletedFloorCount)
		})
	})
}
