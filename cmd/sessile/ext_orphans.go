package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/pisession"
)

// tooYoung is how old an orphan has to be before purge takes it: a session has no file until somebody says something.
const tooYoung = 24 * time.Hour

// knownSessions are the ids of all sessions with a file. It fails if anything cannot be read: an orphan is only who is surely
// nowhere.
func (p *extPlace) knownSessions() (known map[string]bool, dirs []sessionDir, err error) {
	dirs, err = p.sessionDirs()
	if err != nil {
		return nil, nil, err
	}
	known = map[string]bool{}
	found := false
	for _, d := range dirs {
		if !isDir(d.path) {
			continue
		}
		found = true
		for _, layout := range []pisession.Layout{pisession.ByProject, pisession.Flat} { // whatever Pi was told
			headers, err := pisession.Headers(d.files(), layout)
			if err != nil {
				return nil, nil, &reachError{fmt.Errorf("not all sessions can be read, so nobody knows which are gone: %w", err)}
			}
			for _, h := range headers {
				known[h.ID] = true
			}
		}
	}
	if !found {
		return nil, nil, &hintedError{
			&reachError{&fs.PathError{Op: "look for sessions", Path: pathsOf(dirs), Err: fs.ErrNotExist}},
			"without any directory of sessions all would look gone; name one with --sessions",
		}
	}
	return known, dirs, nil
}

// orphan is an orphan as it is printed.
type orphan struct {
	Session string `json:"session"`
	Begun   *int64 `json:"begun"` // in milliseconds, as the id says; null if it does not
	Rows    int64  `json:"rows"`
	Bytes   int64  `json:"bytes"`
}

// begun is when a session began, if its id is a UUID that says so.
func begun(id string) *int64 {
	digits := strings.ReplaceAll(id, "-", "")
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != 16 || len(id) != 36 || raw[6]>>4 != 7 {
		return nil
	}
	var ms int64
	for _, b := range raw[:6] {
		ms = ms<<8 | int64(b)
	}
	return &ms
}

// findOrphans lists the sessions with rows and without a file.
func (p *extPlace) findOrphans(ctx context.Context, to streams, f *extstate.File) ([]orphan, error) {
	known, dirs, err := p.knownSessions()
	if err != nil {
		return nil, err
	}
	found, err := f.Orphans(ctx, func(id string) (bool, error) { return known[id], nil })
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(to.err, "looked for sessions in %s\n", visible(pathsOf(dirs)))
	list := make([]orphan, 0, len(found))
	for _, o := range found {
		list = append(list, orphan{o.SessionID, begun(o.SessionID), o.Rows, o.Bytes})
	}
	return list, nil
}

type extOrphans struct{}

// Help is shown below the usage.
func (extOrphans) Help() string {
	return `A session looks gone as well if its file is in a directory that nobody named, or on another machine that shares
the state file, or if it has no file: one that nobody has said anything in yet, or one of pi --no-session.`
}

// Run lists orphans.
func (c *extOrphans) Run(ctx context.Context, to streams, all *extCommand) error {
	return all.open(ctx, to, true, func(ctx context.Context, p *printer, f *extstate.File) error {
		list, err := all.findOrphans(ctx, to, f)
		if err != nil {
			return err
		}
		if err := p.answer(list); err != nil {
			return err
		}
		return p.show(func(b *strings.Builder) {
			t := table{head: []string{"SESSION", "BEGUN", "ROWS", "BYTES"}}
			for _, o := range list {
				t.add(text(o.Session), optionalMoment(o.Begun), number(o.Rows), number(o.Bytes))
			}
			t.write(b, p)
		})
	})
}

type extPurge struct {
	Session []string `placeholder:"ID" help:"Only these of the sessions that are gone."`
	Plugin  string   `placeholder:"ID" help:"Only the rows of this plugin."`
	DryRun  bool     `help:"Only say what would go."`
	Young   bool     `help:"Take sessions of the last 24 hours, too, which may have no file yet."`
	Yes     bool     `short:"y" help:"Do not ask."`
}

// Help is shown below the usage.
func (extPurge) Help() string {
	return `Deletes what plugins keep of sessions whose files are gone, see sessile ext orphans. What is purged cannot be
undone: sessile ext backup FILE makes a copy before.`
}

// purged is the answer of purge.
type purged struct {
	DryRun  bool        `json:"dry_run"`
	Rows    []purgedRow `json:"rows"`
	Spared  []string    `json:"spared"`  // too young
	Refused []string    `json:"refused"` // somebody writes them
}

type purgedRow struct {
	Session string `json:"session"`
	Plugin  string `json:"plugin"`
	Branch  string `json:"branch"`
	Bytes   int64  `json:"bytes"`
}

// Run purges orphans.
func (c *extPurge) Run(ctx context.Context, to streams, all *extCommand) error {
	return all.open(ctx, to, c.DryRun, func(ctx context.Context, p *printer, f *extstate.File) error {
		orphans, err := all.findOrphans(ctx, to, f)
		if err != nil {
			return err
		}
		chosen, spared, err := c.choose(orphans, time.Now())
		if err != nil {
			return err
		}
		answer := purged{DryRun: c.DryRun, Rows: []purgedRow{}, Spared: spared, Refused: []string{}}
		options := extstate.PurgeOptions{Sessions: chosen, PluginID: c.Plugin, DryRun: true}
		found, err := f.Purge(ctx, options)
		if err != nil {
			return err
		}
		if !c.DryRun && len(found.Rows) > 0 {
			if !c.Yes {
				if err := confirm(to, fmt.Sprintf("%d rows of %d sessions are deleted for good. Go on?", len(found.Rows), sessionsOf(found.Rows))); err != nil {
					return err
				}
			}
			options.DryRun = false
			if found, err = f.Purge(ctx, options); err != nil {
				return err
			}
		}
		for _, r := range found.Rows {
			answer.Rows = append(answer.Rows, purgedRow{r.SessionID, r.PluginID, r.BranchID, r.Bytes})
		}
		answer.Refused = append(answer.Refused, found.Refused...)
		if err := p.answer(answer); err != nil {
			return err
		}
		return p.show(func(b *strings.Builder) { answer.write(b, p) })
	})
}

// choose takes the orphans that are meant and old enough.
func (c *extPurge) choose(orphans []orphan, now time.Time) (chosen, spared []string, err error) {
	spared = []string{}
	wanted := map[string]bool{}
	for _, id := range c.Session {
		wanted[id] = true
	}
	for _, o := range orphans {
		if len(c.Session) > 0 && !wanted[o.Session] {
			continue
		}
		delete(wanted, o.Session)
		if !c.Young && o.Begun != nil && now.Sub(time.UnixMilli(*o.Begun)) < tooYoung {
			spared = append(spared, o.Session)
			continue
		}
		chosen = append(chosen, o.Session)
	}
	for _, id := range c.Session {
		if wanted[id] {
			return nil, nil, errors.New("session " + id + " has a file, or nothing is kept of it")
		}
	}
	return chosen, spared, nil
}

// sessionsOf counts the sessions of rows, which stand together.
func sessionsOf(rows []extstate.SizedRow) int {
	n := 0
	for i, r := range rows {
		if i == 0 || rows[i-1].SessionID != r.SessionID {
			n++
		}
	}
	return n
}

func (a *purged) write(b *strings.Builder, p *printer) {
	if len(a.Rows) > 0 {
		t := table{head: []string{"SESSION", "PLUGIN", "BRANCH", "BYTES"}}
		for _, r := range a.Rows {
			t.add(text(r.Session), text(r.Plugin), text(r.Branch), number(r.Bytes))
		}
		t.write(b, p)
		b.WriteByte('\n')
	}
	verb := "deleted"
	if a.DryRun {
		verb = "would be deleted"
	}
	fmt.Fprintf(b, "%d rows %s\n", len(a.Rows), verb)
	for _, id := range a.Spared {
		fmt.Fprintf(b, "session %s began less than a day ago and may have no file yet; --young takes it, too\n", oneLine(id))
	}
	for _, id := range a.Refused {
		fmt.Fprintf(b, "session %s is being written by somebody else and was left\n", oneLine(id))
	}
}
