package session_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
)

// keyed makes a session with a key, a transcript, governed and key-value state.
func (s *stage) keyed(key string) session.Session {
	s.Helper()
	made, err := s.sessions.Create(s.Context(), owner, session.NewSession{Key: key})
	s.must(err)
	s.floor(made.ID, sessile.MainBranch, "hello", sessile.FloorCommitted)
	_, err = s.cells.Register(s.Context(), owner, made.ID, state.Registration{Namespace: "notes", OwnerType: "app", OwnerID: "x"})
	s.must(err)
	_, err = s.cells.Write(s.Context(), owner, made.ID, state.Address{Branch: "main", Namespace: "notes", Slot: "a"}, jsontext.Value(`{"n":1}`), "")
	s.must(err)
	s.remember(made.Key, "v")
	return made
}

func (s *stage) entries() *state.Entries { return state.NewEntries(s.store, state.EntryOptions{}) }

func (s *stage) remember(key, value string) {
	s.Helper()
	_, err := s.entries().Set(s.Context(), owner, state.EntryName{SessionKey: key, Namespace: "n", Key: "k"}, state.EntryWrite{Value: value})
	s.must(err)
}

// remembered is what a key-value entry holds, "-" for nothing.
func (s *stage) remembered(key string) string {
	s.Helper()
	entry, found, err := s.entries().Get(s.Context(), owner, state.EntryName{SessionKey: key, Namespace: "n", Key: "k"})
	s.must(err)
	if !found {
		return "-"
	}
	return entry.Value
}

// shows writes down the transcript and the governed state of a session.
func (s *stage) shows(id string) string {
	s.Helper()
	rows, total, err := s.sessions.Transcript(s.Context(), owner, id, "main", 10, 0)
	s.must(err)
	out := fmt.Sprint(total)
	for _, row := range rows {
		out += " " + row.Content
	}
	namespaces, err := s.cells.Namespaces(s.Context(), owner, id)
	s.must(err)
	values, err := s.cells.Resolve(s.Context(), owner, id, state.ResolveQuery{Branch: "main"})
	s.must(err)
	out += fmt.Sprintf(", %d namespaces", len(namespaces))
	for _, v := range values {
		if v.Present {
			out += " " + v.Slot + "=" + string(v.Data)
		}
	}
	return out
}

func (s *stage) usage() sessile.Usage {
	s.Helper()
	var usage sessile.Usage
	s.must(s.store.View(s.Context(), func(tx sessile.ReadTx) error {
		row, _, err := tx.Sessions(owner, sessile.SessionFilter{Page: sessile.Page{Limit: 1}})
		if err != nil || len(row) == 0 {
			return err
		}
		usage, err = tx.Usage(row[0].AccountRow)
		return err
	}))
	return usage
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

const whole = `2 hello answer to hello, 2 namespaces a={"n":1}`

func TestReset(t *testing.T) {
	s := newStage(t)
	before := s.keyed("Agent:Main:Lane")
	same(t, "key", before.Key, "agent:main:lane")
	same(t, "before", s.shows(before.ID), whole)
	after, err := s.sessions.Reset(s.Context(), owner, before.ID)
	s.must(err)
	if after.ID == before.ID || after.Key != before.Key {
		t.Errorf("reset gave %+v", after)
	}
	same(t, "after", s.shows(after.ID), "0, 1 namespaces")
	same(t, "key-value state", s.remembered(after.Key), "v")
	_, err = s.sessions.Get(s.Context(), owner, before.ID)
	s.refused(err, sessile.CodeNotFound)
	if u := s.usage(); u != (sessile.Usage{}) {
		t.Errorf("the old state still counts: %+v", u)
	}
	found, err := s.sessions.ByKey(s.Context(), owner, "agent:MAIN:lane")
	s.must(err)
	same(t, "by key", found.ID, after.ID)
	s.must(s.sessions.DeleteKey(s.Context(), owner, after.Key))
	same(t, "after the deletion", s.remembered(after.Key), "-")

	archived := s.keyed("other")
	_, err = s.sessions.Update(s.Context(), owner, archived.ID, session.Patch{Status: sessile.SessionArchived})
	s.must(err)
	_, err = s.sessions.Reset(s.Context(), owner, archived.ID)
	s.refused(err, sessile.CodeSessionArchived)
}

func TestForkOfASession(t *testing.T) {
	for how, want := range map[state.EntrySharing]struct{ shows, remembered, after string }{
		"":                 {`2 hello answer to hello, 1 namespaces`, "-", "new"},
		state.EntriesEmpty: {`2 hello answer to hello, 1 namespaces`, "-", "new"},
		state.EntriesCopy:  {whole, "v", "new"},
		state.EntriesShare: {`2 hello answer to hello, 1 namespaces`, "v", "theirs"},
	} {
		t.Run("state "+string(how), func(t *testing.T) {
			s := newStage(t)
			source := s.keyed("agent:work:main")
			fork, err := s.sessions.Fork(s.Context(), owner, source.ID, session.ForkOptions{State: how})
			s.must(err)
			same(t, "agent", fork.AgentID, "work")
			same(t, "shows", s.shows(fork.ID), want.shows)
			same(t, "remembers", s.remembered(fork.Key), want.remembered)
			s.remember(source.Key, "new")
			s.remember(fork.Key, "theirs")
			same(t, "the source then", s.remembered(source.Key), want.after)
			s.must(s.sessions.Delete(s.Context(), owner, source.ID))
			same(t, "without its source", s.shows(fork.ID), want.shows)
			same(t, "remembers without it", s.remembered(fork.Key), "theirs")
		})
	}
}

func TestKeysAreTaken(t *testing.T) {
	s := newStage(t)
	first := s.keyed("hook:x")
	_, err := s.sessions.Create(s.Context(), owner, session.NewSession{Key: "hook:x"})
	s.refused(err, sessile.CodeSessionKeyTaken)
	_, err = s.sessions.Fork(s.Context(), owner, first.ID, session.ForkOptions{Key: "hook:x"})
	s.refused(err, sessile.CodeSessionKeyTaken)
	_, err = s.sessions.Create(s.Context(), "somebody else", session.NewSession{Key: "hook:x"})
	s.must(err)
	s.must(s.sessions.Delete(s.Context(), owner, first.ID))
	s.keyed("hook:x")
}

func TestClearAll(t *testing.T) {
	s := newStage(t)
	for _, key := range []string{"main", "agent:work:main", "telegram:1", "cron:nightly", "msteams:x", "agent:main:session:1", "loose"} {
		s.keyed(key)
	}
	_, err := s.sessions.Create(s.Context(), owner, session.NewSession{Key: "agent:main:telegram:direct:1", Channel: "telegram"})
	s.must(err)
	deleted, err := s.sessions.ClearAll(s.Context(), owner)
	s.must(err)
	if deleted != 2 {
		t.Errorf("%d sessions went, want 2", deleted)
	}
	same(t, "a main session", s.remembered("agent:main:main"), "v")
	same(t, "one that went", s.remembered("loose"), "-")
}

func TestKeys(t *testing.T) {
	keys := session.Keys{DefaultAgent: "work", MainKey: "Hub"}
	for key, want := range map[string]string{
		"main":                       "agent:work:hub",
		"Agent:Main:Telegram:Group":  "agent:main:telegram:group",
		"agent:main":                 "agent:main",
		"agent::x":                   "agent::x",
		"agent:a::x":                 "agent:a::x",
		"Agent:not an agent:X":       "Agent:not an agent:X",
		"HOOK:x":                     "HOOK:x",
		"":                           "",
		"agent:a:Signal:GROUP:AbC==": "agent:a:signal:group:AbC==",
		"agent:a:matrix:channel:!Room:Server.org:THREAD:$Ev": "agent:a:matrix:channel:!Room:Server.org:thread:$ev",
	} {
		if got := keys.Normalize(key); got != want {
			t.Errorf("%q becomes %q, want %q", key, got, want)
		}
	}
	same(t, "agent of a key", keys.Agent("agent:Other:x"), "other")
	same(t, "agent of another key", keys.Agent("hook:x"), "work")
	if !keys.IsMain("agent:any:hub") || keys.IsMain("agent:any:main") || keys.IsMain("hub") {
		t.Error("which keys are main sessions")
	}
}
