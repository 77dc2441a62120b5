package session_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sessile-dev/sessile/session"
)

// A search finds what lies behind many other sessions, whatever it is found by, and pages go on where they ended.
func TestSearchBehindManySessions(t *testing.T) {
	s := agents(t, session.Options{
		Visibility: session.Visibility{Level: session.LevelAll, CrossAgent: true},
		Models:     session.Models{Standard: "p/common", Agents: map[string]string{"work": "q/scarce"}},
	})
	label, at := "Needle one", int64(1)
	old := []session.NewSession{
		{Key: "agent:main:direct:label", Label: &label},
		{Key: "agent:main:direct:name", DisplayName: "the needles ¿?"},
		{Key: "agent:main:direct:subject", Subject: "NEEDLE"},
		{Key: "agent:main:direct:needle"},
		{Key: "agent:main:direct:model", Details: session.Details{ModelOverride: "p/needle-7b"}},
		{Key: "agent:work:direct:other"},
	}
	for i := range old {
		at := at + int64(i)
		old[i].UpdatedAt = &at
		s.add(old[i])
	}
	const more = 600
	for i := range more {
		s.add(session.NewSession{Key: fmt.Sprintf("agent:main:direct:%d", i)})
	}
	find := func(search string, limit int, kinds ...string) (keys []string) {
		t.Helper()
		q := session.ListQuery{Search: search, Limit: limit, Kinds: kinds}
		for {
			l, err := s.sessions.ListFor(t.Context(), caller("agent:main:main"), q)
			s.must(err)
			for _, one := range l.Sessions {
				keys = append(keys, one.Row.Key)
			}
			if q.After = l.Next; q.After == nil {
				return keys
			}
			if len(l.Sessions) != limit {
				t.Fatalf("a page of %d", len(l.Sessions))
			}
		}
	}
	want := []string{
		"agent:main:direct:model", "agent:main:direct:needle", "agent:main:direct:subject", "agent:main:direct:name", "agent:main:direct:label",
	}
	for _, limit := range []int{1, 2, 100} {
		if got := find("nEEdle", limit); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q", limit, got)
		}
	}
	for search, want := range map[string]int{"q/scarce": 1, "scarce": 1, "nowhere": 0, "¿?": 1, "p/needle": 1, "common": more + 4} {
		if got := find(search, 1000); len(got) != want {
			t.Errorf("%q finds %d, want %d", search, len(got), want)
		}
	}
	if got := find("needle", 10, session.KindCron); len(got) != 0 {
		t.Errorf("another kind: %q", got)
	}
}

// C026 to C028: kinds, with and without an agent, whatever the main key is.
func TestListByKind(t *testing.T) {
	keys := []string{
		"agent:main:home", "agent:work:home", "agent:main:main", "agent:main:cron:j1", "agent:main:discord:group:9", "agent:main:discord:group:9:thread:5",
		"agent:main:subagent:u", "hook:x", "node-1", "agent:main:cron:j1:run:r1", "unknown", "global", "home",
	}
	for _, c := range []struct {
		keys  session.Keys
		agent string
		kinds []string
		want  int
	}{
		{session.Keys{MainKey: "home"}, "", []string{"main"}, 3},
		{session.Keys{MainKey: "home"}, "work", []string{"main"}, 1},
		{session.Keys{MainKey: "home"}, "", []string{"main", "other"}, 5},
		{session.Keys{}, "", []string{"main"}, 1},
		{session.Keys{Global: true}, "", []string{"main"}, 2},
		{session.Keys{Global: true}, "main", []string{"main"}, 2},
		{session.Keys{MainKey: "cron:j1"}, "", []string{"main"}, 1},
		{session.Keys{}, "", []string{"cron"}, 1},
		{session.Keys{}, "", []string{"group"}, 2},
		{session.Keys{}, "", []string{"hook", "node"}, 2},
		{session.Keys{}, "work", []string{"hook", "node", "group"}, 0},
		{session.Keys{}, "", []string{"other"}, 4},
		{session.Keys{}, "", nil, 10},
	} {
		s := agents(t, session.Options{Keys: c.keys, Visibility: session.Visibility{Level: session.LevelAll, CrossAgent: true}})
		for _, key := range keys {
			s.add(session.NewSession{Key: key})
		}
		l, err := s.sessions.ListFor(t.Context(), caller("agent:main:direct:1"), session.ListQuery{Kinds: c.kinds, Agent: c.agent, Limit: 100})
		s.must(err)
		if len(l.Sessions) != c.want {
			var got []string
			for _, one := range l.Sessions {
				got = append(got, one.Row.Key+" "+one.Kind)
			}
			t.Errorf("%+v: %q", c, got)
		}
	}
}
