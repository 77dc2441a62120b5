package main

import (
	"github.com/sessile-dev/sessile/agenttool"
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
		Tools: rulesOf(a.Tools), Sandbox: rulesOf(a.Sandbox), Subagents: rulesOf(a.Subagents), MaxDepth: a.MaxDepth,
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
