package session

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
)

// Target is a session as a tool found it. Row is nil for a key without a session.
type Target struct {
	Key     string
	Display string // how results name it
	Row     *sessile.Session
}

// clientPrograms are ids of visible client programs: they stand for the current session, and never for a row of that name.
var clientPrograms = map[string]bool{
	"openclaw-tui": true, "cli": true, "webchat": true, "openclaw-control-ui": true, "webchat-ui": true,
	"openclaw-macos": true, "openclaw-ios": true, "openclaw-android": true,
}

// looksLikeKey reports whether a text is the key of a session rather than an id.
func looksLikeKey(text string) bool {
	switch text {
	case "main", globalKey, unknownKey, "current":
		return true
	}
	for _, prefix := range []string{agentPrefix, "acp:", "cron:", "hook:", "node-", "node:"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return strings.Contains(text, ":group:") || strings.Contains(text, ":channel:")
}

// resolver finds sessions for a caller inside a transaction.
type resolver struct {
	tx         sessile.ReadTx
	keys       Keys
	visibility Visibility
	caller     Caller
}

func (r *resolver) byKey(key string) (Target, error) {
	t := Target{Key: key, Display: r.keys.Display(key)}
	row, found, err := r.tx.SessionByKey(r.caller.Account, key)
	if err == nil && found {
		t.Row = &row
	}
	return t, err
}

func (r *resolver) current() (Target, error) { return r.byKey(r.caller.Key) }

// byID finds a session that is not archived by its id.
func (r *resolver) byID(id string) (Target, bool, error) {
	row, found, err := r.tx.Session(r.caller.Account, id)
	if err != nil || !found || row.Status == sessile.SessionArchived {
		return Target{}, false, err
	}
	return Target{Key: row.Key, Display: r.keys.Display(row.Key), Row: &row}, true, nil
}

// alias is the key that the word main stands for when the caller says it.
func (r *resolver) alias() string {
	if r.keys.Global {
		return globalKey
	}
	return r.keys.Main(r.keys.Agent(r.caller.Key))
}

// find resolves the text that a tool was given (spec/session-tools.md, 1.4).
func (r *resolver) find(text string) (Target, *Refusal, error) {
	if clientPrograms[text] {
		t, err := r.current()
		return t, nil, err
	}
	restricted := r.visibility.Restricted(r.caller)
	if text == "current" {
		return r.findCurrent(restricted)
	}
	if !looksLikeKey(text) {
		return r.findID(text, restricted)
	}
	key := r.keys.Normalize(text)
	if text == "main" || text == r.keys.Alias() {
		key = r.alias()
	}
	t, err := r.byKey(key)
	if text == "main" || text == r.keys.Alias() {
		t.Display = "main"
	}
	if err == nil && restricted && key != r.caller.Key && !owns(r.caller, t.Row) {
		return Target{}, r.unseen(text), nil
	}
	return t, nil, err
}

func (r *resolver) findCurrent(restricted bool) (Target, *Refusal, error) {
	if !restricted {
		if t, err := r.byKey("current"); err != nil || t.Row != nil {
			return t, nil, err
		}
	}
	t, err := r.current()
	return t, nil, err
}

func (r *resolver) findID(text string, restricted bool) (Target, *Refusal, error) {
	t, err := r.byKey(r.keys.Normalize(text))
	found := t.Row != nil
	if err == nil && !found {
		t, found, err = r.byID(text)
	}
	if err != nil {
		return Target{}, nil, err
	}
	if restricted && (!found || t.Key != r.caller.Key && !owns(r.caller, t.Row)) {
		return Target{}, r.unseen(text), nil
	}
	if !found {
		return Target{}, &Refusal{Reason: fmt.Sprintf("no session is known as %s; use the full session key that sessions_list shows", text)}, nil
	}
	return t, nil, nil
}

func (r *resolver) unseen(text string) *Refusal {
	return forbid(LayerSandbox, "session %s is not visible from this sandboxed session, which sees the session tree alone", text)
}

// findForStatus resolves what session_status was given: a key with or without its agent, an alias word, or a session id
// (spec/session-tools.md, 6.3). Keys of agents are checked before anything is looked up, so that it does not show whether
// they exist. A refusal that is not forbidden tells of an unknown session.
func (r *resolver) findForStatus(text, action string) (Target, *Refusal, error) {
	if text == "" || text == "current" || clientPrograms[text] {
		t, err := r.current()
		return t, nil, err
	}
	if text == "main" || text == r.keys.Alias() {
		t, err := r.byKey(r.alias())
		t.Display = "main"
		return r.known(text, t, action, err)
	}
	key := r.keys.Normalize(text)
	if _, _, ok := SplitKey(key); ok {
		t, err := r.byKey(key)
		return r.known(text, t, action, err)
	}
	for _, candidate := range []string{key, r.keys.Normalize(agentPrefix + r.keys.withDefaults().DefaultAgent + ":" + key)} {
		t, err := r.byKey(candidate)
		if err != nil || t.Row != nil {
			return r.known(text, t, action, err)
		}
	}
	t, found, err := r.byID(text)
	if err != nil || found {
		return r.known(text, t, action, err)
	}
	return r.known(text, Target{Key: text}, action, nil)
}

// known checks a target, existing or not, and then whether it exists.
func (r *resolver) known(text string, t Target, action string, err error) (Target, *Refusal, error) {
	if err != nil || t.Key == r.caller.Key {
		return t, nil, err
	}
	if r.visibility.Restricted(r.caller) && !owns(r.caller, t.Row) {
		return Target{}, r.unseen(text), nil
	}
	if _, _, qualified := SplitKey(t.Key); qualified || t.Row != nil {
		if refusal := r.visibility.Check(r.keys, r.caller, t.Key, t.Row, action); refusal != nil {
			return Target{}, refusal, nil
		}
	}
	if t.Row == nil {
		kind := "session key"
		if !looksLikeKey(text) {
			kind = "session id or key"
		}
		return Target{}, &Refusal{Reason: fmt.Sprintf("unknown %s: %s", kind, text)}, nil
	}
	return t, nil, nil
}
