package main

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/config"
	"github.com/sessile-dev/sessile/session"
)

// keysOf are the rules of session keys that a configuration makes.
func keysOf(a config.Agents) session.Keys {
	return session.Keys{DefaultAgent: a.DefaultAgent, MainKey: a.MainKey, Global: a.Global}
}

// policyOf is the policy of tools that a configuration makes.
func policyOf(a config.Agents, keys session.Keys) agenttool.Policy {
	p := agenttool.Policy{
		Tools: rulesOf(a.Tools), Sandbox: rulesOf(a.Sandbox), Subagents: rulesOf(a.Subagents), MaxDepth: a.Runs.MaxDepth,
		Providers: allRules(a.Providers), Groups: allRules(a.Groups), Agents: map[string]agenttool.Rules{}, Agent: keys.Agent,
	}
	for _, agent := range a.Agents {
		p.Agents[agent.ID] = rulesOf(agent.Tools)
	}
	return p
}

func allRules(rules map[string]config.ToolRules) map[string]agenttool.Rules {
	all := make(map[string]agenttool.Rules, len(rules))
	for name, r := range rules {
		all[name] = rulesOf(r)
	}
	return all
}

func rulesOf(r config.ToolRules) agenttool.Rules {
	return agenttool.Rules{Profile: r.Profile, Allow: r.Allow, Deny: r.Deny, AlsoAllow: r.AlsoAllow}
}

// visibilityOf is who sees whom as a configuration says.
func visibilityOf(a config.Agents) session.Visibility {
	return session.Visibility{
		Level: session.ReadLevel(a.Visibility), SandboxFree: a.SandboxFree, CrossAgent: a.CrossAgent, Allow: a.CrossAgentAllow,
	}
}

// modelsOf are the models that sessions may choose from. Without one in the configuration, the model of the server is the
// standard.
func modelsOf(a config.Agents, m config.Model) session.Models {
	models := session.Models{Standard: a.DefaultModel, Allowed: a.Models, Agents: map[string]string{}}
	if models.Standard == "" && m.Name != "" {
		models.Standard = m.Provider + "/" + m.Name
	}
	for _, agent := range a.Agents {
		if agent.Model != "" {
			models.Agents[agent.ID] = agent.Model
		}
	}
	return models
}

// sandboxedOf tells which agents run in a sandbox.
func sandboxedOf(a config.Agents) func(agent string) bool {
	sandboxed := map[string]bool{}
	for _, agent := range a.Agents {
		sandboxed[agent.ID] = agent.Sandboxed
	}
	return func(agent string) bool { return sandboxed[agent] }
}

// runsOf are the rules of runs that a configuration makes. Agents that name no workspace have one in the data directory.
func runsOf(a config.Agents, policy func(c session.Caller) []string, dataDir string, changes *changelog.Log, log *slog.Logger) agentrun.Options {
	r := a.Runs
	o := agentrun.Options{
		Defaults: agentOf(r.Spawns), Agents: map[string]agentrun.Agent{},
		RunLimit: r.RunLimit, SpawnLimit: r.SpawnLimit, AnnounceLimit: r.AnnounceTime,
		MaxSpawnDepth: r.MaxDepth, MaxChildren: r.MaxChildren, MaxConcurrent: r.MaxAtWork, ArchiveAfter: r.ArchiveAfter,
		MaxPingPong: r.MaxPingPong, Heartbeats: r.Heartbeats, WakeNested: a.WakeNested,
		Attachments: agentrun.Attachments{
			Enabled: r.Attachments.Enabled, MaxTotalBytes: r.Attachments.MaxTotalBytes, MaxFiles: r.Attachments.MaxFiles,
			MaxFileBytes: r.Attachments.MaxFile, RetainWithKept: r.Attachments.RetainWithKept,
		},
		Lacks: policy, Webhook: agentrun.Webhook{URL: a.Webhook.URL, Secret: a.Webhook.Secret.Reveal()}, Announce: changes.Announce,
		News: changes.Next, Logger: log,
	}
	if r.ArchiveAfter == 0 {
		o.ArchiveAfter = -time.Minute
	}
	agents := a.Agents
	if len(agents) == 0 {
		agents = []config.Agent{{ID: session.DefaultAgent}}
	}
	for _, agent := range agents {
		one := agentOf(agent.Spawns)
		one.Sandboxed, one.ACP, one.Workspace = agent.Sandboxed, agent.ACP != nil, agent.Workspace
		if one.Workspace == "" {
			one.Workspace = filepath.Join(dataDir, "workspaces", agent.ID)
		}
		o.Agents[agent.ID] = one
	}
	return o
}

func agentOf(s config.Spawns) agentrun.Agent {
	return agentrun.Agent{AllowAgents: s.AllowAgents, RequireAgent: s.RequireAgent, Model: s.Model, Thinking: s.Thinking}
}
