package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/config"
)

// byDefault is what holds of runs when a file says nothing, or nonsense.
func byDefault() config.Runs {
	return config.Runs{
		MaxDepth: 1, MaxChildren: 5, MaxAtWork: 8, ArchiveAfter: time.Hour, AnnounceTime: 2 * time.Minute, MaxPingPong: 5, Heartbeats: true,
	}
}

func readAgents(t *testing.T, file string) config.Agents {
	t.Helper()
	loaded, err := config.Load(inputs(nil, nil, file))
	if err != nil {
		t.Fatal(err)
	}
	read, err := config.ReadAgents(loaded.Sections)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestRuns(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		file   string
		change func(r *config.Runs)
	}{
		"nothing":  {"", func(*config.Runs) {}},
		"nonsense": {"agents: {defaults: {timeoutSeconds: soon, subagents: [5], heartbeat: no}}\nsession: {agentToAgent: {maxPingPongTurns: many}}\n", func(*config.Runs) {}},
		"all of it": {`
agents:
  defaults:
    timeoutSeconds: 90
    heartbeat: {enabled: false}
    subagents: {maxSpawnDepth: 2, maxChildrenPerAgent: 7, maxConcurrent: 3, runTimeoutSeconds: 1.5, archiveAfterMinutes: 5, announceTimeoutMs: 1000, allowAgents: [Main, "*"], requireAgentId: true, model: p/m, thinking: High}
session: {agentToAgent: {maxPingPongTurns: 2}}
tools: {subagents: {actions: [kill, wait]}, sessions_spawn: {attachments: {enabled: true, maxTotalBytes: 10, maxFiles: 2, maxFileBytes: 5, retainOnSessionKeep: true}}}
`, func(r *config.Runs) {
			*r = config.Runs{
				RunLimit: 90 * time.Second, SpawnLimit: 1500 * time.Millisecond, MaxDepth: 2, MaxChildren: 7, MaxAtWork: 3, ArchiveAfter: 5 * time.Minute,
				AnnounceTime: time.Second, MaxPingPong: 2, Actions: []string{"kill", "wait"},
				Spawns:      config.Spawns{AllowAgents: []string{"main", "*"}, RequireAgent: &yes, Model: "p/m", Thinking: "high"},
				Attachments: config.Attachments{Enabled: true, MaxTotalBytes: 10, MaxFiles: 2, MaxFile: 5, RetainWithKept: true},
			}
		}},
		"too small": {"agents: {defaults: {subagents: {maxSpawnDepth: 0, maxChildrenPerAgent: -1, maxConcurrent: 0, archiveAfterMinutes: 0}}}\nsession: {agentToAgent: {maxPingPongTurns: -3}}\n", func(r *config.Runs) {
			r.MaxDepth, r.MaxChildren, r.MaxAtWork, r.ArchiveAfter, r.MaxPingPong = 1, 1, 1, 0, 0
		}},
		"too large": {"agents: {defaults: {subagents: {maxSpawnDepth: 9, maxChildrenPerAgent: 99}}}\nsession: {agentToAgent: {maxPingPongTurns: 21.5}}\n", func(r *config.Runs) {
			r.MaxDepth, r.MaxChildren, r.MaxPingPong = 5, 20, 20
		}},
		"no turns":     {"session: {agentToAgent: {maxPingPongTurns: 0}}\n", func(r *config.Runs) { r.MaxPingPong = 0 }},
		"floor":        {"session: {agentToAgent: {maxPingPongTurns: 2.9}}\n", func(r *config.Runs) { r.MaxPingPong = 2 }},
		"nobody":       {"agents: {defaults: {subagents: {allowAgents: []}}}\n", func(r *config.Runs) { r.Spawns.AllowAgents = []string{} }},
		"not a number": {"session: {agentToAgent: {maxPingPongTurns: .nan}}\n", func(*config.Runs) {}},
	} {
		t.Run(name, func(t *testing.T) {
			want := byDefault()
			c.change(&want)
			if diff := cmp.Diff(want, readAgents(t, c.file).Runs); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAgentsOfTheirOwn(t *testing.T) {
	read := readAgents(t, `
agents:
  list:
    - id: main
      workspace: /somewhere
      subagents: {allowAgents: work, model: {primary: p/small}}
    - {id: coder, acp: {command: " agent ", args: [--acp, 5], env: {A: b}}}
delivery: {webhook: {url: "https://example.org/hook", secret: hidden}}
changeLog: {wakeNested: false}
`)
	want := []config.Agent{
		{ID: "main", Workspace: "/somewhere", Spawns: config.Spawns{AllowAgents: []string{"work"}, Model: "p/small"}},
		{ID: "coder", ACP: &config.ExternalAgent{Command: "agent", Args: []string{"--acp"}, Env: map[string]string{"A": "b"}}},
	}
	if diff := cmp.Diff(want, read.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if read.Webhook.URL != "https://example.org/hook" || read.Webhook.Secret.Reveal() != "hidden" || read.WakeNested {
		t.Errorf("webhook %s with secret %q, wakeNested %v", read.Webhook.URL, read.Webhook.Secret, read.WakeNested)
	}
}
