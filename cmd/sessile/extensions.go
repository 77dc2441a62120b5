package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// extensionsCommand is sessile extensions: what extensions keep on a server.
type extensionsCommand struct {
	connection
	Session string           `placeholder:"ID" help:"Session to work on. [SESSILE_SESSION]"`
	Branch  string           `placeholder:"NAME" help:"The value of this branch, not of the session as a whole."`
	Get     extensionsGet    `cmd:"" help:"Print a value; exits with 1 if there is none."`
	Set     extensionsSet    `cmd:"" help:"Write a value."`
	Delete  extensionsDelete `cmd:"" help:"Remove a value; exits with 1 if there is none."`
}

// at runs the work on the value that was named.
func (c *extensionsCommand) at(ctx context.Context, to streams, plugin string, work func(context.Context, *shell, string, client.Extension) error) error {
	sessionID, err := sessionOr(c.Session)
	if err != nil {
		return err
	}
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		return work(ctx, s, sessionID, client.Extension{Plugin: plugin, BranchID: c.Branch})
	})
}

type extensionsGet struct {
	Plugin string `arg:"" help:"Plugin id of the extension."`
	Meta   bool   `help:"Show the revision, and whether the value is inherited, too."`
}

// Run prints a value as it is stored.
func (c *extensionsGet) Run(ctx context.Context, to streams, all *extensionsCommand) error {
	return all.at(ctx, to, c.Plugin, func(ctx context.Context, s *shell, sessionID string, e client.Extension) error {
		v, err := s.GetExtension(ctx, sessionID, e)
		switch {
		case err != nil:
			return err
		case s.json:
			return s.printJSON(s.data)
		case c.Meta:
			inherited := ""
			if v.Inherited {
				inherited = ", inherited"
			}
			fmt.Fprintf(to.err, "revision %d%s\n", v.Revision, inherited)
		}
		return s.printText(string(v.Value))
	})
}

// expectation is what a change may ask of the value that it meets.
type expectation struct {
	ExpectedRevision *int64 `placeholder:"N" help:"Only if the value that is shown has this revision; 0 if there must be none."`
}

func (x expectation) condition() (client.Condition, error) {
	switch {
	case x.ExpectedRevision == nil:
		return client.Condition{}, nil
	case *x.ExpectedRevision < 0:
		return client.Condition{}, &usageError{"revisions are not negative", ""}
	case *x.ExpectedRevision == 0:
		return client.Condition{Missing: true}, nil
	}
	return client.Condition{Revision: *x.ExpectedRevision}, nil
}

type extensionsSet struct {
	Plugin string `arg:"" help:"Plugin id of the extension."`
	Value  string `arg:"" help:"JSON, such as '{\"step\": 3}'; - reads it from standard input."`
	expectation
}

// Run writes a value.
func (c *extensionsSet) Run(ctx context.Context, to streams, all *extensionsCommand) error {
	condition, err := c.condition()
	if err != nil {
		return err
	}
	value, err := jsonArgument(to, c.Value)
	if err != nil {
		return err
	}
	return all.at(ctx, to, c.Plugin, func(ctx context.Context, s *shell, sessionID string, e client.Extension) error {
		v, err := s.PutExtension(ctx, sessionID, e, value, condition)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) { fmt.Fprintf(b, "%s is set, revision %d\n", c.Plugin, v.Revision) })
	})
}

type extensionsDelete struct {
	Plugin string `arg:"" help:"Plugin id of the extension."`
	expectation
}

// Help is shown below the usage.
func (extensionsDelete) Help() string {
	return `A branch without a value of its own shows what it inherited: after delete, that shows again.
To hide it, write null: sessile extensions set --branch NAME PLUGIN null`
}

// Run removes a value.
func (c *extensionsDelete) Run(ctx context.Context, to streams, all *extensionsCommand) error {
	condition, err := c.condition()
	if err != nil {
		return err
	}
	return all.at(ctx, to, c.Plugin, func(ctx context.Context, s *shell, sessionID string, e client.Extension) error {
		removed, err := s.DeleteExtension(ctx, sessionID, e, condition)
		if err != nil {
			return err
		}
		if s.json {
			if err := s.printJSON(s.data); err != nil {
				return err
			}
		}
		if !removed.Deleted {
			return sessile.Errorf(sessile.CodeNotFound, "there is no such value")
		}
		return nil
	})
}
