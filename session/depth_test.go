package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/session"
)

// Section 1.2: depth is what is stored, else one more than the spawner's, else what the key says.
func TestStanding(t *testing.T) {
	s := agents(t, session.Options{Models: session.Models{Standard: "p/standard"}})
	depth := func(n int64) session.Details { return session.Details{SpawnDepth: &n} }
	const main = "agent:main:main"
	for _, n := range []session.NewSession{
		{Key: main},
		{Key: "agent:main:subagent:stored", SpawnedBy: main, Details: depth(3)},
		{Key: "agent:main:subagent:child", SpawnedBy: main},
		{Key: "agent:main:subagent:grandchild", SpawnedBy: "agent:main:subagent:child"},
		{Key: "agent:main:subagent:deep", SpawnedBy: "agent:main:subagent:stored"},
		{Key: "agent:main:subagent:orphan", SpawnedBy: "agent:main:direct:gone"},
		{Key: "agent:main:subagent:a:subagent:b"},
		{Key: "agent:main:subagent:self", SpawnedBy: "agent:main:subagent:self"},
		{Key: "agent:main:direct:1", SpawnedBy: main},
		{Key: "agent:main:subagent:role", Details: session.Details{
			Role: session.RoleOrchestrator, InheritedDeny: []string{"cron"}, ModelOverride: "q/other",
		}},
	} {
		s.add(n)
	}
	for key, want := range map[string]int64{
		main: 0, "agent:main:direct:1": 0, "agent:main:subagent:stored": 3, "agent:main:subagent:child": 1,
		"agent:main:subagent:grandchild": 2, "agent:main:subagent:deep": 4, "agent:main:subagent:orphan": 1,
		"agent:main:subagent:a:subagent:b": 2, "agent:main:subagent:missing": 1, "agent:main:direct:missing": 0,
	} {
		if got := s.sessions.Standing(owner, key); got.Depth != want || got.Model != "p/standard" {
			t.Errorf("%s: %+v, want depth %d", key, got, want)
		}
	}
	if got := s.sessions.Standing(owner, "agent:main:subagent:self"); got.Depth < 5 {
		t.Errorf("a session that spawned itself has depth %d", got.Depth)
	}
	want := session.Standing{Depth: 1, Role: session.RoleOrchestrator, InheritedDeny: []string{"cron"}, Model: "q/other"}
	if diff := cmp.Diff(want, s.sessions.Standing(owner, "agent:main:subagent:role")); diff != "" {
		t.Error(diff)
	}
	s.must(s.store.Close())
	if got := s.sessions.Standing(owner, main); got.Role != session.RoleLeaf || len(got.InheritedDeny) != 1 || got.InheritedDeny[0] != "*" {
		t.Errorf("without a store: %+v", got)
	}
}

func TestGroupOf(t *testing.T) {
	for key, want := range map[string][2]string{
		"agent:main:telegram:group:-100":            {"telegram", "-100"},
		"agent:main:telegram:group:-100:thread:5":   {"telegram", "-100"},
		"agent:main:Discord:channel:9":              {"Discord", "9"},
		"agent:main:matrix:channel:!Room:host.org":  {"matrix", "!Room:host.org"},
		"agent:main:telegram:direct:1":              {},
		"agent:main:main":                           {},
		"agent:main:subagent:1":                     {},
		"telegram:group:1":                          {},
		"agent:main:telegram:account:direct:group:": {},
	} {
		channel, id := session.GroupOf(key)
		if channel != want[0] || id != want[1] {
			t.Errorf("%s: %q %q, want %q", key, channel, id, want)
		}
	}
}
