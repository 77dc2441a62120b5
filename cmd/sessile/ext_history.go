package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
)

// extHistory is sessile ext history.
type extHistory struct {
	Show    extHistoryShow    `cmd:"" default:"withargs" help:"List the versions of a value, the newest first."`
	Enable  extHistoryEnable  `cmd:"" help:"Keep versions of all values from now on, whoever writes them."`
	Disable extHistoryDisable `cmd:"" help:"Forget all versions and keep none any more."`
}

// Help is shown below the usage.
func (extHistory) Help() string {
	return `Versions are kept by triggers in the file, so they know the writes of every program, those of Pi's extensions, too.
A value that a branch inherits by its first read is a version as well.`
}

// row is the row in which a value of a view stands.
func (v *extValue) row(view *piView) (extstate.Row, error) {
	key, err := v.keyOf(view)
	if err == nil && v.Branch && key == "" {
		err = errNoBranch()
	}
	return extstate.Row{PluginID: v.Plugin, SessionID: view.session, BranchID: key}, err
}

// extVersion is a version as it is printed.
type extVersion struct {
	ID       int64           `json:"id"`
	At       int64           `json:"at"`
	Dropped  bool            `json:"dropped"`
	Baseline bool            `json:"baseline"`
	Value    *jsontext.Value `json:"value,omitzero"`
	Corrupt  bool            `json:"corrupt,omitzero"`
}

func newVersion(v extstate.Version) extVersion {
	shown := extVersion{ID: v.ID, At: v.At.UnixMilli(), Dropped: v.Value == nil, Baseline: v.Baseline}
	if v.Value != nil {
		value, corrupt := stored(v.Value)
		shown.Value, shown.Corrupt = &value, corrupt
	}
	return shown
}

func (v extVersion) cell(p *printer) cell {
	switch {
	case v.Dropped:
		return cell{"dropped", styleDim}
	case v.Corrupt:
		return cell{"not JSON: " + string(*v.Value), styleRed}
	default:
		return p.value(true, *v.Value)
	}
}

type extHistoryShow struct {
	extValue
}

// Run lists versions.
func (c *extHistoryShow) Run(ctx context.Context, to streams, all *extCommand) error {
	view, err := c.view(&all.extPlace, c.scope(), to)
	if err != nil {
		return err
	}
	row, err := c.row(view)
	if err != nil {
		return err
	}
	return all.open(ctx, to, true, func(ctx context.Context, p *printer, f *extstate.File) error {
		found, err := f.History(ctx, row)
		if err != nil {
			return historyError(err)
		}
		list := make([]extVersion, 0, len(found))
		for _, v := range found {
			list = append(list, newVersion(v))
		}
		if err := p.answer(list); err != nil {
			return err
		}
		return p.show(func(b *strings.Builder) {
			t := table{head: []string{"VERSION", "WRITTEN", "VALUE"}}
			for _, v := range list {
				written := moment(v.At)
				if v.Baseline {
					written.text = "before " + written.text
				}
				t.add(number(v.ID), written, v.cell(p))
			}
			t.write(b, p)
		})
	})
}

// historyError adds what to do when nothing was kept.
func historyError(err error) error {
	if errors.Is(err, extstate.ErrNoHistory) {
		return &hintedError{err, "sessile ext history enable keeps versions from then on"}
	}
	return err
}

type extHistoryEnable struct {
	Keep int `default:"100" placeholder:"N" help:"Versions to keep of each value (100)."`
}

// Run starts to keep versions.
func (c *extHistoryEnable) Run(ctx context.Context, to streams, all *extCommand) error {
	return all.open(ctx, to, false, func(ctx context.Context, p *printer, f *extstate.File) error {
		if err := f.EnableHistory(ctx, c.Keep); err != nil {
			return err
		}
		return p.said(true, "the newest %d versions of each value are kept from now on", c.Keep)
	})
}

type extHistoryDisable struct {
	Yes bool `short:"y" help:"Do not ask."`
}

// Run ends it.
func (c *extHistoryDisable) Run(ctx context.Context, to streams, all *extCommand) error {
	return all.open(ctx, to, false, func(ctx context.Context, p *printer, f *extstate.File) error {
		enabled, err := f.HistoryEnabled(ctx)
		if err != nil {
			return err
		}
		if enabled && !c.Yes {
			if err := confirm(to, "All versions are forgotten. Go on?"); err != nil {
				return err
			}
		}
		if err := f.DisableHistory(ctx); err != nil {
			return err
		}
		return p.said(false, "no versions are kept")
	})
}

// said prints a sentence, or whether the history is enabled.
func (p *printer) said(enabled bool, format string, args ...any) error {
	if err := p.answer(map[string]bool{"enabled": enabled}); err != nil {
		return err
	}
	return p.show(func(b *strings.Builder) { fmt.Fprintf(b, format+"\n", args...) })
}

type extUndo struct {
	extValue
	To int64 `placeholder:"VERSION" help:"Go back to this version, as sessile ext history numbers them."`
}

// Help is shown below the usage.
func (extUndo) Help() string {
	return `Undoing is a change like any other: undoing it brings the newest value back. A running Pi goes on with what it
has in memory until /state:force-refresh or /reload.`
}

// Run gives a value back what it was.
func (c *extUndo) Run(ctx context.Context, to streams, all *extCommand) error {
	view, err := c.view(&all.extPlace, c.scope(), to)
	if err != nil {
		return err
	}
	row, err := c.row(view)
	if err != nil {
		return err
	}
	return all.open(ctx, to, false, func(ctx context.Context, p *printer, f *extstate.File) error {
		var now extstate.Version
		var err error
		if c.To == 0 {
			now, err = f.Undo(ctx, row)
		} else {
			now, err = f.Restore(ctx, row, c.To)
		}
		if err != nil {
			return historyError(err)
		}
		shown := newVersion(now)
		if err := p.answer(shown); err != nil {
			return err
		}
		return p.show(func(b *strings.Builder) { fmt.Fprintf(b, "now %s\n", oneLine(shown.cell(p).text)) })
	})
}
