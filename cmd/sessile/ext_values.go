package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
)

// extValue names a value.
type extValue struct {
	extSession
	Plugin string `arg:"" help:"Plugin id of the extension."`
	Branch bool   `help:"The value of the branch, not of the session."`
}

func (v *extValue) scope() extstate.Scope {
	if v.Branch {
		return extstate.ScopeBranch
	}
	return extstate.ScopeSession
}

type extGet struct {
	extValue
}

// explain finds the value, without writing anything. A file that does not exist has no values.
func (v *extValue) explain(ctx context.Context, to streams, all *extCommand) (*piView, extstate.Explanation, error) {
	var e extstate.Explanation
	view, err := v.view(&all.extPlace, v.scope(), to)
	if err != nil {
		return nil, e, err
	}
	err = all.open(ctx, to, true, func(ctx context.Context, _ *printer, f *extstate.File) (err error) {
		e, err = f.Explain(ctx, v.Plugin, v.scope(), view)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		e.Key, err = v.keyOf(view)
	}
	return view, e, err
}

// keyOf is the branch key of a view; "" in the session scope or without a leaf.
func (v *extValue) keyOf(view *piView) (string, error) {
	if !v.Branch {
		return "", nil
	}
	key, _, err := extstate.BranchKey(view)
	return key, err
}

// Run prints a value. Where there is one, it goes to standard output as it is stored.
func (c *extGet) Run(ctx context.Context, to streams, all *extCommand) error {
	_, e, err := c.explain(ctx, to, all)
	if err != nil {
		return err
	}
	if !e.Found {
		return errNoEntry()
	}
	return newPrinter(to, all.JSON).printJSON(jsontext.Value(e.Value))
}

type extSet struct {
	extValue
	Value string `arg:"" help:"JSON, such as '{\"step\": 3}'; - reads it from standard input."`
}

// Run writes a value, and makes the file if there is none.
func (c *extSet) Run(ctx context.Context, to streams, all *extCommand) error {
	if c.Value == "-" && c.Tree == "-" {
		return &usageError{"the value and the tree cannot both come from standard input", "give one of them as a file or an argument"}
	}
	value, err := jsonArgument(to, c.Value)
	if err != nil {
		return err
	}
	return c.change(ctx, to, all, func(ctx context.Context, s *extstate.State[jsontext.Value], view *piView) error {
		return s.Write(ctx, view, value)
	})
}

type extDrop struct {
	extValue
}

// Help is shown below the usage.
func (extDrop) Help() string {
	return `A branch without a value of its own inherits that of the branch it left: after drop, that one
shows again. To hide it, write null: sessile ext set --branch PLUGIN null`
}

// Run drops a value; what is not there can be dropped, too.
func (c *extDrop) Run(ctx context.Context, to streams, all *extCommand) error {
	return c.change(ctx, to, all, func(ctx context.Context, s *extstate.State[jsontext.Value], view *piView) error {
		return s.Drop(ctx, view)
	})
}

// change works on the value as an extension does, under the lock of the session.
func (v *extValue) change(ctx context.Context, to streams, all *extCommand, work func(context.Context, *extstate.State[jsontext.Value], *piView) error) (err error) {
	ctx, stop := start(ctx)
	defer stop()
	view, err := v.view(&all.extPlace, v.scope(), to)
	if err != nil {
		return err
	}
	if _, ok := view.Leaf(); v.Branch && !ok {
		return errNoBranch()
	}
	found, err := all.resolve()
	if err != nil {
		return err
	}
	warnOfSetting(to, found)
	s, err := extstate.Open[jsontext.Value](extstate.Options{PluginID: v.Plugin, Scope: v.scope(), DatabasePath: found.Path})
	if err != nil {
		return storeError(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := work(ctx, s, view); err != nil {
		return storeError(err)
	}
	key, err := v.keyOf(view)
	if err != nil {
		return err
	}
	return newPrinter(to, all.JSON).changed(v, view, key)
}

// changed tells which row was meant, since that depends on where the session stands.
func (p *printer) changed(v *extValue, view *piView, key string) error {
	err := p.answer(struct {
		Plugin  string `json:"plugin"`
		Session string `json:"session"`
		Branch  string `json:"branch"`
	}{v.Plugin, view.session, key})
	if err != nil {
		return err
	}
	return p.show(func(b *strings.Builder) {
		fmt.Fprintf(b, "%s in session %s", v.Plugin, oneLine(view.session))
		if v.Branch {
			fmt.Fprintf(b, ", branch %s", oneLine(key))
		}
		b.WriteByte('\n')
	})
}

func errNoBranch() error {
	return &usageError{"the session has no branch yet", "its file has no entries with ids; Pi gives it some when it opens it"}
}

type extExplain struct {
	extValue
}

// Help is shown below the usage.
func (extExplain) Help() string {
	return `A branch is named by the first entry of its run: a chain of entries without a fork. Without a running
Pi nobody knows where in the tree it stands; the last entry of the file is where it will stand when it
opens the session again. --leaf asks for another place.`
}

// explained is the answer of explain.
type explained struct {
	Plugin    string         `json:"plugin"`
	Scope     extstate.Scope `json:"scope"`
	Session   string         `json:"session"`
	File      string         `json:"session_file,omitzero"`
	Leaf      *string        `json:"leaf"`
	LeafFrom  string         `json:"leaf_from"` // file_end or given
	Branch    string         `json:"branch"`
	Found     bool           `json:"found"`
	Inherited bool           `json:"inherited"`
	Source    string         `json:"source"`
	Searched  []string       `json:"searched"`
	Value     jsontext.Value `json:"value,omitzero"`
	Corrupt   bool           `json:"corrupt,omitzero"` // the stored text is no JSON; Value is then that text, quoted
}

// Run tells where a value comes from.
func (c *extExplain) Run(ctx context.Context, to streams, all *extCommand) error {
	view, e, err := c.explain(ctx, to, all)
	if err != nil {
		return err
	}
	a := explained{
		Plugin: c.Plugin, Scope: c.scope(), Session: view.session, File: view.file, Leaf: view.leaf, LeafFrom: "file_end",
		Branch: e.Key, Found: e.Found, Inherited: e.Inherited, Source: e.Source, Searched: e.Searched,
	}
	if view.given {
		a.LeafFrom = "given"
	}
	if e.Found {
		a.Value, a.Corrupt = stored(e.Value)
	}
	p := newPrinter(to, all.JSON)
	if err := p.answer(a); err != nil {
		return err
	}
	return p.show(func(b *strings.Builder) { a.write(b, p) })
}

// stored is a stored text as a value; one that is no JSON is quoted.
func stored(raw []byte) (value jsontext.Value, corrupt bool) {
	value = jsontext.Value(strings.TrimSpace(string(raw)))
	if value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return value, false
	}
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(string(raw), "\uFFFD"))
	if err != nil {
		return jsontext.Value(`""`), true
	}
	return quoted, true
}

func (a *explained) write(b *strings.Builder, p *printer) {
	var t facts
	t.add("session", text(a.Session))
	if a.File != "" {
		t.add("file", text(a.File))
	}
	branch := a.Scope == extstate.ScopeBranch
	if branch {
		switch {
		case a.Leaf == nil:
			t.add("leaf", cell{"none: a value that is written now waits in memory for the first entry", styleYellow})
		case a.LeafFrom == "file_end":
			t.add("leaf", text(*a.Leaf+", the last entry of the file; a running Pi may stand elsewhere"))
		default:
			t.add("leaf", text(*a.Leaf))
		}
		if a.Leaf != nil {
			t.add("branch", text(a.Branch))
			if len(a.Searched) > 0 {
				t.add("looked at", text(strings.Join(a.Searched, ", ")))
			}
		}
	}
	switch {
	case !a.Found:
		t.add("value", nothing())
	case a.Corrupt:
		t.add("value", cell{"not JSON: " + string(a.Value), styleRed})
	default:
		t.add("value", p.value(true, a.Value))
	}
	switch {
	case !a.Found || !branch:
	case a.Inherited:
		t.add("comes from", cell{a.Source + ": inherited, and written down for this branch by its first read", styleYellow})
	default:
		t.add("comes from", text(a.Source+": its own"))
	}
	t.write(b, p)
}
