package turn_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/turn"
)

// seed puts a mutation behind a floor as an internal writer would, and returns its id.
func (s *stage) seed(floorID, slot string, safety sessile.ReplaySafety, status sessile.MutationStatus) string {
	s.Helper()
	m := sessile.Mutation{
		Address: sessile.CellAddress{Account: owner, SessionID: s.id, Branch: sessile.MainBranch, Namespace: "bond", Slot: slot},
		Present: true, Value: []byte("1"), Size: 26, Kind: sessile.KindFirstParty, Status: status, Safety: safety,
	}
	s.must(s.store.Update(s.ctx, func(tx sessile.Tx) error {
		floor, _, err := tx.Floor(owner, floorID)
		if err != nil {
			return err
		}
		cell, err := tx.Locate(m.Address)
		if err != nil {
			return err
		}
		m.Floor, m.Branch, m.Slot = floor.Row, floor.Branch, cell.Slot
		if m.Slot == 0 {
			kept := sessile.Slot{Namespace: cell.Namespace, Name: slot}
			if err := tx.AddSlot(&kept); err != nil {
				return err
			}
			m.Slot = kept.Row
		}
		return tx.AppendMutation(&m)
	}))
	return sessile.MutationID(m.Seq)
}

func TestReplayGuard(t *testing.T) {
	const (
		safe, confirm, never, uncertain = sessile.ReplaySafe, sessile.ReplayConfirm, sessile.ReplayNever, sessile.ReplayUncertain
	)
	tests := []struct {
		name      string
		safety    sessile.ReplaySafety
		status    sessile.MutationStatus
		reason    string // "" does not block
		confirmed string // the reason when the caller confirms it
	}{
		{"safe", safe, sessile.StatusApplied, "", ""},
		{"confirm", confirm, sessile.StatusApplied, "confirmation_required", ""},
		{"never", never, sessile.StatusApplied, "never_auto_replay", "never_auto_replay"},
		{"uncertain safety", uncertain, sessile.StatusApplied, "uncertain", "uncertain"},
		{"uncertain status", safe, sessile.StatusUncertain, "uncertain", "uncertain"},
		{"uncertain status of one to confirm", confirm, sessile.StatusUncertain, "uncertain", "uncertain"},
		{"blocked", safe, sessile.StatusBlocked, "blocked", "blocked"},
		{"blocked before uncertain", uncertain, sessile.StatusBlocked, "blocked", "blocked"},
		{"discarded", never, sessile.StatusDiscarded, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, turn.Options{})
			first := s.respond("main", "hello").FloorID
			id := s.seed(first, "mood", test.safety, test.status)
			for _, confirmed := range [][]string{nil, {"mut_other"}, {id}} {
				reason := test.reason
				if len(confirmed) == 1 && confirmed[0] == id {
					reason = test.confirmed
				}
				s.wantGuard(first, confirmed, reason, turn.Blocker{
					MutationID: id, Namespace: "bond", Slot: "mood", ReplaySafety: test.safety.String(), Status: test.status.String(), Reason: reason,
				})
			}
		})
	}
}

// wantGuard asks what stands in the way, and tries every kind of turn that runs something again.
func (s *stage) wantGuard(floorID string, confirmed []string, reason string, blocker turn.Blocker) {
	s.Helper()
	want := []turn.Blocker{}
	if reason != "" {
		want = append(want, blocker)
	}
	got, err := s.turns.Blockers(s.ctx, owner, floorID, confirmed)
	s.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("confirmed %q: blockers (-want +got):\n%s", confirmed, diff)
	}
	code := map[string]sessile.Code{"": sessile.CodeOrchestrationFailed, "confirmation_required": sessile.CodeReplayConfirmation}[reason]
	if code == "" {
		code = sessile.CodeReplayBlocked
	}
	for _, k := range kinds()[1:] {
		asked := len(s.script.heard())
		s.script.add(failWith(errors.New("let through"))) // so that what is let through changes nothing
		_, err := k.take(s.ctx, s, floorID, turn.Request{ConfirmedMutationIDs: confirmed})
		if got := sessile.CodeOf(err); got != code {
			s.Errorf("%s with %q confirmed: %v, want the code %q", k.name, confirmed, err, code)
			continue
		}
		if reason == "" {
			continue
		}
		if len(s.script.heard()) != asked {
			s.Errorf("%s asked the model before it was refused", k.name)
		}
		e, _ := errors.AsType[*sessile.Error](err)
		if diff := cmp.Diff(map[string][]turn.Blocker{"blocking_session_state_mutations": want}, e.Details); diff != "" {
			s.Errorf("%s: details (-want +got):\n%s", k.name, diff)
		}
		s.wantState(floorID, sessile.FloorCommitted)
	}
}

// Of several blockers one that cannot be confirmed decides.
func TestReplayGuardMixed(t *testing.T) {
	s := newStage(t, turn.Options{})
	first := s.respond("main", "hello").FloorID
	confirm := s.seed(first, "a", sessile.ReplayConfirm, sessile.StatusApplied)
	other := s.seed(first, "b", sessile.ReplayConfirm, sessile.StatusApplied)
	retry := func(confirmed ...string) error {
		_, err := s.turns.Retry(s.ctx, owner, first, turn.Request{ConfirmedMutationIDs: confirmed})
		return err
	}
	s.refused(retry(confirm), sessile.CodeReplayConfirmation)
	s.must(retry(confirm, other))
	s.seed(first, "c", sessile.ReplayNever, sessile.StatusApplied)
	s.refused(retry(), sessile.CodeReplayBlocked)
	s.refused(retry(confirm, other), sessile.CodeReplayBlocked)

	// The guard looks at the floor that runs again, not at those before it.
	second := s.respond("main", "more").FloorID
	_, err := s.turns.Retry(s.ctx, owner, second, turn.Request{})
	s.must(err)

	_, err = s.turns.Blockers(s.ctx, "stranger", first, nil)
	s.refused(err, sessile.CodeNotFound)
}
