package turn_test

import (
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// A committed floor stores the hidden slots as empty, and whoever observes sees that live too.
func TestHiddenSlotsAreObserved(t *testing.T) {
	s := newStage(t, turn.Options{})
	combat := state.Address{Branch: sessile.MainBranch, Namespace: sessile.GameState, Slot: "combat"}
	_, err := s.cells.LiveValue(s.ctx, owner, s.id, combat, "")
	s.refused(err, sessile.CodeNotFound)

	floor := s.respond("", "go").FloorID
	for source, want := range map[string]state.Source{"": state.SourceBranchSnapshot, floor: state.SourceFloorSnapshot} {
		value, err := s.cells.LiveValue(s.ctx, owner, s.id, combat, source)
		s.must(err)
		if value.Source != want || value.Present || value.FloorID != floor || value.UpdatedAt == nil {
			t.Errorf("from %q: %+v", source, value)
		}
	}
	combat.Slot = "nothing"
	_, err = s.cells.LiveValue(s.ctx, owner, s.id, combat, "")
	s.refused(err, sessile.CodeNotFound)
}
