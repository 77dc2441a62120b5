package main

import (
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/config"
	"github.com/sessile-dev/sessile/session"
)

// keysOf are the rules of session keys that a configuration makes.
func keysOf(a config.Agents) session.Keys {
	return session.Keys{DefaultAgent: a.DefaultAgent, MainKey: a.MainKey}
}

// policyOf is the policy of tools that a configuration makes.
func policyOf(a config.Agents, keys session.Keys) agenttool.Policy {
	p := agenttool.Policy{Tools: rulesOf(a.Tools), Subagents: rulesOf(a.Subagents), Agents: map[string]agenttool.Rules{}, Agent: keys.Agent}
	for _, agent := range a.Agents {
		p.Agents[agent.ID] = rulesOf(agent.Tools)
	}
	return p
}

func rulesOf(r config.ToolRules) agenttool.Rules {
	return agenttool.Rules{Profile: r.Profile, Allow: r.Allow, Deny: r.Deny, AlsoAllow: r.AlsoAllow}
}
