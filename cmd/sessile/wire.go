package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/auth"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/config"
	"github.com/sessile-dev/sessile/httpapi"
	"github.com/sessile-dev/sessile/mcpserver"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/transcript"
	"github.com/sessile-dev/sessile/turn"
)

// wired are the services over a store, and the handler over them.
type wired struct {
	handler  http.Handler
	sessions *session.Service
	entries  *state.Entries
	changes  *changelog.Log
	mcp      *mcpserver.Server
	runs     *agentrun.Service
}

// background is the work that goes on beside requests.
func (w wired) background() []func(context.Context) error {
	return []func(context.Context) error{w.sessions.Run, w.entries.Run, w.changes.Run, w.runs.Run}
}

// wire builds the services as the settings say and settles what the last stop left unfinished. The server and the
// commands that open a database themselves behave alike because both come through here.
func wire(ctx context.Context, store *sqlite.Store, settings *config.Loaded, accounts authenticate, log *slog.Logger) (wired, error) {
	agents, err := config.ReadAgents(settings.Sections)
	if err != nil {
		return wired{}, fmt.Errorf("reading the configuration of agents: %w", err)
	}
	keyRules := keysOf(agents)
	cells := state.New(store, state.Options{Quotas: settings.Quotas})
	entries := state.NewEntries(store, state.EntryOptions{Limits: settings.Entries})
	redactor, err := transcript.NewRedactor(transcript.RedactOptions{Patterns: agents.RedactPatterns})
	if err != nil {
		return wired{}, fmt.Errorf("reading the configuration of redaction: %w", err)
	}
	changes := changelog.New(store, changelog.Options{MaxEvents: agents.MaxEvents, MaxAge: agents.MaxAge, Logger: log})
	policy := policyOf(agents, keyRules)
	sessions := session.New(store, cells, session.Options{
		Logger: log, Keys: keyRules, Visibility: visibilityOf(agents), View: transcript.NewView(redactor),
		Models: modelsOf(agents, settings.Model), Announce: changes.Announce,
		Sandboxed: sandboxedOf(agents), HasTool: func(c session.Caller, tool string) bool {
			return policy.Allows(agenttool.Caller{Account: c.Account, SessionKey: &c.Key, Sandboxed: c.Sandboxed}, tool)
		},
	})
	policy.Standing = sessions.Standing
	build := buildVersion()
	tools := agenttool.New([]agenttool.Tool{
		agenttool.SessionState(entries),
		agenttool.SessionsList(sessions, keyRules, time.Now),
		agenttool.SessionsHistory(sessions),
		agenttool.SessionStatus(sessions, time.Now, build.version),
	}, agenttool.Options{
		Policy: policy, Normalize: keyRules.Normalize,
	})
	turns := turn.New(store, cells, newModel(settings.Model), turn.Options{
		GenerationTimeout: settings.GenerationTimeout,
		StateDisabled:     !settings.EnableClientData,
		Queue:             settings.GenerationMode == config.GenerationQueue,
		QueueTimeout:      settings.GenerationQueueTimeout,
		Announce:          changes.Announce,
		ModelOf:           sessions.ModelName,
		Tools:             agenttool.ForTurns(tools, sandboxedOf(agents)),
	})
	lacks := func(c session.Caller) []string {
		return tools.Lacking(agenttool.Caller{Account: c.Account, SessionKey: &c.Key, Sandboxed: c.Sandboxed})
	}
	runs := agentrun.New(store, sessions, turns, runsOf(agents, lacks, dataDir(settings), changes, log))
	tools.Add(
		agenttool.SessionsSend(runs), agenttool.SessionsSpawn(runs), agenttool.SessionsYield(), agenttool.Subagents(runs, agents.Runs.Actions...),
	)
	if err := turns.Recover(ctx); err != nil {
		return wired{}, fmt.Errorf("recovering after the last stop: %w", err)
	}
	keys := auth.NewKeys(store)
	protocol := mcpserver.New(mcpserver.Options{
		Tools: tools, Entries: entries, Normalize: keyRules.Normalize, Version: build.version, Logger: log,
	})
	handler := httpapi.New(httpapi.Options{
		States:            cells,
		Observation:       cells,
		Worldbooks:        sessions,
		Sessions:          sessions,
		Changes:           changes,
		Runs:              runs,
		Extensions:        state.NewExtensions(store, entries),
		Branches:          sessions,
		Floors:            sessions,
		Turns:             turns,
		Tools:             tools,
		MCP:               protocol,
		Accounts:          accounts(keys),
		Keys:              keys,
		DisableClientData: !settings.EnableClientData,
		CheckHost:         checksHost(settings),
		AllowedHosts:      []string{settings.Listen},
		MaxBodyBytes:      settings.MaxBodyBytes,
		Version: httpapi.Version{
			Version: build.version, Commit: build.commit, Go: build.goVersion, Schema: int64(store.SchemaVersion()),
		},
		Logger:    log,
		AccessLog: settings.AccessLog,
	})
	return wired{handler: handler, sessions: sessions, entries: entries, changes: changes, mcp: protocol, runs: runs}, nil
}
