package turn_test

import (
	"strings"
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/turn"
)

// What a person says to a watched session is logged without its words; the watcher's next turn tells the model of it, and
// drains the notice when it commits, not before.
func TestNoticesAreToldAndDrained(t *testing.T) {
	rings := 0
	s := newStage(t, turn.Options{Announce: func() { rings++ }})
	log := changelog.New(s.store, changelog.Options{})
	parent, err := s.sessions.Get(s.ctx, owner, s.id)
	s.must(err)
	child, err := s.sessions.Create(s.ctx, owner, session.NewSession{Key: "agent:main:subagent:1", SpawnedBy: parent.Key})
	s.must(err)
	waiting := func() int {
		t.Helper()
		notices, err := log.Notices(s.ctx, owner, s.id)
		s.must(err)
		return len(notices)
	}

	_, err = s.turns.Respond(s.ctx, owner, child.ID, turn.RespondRequest{Message: "private words"})
	s.must(err)
	changes, err := log.Changes(s.ctx, owner, child.ID, 0, 10)
	s.must(err)
	if len(changes.Events) != 1 || changes.Events[0].Kind != sessile.EventHumanDirectMessage || strings.Contains(changes.Events[0].Summary, "private") {
		t.Fatalf("events %+v", changes.Events)
	}
	if waiting() != 1 || rings == 0 {
		t.Fatalf("%d notices wait, announced %d times", waiting(), rings)
	}

	dry, err := s.turns.DryRun(s.ctx, owner, s.id, turn.DryRunRequest{Message: "go"})
	s.must(err)
	if len(dry.Messages) != 2 || dry.Messages[0].Role != "system" || !strings.Contains(dry.Messages[0].Content, child.Key) || dry.TokenEstimate < 20 {
		t.Errorf("a dry run shows %+v", dry)
	}
	s.script.add(failWith(errBroken), say("I see."))
	if _, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "go"}); err == nil || waiting() != 1 {
		t.Fatalf("a turn that failed (%v) drained the notice: %d wait", err, waiting())
	}
	s.respond("main", "again")
	told := s.script.last()
	if told[0].Role != "system" || !strings.Contains(told[0].Content, child.Key) {
		t.Errorf("the model was told %q", told)
	}
	if waiting() != 0 {
		t.Errorf("%d notices wait", waiting())
	}
	s.respond("main", "once more")
	if told := s.script.last(); told[0].Role == "system" {
		t.Errorf("the model is told again: %q", told)
	}
}

func TestTheChosenModelIsAsked(t *testing.T) {
	s := newStage(t, turn.Options{ModelOf: func(row *sessile.Session) string { return "model of " + row.AgentID }})
	s.respond("main", "hello")
	if got := s.script.model(); got != "model of main" {
		t.Errorf("asked %q", got)
	}
}
