package turn

import (
	"context"
	"slices"

	"github.com/sessile-dev/sessile"
)

// Blocker is a mutation that stands in the way of running a floor again (spec/governed-state.md, 5.3).
type Blocker struct {
	MutationID   string `json:"mutation_id"`
	Namespace    string `json:"state_namespace"`
	Slot         string `json:"target_slot"`
	ReplaySafety string `json:"replay_safety"`
	Status       string `json:"status"`
	Reason       string `json:"reason"`
}

const reasonUnconfirmed = "confirmation_required"

// Blockers lists what stands in the way of running a floor of the account again. Codes: not_found.
func (s *Service) Blockers(ctx context.Context, account, floorID string, confirmed []string) (list []Blocker, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		floor, found, err := tx.Floor(account, floorID)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		if err != nil {
			return err
		}
		list, err = blockersOf(tx, floor.Row, confirmed)
		return err
	})
	return list, err
}

// blockersOf lists what stands in the way of running a floor again: its applied, blocked or uncertain mutations that are
// not safe to repeat, but for those the caller confirms.
func blockersOf(tx sessile.ReadTx, floor int64, confirmed []string) ([]Blocker, error) {
	mutations, err := tx.FloorMutations(floor)
	if err != nil {
		return nil, err
	}
	blockers := []Blocker{}
	for i := range mutations {
		m := &mutations[i]
		id := sessile.MutationID(m.Seq)
		reason := replayReason(m, slices.Contains(confirmed, id))
		if reason == "" {
			continue
		}
		blockers = append(blockers, Blocker{
			MutationID: id, Namespace: m.Namespace, Slot: m.SlotName, ReplaySafety: m.Safety.String(), Status: m.Status.String(), Reason: reason,
		})
	}
	return blockers, nil
}

// replayReason tests in the order of the sheet; "" does not block.
func replayReason(m *sessile.MutationRecord, confirmed bool) string {
	switch {
	case m.Status == sessile.StatusDiscarded:
		return ""
	case m.Status == sessile.StatusBlocked:
		return "blocked"
	case m.Status == sessile.StatusUncertain, m.Safety == sessile.ReplayUncertain:
		return "uncertain"
	case m.Safety == sessile.ReplayNever:
		return "never_auto_replay"
	case m.Safety == sessile.ReplayConfirm && !confirmed:
		return reasonUnconfirmed
	}
	return ""
}

// mayRerun checks what a turn that runs something again may be refused for before the model is asked.
func (s *Service) mayRerun(tx sessile.ReadTx, a *attempt, target int64) error {
	blockers, err := blockersOf(tx, target, a.request.ConfirmedMutationIDs)
	if err != nil {
		return err
	}
	if len(blockers) > 0 {
		e := sessile.Errorf(sessile.CodeReplayConfirmation, "writes of this floor must be confirmed before it runs again")
		if slices.ContainsFunc(blockers, func(b Blocker) bool { return b.Reason != reasonUnconfirmed }) {
			e = sessile.Errorf(sessile.CodeReplayBlocked, "writes of this floor must not be repeated")
		}
		e.Details = map[string][]Blocker{"blocking_session_state_mutations": blockers}
		return e
	}
	return s.cells.CheckTurnWrites(tx, &a.session, a.request.Writes)
}
