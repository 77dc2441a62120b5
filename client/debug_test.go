package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sessile-dev/sessile/client"
)

// What a turn shows of its prompt is what a dry run of the same message shows.
func TestDebugOptions(t *testing.T) {
	s := newServer(t)
	c := newClient(t, client.Options{URL: s.URL})
	session, err := c.CreateSession(t.Context(), client.SessionInput{})
	if err != nil {
		t.Fatal(err)
	}
	dry, err := c.DryRun(t.Context(), session.ID, client.DryRunRequest{Message: "a private word"})
	if err != nil {
		t.Fatal(err)
	}
	debug := &client.DebugOptions{IncludePromptSnapshot: true, IncludeRuntimeTrace: true}
	turn, err := c.Respond(t.Context(), session.ID, client.RespondRequest{
		Message: "a private word", TurnOptions: client.TurnOptions{DebugOptions: debug},
	})
	if err != nil {
		t.Fatal(err)
	}
	if string(turn.PromptSnapshot) != string(dry.PromptSnapshot) || strings.Contains(string(turn.PromptSnapshot), "private") {
		t.Errorf("the turn shows %s, the dry run %s", turn.PromptSnapshot, dry.PromptSnapshot)
	}
	var trace struct {
		RunID  string `json:"run_id"`
		Phases []struct {
			Phase     string `json:"phase"`
			EnteredAt int64  `json:"entered_at"`
		} `json:"phases"`
	}
	if err := json.Unmarshal(turn.RuntimeTrace, &trace); err != nil {
		t.Fatal(err)
	}
	last := len(trace.Phases) - 1
	if trace.RunID == "" || last < 3 || trace.Phases[0].Phase != "input_recorded" || trace.Phases[last].Phase != "transaction_committed" {
		t.Errorf("the trace is %s", turn.RuntimeTrace)
	}

	again, err := c.Regenerate(t.Context(), session.ID, client.RerunRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if again.PromptSnapshot != nil || again.RuntimeTrace != nil {
		t.Errorf("nobody asked for %s and %s", again.PromptSnapshot, again.RuntimeTrace)
	}
}
