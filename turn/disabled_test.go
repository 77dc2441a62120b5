package turn_test

import (
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// With session state switched off turns work and leave none; those that would write are refused before anything happens.
func TestStateDisabled(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			s := newStage(t, turn.Options{StateDisabled: true})
			first := s.respond("main", "hello").FloorID
			_, err := k.take(s.ctx, s, first, turn.Request{Writes: writes("mood", "1")})
			s.refused(err, sessile.CodeFeatureUnavailable)
			if _, total := s.floors(""); total != 1 {
				t.Errorf("there are %d floors, want 1", total)
			}
			result, err := k.take(s.ctx, s, first, turn.Request{})
			s.must(err)
			s.wantState(result.FloorID, sessile.FloorCommitted)
			s.wantMutations(result.FloorID)
			values, err := s.cells.Resolve(s.ctx, owner, s.id, state.ResolveQuery{Branch: k.branch()})
			s.must(err)
			for _, v := range values {
				if v.Present {
					t.Errorf("%s.%s holds %s", v.Namespace, v.Slot, v.Data)
				}
			}
			s.script.add(failWith(errBroken))
			_, err = s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "in vain"})
			s.refused(err, sessile.CodeOrchestrationFailed)
			s.respond("main", "and on")
		})
	}
	s := newStage(t, turn.Options{StateDisabled: true})
	_, err := s.turns.Ingest(s.ctx, owner, s.id, turn.IngestRequest{
		Messages: []turn.IngestedMessage{{Role: "user", Content: "x"}}, Writes: writes("mood", "1"),
	})
	s.refused(err, sessile.CodeFeatureUnavailable)
}
