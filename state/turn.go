package state

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// FloorCommit is what a turn brings to its floor. The built-in values are nil when a turn writes none.
type FloorCommit struct {
	Session   *sessile.Session
	Branch    *sessile.Branch
	Floor     *sessile.Floor // filled in by CommitFloor
	RunType   string
	Scene     jsontext.Value
	World     jsontext.Value
	Writes    []TurnWrite
	RequestID string
}

// staged is one write of a turn in the order of 5.2: scene, world, then the client's.
type staged struct {
	TurnWrite
	kind  sessile.MutationKind
	runID string
}

func (c *FloorCommit) staged() []staged {
	all := make([]staged, 0, len(c.Writes)+2)
	firstParty := func(slot string, data jsontext.Value) {
		if data == nil {
			return
		}
		all = append(all, staged{
			TurnWrite: TurnWrite{Namespace: sessile.GameState, Slot: slot, Data: data},
			kind:      sessile.KindFirstParty,
			runID:     "first-party-" + slot + ":" + c.RunType + ":" + c.Floor.ID,
		})
	}
	firstParty(sessile.SlotScene, c.Scene)
	firstParty(sessile.SlotWorld, c.World)
	for _, w := range c.Writes {
		all = append(all, staged{TurnWrite: w, kind: sessile.KindTurn})
	}
	return all
}

// CheckTurnWrites refuses the writes of a client that could never be committed, before anything is generated
// (spec/governed-state.md, 5.1 and ruling 18). Codes: session_state_public_write_forbidden,
// session_state_slot_not_registered, session_state_namespace_not_registered, session_state_payload_too_large.
func (s *Service) CheckTurnWrites(tx sessile.ReadTx, session *sessile.Session, writes []TurnWrite) error {
	for _, w := range writes {
		if w.Namespace == sessile.GameState {
			if _, known := builtInBudget(w.Slot); !known {
				return sessile.Errorf(sessile.CodeSlotNotRegistered, "the namespace %s has no such slot", w.Namespace)
			}
			return errForbidden(w.Namespace)
		}
		_, registered, err := tx.Namespace(session.Row, w.Namespace)
		if err != nil {
			return err
		}
		if !registered {
			return errNotRegistered(w.Namespace)
		}
		if size := sizeOf(w.Data); size > s.quotas.ValueBytes {
			return tooLarge(size, s.quotas.ValueBytes)
		}
	}
	return nil
}

// CommitFloor applies the writes of a turn and gives its floor a snapshot (1.7), in the caller's transaction: it fills
// in the floor's place in the log and its times, and stores the floor as committed. A floor that has a snapshot
// already is under retry (ruling 12). Codes as CheckTurnWrites, and the limits of section 7, tested on the result.
func (s *Service) CommitFloor(tx sessile.Tx, c *FloorCommit) error {
	if err := s.CheckTurnWrites(tx, c.Session, c.Writes); err != nil {
		return err
	}
	if c.Floor.HasSnapshot() {
		return s.commitRetry(tx, c)
	}
	moved := map[int64]sessile.Usage{}
	for _, w := range c.staged() {
		cell, err := s.locate(tx, c, &w)
		if err != nil {
			return err
		}
		grown, err := growth(tx, &cell, sizeOf(w.Data))
		if err != nil {
			return err
		}
		if _, err := s.apply(tx, c, &cell, &w, true); err != nil {
			return err
		}
		if err := tx.AddUsage(cell.Account, cell.Namespace, grown.Items, grown.Bytes); err != nil {
			return err
		}
		moved[cell.Namespace] = plus(moved[cell.Namespace], grown)
	}
	if err := s.checkResult(tx, c.Session, moved); err != nil {
		return err
	}
	at, err := tx.LastSeq()
	if err != nil {
		return err
	}
	c.Floor.CommitSeq, c.Floor.SnapshotSeq = at, at
	c.Floor.FirstCommittedAt, c.Floor.CommittedAt = tx.Now(), tx.Now()
	if err := inherit(tx, c); err != nil {
		return err
	}
	return tx.CommitFloor(c.Floor)
}

// DiscardFloor records the writes of a turn that failed after it had been generated (5.2): they are kept as discarded
// mutations and touch nothing else. Writes to what does not exist are not recorded.
func (s *Service) DiscardFloor(tx sessile.Tx, c *FloorCommit, reason string) error {
	for _, w := range c.staged() {
		cell, err := s.locate(tx, c, &w)
		if err != nil {
			return err
		}
		if cell.Session == 0 || cell.Namespace == 0 {
			continue
		}
		m := mutationOf(c, &w)
		m.Status, m.DiscardReason = sessile.StatusDiscarded, reason
		if err := appendTo(tx, &cell, c.address(&w), &m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) locate(tx sessile.ReadTx, c *FloorCommit, w *staged) (sessile.Cell, error) {
	return tx.Locate(c.address(w))
}

func (c *FloorCommit) address(w *staged) sessile.CellAddress {
	return sessile.CellAddress{
		Account: c.Session.Account, SessionID: c.Session.ID, Branch: c.Branch.Name, Namespace: w.Namespace, Slot: w.Slot,
	}
}

func mutationOf(c *FloorCommit, w *staged) sessile.Mutation {
	return sessile.Mutation{
		Present: w.Data != nil, Value: w.Data, Size: sizeOf(w.Data), Kind: w.kind, Status: sessile.StatusApplied,
		Floor: c.Floor.Row, RunID: w.runID, RequestID: c.RequestID,
	}
}

// apply appends one staged write as applied. Sizes of the client's values have been checked; those of built-in values
// are checked here.
func (s *Service) apply(tx sessile.Tx, c *FloorCommit, cell *sessile.Cell, w *staged, onLine bool) (sessile.Mutation, error) {
	m := mutationOf(c, w)
	m.OnLine = onLine
	if budget := s.budget(w.kind == sessile.KindFirstParty, w.Slot); m.Size > budget {
		return m, tooLarge(m.Size, budget)
	}
	err := appendTo(tx, cell, c.address(w), &m)
	return m, err
}

// checkResult tests the limits after a commit: every namespace that grew, then the account.
func (s *Service) checkResult(tx sessile.ReadTx, session *sessile.Session, moved map[int64]sessile.Usage) error {
	var total sessile.Usage
	for _, u := range moved {
		total = plus(total, u)
	}
	account, err := tx.Usage(session.AccountRow)
	if err != nil {
		return err
	}
	namespaces, err := tx.Namespaces(session.Row) // in byte order, so the first error is always the same
	if err != nil {
		return err
	}
	for _, n := range namespaces {
		u, touched := moved[n.Row]
		if !touched {
			continue
		}
		if err := s.check(counters{
			builtIn: n.BuiltIn, namespaceDisplay: n.Name,
			namespace: sessile.Usage{Items: n.Items, Bytes: n.Bytes}, namespaceGrowth: u,
			account: account, accountGrowth: sessile.Usage{},
		}); err != nil {
			return err
		}
	}
	return s.check(counters{account: account, accountGrowth: total})
}
