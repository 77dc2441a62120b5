package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// stateCommand is sessile state.
type stateCommand struct {
	connection
	target
	Namespaces stateNamespaces `cmd:"" help:"List the namespaces of a session with their slots."`
	Register   stateRegister   `cmd:"" help:"Register a namespace."`
	Get        stateGet        `cmd:"" help:"Print one value."`
	Set        stateSet        `cmd:"" help:"Write one value."`
	Delete     stateDelete     `cmd:"" help:"Take one value away; its history stays."`
	Resolve    stateResolve    `cmd:"" help:"List the values that a branch shows."`
	Snapshot   stateSnapshot   `cmd:"" help:"List the values as they were when a floor committed."`
	Diff       stateDiff       `cmd:"" help:"Compare a floor with another, or with what a branch shows now."`
}

// at runs the work on the session that was named.
func (c *stateCommand) at(ctx context.Context, to streams, work func(ctx context.Context, s *shell, sessionID string) error) error {
	sessionID, err := sessionOr(c.Session)
	if err != nil {
		return err
	}
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error { return work(ctx, s, sessionID) })
}

// filter narrows a list.
type filter struct {
	Namespace string `arg:"" optional:"" help:"Only this namespace."`
	Slot      string `arg:"" optional:"" help:"Only this slot of it."`
}

func (f filter) of() client.Filter { return client.Filter{Namespace: f.Namespace, Slot: f.Slot} }

type stateNamespaces struct{}

// Run lists namespaces.
func (c *stateNamespaces) Run(ctx context.Context, to streams, all *stateCommand) error {
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		namespaces, err := s.ListNamespaces(ctx, sessionID)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"NAMESPACE", "KIND", "OWNER", "SLOTS"}}
			for _, n := range namespaces {
				owner := nothing()
				if n.OwnerKind == client.OwnerCustom {
					owner = text(n.LogicalOwnerType + " " + n.LogicalOwnerID)
				}
				slots := make([]string, 0, len(n.Slots))
				for _, slot := range n.Slots {
					slots = append(slots, slot.Slot)
				}
				t.add(text(n.Namespace), text(n.OwnerKind), owner, text(strings.Join(slots, ", ")))
			}
			t.write(b, s.printer)
		})
	})
}

type stateRegister struct {
	Namespace string `arg:"" help:"Namespace: words of a-z, 0-9 and _, joined by dots."`
	OwnerType string `default:"application" placeholder:"WORD" help:"Kind of owner to note (application)."`
	OwnerID   string `default:"sessile-cli" placeholder:"NAME" help:"Owner to note (sessile-cli)."`
}

// Run registers a namespace.
func (c *stateRegister) Run(ctx context.Context, to streams, all *stateCommand) error {
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		n, err := s.RegisterNamespace(ctx, sessionID, client.Registration{
			Namespace: c.Namespace, LogicalOwnerType: c.OwnerType, LogicalOwnerID: c.OwnerID,
		})
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) { fmt.Fprintf(b, "%s is registered\n", n.Namespace) })
	})
}

// slotAddress names a cell of the branch.
type slotAddress struct {
	Namespace string `arg:"" help:"Namespace."`
	Slot      string `arg:"" help:"Slot."`
}

func (a slotAddress) String() string { return oneLine(a.Namespace + "/" + a.Slot) }

func (a slotAddress) on(branch string) client.Address {
	return client.Address{BranchID: branch, Namespace: a.Namespace, Slot: a.Slot}
}

type stateGet struct {
	slotAddress
	Floor string `placeholder:"ID" help:"Read it as it was when this floor committed."`
}

// Run prints a value as it is stored. That there is none is an error, so that scripts can tell.
func (c *stateGet) Run(ctx context.Context, to streams, all *stateCommand) error {
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		values, err := s.Resolve(ctx, sessionID, client.ResolveQuery{
			BranchID: all.Branch, SourceFloorID: c.Floor, Filter: client.Filter{Namespace: c.Namespace, Slot: c.Slot},
		})
		if err != nil {
			return err
		}
		if len(values) == 0 || !values[0].Present {
			where := "on branch " + oneLine(all.Branch)
			if c.Floor != "" {
				where = "at floor " + oneLine(c.Floor)
			}
			return &hintedError{
				sessile.Errorf(sessile.CodeNotFound, "%s has no value %s", c, where), "sessile state resolve shows those that there are",
			}
		}
		if s.json {
			return s.printJSON(s.data)
		}
		return s.printText(string(values[0].Value))
	})
}

type stateSet struct {
	slotAddress
	Value string `arg:"" help:"Value as JSON; - reads it from standard input. Put -- before one that begins with a dash."`
	Text  bool   `name:"string" help:"Take the value as a text, not as JSON."`
}

// Run writes a value.
func (c *stateSet) Run(ctx context.Context, to streams, all *stateCommand) error {
	value, err := c.value(to)
	if err != nil {
		return err
	}
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		v, err := s.WriteValue(ctx, sessionID, c.on(all.Branch), value)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			fmt.Fprintf(b, "%s is set on %s (%s)\n", c, oneLine(v.BranchID), strings.Join(v.SourceMutationIDs, ", "))
		})
	})
}

func (c *stateSet) value(to streams) (jsontext.Value, error) {
	given, err := textArgument(to, c.Value)
	if err != nil {
		return nil, err
	}
	if !c.Text {
		return parseJSON(given, ", or --string")
	}
	quoted, err := jsontext.AppendQuote(nil, given)
	if err != nil {
		return nil, &usageError{"the text is not valid UTF-8", ""}
	}
	return quoted, nil
}

type stateDelete struct {
	slotAddress
}

// Run takes a value away.
func (c *stateDelete) Run(ctx context.Context, to streams, all *stateCommand) error {
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		v, err := s.DeleteValue(ctx, sessionID, c.on(all.Branch))
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			fmt.Fprintf(b, "%s has no value on %s any more (%s)\n", c, oneLine(v.BranchID), strings.Join(v.SourceMutationIDs, ", "))
		})
	})
}

type stateResolve struct {
	filter
	Floor string `placeholder:"ID" help:"Read them as they were when this floor committed."`
}

// Run lists values.
func (c *stateResolve) Run(ctx context.Context, to streams, all *stateCommand) error {
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		values, err := s.Resolve(ctx, sessionID, client.ResolveQuery{BranchID: all.Branch, SourceFloorID: c.Floor, Filter: c.of()})
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"NAMESPACE", "SLOT", "SOURCE", "UPDATED", "VALUE"}}
			for _, v := range values {
				t.add(text(v.Namespace), text(v.Slot), text(v.Source), optionalMoment(v.UpdatedAt), s.value(v.Present, v.Value))
			}
			t.write(b, s.printer)
		})
	})
}

type stateSnapshot struct {
	Floor string `arg:"" help:"Floor."`
	filter
}

// Run lists the values of a snapshot.
func (c *stateSnapshot) Run(ctx context.Context, to streams, all *stateCommand) error {
	return all.at(ctx, to, func(ctx context.Context, s *shell, sessionID string) error {
		values, err := s.Snapshot(ctx, sessionID, c.Floor, c.of())
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"NAMESPACE", "SLOT", "COMMITTED", "VALUE"}}
			for _, v := range values {
				t.add(text(v.Namespace), text(v.Slot), optionalMoment(v.CommittedAt), s.value(v.Present, v.Value))
			}
			t.write(b, s.printer)
		})
	})
}
