package agenttool

import (
	"path"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile/session"
)

// Policy decides which tools a session has (spec/session-tools.md, sections 5.14 and 9). A tool is there when every layer
// lets it through. The zero value lets everything through but what sub-agents and sandboxes are denied by default.
type Policy struct {
	// Tools is what holds for everybody.
	Tools Rules
	// Providers holds the rules for what answers in a session: by provider/model, else by provider.
	Providers map[string]Rules
	// Agents holds the rules of single agents, by id. A profile of theirs replaces the one for everybody.
	Agents map[string]Rules
	// Groups holds the rules of group chats, by channel:id in lower case, else by channel:*.
	Groups map[string]Rules
	// Sandbox is what holds for sandboxed callers, and Subagents for sessions that another one spawned, beside everything
	// else. Naming a tool in their Allow or AlsoAllow lifts what is denied by default there.
	Sandbox, Subagents Rules
	// MaxDepth is how deep sub-agents may stand: those at this depth are leaves; default 1.
	MaxDepth int
	// Agent tells which agent a session key belongs to; default: none has rules of its own.
	Agent func(sessionKey string) string
	// Standing tells what is stored of a session; default: nothing, so that depth follows from keys alone.
	Standing func(account, sessionKey string) session.Standing
}

// Rules are one layer. In each of the lists stand names, patterns with * and groups (group:sessions); case does not count.
type Rules struct {
	// Profile is minimal, messaging, coding or full; anything else is full.
	Profile string
	// AlsoAllow adds to the profile.
	AlsoAllow []string
	// Allow, when it is not empty, lists all that is let through.
	Allow []string
	// Deny takes away, whatever the others say.
	Deny []string
}

// profiles lists the tools of each profile that restricts. session_state is in all of them: an agent without memory of its
// own is of no use to anybody.
var profiles = map[string][]string{
	"minimal":   {"session_state", "session_status"},
	"messaging": {"session_state", "sessions_list", "sessions_history", "sessions_send", "session_status"},
	"coding":    {"session_state", "group:sessions"},
}

// groups are names for several tools.
var groups = map[string][]string{
	"group:sessions": {
		"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "sessions_yield", "subagents", "session_status",
	},
}

// What is denied by default: to callers in a sandbox, to every sub-agent, and to those that may not spawn any.
var (
	sandboxDenied  = []string{"browser", "canvas", "cron", "gateway", "nodes"}
	subagentDenied = []string{"gateway", "agents_list", "session_status", "cron", "sessions_send", "message"}
	leafDenied     = groups["group:sessions"]
)

// The layers of a policy, as [Permit.Refuses] names them.
const (
	LayerProfile   = "profile"
	LayerTools     = "tools"
	LayerProvider  = "provider"
	LayerAgent     = "agent"
	LayerGroup     = "group"
	LayerSandbox   = "sandbox"
	LayerSubagent  = "subagent"
	LayerInherited = "inherited"
)

// Permit is what a policy leaves one caller. It is what holds now: a later call asks for a new one.
type Permit struct {
	profile Rules
	layers  []layer
}

type layer struct {
	name  string
	rules Rules
}

// Allows reports whether a caller has a tool.
func (p Policy) Allows(c Caller, tool string) bool { return p.For(c).Refuses(tool) == "" }

// For collects the layers that hold for a caller.
func (p Policy) For(c Caller) Permit {
	key := ""
	if c.SessionKey != nil {
		key = *c.SessionKey
	}
	var own Rules
	if p.Agent != nil {
		own = p.Agents[p.Agent(key)]
	}
	permit := Permit{profile: p.Tools, layers: []layer{{LayerTools, p.Tools}, {LayerAgent, own}}}
	if own.Profile != "" || len(own.AlsoAllow) > 0 {
		permit.profile = own
		if own.Profile == "" {
			permit.profile.Profile = p.Tools.Profile
		}
	}
	if c.Sandboxed {
		permit.add(LayerSandbox, p.Sandbox.denying(sandboxDenied))
	}
	if channel, id := session.GroupOf(key); channel != "" {
		permit.add(LayerGroup, first(p.Groups, strings.ToLower(channel+":"+id), channel+":*"))
	}
	spawned := session.IsSpawned(key)
	if !spawned && len(p.Providers) == 0 {
		return permit
	}
	standing := session.Standing{Depth: session.Depth(key, nil)}
	if p.Standing != nil {
		standing = p.Standing(c.Account, key)
	}
	provider, _ := session.SplitModel(standing.Model)
	permit.add(LayerProvider, first(p.Providers, standing.Model, provider))
	if session.IsSubagent(key) {
		denied := subagentDenied
		if p.leaf(&standing) {
			denied = slices.Concat(denied, leafDenied)
		}
		permit.add(LayerSubagent, p.Subagents.denying(denied))
	}
	permit.add(LayerInherited, Rules{Deny: standing.InheritedDeny})
	return permit
}

// leaf reports whether a sub-agent may not have any of its own: by the role it was given, else by its depth.
func (p Policy) leaf(s *session.Standing) bool {
	if s.Role != "" {
		return s.Role != session.RoleOrchestrator
	}
	return s.Depth >= int64(max(p.MaxDepth, 1))
}

func (p *Permit) add(name string, rules Rules) { p.layers = append(p.layers, layer{name, rules}) }

// first is the first of the rules there are under some names.
func first(rules map[string]Rules, names ...string) Rules {
	for _, name := range names {
		if r, ok := rules[name]; ok {
			return r
		}
	}
	return Rules{}
}

// Refuses names the layer that keeps a tool from the caller; "" is none.
func (p Permit) Refuses(tool string) string {
	if !p.profile.inProfile(tool) {
		return LayerProfile
	}
	for _, l := range p.layers {
		if !l.rules.lists(tool) {
			return l.name
		}
	}
	return ""
}

// denying adds tools to what is denied but for those that the rules let through by name.
func (r Rules) denying(tools []string) Rules {
	named := func(tool string) bool {
		return slices.ContainsFunc(slices.Concat(r.Allow, r.AlsoAllow), func(entry string) bool {
			return strings.EqualFold(strings.TrimSpace(entry), tool)
		})
	}
	r.Deny = slices.Clone(r.Deny)
	for _, tool := range tools {
		if !named(tool) {
			r.Deny = append(r.Deny, tool)
		}
	}
	return r
}

func (r Rules) inProfile(tool string) bool {
	listed, restricts := profiles[strings.ToLower(strings.TrimSpace(r.Profile))]
	return !restricts || matches(listed, tool) || matches(r.AlsoAllow, tool)
}

func (r Rules) lists(tool string) bool {
	if matches(r.Deny, tool) {
		return false
	}
	return len(r.Allow) == 0 || matches(r.Allow, tool) || matches(r.AlsoAllow, tool)
}

// matches reports whether a tool stands in a list.
func matches(list []string, tool string) bool {
	for _, entry := range list {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if members, ok := groups[entry]; ok {
			if matches(members, tool) {
				return true
			}
			continue
		}
		if !strings.ContainsAny(entry, `\[?`) { // * alone has a meaning
			if ok, _ := path.Match(entry, tool); ok {
				return true
			}
		}
	}
	return false
}
