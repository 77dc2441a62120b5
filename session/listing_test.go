package session_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sessile-dev/sessile"
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

// Sections 1.8, 1.11 and 6.3: what a session does, and the tasks of the one that started them.
func TestActivityAndTasks(t *testing.T) {
	now := time.UnixMilli(10_000_000)
	s := agents(t, session.Options{Now: func() time.Time { return now }})
	label := "Count the ferries"
	parent := s.add(session.NewSession{Key: "agent:main:main"})
	child := s.add(session.NewSession{Key: "agent:main:subagent:1", SpawnedBy: parent.Key, Label: &label})
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	var run sessile.Run
	s.must(s.store.Update(t.Context(), func(tx sessile.Tx) error {
		row, _, err := tx.SessionByKey(owner, child.Key)
		if err != nil {
			return err
		}
		run = sessile.Run{
			ID: "run_1", Account: owner, SessionKey: child.Key, Session: row.Row, Branch: 1, Kind: sessile.RunKindSpawn, Requester: parent.Key,
			Status: sessile.RunRunning, Open: true, Attempt: 1, StartedAt: ago(2 * time.Hour),
		}
		return tx.AddRun(&run)
	}))
	for _, c := range []struct {
		name     string
		change   func(*sessile.Run)
		children int
		activity session.Activity
		tasks    session.Tasks
	}{
		{"at work", func(*sessile.Run) {}, 1, session.Activity{Status: "running", StartedAt: ago(2 * time.Hour), RuntimeMS: 7_200_000}, session.Tasks{Active: 1}},
		{"failed lately", func(r *sessile.Run) {
			ended := ago(10 * time.Minute)
			r.Status, r.EndedAt, r.Open, r.ErrorCode = sessile.RunTimeout, &ended, false, "generation_timeout"
		}, 1, session.Activity{Status: "timeout", StartedAt: ago(2 * time.Hour), EndedAt: ago(10 * time.Minute), RuntimeMS: 6_600_000}, session.Tasks{Failed: 1, Detail: "generation_timeout"}},
		{"done long ago", func(r *sessile.Run) {
			ended := ago(time.Hour)
			r.Status, r.EndedAt, r.ErrorCode = sessile.RunSucceeded, &ended, ""
		}, 0, session.Activity{Status: "done", StartedAt: ago(2 * time.Hour), EndedAt: ago(time.Hour), RuntimeMS: 3_600_000}, session.Tasks{}},
		{"killed long ago", func(r *sessile.Run) { r.Status = sessile.RunCancelled }, 0, session.Activity{
			Status: "killed", StartedAt: ago(2 * time.Hour), EndedAt: ago(time.Hour), RuntimeMS: 3_600_000,
		}, session.Tasks{}},
	} {
		s.must(s.store.Update(t.Context(), func(tx sessile.Tx) error {
			c.change(&run)
			return tx.UpdateRun(&run)
		}))
		l, err := s.sessions.ListFor(t.Context(), caller(parent.Key), session.ListQuery{Limit: 10})
		s.must(err)
		for _, one := range l.Sessions {
			if one.Row.Key == parent.Key && len(one.Children) != c.children {
				t.Errorf("%s: children %q", c.name, one.Children)
			}
			if one.Row.Key == child.Key && one.Activity != c.activity {
				t.Errorf("%s: %+v, want %+v", c.name, one.Activity, c.activity)
			}
		}
		c.tasks.Key, c.tasks.Title, c.tasks.Activity = child.Key, label, c.activity
		for _, target := range []string{"", child.Key} {
			status, err := s.sessions.StatusOf(t.Context(), caller(parent.Key), session.StatusQuery{Session: target})
			s.must(err)
			if status.Tasks != c.tasks {
				t.Errorf("%s: tasks of %q are %+v, want %+v", c.name, target, status.Tasks, c.tasks)
			}
		}
		status, err := s.sessions.StatusOf(t.Context(), caller(child.Key), session.StatusQuery{})
		s.must(err)
		if status.Tasks != (session.Tasks{}) || status.Activity != c.activity {
			t.Errorf("%s: the child sees %+v, %+v", c.name, status.Tasks, status.Activity)
		}
	}
}
