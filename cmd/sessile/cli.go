package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alecthomas/kong"
)

// Exit codes, as the design names them in section 5.
const (
	exitDone    = 0
	exitRefused = 1 // refused or failed
	exitUsage   = 2
	exitReach   = 3 // the server or the store cannot be reached
)

// streams are where a command reads and prints.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// commands is the command line.
type commands struct {
	Help       helpFlag          `short:"h" help:"Show this help."`
	Serve      serveCommand      `cmd:"" help:"Serve the HTTP API."`
	Sessions   sessionsCommand   `cmd:"" help:"List, show, create, archive and delete sessions."`
	State      stateCommand      `cmd:"" help:"Read, write and compare the state of a session."`
	Branches   branchesCommand   `cmd:"" help:"List, fork and delete branches."`
	Floors     floorsCommand     `cmd:"" help:"List and show floors."`
	Turn       turnCommand       `cmd:"" help:"Run one turn."`
	Ext        extCommand        `cmd:"" help:"Look at and repair what extensions of the coding agent Pi keep."`
	Extensions extensionsCommand `cmd:"" help:"Read and write what extensions keep on a server."`
	KV         kvCommand         `cmd:"" name:"kv" help:"Read and write what agents keep by the tool session_state."`
	Tools      toolsCommand      `cmd:"" help:"List and call the tools of agents."`
	Runs       runsCommand       `cmd:"" help:"List, follow and cancel what agents do for one another."`
	Subagents  subagentsCommand  `cmd:"" help:"List, stop, steer and await the sub-agents of a session."`
	Deliveries deliveriesCommand `cmd:"" help:"List, follow and acknowledge what goes out to channels."`
	Why        whyCommand        `cmd:"" help:"Tell what keeps a session from seeing another one."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"Serve the tools of a session to a client of the Model Context Protocol, over standard input and output."`
	Keys       keysCommand       `cmd:"" help:"Make, list and revoke the keys that let in."`
	Lorebook   lorebookCommand   `cmd:"" help:"Convert lorebooks."`
	Config     configCommand     `cmd:"" help:"Print the settings in force and where they came from."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

const description = "Sessile keeps the session state of AI agents."

// firstSteps is what the command alone says.
const firstSteps = `Sessile keeps the session state of AI agents.

Start a server, which needs nothing else:

    sessile serve

and in another terminal, make a session, give it state, and run a turn that writes:

    export SESSILE_SESSION=$(sessile sessions create --title "First steps")
    sessile state register bond_log
    sessile state set bond_log trust '{"level": 3}'
    sessile turn "The guild opens its doors." --set bond_log/trust='{"level": 5}'
    sessile state get bond_log trust

Every command works on a file as well, without a server: --db FILE.

All commands: sessile --help
All settings: sessile config
`

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, to streams) int {
	if len(args) == 0 {
		fmt.Fprint(to.out, firstSteps)
		return exitDone
	}
	var line commands
	line.Serve.Settings = kong.Plugins{newSettingFlags()}
	line.Config.Settings = kong.Plugins{newSettingFlags()}
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
		return refuse(to.err, args, err)
	}
	selected.BindTo(ctx, (*context.Context)(nil))
	selected.Bind(to)
	if err := selected.Run(); err != nil {
		return fail(to.err, err)
	}
	return exitDone
}

// refuse prints what is wrong with a command line.
func refuse(w io.Writer, args []string, err error) int {
	hint := "see sessile --help"
	if slices.ContainsFunc(args, isNegative) {
		hint = "put -- before a value that begins with a dash"
	}
	return fail(w, &usageError{err.Error(), hint})
}

// isNegative reports whether an argument is a number that looks like a flag.
func isNegative(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && '0' <= arg[1] && arg[1] <= '9'
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
