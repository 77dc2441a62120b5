package agenttool_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/session"
)

// These are the cases of spec/session-tools.md, section 11, on the tools over a store.

const (
	me    = "agent:main:main"
	other = "agent:main:direct:x"
	work  = "agent:work:main"
)

func level(l session.Level) session.Options {
	return session.Options{Visibility: session.Visibility{Level: l}}
}

var everything = session.Options{Visibility: session.Visibility{Level: session.LevelAll, CrossAgent: true}}

// C001 to C009: how parameters are read, and words that stand for the caller.
func TestCasesParameters(t *testing.T) {
	s := newStage(t, level(session.LevelAgent))
	mine := s.add(session.NewSession{Key: me})
	s.add(session.NewSession{Key: "openclaw-tui"})
	s.say(mine.ID, "user", "hello", "assistant", "hi")
	for range 7 {
		s.add(session.NewSession{})
	}
	s.call(me, "sessions_history", `{}`).throws("sessionKey is required")
	s.call(me, "sessions_history", `{"session_key":"main"}`).is("messages.#", 2, "sessionKey", "main")
	s.call(me, "sessions_list", `{"limit":"5"}`).is("count", 5)
	for _, limit := range []string{"0", "-1", "1.5", `"x"`} {
		s.call(me, "sessions_list", `{"limit":`+limit+`}`).throws("positive integer")
	}
	s.call(me, "sessions_history", `{"sessionKey":"main","offset":-1}`).throws("non-negative integer")
	s.call(me, "sessions_history", `{"sessionKey":"main","offset":0,"messageId":"m1"}`).throws("together")
	s.call(me, "sessions_history", `{"sessionKey":"main","sessionId":"s"}`).throws("messageId")
	for _, word := range []string{"current", "openclaw-tui", "cli"} {
		s.call(me, "sessions_history", `{"sessionKey":"`+word+`"}`).is("messages.#", 2, "sessionKey", me)
	}
}

// C010 to C013, C015 and C016: keys and ids.
func TestCasesResolution(t *testing.T) {
	s := newStage(t, level(session.LevelAgent))
	k := s.add(session.NewSession{Key: other})
	s.say(k.ID, "user", "hello")
	const id = "0b5e7d1c-91f2-4c3a-8d10-5a2e6f7b8c9d"
	s.call(me, "sessions_history", `{"sessionKey":"`+k.ID+`"}`).is("sessionKey", other, "messages.#", 1)
	unknown := s.call(me, "sessions_history", `{"sessionKey":"`+id+`"}`).is("status", "error")
	if !strings.Contains(unknown.at("error").(string), id) {
		t.Errorf("the error does not name the id: %v", unknown.data)
	}
	s.call("boxed "+me, "sessions_history", `{"sessionKey":"`+id+`"}`).is("status", "forbidden")
	s.call(me, "sessions_history", `{"sessionKey":"agent:main:foo"}`).is("messages.#", 0, "bytes", 2, "truncated", false,
		"droppedMessages", false, "contentTruncated", false, "contentRedacted", false, "status", nil)
	_, err := s.sessions.Update(t.Context(), account, k.ID, session.Patch{Status: "archived"})
	s.must(err)
	s.call(me, "sessions_history", `{"sessionKey":"`+other+`"}`).is("messages.#", 1)
	s.call(me, "sessions_history", `{"sessionKey":"`+k.ID+`"}`).is("status", "error")

	shared := newStage(t, session.Options{Keys: session.Keys{Global: true}})
	global := shared.add(session.NewSession{Key: "global"})
	shared.say(global.ID, "user", "hello")
	shared.call("global", "sessions_history", `{"sessionKey":"main"}`).is("messages.#", 1, "sessionKey", "main")
}

// C020 to C025 and C029 to C033: what a list holds, in which order.
func TestCasesList(t *testing.T) {
	newStage(t, everything).call(me, "sessions_list", `{}`).is("visibility", nil, "count", 0)
	tree := newStage(t, session.Options{}).call(me, "sessions_list", `{}`).is("visibility.mode", "tree", "visibility.restricted", true)
	if !strings.Contains(tree.at("visibility.warning").(string), "tree") {
		t.Errorf("the warning does not name the level: %v", tree.data)
	}

	s := newStage(t, level(session.LevelAgent))
	at := func(ago time.Duration) *int64 {
		ms := time.Now().Add(-ago).UnixMilli()
		return &ms
	}
	label := func(text string) *string { return &text }
	pinned := true
	tie := at(5 * time.Hour)
	for _, key := range []string{"agent:main:direct:pinned1", "agent:main:direct:pinned2"} {
		one := s.add(session.NewSession{Key: key})
		_, err := s.sessions.Update(t.Context(), account, one.ID, session.Patch{Pinned: &pinned})
		s.must(err)
	}
	s.add(session.NewSession{Key: "agent:main:direct:old", UpdatedAt: at(30 * time.Minute), Label: label("Deploy")})
	s.add(session.NewSession{Key: "agent:main:direct:new", UpdatedAt: at(time.Minute), Label: label("deploy")})
	s.add(session.NewSession{Key: "agent:main:direct:tie2", UpdatedAt: tie, Details: session.Details{ModelOverride: "anthropic/x"}})
	s.add(session.NewSession{Key: "agent:main:direct:tie1", UpdatedAt: tie})
	s.add(session.NewSession{Key: "agent:main:cron:j1:run:r1"})
	s.add(session.NewSession{Key: "unknown"})
	s.add(session.NewSession{Key: "agent:main:direct:gone", Status: "archived", UpdatedAt: at(time.Hour)})
	list := func(arguments string) string { return s.call(me, "sessions_list", arguments).keys() }
	const first = "agent:main:direct:"
	for arguments, want := range map[string]string{
		`{}`:                         "pinned2 pinned1 new old tie1 tie2",
		`{"archived":true}`:          "gone",
		`{"activeMinutes":10}`:       "pinned2 pinned1 new",
		`{"label":"Deploy"}`:         "old",
		`{"search":"ANTHROPIC/x"}`:   "tie2",
		`{"search":"anthropic"}`:     "tie2",
		`{"limit":3}`:                "pinned2 pinned1 new",
		`{"kinds":["nonsense"]}`:     "pinned2 pinned1 new old tie1 tie2",
		`{"kinds":["main"]}`:         "",
		`{"agentId":"work"}`:         "",
		`{"agentId":"main"}`:         "pinned2 pinned1 new old tie1 tie2",
		`{"label":"nobody's"}`:       "",
		`{"kinds":["CRON","OTHER"]}`: "pinned2 pinned1 new old tie1 tie2",
	} {
		if got := strings.ReplaceAll(list(arguments), first, ""); got != want {
			t.Errorf("%s lists %q, want %q", arguments, got, want)
		}
	}
	s.call(me, "sessions_list", `{"archived":true}`).is("sessions.0.archived", true, "sessions.0.pinned", false)
	if s.call(me, "sessions_list", `{"archived":true}`).at("sessions.0.archivedAt") == nil {
		t.Error("the archived session does not tell since when")
	}

	narrow := newStage(t, session.Options{})
	narrow.add(session.NewSession{Key: me, UpdatedAt: at(3 * time.Hour)})
	narrow.add(session.NewSession{Key: "agent:main:subagent:s", SpawnedBy: me, UpdatedAt: at(2 * time.Hour)})
	narrow.add(session.NewSession{Key: other})
	narrow.call(me, "sessions_list", `{"limit":1}`).is("count", 1, "sessions.0.key", "agent:main:subagent:s")
	if got := narrow.call(me, "sessions_list", `{}`).keys(); got != "agent:main:subagent:s "+me {
		t.Errorf("the tree is %q", got)
	}
}

// C034, C035, C039 to C042: what a row tells.
func TestCasesListRows(t *testing.T) {
	s := newStage(t, session.Options{})
	child := s.add(session.NewSession{
		Key: "agent:main:subagent:s", SpawnedBy: me, Channel: "", Details: session.Details{
			Origin: session.Origin{Provider: "slack"}, Last: session.Route{Channel: "discord", To: "9"},
			DeliveryContext: session.Route{Channel: "telegram", To: "1", ThreadID: []byte("2")},
			InputTokens:     5, TotalTokens: 7, ContextTokens: 9, Thinking: "low",
		},
	})
	s.add(session.NewSession{Key: "agent:main:cron:j1", SpawnedBy: me})
	rows := func() answer { return s.call(me, "sessions_list", `{"kinds":["other"]}`) }
	rows().is("sessions.0.stateVersion", nil, "sessions.0.channel", "slack", "sessions.0.spawnedBy", me, "sessions.0.totalTokens", 7,
		"sessions.0.contextTokens", 9, "sessions.0.inputTokens", 5, "sessions.0.thinkingLevel", "low", "sessions.0.sessionId", child.ID,
		"sessions.0.deliveryContext.channel", "telegram", "sessions.0.deliveryContext.to", "1", "sessions.0.deliveryContext.threadId", 2,
		"sessions.0.lastTo", "9", "sessions.0.origin.provider", "slack", "sessions.0.agentId", "main", "sessions.0.status", nil,
		"sessions.0.messages", nil, "sessions.0.derivedTitle", nil, "sessions.0.lastMessagePreview", nil, "sessions.0.archived", false)
	s.call(me, "sessions_list", `{"kinds":["cron"]}`).is("sessions.0.channel", "internal", "sessions.0.kind", "cron")

	s.add(session.NewSession{Key: me})
	s.human(child.ID, "words of a person")
	rows().is("sessions.0.stateVersion", 1, "sessions.0.status", "done")
	var many []string
	for i := range 25 {
		role := []string{"user", "assistant", "toolResult"}[i%3]
		many = append(many, role, role+" row")
	}
	s.say(child.ID, many...)
	got := s.call(me, "sessions_list", `{"messageLimit":50,"kinds":["other"]}`)
	messages, _ := got.at("sessions.0.messages").([]any)
	if len(messages) == 0 || len(messages) > 20 {
		t.Errorf("%d messages", len(messages))
	}
	for _, m := range messages {
		if role := m.(map[string]any)["role"]; role != "user" && role != "assistant" {
			t.Errorf("a row of %v", role)
		}
	}
	hidden := s.add(session.NewSession{Key: other})
	s.say(hidden.ID, "user", "nobody may see this")
	all := s.call(me, "sessions_list", `{"includeDerivedTitles":true,"includeLastMessage":true,"messageLimit":20}`)
	if text := all.keys(); strings.Contains(text, other) || strings.Contains(strings.Join(strings.Fields(jsonOf(t, all.data)), " "), "nobody may see") {
		t.Errorf("a session that is not seen shows: %s", text)
	}
}

// C056 and C070, C200 to C214: who reads whom. Redaction does not depend on settings: there is none to turn it off.
func TestCasesVisibility(t *testing.T) {
	const child, grandchild, lent = "agent:main:subagent:s", "agent:main:subagent:g", "agent:work:subagent:w"
	reads := func(o session.Options, from string) string {
		s := newStage(t, o)
		for key, by := range map[string]string{me: "", child: me, grandchild: child, other: "", work: "", lent: me} {
			old := time.Now().Add(-2 * time.Hour).UnixMilli()
			one := s.add(session.NewSession{Key: key, SpawnedBy: by, UpdatedAt: &old}) // ownership does not expire
			s.say(one.ID, "user", "hello")
		}
		var seen []string
		for _, key := range []string{child, grandchild, other, lent, work} {
			a := s.call(from, "sessions_history", `{"sessionKey":"`+key+`"}`)
			if a.at("status") == nil && a.at("messages.#") == 1 {
				seen = append(seen, strings.TrimPrefix(key, "agent:"))
			} else {
				a.is("status", "forbidden", "messages", nil)
			}
		}
		return strings.Join(seen, " ")
	}
	crossed := func(allow ...string) session.Options {
		return session.Options{Visibility: session.Visibility{Level: session.LevelAll, CrossAgent: true, Allow: allow}}
	}
	for _, c := range []struct {
		name string
		o    session.Options
		from string
		want string
	}{
		{"tree", level(session.LevelTree), me, "main:subagent:s work:subagent:w"},
		{"self", level(session.LevelSelf), me, ""},
		{"agent", level(session.LevelAgent), me, "main:subagent:s main:subagent:g main:direct:x"},
		{"all", level(session.LevelAll), me, "main:subagent:s main:subagent:g main:direct:x work:subagent:w"},
		{"one side allowed", crossed("main"), me, "main:subagent:s main:subagent:g main:direct:x work:subagent:w"},
		{"both allowed", crossed("main", "wo*"), me, "main:subagent:s main:subagent:g main:direct:x work:subagent:w work:main"},
		{"case", crossed("MAIN", "work"), me, "main:subagent:s main:subagent:g main:direct:x work:subagent:w"},
		{"globs", crossed("M*", "W*"), me, "main:subagent:s main:subagent:g main:direct:x work:subagent:w work:main"},
		{"blank", crossed(""), me, "main:subagent:s main:subagent:g main:direct:x work:subagent:w"},
		{"a sandbox", crossed(), "boxed " + me, "main:subagent:s work:subagent:w"},
	} {
		if got := reads(c.o, c.from); got != c.want {
			t.Errorf("%s: reads %q, want %q", c.name, got, c.want)
		}
	}
	refused := newStage(t, level(session.LevelAll)).call(me, "sessions_history", `{"sessionKey":"`+work+`"}`).is("layer", "agent_to_agent")
	if !strings.Contains(refused.at("error").(string), "disabled") {
		t.Errorf("it does not say that it is disabled: %v", refused.data)
	}
	for text, want := range map[string]session.Level{"Tree": "tree", "bogus": "tree", "": "tree", "ALL": "all", "Agent": "agent", "self": "self"} {
		if got := session.ReadLevel(text); got != want {
			t.Errorf("%q is level %s", text, got)
		}
	}
	for _, c := range []struct {
		level session.Level
		free  bool
		mode  any
	}{{session.LevelAll, false, "tree"}, {session.LevelSelf, false, "tree"}, {session.LevelAgent, true, "agent"}, {session.LevelAll, true, nil}} {
		o := level(c.level)
		o.Visibility.SandboxFree = c.free
		newStage(t, o).call("boxed "+me, "sessions_list", `{}`).is("visibility.mode", c.mode)
	}
}

// C160 to C163 and C168 to C172: what a status tells, and of whom.
func TestCasesStatus(t *testing.T) {
	s := newStage(t, session.Options{})
	status := func(from, arguments string) answer { return s.call(from, "session_status", arguments) }
	status(me, `{}`).is("ok", true, "sessionKey", me, "stateVersion", 0, "changedModel", false, "model", nil, "modelOverride", nil, "stateChanges", nil)
	status(me, `{"sessionKey":"agent:main:nobody"}`).throws("tree")
	status(me, `{"sessionKey":"nobody"}`).throws("nobody")
	newStage(t, everything).call(me, "session_status", `{"sessionKey":"agent:main:nobody"}`).throws("unknown session key: agent:main:nobody")
	alone := newStage(t, level(session.LevelSelf))
	alone.add(session.NewSession{Key: other})
	alone.call(me, "session_status", `{"sessionKey":"`+other+`"}`).throws("self")

	missing := newStage(t, level(session.LevelAll)).call(me, "session_status", `{"sessionKey":"`+work+`"}`)
	there := newStage(t, level(session.LevelAll))
	there.add(session.NewSession{Key: work})
	if got := there.call(me, "session_status", `{"sessionKey":"`+work+`"}`); got.thrown == "" || got.thrown != missing.thrown {
		t.Errorf("whether a session exists shows: %q and %q", got.thrown, missing.thrown)
	}

	const key = "agent:main:telegram:direct:1"
	one := s.add(session.NewSession{Key: key, SpawnedBy: me})
	s.say(one.ID, "user", "hello", "assistant", "{\"usage\":{\"input\":1200,\"output\":300}}\x00hi")
	card := status(key, `{}`).is("origin.provider", "telegram")
	if text := card.at("statusText").(string); !strings.Contains(text, "1.2k in / 300 out") {
		t.Errorf("the card lacks the usage of the transcript: %s", text)
	}
	s.call(me, "sessions_list", `{"search":"telegram:direct:1"}`).is("count", 1, "sessions.0.inputTokens", nil)
	counted := s.add(session.NewSession{Key: "agent:main:direct:2", SpawnedBy: me, Details: session.Details{InputTokens: 500}})
	s.say(counted.ID, "assistant", "{\"usage\":{\"input\":1200,\"output\":300}}\x00hi")
	if text := status("agent:main:direct:2", `{}`).at("statusText").(string); !strings.Contains(text, "500 in / 300 out") {
		t.Errorf("a stored counter is lost: %s", text)
	}
	s.call(me, "sessions_list", `{"search":"direct:2"}`).is("sessions.0.inputTokens", 500, "sessions.0.outputTokens", nil)
	s.add(session.NewSession{Key: "agent:main:subagent:u", SpawnedBy: me})
	status(me, `{"sessionKey":"agent:main:subagent:u"}`).is("origin", nil)
	status("slack "+me, `{"sessionKey":"`+key+`"}`).is("active", nil)
	status("slack "+me, `{}`).is("active.channel", "slack")
}

// C186, C195, C196 and C198: the log of changes as tools see it, over a restart and a deletion.
func TestCasesChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := stageOn(t, path, session.Options{})
	parent := s.add(session.NewSession{Key: me})
	const key = "agent:main:subagent:s"
	child := s.add(session.NewSession{Key: key, SpawnedBy: me})
	s.human(child.ID, "private words")
	ask := func(s *stage) answer {
		return s.call(me, "session_status", `{"sessionKey":"`+key+`","changesSince":0}`)
	}
	first := ask(s).is("stateVersion", 1, "stateChanges.events.#", 1, "stateChanges.events.0.kind", "human_direct_message",
		"stateChanges.events.0.actorType", "human", "stateChanges.historyGap", false)
	if strings.Contains(jsonOf(t, first.data), "private") {
		t.Errorf("the log holds what was said: %v", first.data)
	}
	waiting := func(s *stage) string {
		notices, err := s.changes.Notices(t.Context(), account, parent.ID)
		s.must(err)
		var since []string
		for _, n := range notices {
			since = append(since, n.Target+" "+time.Duration(n.Since).String())
		}
		return strings.Join(since, ", ")
	}
	if got := waiting(s); got != key+" 0s" {
		t.Fatalf("waiting: %s", got)
	}
	s.must(s.store.Close())

	s = stageOn(t, path, session.Options{})
	if got := waiting(s); got != key+" 0s" {
		t.Errorf("after a restart: %s", got)
	}
	s.human(child.ID, "more words") // behind the notice that waits
	s.human(parent.ID, "go on")     // its turn sees the notice
	if got := waiting(s); got != key+" 1ns" {
		t.Errorf("the second message is lost: %s", got)
	}
	s.human(parent.ID, "go on")
	if got := waiting(s); got != "" {
		t.Errorf("still waiting: %s", got)
	}
	before := ask(s).at("stateVersion").(int64)
	s.must(s.sessions.Delete(t.Context(), account, child.ID))
	again := s.add(session.NewSession{Key: key, SpawnedBy: me})
	ask(s).is("stateVersion", 0, "stateChanges.events.#", 0, "stateChanges.earliestAvailableSequence", 0)
	s.human(again.ID, "anew")
	if after := ask(s).at("stateVersion").(int64); after <= before {
		t.Errorf("version %d is used again: it was at %d", after, before)
	}
}

// C220 to C223: profiles.
func TestCasesProfiles(t *testing.T) {
	for _, c := range []struct {
		rules agenttool.Rules
		want  string
	}{
		{agenttool.Rules{Profile: "minimal"}, "session_status"},
		{agenttool.Rules{Profile: "messaging"}, "sessions_list sessions_history sessions_send session_status"},
		{
			agenttool.Rules{Profile: "messaging", AlsoAllow: []string{"sessions_spawn", "sessions_yield", "subagents"}},
			sessionTools7,
		},
		{agenttool.Rules{Profile: "coding"}, sessionTools7},
		{agenttool.Rules{Profile: "coding", Deny: []string{"sessions_*"}}, "subagents session_status"},
		{agenttool.Rules{}, sessionTools7},
	} {
		var has []string
		for tool := range strings.FieldsSeq(sessionTools7) {
			if (agenttool.Policy{Tools: c.rules}).Allows(caller(me), tool) {
				has = append(has, tool)
			}
		}
		if got := strings.Join(has, " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.rules, got, c.want)
		}
	}
}
