package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
)

// agents is a service whose sessions see each other as the options say.
func agents(t *testing.T, o session.Options) *stage {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "agents.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	cells := state.New(store, state.Options{})
	return &stage{T: t, store: store, cells: cells, sessions: session.New(store, cells, o)}
}

func (s *stage) add(n session.NewSession) session.Session {
	s.Helper()
	made, err := s.sessions.Create(s.Context(), owner, n)
	s.must(err)
	return made
}

func caller(key string) session.Caller { return session.Caller{Account: owner, Key: key} }

// C202 to C210 and 8.3: every level, with owned sessions and other agents.
func TestVisibility(t *testing.T) {
	const me = "agent:main:main"
	mine := &sessile.Session{Key: "agent:main:subagent:1", AgentID: "main", SpawnedBy: me}
	other := &sessile.Session{Key: "agent:main:direct:1", AgentID: "main"}
	grandchild := &sessile.Session{Key: "agent:main:subagent:2", AgentID: "main", SpawnedBy: mine.Key}
	foreign := &sessile.Session{Key: "agent:work:main", AgentID: "work"}
	lent := &sessile.Session{Key: "agent:work:subagent:1", AgentID: "work", OwnerKey: me}
	rows := []*sessile.Session{mine, other, grandchild, foreign, lent}
	for _, c := range []struct {
		name string
		v    session.Visibility
		sees string // one letter a row
	}{
		{"self", session.Visibility{Level: session.LevelSelf}, "....."},
		{"tree", session.Visibility{Level: session.LevelTree}, "m...l"},
		{"nothing set", session.Visibility{}, "m...l"},
		{"agent", session.Visibility{Level: session.LevelAgent}, "mog.."},
		{"all", session.Visibility{Level: session.LevelAll}, "mog.l"},
		{"all across agents", session.Visibility{Level: session.LevelAll, CrossAgent: true}, "mogfl"},
		{"one side", session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: []string{"main"}}, "mog.l"},
		{"both", session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: []string{"main", "wo*"}}, "mogfl"},
		{"case", session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: []string{"MAIN", "work"}}, "mog.l"},
		{"case of globs", session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: []string{"M*", "W*"}}, "mogfl"},
		{"blank", session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: []string{" "}}, "mog.l"},
		{"odd globs", session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: []string{"[mw]*"}}, "mog.l"},
	} {
		got := ""
		for i, row := range rows {
			if c.v.Check(session.Keys{}, caller(me), row.Key, row, "reading") == nil {
				got += string("mogfl"[i])
			} else {
				got += "."
			}
		}
		if got != c.sees {
			t.Errorf("%s: sees %s, want %s", c.name, got, c.sees)
		}
		if c.v.Check(session.Keys{}, caller(me), me, nil, "reading") != nil {
			t.Errorf("%s: a session does not see itself", c.name)
		}
	}
	boxed := session.Caller{Account: owner, Key: me, Sandboxed: true}
	for _, level := range []session.Level{session.LevelSelf, session.LevelAgent, session.LevelAll} {
		if got := (session.Visibility{Level: level}).LevelFor(boxed); got != session.LevelTree {
			t.Errorf("a sandbox has level %s under %s", got, level)
		}
		if got := (session.Visibility{Level: level, SandboxFree: true}).LevelFor(boxed); got != level {
			t.Errorf("an unclamped sandbox has level %s under %s", got, level)
		}
	}
	for text, want := range map[string]session.Level{"Tree": "tree", "ALL": "all", "bogus": "tree", "": "tree", "self": "self"} {
		if got := session.ReadLevel(text); got != want {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// C026 and 1.5.
func TestKinds(t *testing.T) {
	for key, want := range map[string]string{
		"agent:main:main": "main", "agent:work:main": "main", "main": "main", "agent:main:cron:j1": "cron", "cron:x": "cron", "hook:x": "hook",
		"agent:main:hook:x": "hook", "node-1": "node", "node:1": "node", "agent:main:discord:group:9": "group",
		"agent:main:discord:group:9:thread:5": "group", "agent:main:slack:channel:c": "group", "agent:main:subagent:u": "other",
		"agent:main:direct:p": "other", "acp:x": "other", "global": "other",
	} {
		if got := (session.Keys{}).Kind(&sessile.Session{Key: key}); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if got := (session.Keys{Global: true}).Kind(&sessile.Session{Key: "global"}); got != "main" {
		t.Errorf("the global session is %s", got)
	}
	if got := (session.Keys{}).Kind(&sessile.Session{Key: "agent:main:x", ChatType: "channel"}); got != "group" {
		t.Errorf("a channel is %s", got)
	}
}

// C042 and 1.9: two routes are never mixed.
func TestDelivery(t *testing.T) {
	thread := jsontext.Value("7")
	for _, c := range []struct {
		name                string
		stored, last, route session.Route
	}{
		{"nothing", session.Route{}, session.Route{}, session.Route{}},
		{"completed", session.Route{Channel: "slack"}, session.Route{Channel: "slack", To: "1", ThreadID: thread}, session.Route{Channel: "slack", To: "1", ThreadID: thread}},
		{"other channel", session.Route{Channel: "telegram", To: "1", ThreadID: thread}, session.Route{Channel: "discord", To: "9"}, session.Route{Channel: "telegram", To: "1", ThreadID: thread}},
		{"other account", session.Route{Channel: "slack", AccountID: "a"}, session.Route{Channel: "slack", AccountID: "b", To: "9"}, session.Route{Channel: "slack", AccountID: "a"}},
		{"web chat loses", session.Route{Channel: "webchat", To: "w"}, session.Route{Channel: "slack", To: "9"}, session.Route{Channel: "slack", To: "9"}},
		{"web chat does not win", session.Route{Channel: "slack", To: "9"}, session.Route{Channel: "webchat", To: "w"}, session.Route{Channel: "slack", To: "9"}},
		{"only the last", session.Route{}, session.Route{Channel: "slack", To: "9"}, session.Route{Channel: "slack", To: "9"}},
	} {
		d := session.Details{DeliveryContext: c.stored, Last: c.last}
		if got := d.Delivery(); fmt.Sprint(got) != fmt.Sprint(c.route) {
			t.Errorf("%s: %v, want %v", c.name, got, c.route)
		}
	}
}

// 1.4: what a text that a tool was given stands for.
func TestFind(t *testing.T) {
	s := agents(t, session.Options{Visibility: session.Visibility{Level: session.LevelAgent}})
	me := s.add(session.NewSession{Key: "main"})
	child := s.add(session.NewSession{Key: "agent:main:subagent:1", SpawnedBy: me.Key})
	other := s.add(session.NewSession{Key: "agent:main:direct:1"})
	archived := s.add(session.NewSession{Key: "agent:main:direct:2", Status: sessile.SessionArchived})
	boxed := session.Caller{Account: owner, Key: me.Key, Sandboxed: true}
	for _, c := range []struct {
		caller session.Caller
		text   string
		want   string // key, or what the refusal is
	}{
		{caller(me.Key), "current", me.Key},
		{caller(other.Key), "cli", other.Key},
		{caller(other.Key), "main", me.Key},
		{caller(me.Key), other.ID, other.Key},
		{caller(me.Key), "agent:main:nobody", "agent:main:nobody"},
		{caller(me.Key), archived.Key, archived.Key},
		{caller(me.Key), archived.ID, "error"},
		{caller(me.Key), "0b5e7d1c-91f2-4c3a-8d10-5a2e6f7b8c9d", "error"},
		{caller(me.Key), "agent:work:main", "forbidden"},
		{boxed, child.Key, child.Key},
		{boxed, child.ID, child.Key},
		{boxed, other.Key, "forbidden"},
		{boxed, other.ID, "forbidden"},
		{boxed, "0b5e7d1c-91f2-4c3a-8d10-5a2e6f7b8c9d", "forbidden"},
		{boxed, "current", me.Key},
	} {
		target, refusal, err := s.sessions.Find(t.Context(), c.caller, c.text, "sessions_history")
		s.must(err)
		got := target.Key
		if refusal != nil {
			got = map[bool]string{true: "forbidden", false: "error"}[refusal.Forbidden]
		}
		if got != c.want {
			t.Errorf("%q for %v: %s, want %s", c.text, c.caller, got, c.want)
		}
	}
}

// 2.2 and ruling 3: what is not seen does not count for the limit, and pages join without a gap.
func TestListPages(t *testing.T) {
	s := agents(t, session.Options{})
	me := s.add(session.NewSession{Key: "main"})
	for i := range 7 {
		at := int64(100 + i/2)
		s.add(session.NewSession{Key: fmt.Sprintf("agent:main:subagent:%d", i), SpawnedBy: me.Key, UpdatedAt: &at})
		s.add(session.NewSession{Key: fmt.Sprintf("agent:main:direct:%d", i)})
	}
	var keys []string
	q := session.ListQuery{Limit: 3}
	for pages := 0; ; pages++ {
		l, err := s.sessions.ListFor(t.Context(), caller(me.Key), q)
		s.must(err)
		for _, one := range l.Sessions {
			keys = append(keys, strings.TrimPrefix(one.Row.Key, "agent:main:"))
		}
		if q.After = l.Next; l.Next == nil || pages > 5 {
			break
		}
	}
	if got, want := strings.Join(keys, " "), "main subagent:6 subagent:4 subagent:5 subagent:2 subagent:3 subagent:0 subagent:1"; got != want {
		t.Errorf("pages show %s, want %s", got, want)
	}
}

// C164 to C167: the override of a model.
func TestModelOverride(t *testing.T) {
	s := agents(t, session.Options{Models: session.Models{Standard: "p/m", Allowed: []string{"p/big"}}})
	me := s.add(session.NewSession{Key: "main"})
	for _, c := range []struct {
		model, override string
		changed         bool
	}{
		{"default", "", false},
		{"big", "p/big", true},
		{"P/Big", "p/big", false},
		{"no-such/thing", "error", false},
		{"p/m", "", true},
		{"p/big", "p/big", true},
		{"DEFAULT", "", true},
	} {
		status, err := s.sessions.StatusOf(t.Context(), caller(me.Key), session.StatusQuery{Model: c.model})
		override := status.Details.ModelOverride
		if sessile.CodeOf(err) == sessile.CodeToolError {
			override = "error"
		} else {
			s.must(err)
		}
		if override != c.override || err == nil && status.ChangedModel != c.changed {
			t.Errorf("%s: override %q changed %v, want %q %v", c.model, override, status.ChangedModel, c.override, c.changed)
		}
	}
	fresh := caller("agent:main:direct:new")
	if status, err := s.sessions.StatusOf(t.Context(), fresh, session.StatusQuery{}); err != nil || status.Row != nil {
		t.Errorf("looking made a session: %v %v", status.Row, err)
	}
	if status, err := s.sessions.StatusOf(t.Context(), fresh, session.StatusQuery{Model: "big"}); err != nil || status.Row == nil {
		t.Errorf("choosing a model made no session: %v", err)
	}
	if found, err := s.sessions.ByKey(t.Context(), owner, fresh.Key); err != nil || found.Key != fresh.Key {
		t.Errorf("%v %v", found, err)
	}
}
