package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile/client"
)

// turnCommand is sessile turn.
type turnCommand struct {
	connection
	target
	SourceFloor string   `placeholder:"FLOOR" help:"Floor that a new branch starts from."`
	Set         []string `sep:"none" placeholder:"NAMESPACE/SLOT=JSON" help:"Value to write with the turn; may be given again."`
	Unset       []string `sep:"none" placeholder:"NAMESPACE/SLOT" help:"Value to delete with the turn; may be given again."`
	Message     string   `arg:"" help:"What to say; - reads it from standard input."`
}

// Run runs one turn: the answer goes to standard output, what is known about it to standard error.
func (c *turnCommand) Run(ctx context.Context, to streams) error {
	sessionID, err := sessionOr(c.Session)
	if err != nil {
		return err
	}
	writes, err := c.writes()
	if err != nil {
		return err
	}
	message, err := textArgument(to, c.Message)
	if err != nil {
		return err
	}
	if c.Message == "-" {
		message = strings.TrimSuffix(message, "\n")
	}
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		turn, err := s.Respond(ctx, sessionID, client.RespondRequest{
			Message: message, BranchID: c.Branch, SourceFloorID: c.SourceFloor,
			TurnOptions: client.TurnOptions{SessionStateWrites: writes},
		})
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(s.data)
		}
		if err := s.printText(turn.GeneratedText); err != nil {
			return err
		}
		for _, summary := range turn.Summaries {
			fmt.Fprintf(to.err, "summary: %s\n", oneLine(summary))
		}
		fmt.Fprintf(to.err, "floor %s (number %d on %s), %d tokens in, %d out\n", turn.FloorID, turn.FloorNo,
			oneLine(turn.BranchID), turn.TotalUsage.PromptTokens, turn.TotalUsage.CompletionTokens)
		return nil
	})
}

// writes reads --set and --unset. A namespace has no slash, so the first one ends it; the first = ends the slot.
func (c *turnCommand) writes() ([]client.TurnWrite, error) {
	var writes []client.TurnWrite
	for _, given := range c.Set {
		address, text, found := strings.Cut(given, "=")
		namespace, slot, slash := strings.Cut(address, "/")
		if !found || !slash {
			return nil, &usageError{"--set needs NAMESPACE/SLOT=JSON", `for example: --set bond_log/trust='{"level": 5}'`}
		}
		value, err := parseJSON(text, "")
		if err != nil {
			return nil, err
		}
		writes = append(writes, client.TurnWrite{Namespace: namespace, Slot: slot, Value: value})
	}
	for _, given := range c.Unset {
		namespace, slot, slash := strings.Cut(given, "/")
		if !slash {
			return nil, &usageError{"--unset needs NAMESPACE/SLOT", "for example: --unset bond_log/trust"}
		}
		writes = append(writes, client.TurnWrite{Namespace: namespace, Slot: slot, Delete: true})
	}
	return writes, nil
}
