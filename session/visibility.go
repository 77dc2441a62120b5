package session

import (
	"fmt"
	"path"
	"strings"

	"github.com/sessile-dev/sessile"
)

// Caller is the session that a tool acts for. Key is in the form that is stored.
type Caller struct {
	Account   string
	Key       string
	Sandboxed bool
}

// Level says how far a session sees (spec/session-tools.md, 8.1).
type Level string

// The levels.
const (
	LevelSelf  Level = "self"
	LevelTree  Level = "tree"
	LevelAgent Level = "agent"
	LevelAll   Level = "all"
)

// ReadLevel reads a level, in any case; what is not known is tree.
func ReadLevel(text string) Level {
	switch l := Level(strings.ToLower(strings.TrimSpace(text))); l {
	case LevelSelf, LevelAgent, LevelAll:
		return l
	}
	return LevelTree
}

// Visibility decides which sessions a session sees. It is the one rule of list, history, send and status. The zero value is
// the documented default: tree, sandboxes clamped, no other agents.
type Visibility struct {
	Level       Level
	SandboxFree bool     // sandboxed callers are not clamped (sandbox.sessionToolsVisibility: all)
	CrossAgent  bool     // agentToAgent.enabled
	Allow       []string // agentToAgent.allow
}

// LevelFor is the level in force for a caller (spec/session-tools.md, 8.2).
func (v Visibility) LevelFor(c Caller) Level {
	if c.Sandboxed && !v.SandboxFree || v.Level == "" {
		return LevelTree
	}
	return v.Level
}

// Restricted reports whether a caller finds no other sessions than those it spawned (spec/session-tools.md, 1.4).
func (v Visibility) Restricted(c Caller) bool {
	return c.Sandboxed && !v.SandboxFree && c.Key != "" && !IsSubagent(c.Key)
}

// Refusal says why a session may not do something: the layer that refused, and a sentence for the caller.
type Refusal struct {
	Forbidden bool // by policy; else the request cannot be met
	Layer     string
	Reason    string
}

// The layers that refuse.
const (
	LayerVisibility = "visibility"
	LayerSandbox    = "sandbox"
	LayerCrossAgent = "agent_to_agent"
	LayerTools      = "tool_policy"
)

func forbid(layer, format string, args ...any) *Refusal {
	return &Refusal{Forbidden: true, Layer: layer, Reason: fmt.Sprintf(format, args...)}
}

// owns reports whether the row is a direct child of the caller. That does not expire.
func owns(c Caller, row *sessile.Session) bool {
	return row != nil && c.Key != "" && (row.OwnerKey == c.Key || row.SpawnedBy == c.Key || row.ParentKey == c.Key)
}

// Check decides whether the caller may do what action names with the session of a key (spec/session-tools.md, 8.3). Row is
// nil for a key without a session. nil is yes.
func (v Visibility) Check(keys Keys, c Caller, key string, row *sessile.Session, action string) *Refusal {
	if key == c.Key {
		return nil
	}
	level := v.LevelFor(c)
	owned := owns(c, row)
	if owned && (level == LevelTree || level == LevelAll) {
		return nil
	}
	from, to := keys.Agent(c.Key), keys.Agent(key)
	if row != nil {
		to = row.AgentID
	}
	if from != to {
		return v.crossAgent(level, from, to, action)
	}
	switch level {
	case LevelSelf:
		return forbid(LayerVisibility, "%s is limited to the current session (tools.sessions.visibility is self)", action)
	case LevelTree:
		return forbid(LayerVisibility, "%s is limited to the session tree: this session and those it spawned "+
			"(tools.sessions.visibility is tree)", action)
	}
	return nil
}

func (v Visibility) crossAgent(level Level, from, to, action string) *Refusal {
	switch {
	case level != LevelAll:
		return forbid(LayerVisibility, "%s of another agent's session needs tools.sessions.visibility=all and "+
			"tools.agentToAgent.enabled (visibility is %s)", action, level)
	case !v.CrossAgent:
		return forbid(LayerCrossAgent, "%s of another agent's session is disabled: tools.agentToAgent.enabled is not true", action)
	case !v.pair(from, to):
		return forbid(LayerCrossAgent, "%s of another agent's session is denied by tools.agentToAgent.allow", action)
	}
	return nil
}

// pair reports whether the list of patterns lets two agents deal with each other (spec/session-tools.md, 8.4).
func (v Visibility) pair(from, to string) bool {
	return len(v.Allow) == 0 || matchesAny(v.Allow, from) && matchesAny(v.Allow, to)
}

func matchesAny(patterns []string, agent string) bool {
	for _, pattern := range patterns {
		pattern = strings.TrimSpace(pattern)
		if !strings.Contains(pattern, "*") {
			if pattern != "" && pattern == agent {
				return true
			}
			continue
		}
		literal := strings.NewReplacer(`\`, `\\`, `?`, `\?`, `[`, `\[`).Replace(strings.ToLower(pattern))
		if ok, err := path.Match(literal, strings.ToLower(agent)); ok && err == nil {
			return true
		}
	}
	return false
}
