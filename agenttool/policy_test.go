package agenttool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/session"
)

const (
	sessionTools7 = "sessions_list sessions_history sessions_send sessions_spawn sessions_yield subagents session_status"
	subagentKey   = "agent:main:subagent:1"
)

// Section 9: every layer must let a tool through.
func TestPolicyLayers(t *testing.T) {
	const group = "agent:main:telegram:group:-100"
	boxed := func(key string) agenttool.Caller {
		c := caller(key)
		c.Sandboxed = true
		return c
	}
	groups := map[string]agenttool.Rules{
		"telegram:-100": {Deny: []string{"sessions_spawn"}}, "telegram:*": {Deny: []string{"sessions_send"}},
	}
	standing := func(s session.Standing) func(string, string) session.Standing {
		return func(string, string) session.Standing { return s }
	}
	providers := map[string]agenttool.Rules{"p": {Deny: []string{"subagents"}}, "p/weak": {Allow: []string{"session_state"}}}
	for _, c := range []struct {
		name   string
		policy agenttool.Policy
		caller agenttool.Caller
		tool   string
		layer  string // "" has the tool
	}{
		{"a profile", agenttool.Policy{Tools: agenttool.Rules{Profile: "minimal"}}, caller("k"), "sessions_list", agenttool.LayerProfile},
		{"everybody", agenttool.Policy{Tools: agenttool.Rules{Deny: []string{"subagents"}}}, caller("k"), "subagents", agenttool.LayerTools},
		{"an agent", agenttool.Policy{
			Agents: map[string]agenttool.Rules{"main": {Deny: []string{"subagents"}}}, Agent: session.Keys{}.Agent,
		}, caller("k"), "subagents", agenttool.LayerAgent},
		{"C224: a group", agenttool.Policy{
			Tools: agenttool.Rules{Profile: "messaging", AlsoAllow: []string{"sessions_spawn"}}, Groups: groups,
		}, caller(group), "sessions_spawn", agenttool.LayerGroup},
		{"a thread of the group", agenttool.Policy{Groups: groups}, caller(group + ":thread:7"), "sessions_spawn", agenttool.LayerGroup},
		{"the nearer rules count", agenttool.Policy{Groups: groups}, caller(group), "sessions_send", ""},
		{"any other group", agenttool.Policy{Groups: groups}, caller("agent:main:telegram:group:8"), "sessions_send", agenttool.LayerGroup},
		{"another channel", agenttool.Policy{Groups: groups}, caller("agent:main:slack:group:8"), "sessions_send", ""},
		{"a direct chat", agenttool.Policy{Groups: groups}, caller("agent:main:telegram:direct:-100"), "sessions_send", ""},
		{"an odd case", agenttool.Policy{
			Groups: map[string]agenttool.Rules{"signal:abc=": {Deny: []string{"sessions_send"}}},
		}, caller("agent:main:signal:group:aBc="), "sessions_send", agenttool.LayerGroup},
		{"a sandbox has session tools", agenttool.Policy{}, boxed("k"), "sessions_spawn", ""},
		{"but not all", agenttool.Policy{}, boxed("k"), "cron", agenttool.LayerSandbox},
		{"outside of it", agenttool.Policy{}, caller("k"), "cron", ""},
		{"lifted", agenttool.Policy{Sandbox: agenttool.Rules{AlsoAllow: []string{"Cron"}}}, boxed("k"), "cron", ""},
		{"rules of its own", agenttool.Policy{Sandbox: agenttool.Rules{Deny: []string{"sessions_*"}}}, boxed("k"), "sessions_list", agenttool.LayerSandbox},
		{"a provider", agenttool.Policy{Providers: providers, Standing: standing(session.Standing{Model: "p/strong"})}, caller("k"), "subagents", agenttool.LayerProvider},
		{"a model", agenttool.Policy{Providers: providers, Standing: standing(session.Standing{Model: "p/weak"})}, caller("k"), "sessions_list", agenttool.LayerProvider},
		{"another provider", agenttool.Policy{Providers: providers, Standing: standing(session.Standing{Model: "q/weak"})}, caller("k"), "subagents", ""},
		{"what the parent lacked", agenttool.Policy{
			Standing: standing(session.Standing{InheritedDeny: []string{"session_state"}}),
		}, caller("agent:main:acp:1"), "session_state", agenttool.LayerInherited},
		{"and naming does not lift it", agenttool.Policy{
			Subagents: agenttool.Rules{AlsoAllow: []string{"sessions_send"}},
			Standing:  standing(session.Standing{InheritedDeny: []string{"sessions_send"}}),
		}, caller(subagentKey), "sessions_send", agenttool.LayerInherited},
	} {
		if got := c.policy.For(c.caller).Refuses(c.tool); got != c.layer {
			t.Errorf("%s: refused by %q, want %q", c.name, got, c.layer)
		}
		if c.policy.Allows(c.caller, c.tool) != (c.layer == "") {
			t.Errorf("%s: Allows tells otherwise", c.name)
		}
	}
}

// Section 5.14 and C128: what sub-agents have, by depth and by the role that is stored.
func TestPolicyByDepth(t *testing.T) {
	const orchestrator = "sessions_list sessions_history sessions_spawn sessions_yield subagents"
	for _, c := range []struct {
		name     string
		maxDepth int
		rules    agenttool.Rules
		standing session.Standing
		has      string // of the session tools
	}{
		{"a leaf by default", 0, agenttool.Rules{}, session.Standing{Depth: 1}, ""},
		{"between", 2, agenttool.Rules{}, session.Standing{Depth: 1}, orchestrator},
		{"at the end", 2, agenttool.Rules{}, session.Standing{Depth: 2}, ""},
		{"beyond the end", 2, agenttool.Rules{}, session.Standing{Depth: 9}, ""},
		{"a stored role counts", 5, agenttool.Rules{}, session.Standing{Depth: 1, Role: session.RoleLeaf}, ""},
		{"either way", 1, agenttool.Rules{}, session.Standing{Depth: 1, Role: session.RoleOrchestrator}, orchestrator},
		{"X-O06: lifted by name", 1, agenttool.Rules{AlsoAllow: []string{"Session_Status"}}, session.Standing{Depth: 1}, "session_status"},
		{"an allow list lifts and bounds", 1, agenttool.Rules{Allow: []string{"sessions_send"}}, session.Standing{Depth: 1}, "sessions_send"},
		{"a pattern names nothing", 1, agenttool.Rules{AlsoAllow: []string{"sessions_*", "group:sessions"}}, session.Standing{Depth: 1}, ""},
		{"deny wins", 1, agenttool.Rules{AlsoAllow: []string{"session_status"}, Deny: []string{"session_*"}}, session.Standing{Depth: 1}, ""},
	} {
		p := agenttool.Policy{
			MaxDepth: c.maxDepth, Subagents: c.rules,
			Standing: func(string, string) session.Standing { return c.standing },
		}
		var has []string
		for tool := range strings.FieldsSeq(sessionTools7) {
			if p.Allows(caller(subagentKey), tool) {
				has = append(has, tool)
			}
		}
		want := strings.Fields(c.has)
		slices.Sort(has)
		slices.Sort(want)
		if !slices.Equal(has, want) {
			t.Errorf("%s: has %v, want %v", c.name, has, want)
		}
		for tool := range strings.FieldsSeq("gateway agents_list cron message") {
			if p.Allows(caller(subagentKey), tool) || !p.Allows(caller("agent:main:main"), tool) && len(c.rules.Allow) == 0 {
				t.Errorf("%s: %s is not what only a main session has", c.name, tool)
			}
		}
		if p.Allows(caller(subagentKey), "session_state") == (len(c.rules.Allow) > 0 || slices.Contains(c.rules.Deny, "session_*")) {
			t.Errorf("%s: session_state", c.name)
		}
	}
	deep := agenttool.Policy{MaxDepth: 2} // nothing is stored: keys tell
	if !deep.Allows(caller(subagentKey), "sessions_spawn") || deep.Allows(caller(subagentKey+":subagent:2"), "sessions_spawn") {
		t.Error("depth does not follow from the key")
	}
}
