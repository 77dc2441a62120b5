package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile/extstate"
)

type extBackup struct {
	Target string `arg:"" help:"File to make; there must be none of this name."`
}

// Run copies the state file while others use it.
func (c *extBackup) Run(ctx context.Context, to streams, all *extCommand) error {
	// A file that is open for reading only cannot be copied: SQLite takes the copy for a change.
	return all.open(ctx, to, false, func(ctx context.Context, p *printer, f *extstate.File) error {
		if err := f.Backup(ctx, c.Target); err != nil {
			return err
		}
		if err := p.answer(map[string]string{"from": f.Path(), "to": c.Target}); err != nil {
			return err
		}
		return p.show(func(b *strings.Builder) { fmt.Fprintf(b, "%s is copied to %s\n", oneLine(f.Path()), oneLine(c.Target)) })
	})
}

type extMerge struct {
	Source string            `arg:"" help:"State file to take rows from; it stays as it is."`
	Prefer extstate.Conflict `default:"ours" enum:"ours,theirs" help:"Which value stays where both files have one: ours or theirs (ours)."`
}

// Help is shown below the usage.
func (extMerge) Help() string {
	return `Rows of sessions and branches keep their keys. Use it after a change of the setting sessionState.databasePath, by
which nothing moves, or for the file of another machine.`
}

// merged is the answer of merge.
type merged struct {
	Added    int      `json:"added"`
	Replaced int      `json:"replaced"`
	Kept     int      `json:"kept"`
	Same     int      `json:"same"`
	Refused  []string `json:"refused"`
}

// Run merges another state file into this one.
func (c *extMerge) Run(ctx context.Context, to streams, all *extCommand) error {
	return all.open(ctx, to, false, func(ctx context.Context, p *printer, f *extstate.File) (err error) {
		from, err := extstate.OpenFile(c.Source, extstate.FileOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		m, err := f.Merge(ctx, from, c.Prefer)
		if err != nil {
			return err
		}
		answer := merged{m.Added, m.Replaced, m.Kept, m.Same, append([]string{}, m.Refused...)}
		if err := p.answer(answer); err != nil {
			return err
		}
		err = p.show(func(b *strings.Builder) {
			fmt.Fprintf(b, "%d rows added, %d replaced, %d kept, %d the same\n", m.Added, m.Replaced, m.Kept, m.Same)
		})
		if err == nil && len(m.Refused) > 0 {
			return &hintedError{
				fmt.Errorf("not merged, since somebody writes them: %s", strings.Join(m.Refused, ", ")), "run it again in a moment; what is merged stays",
			}
		}
		return err
	})
}

type extCheck struct{}

// Help is shown below the usage.
func (extCheck) Help() string {
	return `Exits with 1 if there is anything to tell. It changes nothing.`
}

// problem is a problem as it is printed.
type problem struct {
	Session string `json:"session,omitzero"`
	Plugin  string `json:"plugin,omitzero"`
	Branch  string `json:"branch,omitzero"`
	Message string `json:"message"`
}

// Run looks the file through.
func (c *extCheck) Run(ctx context.Context, to streams, all *extCommand) error {
	return all.open(ctx, to, true, func(ctx context.Context, p *printer, f *extstate.File) error {
		found, err := f.Check(ctx)
		if err != nil {
			return err
		}
		list := make([]problem, 0, len(found))
		for _, o := range found {
			list = append(list, problem{o.Row.SessionID, o.Row.PluginID, o.Row.BranchID, o.Message})
		}
		if err := p.answer(list); err != nil {
			return err
		}
		err = p.show(func(b *strings.Builder) {
			if len(list) == 0 {
				fmt.Fprintf(b, "%s is sound\n", oneLine(f.Path()))
				return
			}
			t := table{head: []string{"SESSION", "PLUGIN", "BRANCH", "PROBLEM"}}
			for _, o := range list {
				t.add(text(o.Session), text(o.Plugin), text(o.Branch), text(o.Message))
			}
			t.write(b, p)
		})
		if err == nil && len(list) > 0 {
			return fmt.Errorf("%d problems in %s", len(list), f.Path())
		}
		return err
	})
}
