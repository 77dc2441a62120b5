package turn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/turn"
)

// What the model is told of the story: roles it knows, texts of blocks, no rows of tools.
func TestPrompt(t *testing.T) {
	s := newStage(t, turn.Options{StoryFloors: 5})
	s.ingest("user", "too long ago", false)
	s.ingest("system", "be brief", false)
	s.ingest("narrator", "night falls", false)
	s.ingest("tool", "42", false)
	s.ingest("assistant", `[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]`, true)
	s.ingest("assistant", `[{"type":"image"}]`, true)
	s.respond("main", "hello")
	want := []model.Message{
		{Role: "system", Content: "be brief"},
		{Role: "assistant", Content: "night falls"},
		{Role: "assistant", Content: "a\nb"},
		{Role: "user", Content: "hello"},
	}
	if got := s.script.last(); !cmp.Equal(got, want) {
		t.Errorf("the model was told %q, want %q", got, want)
	}
}

func TestDryRun(t *testing.T) {
	s := newStage(t, turn.Options{})
	ask := func(r turn.DryRunRequest) turn.DryRun {
		t.Helper()
		d, err := s.turns.DryRun(s.ctx, owner, s.id, r)
		s.must(err)
		return d
	}
	empty := ask(turn.DryRunRequest{Message: "now"})
	if want := []model.Message{{Role: "user", Content: "now"}}; !cmp.Equal(empty.Messages, want) || empty.History != 0 || empty.Worldbook != nil {
		t.Errorf("on an empty session: %+v", empty)
	}
	s.script.add(say("an answer"))
	s.respond("main", "hello")
	book := s.bind(2, entry(4, "answer", "The answer is known."))
	before, _ := s.floors("main")
	d := ask(turn.DryRunRequest{Message: "now"})
	if asked := len(s.script.heard()); asked != 1 {
		t.Errorf("the model was asked %d times, want once", asked)
	}
	if after, _ := s.floors("main"); len(after) != len(before) {
		t.Errorf("it left a floor")
	}
	if d.Worldbook == nil || d.Worldbook.ID != book.ID || d.Worldbook.Version != 1 || !cmp.Equal(d.Worldbook.UIDs, []int64{4}) {
		t.Errorf("worldbook: %+v", d.Worldbook)
	}
	if d.History != 2 || d.AvailableForReply != nil || d.TokenEstimate <= 0 {
		t.Errorf("got %+v", d)
	}

	// What it tells is what a turn would tell.
	s.respond("main", "now")
	if got := s.script.last(); !cmp.Equal(got, d.Messages) {
		t.Errorf("the turn told %q, the dry run %q", got, d.Messages)
	}

	number := func(n int64) *int64 { return &n }
	d = ask(turn.DryRunRequest{Message: "now"})
	if same := ask(turn.DryRunRequest{Message: "now"}); same.Digest() != d.Digest() {
		t.Error("the same prompt has two digests")
	}
	if other := ask(turn.DryRunRequest{Message: "noww"}); other.Digest() == d.Digest() {
		t.Error("two prompts have one digest")
	}
	for _, test := range []struct {
		max, reserved *int64
		want          int64
	}{
		{number(1000), nil, 1000 - d.TokenEstimate},
		{number(1), nil, 0},
		{number(1000), number(50), 50},
		{nil, number(50), 50},
	} {
		got := ask(turn.DryRunRequest{Message: "now", MaxInputTokens: test.max, ReservedCompletionTokens: test.reserved})
		if got.AvailableForReply == nil || *got.AvailableForReply != test.want {
			t.Errorf("available for reply: %v, want %d", got.AvailableForReply, test.want)
		}
	}

	_, err := s.turns.DryRun(s.ctx, "stranger", s.id, turn.DryRunRequest{Message: "now"})
	s.refused(err, sessile.CodeNotFound)
	s.archive()
	_, err = s.turns.DryRun(s.ctx, owner, s.id, turn.DryRunRequest{Message: "now"})
	s.refused(err, sessile.CodeSessionArchived)
}
