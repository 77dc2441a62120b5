package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/config"
)

// secrets compares them by what they hide.
var secrets = cmp.Comparer(func(a, b config.Secret) bool { return a.Reveal() == b.Reveal() })

func TestAgents(t *testing.T) {
	loaded, err := config.Load(inputs(nil, nil, `
agents:
  defaults: {model: {primary: p/m}, subagents: {maxSpawnDepth: 3}, sandbox: {sessionToolsVisibility: all}}
  list:
    - {id: Main, default: true, sandbox: {mode: all}, tools: {profile: coding, deny: sessions_send}}
    - {id: work, model: p/w}
    - {model: nobody}
channels:
  Telegram: {groups: {"-100": {tools: {deny: [sessions_spawn]}}, "*": {tools: {allow: [session_state]}}, odd: 5}}
tools:
  profile: messaging
  alsoAllow: [subagents]
  byProvider: {p/m: {deny: [subagents]}}
  sandbox: {tools: {deny: [sessions_list]}}
  subagents: {tools: {alsoAllow: [session_status]}}
  sessions: {visibility: Agent}
  agentToAgent: {enabled: true, allow: [main, ""]}
session: {mainKey: home, scope: global}
changeLog: {maxEvents: 5, maxAgeDays: 2}
logging: {redactPatterns: [x]}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.ReadAgents(loaded.Sections)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Agents{
		Agents: []config.Agent{
			{ID: "main", Sandboxed: true, Tools: config.ToolRules{Profile: "coding", Deny: []string{"sessions_send"}}},
			{ID: "work", Model: "p/w"},
		},
		DefaultAgent: "main", MainKey: "home", Global: true, DefaultModel: "p/m",
		Tools:     config.ToolRules{Profile: "messaging", AlsoAllow: []string{"subagents"}},
		Sandbox:   config.ToolRules{Deny: []string{"sessions_list"}},
		Subagents: config.ToolRules{AlsoAllow: []string{"session_status"}},
		Providers: map[string]config.ToolRules{"p/m": {Deny: []string{"subagents"}}},
		Groups: map[string]config.ToolRules{
			"telegram:-100": {Deny: []string{"sessions_spawn"}}, "telegram:*": {Allow: []string{"session_state"}}, "telegram:odd": {},
		},
		Visibility: "Agent", SandboxFree: true, CrossAgent: true, CrossAgentAllow: []string{"main", ""},
		RedactPatterns: []string{"x"}, MaxEvents: 5, MaxAge: 48 * 3600e9,
	}
	got.Runs, want.WakeNested = config.Runs{}, true // see TestRuns
	if diff := cmp.Diff(want, got, secrets); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	loaded, err = config.Load(inputs(nil, nil, "agents: [5]\nchannels: x\ntools: 7\nsession: {mainKey: [a]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err = config.ReadAgents(loaded.Sections)
	got.Runs = config.Runs{}
	empty := config.Agents{WakeNested: true, Providers: map[string]config.ToolRules{}, Groups: map[string]config.ToolRules{}}
	if diff := cmp.Diff(empty, got, secrets); diff != "" || err != nil {
		t.Errorf("values of the wrong type (-want +got):\n%s%v", diff, err)
	}
}
