package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/state"
)

type extImport struct {
	URL     string            `name:"url" placeholder:"URL" help:"Server to load into (http://127.0.0.1:7474). [SESSILE_URL]"`
	DB      string            `name:"db" placeholder:"FILE" help:"Database to load into without a server; one that owns it is asked instead."`
	APIKey  string            `name:"api-key" placeholder:"KEY" help:"API key, if the server asks for one. [SESSILE_API_KEY]"`
	Session string            `placeholder:"ID" help:"Only this session."`
	Plugin  string            `placeholder:"ID" help:"Only this plugin."`
	Prefer  extstate.Conflict `default:"ours" enum:"ours,theirs" help:"Which value stays where the server has another one: ours, the server's, or theirs, the file's (ours)."`
}

// Help is shown below the usage.
func (extImport) Help() string {
	return `Every session of Pi with rows becomes a session with the key pi:ID and Pi's name for it as its title; one that
is there is used again. The value of the session goes to the session, that of each run of its tree to
a branch named by the run's first entry, and what Pi would see at the end of the file to the branch main as well. Runs
without a row get what they inherit, as their first read in Pi would give them. A session whose file is gone keeps the
rows that it has. The state file stays as it is, and what is the same already is not written again.`
}

// imported is the answer of import.
type imported struct {
	Sessions []importedSession `json:"sessions"`
	Written  int               `json:"written"`
	Same     int               `json:"same"`
	Kept     int               `json:"kept"`
	Refused  []refusedValue    `json:"refused"`
}

type importedSession struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Key     string `json:"key"`
	HasFile bool   `json:"has_file"`
}

// refusedValue is a value that could not be taken over, or all of them where only the session is named.
type refusedValue struct {
	Session string `json:"session"`
	Plugin  string `json:"plugin,omitzero"`
	Branch  string `json:"branch,omitzero"`
	Reason  string `json:"reason"`
}

func (r refusedValue) String() string {
	where := "session " + r.Session
	if r.Plugin != "" {
		where = r.Plugin + " in " + where
	}
	if r.Branch != "" {
		where += ", branch " + r.Branch
	}
	return where + ": " + r.Reason
}

// Run loads the rows of a state file into a server.
func (c *extImport) Run(ctx context.Context, to streams, all *extCommand) error {
	target := connection{URL: c.URL, DB: c.DB, APIKey: c.APIKey, JSON: all.JSON}
	return all.open(ctx, to, true, func(ctx context.Context, p *printer, f *extstate.File) error {
		rows, err := f.Rows(ctx, extstate.Filter{PluginID: c.Plugin, SessionID: c.Session})
		if err != nil {
			return err
		}
		if c.Session != "" && len(rows) == 0 {
			return sessile.Errorf(sessile.CodeNotFound, "nothing is kept of session %s", c.Session)
		}
		answer := imported{Sessions: []importedSession{}, Refused: []refusedValue{}}
		err = target.run(ctx, to, true, func(ctx context.Context, s *shell) error {
			load := importer{extImport: c, place: &all.extPlace, to: to, file: f, server: s, answer: &answer}
			for len(rows) > 0 { // those of a session stand together
				end := slices.IndexFunc(rows, func(r extstate.SizedRow) bool { return r.SessionID != rows[0].SessionID })
				if end < 0 {
					end = len(rows)
				}
				if err := load.session(ctx, rows[:end]); err != nil {
					return err
				}
				rows = rows[end:]
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := p.answer(answer); err != nil {
			return err
		}
		if err := p.show(func(b *strings.Builder) { answer.write(b, p) }); err != nil {
			return err
		}
		if n := len(answer.Refused); n > 0 {
			return fmt.Errorf("%d values were not taken over", n)
		}
		return nil
	})
}

func (a *imported) write(b *strings.Builder, p *printer) {
	t := table{head: []string{"SESSION OF PI", "SESSION", "KEY"}}
	for _, s := range a.Sessions {
		t.add(text(s.Session), text(s.ID), text(s.Key))
	}
	if len(a.Sessions) > 0 {
		t.write(b, p)
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%d values written, %d the same, %d kept as they are on the server\n", a.Written, a.Same, a.Kept)
	for _, r := range a.Refused {
		fmt.Fprintf(b, "refused: %s\n", oneLine(r.String()))
	}
}

// importer loads one session after the other.
type importer struct {
	*extImport
	place  *extPlace
	to     streams
	file   *extstate.File
	server *shell
	answer *imported
}

// session loads the rows of one session of Pi.
func (m *importer) session(ctx context.Context, rows []extstate.SizedRow) error {
	id := rows[0].SessionID
	view, err := m.view(id)
	if err != nil {
		return err
	}
	made, err := m.target(ctx, view)
	if err != nil {
		return m.refused(extstate.Row{SessionID: id}, err)
	}
	m.answer.Sessions = append(m.answer.Sessions, importedSession{Session: id, ID: made.ID, Key: made.Key, HasFile: view.file != ""})

	var plugins []string // with a value on any branch
	stored := map[extstate.Row]bool{}
	for _, r := range rows {
		if stored[r.Row] = true; r.BranchID != "" && (len(plugins) == 0 || plugins[len(plugins)-1] != r.PluginID) {
			plugins = append(plugins, r.PluginID)
		}
	}
	seen := map[extstate.Row]bool{}
	for _, plugin := range plugins {
		if err := m.runs(ctx, made.ID, plugin, view, seen); err != nil {
			return err
		}
	}
	for _, r := range rows { // the session's own, and those of entries that the file does not have
		if seen[r.Row] {
			continue
		}
		value, found, err := m.file.Get(ctx, r.Row)
		if err == nil && found {
			err = m.put(ctx, made.ID, r.Row, r.BranchID, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// view reads the file of a session. Without one there is no tree.
func (m *importer) view(id string) (*piView, error) {
	file, err := m.place.findSession(id)
	if _, gone := errors.AsType[*usageError](err); gone {
		fmt.Fprintf(m.to.err, "warning: there is no file of session %s, so nothing is inherited in it\n", oneLine(id))
		return &piView{session: id}, nil
	}
	if err != nil {
		return nil, err
	}
	return (&extSession{}).viewOfFile(file, m.to)
}

// target finds the session on the server, or makes it.
func (m *importer) target(ctx context.Context, view *piView) (client.Session, error) {
	key := "pi:" + view.session
	page, err := m.server.ListSessions(ctx, client.SessionQuery{Key: key})
	if err != nil {
		return client.Session{}, err
	}
	if len(page.Items) > 0 {
		return page.Items[0], nil
	}
	return m.server.CreateSession(ctx, client.SessionInput{Key: key, Title: cutTitle(view.title)})
}

// cutTitle is the first line of a text, as far as a title goes.
func cutTitle(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	length := 0
	for i, r := range line {
		if length += utf16.RuneLen(r); length > sessile.MaxTitleLength {
			return line[:i]
		}
	}
	return line
}

// runs loads what a plugin sees on each run of the tree, and on main what it sees at the end of the file.
func (m *importer) runs(ctx context.Context, sessionID, plugin string, view *piView, seen map[extstate.Row]bool) error {
	damaged := false
	load := func(leaf, branch string) error {
		at := &piView{session: view.session, leaf: &leaf, entries: view.entries}
		key, _, err := extstate.BranchKey(at)
		row := extstate.Row{PluginID: plugin, SessionID: view.session, BranchID: key}
		if err == nil && branch == "" {
			if seen[row] {
				return nil
			}
			seen[row], branch = true, key
		}
		var e extstate.Explanation
		if err == nil {
			e, err = m.file.Explain(ctx, plugin, extstate.ScopeBranch, at)
		}
		if fault, ok := errors.AsType[*extstate.TreeError](err); ok {
			if !damaged { // once is enough
				m.refuse(extstate.Row{PluginID: plugin, SessionID: view.session}, fault.Error())
			}
			damaged = true
			return nil
		}
		if err != nil || !e.Found {
			return err
		}
		return m.put(ctx, sessionID, row, branch, e.Value)
	}
	if leaf, ok := view.Leaf(); ok {
		if err := load(leaf, sessile.MainBranch); err != nil {
			return err
		}
	}
	for _, e := range view.entries {
		if err := load(e.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// put brings a value to its place on the server, unless it stands there already or something else does.
func (m *importer) put(ctx context.Context, sessionID string, row extstate.Row, branch string, stored []byte) error {
	row.BranchID = branch
	value, err := state.NormalizeValue(stored)
	if err != nil {
		m.refuse(row, err.Error())
		return nil
	}
	if !sessile.ValidPlugin(row.PluginID) {
		m.refuse(row, "no extension can have this plugin id")
		return nil
	}
	name := client.Extension{Plugin: row.PluginID, BranchID: branch}
	there, err := m.server.GetExtension(ctx, sessionID, name)
	own := err == nil && !there.Inherited
	condition := client.Condition{Revision: there.Revision}
	switch {
	case sessile.CodeOf(err) == sessile.CodeNotFound:
		condition = client.Condition{Missing: true}
	case err != nil:
		return m.refused(row, err)
	case own && bytes.Equal(there.Value, value):
		m.answer.Same++
		return nil
	case own && m.Prefer == extstate.KeepOurs:
		m.answer.Kept++
		return nil
	}
	if _, err := m.server.PutExtension(ctx, sessionID, name, value, condition); err != nil {
		return m.refused(row, err)
	}
	m.answer.Written++
	return nil
}

func (m *importer) refuse(row extstate.Row, reason string) {
	m.answer.Refused = append(m.answer.Refused, refusedValue{row.SessionID, row.PluginID, row.BranchID, reason})
}

// refused notes what the server says against one value. Everything else ends the import.
func (m *importer) refused(row extstate.Row, err error) error {
	switch sessile.CodeOf(err) {
	case sessile.CodeValidation, sessile.CodePayloadTooLarge, sessile.CodeEntryLimit, sessile.CodeSessionArchived, sessile.CodePreconditionFailed:
		m.refuse(row, describe(err))
		return nil
	}
	return err
}
