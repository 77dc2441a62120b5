package agenttool

import (
	"path"
	"strings"
)

// Policy decides which tools a session has (spec/session-tools.md, section 9). A tool is there when every layer lets it
// through. The zero value lets everything through.
type Policy struct {
	// Tools is what holds for everybody.
	Tools Rules
	// Agents holds the rules of single agents, by id. A profile of theirs replaces the one for everybody.
	Agents map[string]Rules
	// Subagents is what holds for sessions that another one spawned, beside everything else.
	Subagents Rules
	// Agent tells which agent a session key belongs to; default: none has rules of its own.
	Agent func(sessionKey string) string
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

// Allows reports whether a caller has a tool.
func (p Policy) Allows(c Caller, tool string) bool {
	general, own := p.Tools, Rules{}
	key := ""
	if c.SessionKey != nil {
		key = *c.SessionKey
	}
	if p.Agent != nil {
		own = p.Agents[p.Agent(key)]
	}
	profile := general
	if own.Profile != "" || len(own.AlsoAllow) > 0 {
		profile = own
		if own.Profile == "" {
			profile.Profile = general.Profile
		}
	}
	if !profile.inProfile(tool) || !general.lists(tool) || !own.lists(tool) {
		return false
	}
	return !isSubagent(key) || p.Subagents.lists(tool)
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

// isSubagent reports whether a key is that of a session that another one spawned.
func isSubagent(key string) bool {
	rest := key
	if parts := strings.SplitN(key, ":", 3); len(parts) == 3 && strings.EqualFold(parts[0], "agent") {
		rest = parts[2]
	}
	return strings.HasPrefix(strings.ToLower(rest), "subagent:")
}
