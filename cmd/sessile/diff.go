package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile/client"
)

type stateDiff struct {
	Floor   string `arg:"" help:"Floor; changes lead to it."`
	Against string `default:"live" placeholder:"live|FLOOR" help:"Where changes start: another floor, or live for what the branch shows now (live)."`
	All     bool   `help:"List what did not change, too."`
	filter
}

// Run compares two sides.
func (c *stateDiff) Run(ctx context.Context, to streams, all *stateCommand) error {
	against, from := client.FloorOf(c.Against), c.Against
	if c.Against == "live" {
		against, from = client.LiveOf(all.Branch), all.Branch+" as it is now"
	}
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		entries, err := s.Diff(ctx, sessionID, client.DiffQuery{FloorID: c.Floor, Against: against, Filter: c.of()})
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			fmt.Fprintln(b, s.paint(styleDim, fmt.Sprintf("from %s to %s", oneLine(from), oneLine(c.Floor))))
			s.changes(entries, c.All).write(b, s.printer)
		})
	})
}

// changes shows a diff: + for what came, - for what went, ~ for what is different, each with its cell and its values.
func (s *shell) changes(entries []client.DiffEntry, all bool) *table {
	t := &table{}
	for _, e := range entries {
		name := cell{text: e.Namespace + "/" + e.Slot}
		left, right := s.value(e.LeftPresent, e.LeftValue), s.value(e.RightPresent, e.RightValue)
		switch e.ChangeType {
		case "added":
			t.add(cell{"+", styleGreen}, name, cell{right.text, styleGreen})
		case "removed":
			t.add(cell{"-", styleRed}, name, cell{left.text, styleRed})
		case "changed":
			t.add(cell{"~", styleYellow}, name, cell{left.text + " -> " + right.text, styleYellow})
		default:
			if all {
				t.add(cell{"=", styleDim}, name, cell{right.text, styleDim})
			}
		}
	}
	if len(t.rows) == 0 {
		t.add(cell{"no differences", styleDim})
	}
	return t
}
