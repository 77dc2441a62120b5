package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
)

// extCommand is sessile ext: the state that extensions of the coding agent Pi keep. It needs neither Pi nor a server.
type extCommand struct {
	extPlace
	Status       extStatus       `cmd:"" help:"Show the file, the locks that are held and how much each plugin keeps."`
	Get          extGet          `cmd:"" help:"Print the value that a plugin would read, without writing anything; exits with 1 if there is none."`
	Set          extSet          `cmd:"" help:"Write a value."`
	Drop         extDrop         `cmd:"" help:"Take a value away."`
	Explain      extExplain      `cmd:"" help:"Tell which run of the tree a value comes from, without writing anything."`
	History      extHistory      `cmd:"" help:"Show what a value was before, where versions are kept."`
	Undo         extUndo         `cmd:"" help:"Give a value back what it was before its newest version."`
	Orphans      extOrphans      `cmd:"" help:"List sessions of which something is kept and whose files are gone."`
	Purge        extPurge        `cmd:"" help:"Delete what is kept of them."`
	Backup       extBackup       `cmd:"" help:"Copy the state file while others use it."`
	Merge        extMerge        `cmd:"" help:"Take over the values of another state file."`
	Import       extImport       `cmd:"" help:"Load the values into a server, as sessions with branches."`
	Check        extCheck        `cmd:"" help:"Look the state file through for damage."`
	ForceRefresh extForceRefresh `cmd:"" help:"Take away the lock of a session; asks if its holder is alive."`
}

// extPlace says where the state file and the sessions are.
type extPlace struct {
	File     string `placeholder:"FILE" help:"State file to work on (what Pi's settings say, else states.sqlite beside the sessions)."`
	Trust    bool   `help:"Let the settings of the project in this directory count, as Pi does when it is trusted."`
	Sessions string `placeholder:"DIR" help:"Directory in which session files lie, beside those that Pi's settings name. [PI_CODING_AGENT_SESSION_DIR]"`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// envSessionDir is a variable of Pi.
const envSessionDir = "PI_CODING_AGENT_SESSION_DIR"

// place is whose settings count.
func (p *extPlace) place() (extstate.Place, error) {
	here, err := os.Getwd()
	return extstate.Place{ProjectDir: here, ProjectTrusted: p.Trust}, err
}

// resolve finds the state file, which may not exist.
func (p *extPlace) resolve() (extstate.Resolution, error) {
	if p.File != "" {
		path, err := filepath.Abs(p.File)
		return extstate.Resolution{Path: path, Source: "flag", Verdict: extstate.VerdictUsable}, err
	}
	place, err := p.place()
	if err != nil {
		return extstate.Resolution{}, err
	}
	return extstate.Resolve(place)
}

// start makes a context that ends when the user wants it to.
func start(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// open runs the work on the state file, which must exist.
func (p *extPlace) open(ctx context.Context, to streams, readOnly bool, work func(context.Context, *printer, *extstate.File) error) (err error) {
	ctx, stop := start(ctx)
	defer stop()
	found, err := p.resolve()
	if err != nil {
		return err
	}
	warnOfSetting(to, found)
	f, err := extstate.OpenFile(found.Path, extstate.FileOptions{ReadOnly: readOnly})
	if err != nil {
		return storeError(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return storeError(work(ctx, newPrinter(to, p.JSON), f))
}

// warnOfSetting tells of a setting that Pi cannot use either.
func warnOfSetting(to streams, found extstate.Resolution) {
	if notice := found.Notice(); notice != "" {
		fmt.Fprintln(to.err, visible(notice))
	}
}

// storeError gives errors of the store their exit codes, and advice.
func storeError(err error) error {
	if e, ok := errors.AsType[*extstate.OpenError](err); ok {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "no extension has written anything yet, or it is elsewhere: --file FILE, or --trust for the settings of this project"
		}
		return &hintedError{&reachError{e}, hint}
	}
	if e, ok := errors.AsType[*extstate.RefusedError](err); ok {
		return &hintedError{e, "try again in a moment; sessile ext status shows who holds the session, sessile ext force-refresh frees it"}
	}
	if _, ok := errors.AsType[*extstate.ArgumentError](err); ok {
		return &usageError{err.Error(), ""}
	}
	return err
}

// encoded is an answer in the form that show and printJSON take.
func encoded(answer any) (jsontext.Value, error) {
	return json.Marshal(answer, json.Deterministic(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// answer keeps what is printed for --json.
func (p *printer) answer(answer any) error {
	data, err := encoded(answer)
	if err == nil {
		p.keep(data)
	}
	return err
}
