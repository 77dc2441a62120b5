package state

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// Write puts a value into a cell of a branch at once (spec/governed-state.md, 4.3). data is a value made by
// NormalizeValue. The branch need not exist. Codes: not_found, session_state_public_write_forbidden,
// session_state_namespace_not_registered, session_state_host_archived, session_state_payload_too_large and the limits
// of section 7. A refused write changes nothing.
func (s *Service) Write(ctx context.Context, account, sessionID string, a Address, data jsontext.Value, requestID string) (Value, error) {
	return s.put(ctx, account, sessionID, a, data, requestID)
}

// Delete governs a cell to "no value" (4.4), which is a write like any other. Codes as Write.
func (s *Service) Delete(ctx context.Context, account, sessionID string, a Address, requestID string) (Value, error) {
	return s.put(ctx, account, sessionID, a, nil, requestID)
}

// put writes data, or the absence of a value when it is nil.
func (s *Service) put(ctx context.Context, account, sessionID string, a Address, data jsontext.Value, requestID string) (Value, error) {
	value := Value{
		Namespace: a.Namespace, Slot: a.Slot, Source: SourceLiveHead, Present: data != nil, Data: data,
		SessionID: sessionID, BranchID: a.Branch,
	}
	if data == nil {
		value.Data = null
	}
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		m, err := s.directWrite(tx, account, sessionID, a, data, requestID)
		if err != nil {
			return err
		}
		value.MutationIDs = []string{sessile.MutationID(m.Seq)}
		value.UpdatedAt = &m.CreatedAt
		return nil
	})
	return value, err
}

func (s *Service) directWrite(tx sessile.Tx, account, sessionID string, a Address, data jsontext.Value, requestID string) (sessile.Mutation, error) {
	address := sessile.CellAddress{
		Account: account, SessionID: sessionID, Branch: a.Branch, Namespace: a.Namespace, Slot: a.Slot,
	}
	cell, err := tx.Locate(address)
	if err != nil {
		return sessile.Mutation{}, err
	}
	size := sizeOf(data)
	if err := s.mayWrite(&cell, a.Namespace, size); err != nil {
		return sessile.Mutation{}, err
	}
	grown, err := growth(tx, &cell, size)
	if err != nil {
		return sessile.Mutation{}, err
	}
	if err := s.check(counters{
		namespace: plus(cell.NamespaceUsage, grown), account: plus(cell.AccountUsage, grown),
		namespaceGrowth: grown, accountGrowth: grown, namespaceDisplay: a.Namespace,
	}); err != nil {
		return sessile.Mutation{}, err
	}
	m := sessile.Mutation{
		Present: data != nil, Value: data, Size: size, OnLine: true, Kind: sessile.KindDirect,
		Status: sessile.StatusApplied, RequestID: requestID,
	}
	if err := appendTo(tx, &cell, address, &m); err != nil {
		return sessile.Mutation{}, err
	}
	return m, tx.AddUsage(cell.Account, cell.Namespace, grown.Items, grown.Bytes)
}

// mayWrite holds the checks of a direct write in their order.
func (s *Service) mayWrite(cell *sessile.Cell, namespace string, size int64) error {
	switch {
	case cell.Session == 0:
		return sessile.NotFound()
	case namespace == sessile.GameState:
		return errForbidden(namespace)
	case cell.Namespace == 0:
		return errNotRegistered(namespace)
	case cell.SessionStatus == sessile.SessionArchived:
		return errHostArchived()
	case size > s.quotas.ValueBytes:
		return tooLarge(size, s.quotas.ValueBytes)
	}
	return nil
}

// growth tells what a new head of the given size adds to the counters. The head before it is replaced, unless a floor
// shows it: then it is retained, and the new one is a further item.
func growth(tx sessile.ReadTx, cell *sessile.Cell, size int64) (sessile.Usage, error) {
	if cell.HeadSeq == 0 {
		return sessile.Usage{Items: 1, Bytes: size}, nil
	}
	// Most heads are younger than every floor of their branch, so no floor can show them.
	if cell.HeadSeq <= cell.LastCommitSeq || cell.HeadFromRetry {
		shown, err := tx.Shown(cell.HeadSeq)
		if err != nil {
			return sessile.Usage{}, err
		}
		if shown {
			return sessile.Usage{Items: 1, Bytes: size}, nil
		}
	}
	return sessile.Usage{Bytes: size - cell.HeadSize}, nil
}

func plus(a, b sessile.Usage) sessile.Usage {
	return sessile.Usage{Namespaces: a.Namespaces + b.Namespaces, Items: a.Items + b.Items, Bytes: a.Bytes + b.Bytes}
}

// appendTo appends the mutation to the cell, making the rows of branch and slot where they are missing.
func appendTo(tx sessile.Tx, cell *sessile.Cell, a sessile.CellAddress, m *sessile.Mutation) error {
	if cell.Branch == 0 {
		b := sessile.Branch{Session: cell.Session, Name: a.Branch, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.AddBranch(&b); err != nil {
			return err
		}
		cell.Branch = b.Row
	}
	if cell.Slot == 0 {
		slot := sessile.Slot{Namespace: cell.Namespace, Name: a.Slot}
		if err := tx.AddSlot(&slot); err != nil {
			return err
		}
		cell.Slot = slot.Row
	}
	m.Address, m.Branch, m.Slot = a, cell.Branch, cell.Slot
	m.Materialises = m.Status == sessile.StatusApplied && !cell.Materialised
	return tx.AppendMutation(m)
}
