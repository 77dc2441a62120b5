package session

import (
	"strings"
)

// Keys are the rules of session keys (spec/session-tools.md, 1.2 and 1.3). The zero value has the documented defaults.
type Keys struct {
	// DefaultAgent is the agent of keys that name none; default main.
	DefaultAgent string
	// MainKey is the rest of the key of an agent's main session; default main.
	MainKey string
	// Global has one session, global, be the main one of everybody (session.scope).
	Global bool
}

// DefaultAgent is the agent that is always there, unless others are configured.
const DefaultAgent = "main"

func (k Keys) withDefaults() Keys {
	if k.DefaultAgent == "" {
		k.DefaultAgent = DefaultAgent
	}
	if k.MainKey == "" {
		k.MainKey = "main"
	}
	k.MainKey = strings.ToLower(k.MainKey)
	return k
}

// agentPrefix begins the key of an agent's session.
const agentPrefix = "agent:"

// Main is the key of an agent's main session; of the default agent's for "".
func (k Keys) Main(agent string) string {
	k = k.withDefaults()
	if agent == "" {
		agent = k.DefaultAgent
	}
	return agentPrefix + agent + ":" + k.MainKey
}

// Normalize is the form in which a key is stored: main stands for the main session of the default agent, and keys of
// agents are in lower case but for ids that are not ours to change. Other keys are what they are.
func (k Keys) Normalize(key string) string {
	if key == "main" {
		return k.Main("")
	}
	if _, _, ok := SplitKey(key); !ok {
		return key
	}
	return lowerKey(key)
}

// Agent is the agent of a key; the default agent for a key that names none.
func (k Keys) Agent(key string) string {
	if agent, _, ok := SplitKey(key); ok {
		return agent
	}
	return k.withDefaults().DefaultAgent
}

// IsMain reports whether a key is that of an agent's main session.
func (k Keys) IsMain(key string) bool {
	_, rest, ok := SplitKey(key)
	return ok && rest == k.withDefaults().MainKey
}

// SplitKey takes the key of an agent's session apart: agent:<agent>:<rest>, no part of it empty. ok is false for every
// other key.
func SplitKey(key string) (agent, rest string, ok bool) {
	if len(key) < len(agentPrefix) || !strings.EqualFold(key[:len(agentPrefix)], agentPrefix) {
		return "", "", false
	}
	agent, rest, ok = strings.Cut(key[len(agentPrefix):], ":")
	if !ok || !ValidAgent(strings.ToLower(agent)) || rest == "" || strings.HasPrefix(rest, ":") {
		return "", "", false
	}
	return strings.ToLower(agent), rest, true
}

// maxAgentLength bounds the id of an agent.
const maxAgentLength = 64

// ValidAgent reports whether an id fits [a-z0-9][a-z0-9_-]{0,63}.
func ValidAgent(id string) bool {
	if id == "" || len(id) > maxAgentLength {
		return false
	}
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}

// lowerKey puts a key into lower case but for the ids of groups of Signal and of rooms and channels of Matrix, which are
// not ours to change: everything behind the word that announces them.
func lowerKey(key string) string {
	lower := strings.ToLower(key)
	if len(lower) != len(key) {
		return lower // a letter that changes its length; such ids do not hold any
	}
	for _, mark := range []string{":signal:group:", ":matrix:channel:", ":matrix:group:", ":matrix:room:"} {
		at := strings.Index(lower, mark)
		if at < 0 {
			continue
		}
		id := at + len(mark)
		end := len(key)
		if thread := strings.LastIndex(lower, ":thread:"); thread > id {
			end = thread
		}
		return lower[:id] + key[id:end] + lower[end:]
	}
	return lower
}
