package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sessile-dev/sessile/extstate"
)

type extStatus struct {
	Session string `placeholder:"ID" help:"Only this session, by its id or by its file."`
}

// extStatusAnswer is the answer of status.
type extStatusAnswer struct {
	File    string      `json:"file"`
	Source  string      `json:"source"`
	Exists  bool        `json:"exists"`
	Session string      `json:"session,omitzero"`
	Locks   []lockShown `json:"locks"`
	Plugins []pluginRow `json:"plugins"`
}

type lockShown struct {
	Session    string            `json:"session"`
	Holder     string            `json:"holder"`
	PID        int               `json:"pid,omitzero"`
	Liveness   extstate.Liveness `json:"liveness"`
	AcquiredAt int64             `json:"acquired_at"`
	AgeMS      int64             `json:"age_ms"`
	Expired    bool              `json:"expired"`
}

type pluginRow struct {
	Plugin   string `json:"plugin"`
	Sessions int    `json:"sessions"`
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
}

// Run shows the file. It makes none, and does not bring an old one up to date.
func (c *extStatus) Run(ctx context.Context, to streams, all *extCommand) error {
	found, err := all.resolve()
	if err != nil {
		return err
	}
	answer := extStatusAnswer{File: found.Path, Source: string(found.Source), Locks: []lockShown{}, Plugins: []pluginRow{}}
	if c.Session != "" {
		view, err := (&extSession{Session: c.Session}).view(&all.extPlace, extstate.ScopeSession, to)
		if err != nil {
			return err
		}
		answer.Session = view.session
	}
	err = all.open(ctx, to, true, func(ctx context.Context, _ *printer, f *extstate.File) error { return answer.read(ctx, f) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	answer.Exists = err == nil
	p := newPrinter(to, all.JSON)
	if err := p.answer(answer); err != nil {
		return err
	}
	return p.show(func(b *strings.Builder) { answer.write(b, p) })
}

func (a *extStatusAnswer) read(ctx context.Context, f *extstate.File) error {
	locks, err := f.Locks(ctx)
	if err != nil {
		return err
	}
	for _, l := range locks {
		if a.Session == "" || l.SessionID == a.Session {
			a.Locks = append(a.Locks, lockShown{
				l.SessionID, l.Holder, max(l.PID, 0), l.Liveness, l.AcquiredAt.UnixMilli(), l.Age.Milliseconds(), l.Expired,
			})
		}
	}
	counts, err := f.Counts(ctx, extstate.Filter{SessionID: a.Session})
	for _, n := range counts {
		a.Plugins = append(a.Plugins, pluginRow{n.PluginID, n.Sessions, n.Rows, n.Bytes})
	}
	return err
}

func (a *extStatusAnswer) write(b *strings.Builder, p *printer) {
	var t facts
	where := a.File
	if !a.Exists {
		where += " (not there yet)"
	}
	t.add("file", text(where))
	if a.Session != "" {
		t.add("session", text(a.Session))
	}
	if len(a.Locks) == 0 {
		t.add("lock", text("none"))
	}
	for _, l := range a.Locks {
		t.add("lock", l.cell(a.Session == ""))
	}
	t.write(b, p)
	if len(a.Plugins) == 0 {
		return
	}
	b.WriteByte('\n')
	rows := table{head: []string{"PLUGIN", "SESSIONS", "ROWS", "BYTES"}}
	for _, r := range a.Plugins {
		rows.add(text(r.Plugin), number(r.Sessions), number(r.Rows), number(r.Bytes))
	}
	rows.write(b, p)
}

func (l lockShown) cell(named bool) cell {
	shown := fmt.Sprintf("%s (%s), taken %s ago", l.Holder, l.Liveness, age(l.AgeMS))
	if l.AcquiredAt == 0 {
		shown = fmt.Sprintf("%s (%s), taken by an old version", l.Holder, l.Liveness)
	}
	if l.Expired {
		shown += "; the next writer takes it over"
	}
	if named {
		shown = "session " + l.Session + ": " + shown
	}
	style := styleYellow
	if l.Expired {
		style = styleDim
	}
	return cell{shown, style}
}

// age is a duration in words that are short.
func age(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return d.String()
	case d < time.Minute:
		return d.Truncate(100 * time.Millisecond).String()
	case d < 48*time.Hour:
		return d.Truncate(time.Second).String()
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}

type extForceRefresh struct {
	Session string `placeholder:"ID" help:"Session, by its id or by its file (the newest one of this directory)."`
	Yes     bool   `short:"y" help:"Do not ask."`
}

// Help is shown below the usage.
func (extForceRefresh) Help() string {
	return `For a lock that a program left behind. Values stay as they are. A program that runs goes on with what it
has in memory: the commands of Pi itself, /state:force-refresh, refresh that too.`
}

// Run takes a lock away.
func (c *extForceRefresh) Run(ctx context.Context, to streams, all *extCommand) error {
	view, err := (&extSession{Session: c.Session}).view(&all.extPlace, extstate.ScopeSession, to)
	if err != nil {
		return err
	}
	return all.open(ctx, to, false, func(ctx context.Context, p *printer, f *extstate.File) error {
		status := extStatusAnswer{Session: view.session}
		if err := status.read(ctx, f); err != nil {
			return err
		}
		if len(status.Locks) > 0 && !c.Yes {
			if err := status.Locks[0].confirm(to); err != nil {
				return err
			}
		}
		holder, held, err := f.ForceRefresh(ctx, view.session)
		if err != nil {
			return err
		}
		var removed *string
		if held {
			removed = &holder
		}
		if err := p.answer(struct {
			Session string  `json:"session"`
			Removed *string `json:"removed"`
		}{view.session, removed}); err != nil {
			return err
		}
		return p.show(func(b *strings.Builder) {
			if !held {
				fmt.Fprintf(b, "session %s has no lock\n", oneLine(view.session))
				return
			}
			fmt.Fprintf(b, "the lock of session %s is gone; %s held it\n", oneLine(view.session), oneLine(holder))
		})
	})
}

// errKept says that the user did not agree.
var errKept = errors.New("nothing was changed")

// confirm asks before a lock goes whose holder may still be at work.
func (l lockShown) confirm(to streams) error {
	if l.Liveness == extstate.NotAlive {
		return nil
	}
	return confirm(to, fmt.Sprintf("%s (%s) holds session %s. Take its lock away?", l.Holder, l.Liveness, l.Session))
}

// confirm asks on standard error and reads one line. Anything but yes is no.
func confirm(to streams, question string) error {
	fmt.Fprintf(to.err, "%s [y/N] ", oneLine(question))
	line, _ := bufio.NewReader(to.in).ReadString('\n') // no answer is no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &hintedError{errKept, "--yes does not ask"}
}
