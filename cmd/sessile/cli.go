package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/sessile-dev/sessile/config"
)

// Exit codes, as the design names them in section 5.
const (
	exitDone    = 0
	exitRefused = 1 // refused or failed
	exitUsage   = 2
	exitReach   = 3 // the server or the store cannot be reached
)

// streams are where a command prints.
type streams struct {
	out, err io.Writer
}

// commands is the command line.
type commands struct {
	Help    helpFlag       `short:"h" help:"Show this help."`
	Serve   serveCommand   `cmd:"" help:"Serve the HTTP API."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

const description = "Sessile keeps the session state of AI agents."

// firstSteps is what the command alone says.
const firstSteps = `Sessile keeps the session state of AI agents.

Start a server, which needs nothing else:

    sessile serve

and in another terminal:

    curl http://127.0.0.1:7474/health

All commands: sessile --help
All settings: sessile serve --help
`

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, to streams) int {
	if len(args) == 0 {
		fmt.Fprint(to.out, firstSteps)
		return exitDone
	}
	var line commands
	line.Serve.Settings = kong.Plugins{newSettingFlags()}
	parser, err := kong.New(&line,
		kong.Name("sessile"),
		kong.Description(description),
		kong.NoDefaultHelp(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 110}),
		kong.Writers(to.out, to.err),
	)
	if err != nil {
		return fail(to.err, err)
	}
	selected, err := parser.Parse(args)
	if errors.Is(err, errHelpShown) {
		return exitDone
	}
	if err != nil {
		fmt.Fprintf(to.err, "sessile: %v\nsee sessile --help\n", err)
		return exitUsage
	}
	selected.BindTo(ctx, (*context.Context)(nil))
	selected.Bind(to)
	if err := selected.Run(); err != nil {
		return fail(to.err, err)
	}
	return exitDone
}

var errHelpShown = errors.New("help was shown")

// helpFlag prints the help of the command it stands behind. Unlike the one that kong brings it does not end the
// process, so that run can be called by tests.
type helpFlag bool

// BeforeReset is called by kong when the flag was given, before anything is checked.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errHelpShown
}

// reachError is a store or server that cannot be reached.
type reachError struct{ err error }

func (e *reachError) Error() string { return e.err.Error() }
func (e *reachError) Unwrap() error { return e.err }

// fail prints an error and returns the exit code for it.
func fail(w io.Writer, err error) int {
	fmt.Fprintf(w, "sessile: %v\n", err)
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*reachError](err); ok {
		return exitReach
	}
	return exitRefused
}
