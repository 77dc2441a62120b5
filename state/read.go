package state

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// Resolve reads every public slot that passes the filter, from a branch or from the snapshot of a floor
// (spec/governed-state.md, 1.6 and 4.5). The branch need not exist. Codes: not_found for the session or the floor.
func (s *Service) Resolve(ctx context.Context, account, sessionID string, q ResolveQuery) (values []Value, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		if q.SourceFloorID == "" && q.Filter.Namespace != "" && q.Filter.Slot != "" {
			head, found, err := tx.Head(sessile.CellAddress{
				Account: account, SessionID: sessionID, Branch: q.Branch, Namespace: q.Filter.Namespace, Slot: q.Filter.Slot,
			})
			if err != nil || found {
				values = []Value{headValue(sessionID, q.Branch, &head)}
				return err
			}
		}
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		if q.SourceFloorID == "" {
			values, err = liveValues(tx, &session, q.Branch, q.Filter)
			return err
		}
		floor, err := ownFloor(tx, account, &session, q.SourceFloorID)
		if err != nil {
			return err
		}
		values, err = floorValues(tx, &session, q.Branch, &floor, q.Filter)
		return err
	})
	return values, err
}

// Snapshot reads what the floor stores of every public slot that passes the filter (4.6). Codes: not_found.
func (s *Service) Snapshot(ctx context.Context, account, sessionID, floorID string, filter sessile.SlotFilter) (values []SnapshotValue, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		floor, err := ownFloor(tx, account, &session, floorID)
		if err != nil {
			return err
		}
		values, err = snapshot(tx, &session, &floor, filter)
		return err
	})
	return values, err
}

// liveValues resolves from a branch: its own heads, else the snapshot of its latest floor or of its source.
func liveValues(tx sessile.ReadTx, session *sessile.Session, name string, filter sessile.SlotFilter) ([]Value, error) {
	branch, _, err := tx.Branch(session.Row, name)
	if err != nil {
		return nil, err
	}
	latest, err := latestSnapshotFloor(tx, &branch)
	if err != nil {
		return nil, err
	}
	versions, err := liveVersions(tx, session.Row, &branch, latest, filter)
	if err != nil {
		return nil, err
	}
	values := make([]Value, 0, len(versions))
	for i := range versions {
		values = append(values, liveValue(session, name, branch.Row, latest, &versions[i]))
	}
	return values, nil
}

// latestSnapshotFloor finds the floor from which a branch reads what it has no head of its own for: its latest
// committed floor, else the floor it was registered from. nil when there is none, or when it has no snapshot.
func latestSnapshotFloor(tx sessile.ReadTx, branch *sessile.Branch) (*sessile.Floor, error) {
	if branch.Row == 0 {
		return nil, nil
	}
	floor, found, err := tx.LatestFloor(branch.Row, true)
	if err == nil && !found && branch.SourceFloor != 0 {
		floor, found, err = tx.FloorByRow(branch.SourceFloor)
	}
	if err != nil || !found || !floor.HasSnapshot() {
		return nil, err
	}
	return &floor, nil
}

// liveVersions reads the branch. Where it inherits from its own latest floor one statement does; a branch that still
// reads through its source needs the source's snapshot under its own heads.
func liveVersions(tx sessile.ReadTx, session int64, branch *sessile.Branch, latest *sessile.Floor, filter sessile.SlotFilter) ([]sessile.Version, error) {
	if latest != nil && latest.Branch == branch.Row {
		return tx.Heads(session, branch.Row, latest.Row, true, filter)
	}
	own, err := tx.Heads(session, branch.Row, 0, false, filter)
	if err != nil || latest == nil {
		return own, err
	}
	inherited, err := tx.Versions(session, sessile.PointOf(latest), filter, true)
	if err != nil {
		return nil, err
	}
	for i := range own { // both list every materialised slot in one order
		if own[i].Seq != 0 {
			inherited[i] = own[i]
		}
	}
	return inherited, nil
}

func liveValue(session *sessile.Session, branch string, branchRow int64, latest *sessile.Floor, v *sessile.Version) Value {
	if v.Seq != 0 && v.Branch == branchRow {
		return headValue(session.ID, branch, v)
	}
	if latest != nil && v.FirstSeq <= latest.SnapshotSeq {
		value := valueOf(session.ID, v)
		value.Source, value.BranchID, value.FloorID = SourceBranchSnapshot, latest.BranchName, latest.ID
		value.UpdatedAt = &latest.CommittedAt
		return value
	}
	return noValue(session, v, branch, "")
}

// floorValues resolves from the snapshot of a floor and from nothing else (ruling 1).
func floorValues(tx sessile.ReadTx, session *sessile.Session, branch string, floor *sessile.Floor, filter sessile.SlotFilter) ([]Value, error) {
	versions, err := floorVersions(tx, session.Row, floor, filter)
	if err != nil {
		return nil, err
	}
	values := make([]Value, 0, len(versions))
	for i := range versions {
		values = append(values, floorValue(session, branch, floor, &versions[i]))
	}
	return values, nil
}

func floorValue(session *sessile.Session, branch string, floor *sessile.Floor, v *sessile.Version) Value {
	if !stored(floor, v) {
		return noValue(session, v, branch, floor.ID)
	}
	value := valueOf(session.ID, v)
	value.Source, value.BranchID, value.FloorID = SourceFloorSnapshot, floor.BranchName, floor.ID
	value.UpdatedAt = &floor.CommittedAt
	return value
}

func snapshot(tx sessile.ReadTx, session *sessile.Session, floor *sessile.Floor, filter sessile.SlotFilter) ([]SnapshotValue, error) {
	versions, err := floorVersions(tx, session.Row, floor, filter)
	if err != nil {
		return nil, err
	}
	values := make([]SnapshotValue, 0, len(versions))
	for i := range versions {
		values = append(values, snapshotValue(session, floor, &versions[i]))
	}
	return values, nil
}

func snapshotValue(session *sessile.Session, floor *sessile.Floor, v *sessile.Version) SnapshotValue {
	value := valueOf(session.ID, v)
	entry := SnapshotValue{
		Namespace: value.Namespace, Slot: value.Slot, Present: value.Present, Data: value.Data, SessionID: session.ID,
		BranchID: floor.BranchName, FloorID: floor.ID, MutationIDs: value.MutationIDs,
	}
	if stored(floor, v) {
		entry.CommittedAt = &floor.CommittedAt
	}
	return entry
}

// floorVersions lists every materialised slot as the floor shows it; a floor without snapshot shows nothing.
func floorVersions(tx sessile.ReadTx, session int64, floor *sessile.Floor, filter sessile.SlotFilter) ([]sessile.Version, error) {
	if !floor.HasSnapshot() {
		return tx.Versions(session, sessile.Point{}, filter, true)
	}
	return tx.Versions(session, sessile.PointOf(floor), filter, true)
}

// stored reports whether the floor's snapshot holds the slot: it does if the slot was materialised when it committed.
func stored(floor *sessile.Floor, v *sessile.Version) bool {
	return floor.HasSnapshot() && v.FirstSeq <= floor.SnapshotSeq
}

// headValue is the branch's own head as a reader sees it.
func headValue(sessionID, branch string, v *sessile.Version) Value {
	value := valueOf(sessionID, v)
	value.Source, value.BranchID, value.FloorID = SourceLiveHead, branch, v.FloorID
	value.UpdatedAt = &v.CreatedAt
	return value
}

func valueOf(sessionID string, v *sessile.Version) Value {
	value := Value{
		Namespace: v.Namespace, Slot: v.Slot, Present: v.Present, Data: v.Value, SessionID: sessionID, MutationIDs: []string{},
	}
	if v.Value == nil {
		value.Data = null
	}
	if v.Seq != 0 {
		value.MutationIDs = []string{sessile.MutationID(v.Seq)}
	}
	return value
}

func noValue(session *sessile.Session, v *sessile.Version, branch, floorID string) Value {
	return Value{
		Namespace: v.Namespace, Slot: v.Slot, Source: SourceNone, Data: null, SessionID: session.ID, BranchID: branch,
		FloorID: floorID, MutationIDs: []string{},
	}
}

// Diff compares a floor (right) with another floor or with the live values of a branch (left), slot by slot (4.7).
// Codes: not_found for the session or a floor.
func (s *Service) Diff(ctx context.Context, account, sessionID string, q DiffQuery) (entries []DiffEntry, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		entries, err = diff(tx, account, &session, &q)
		return err
	})
	return entries, err
}

func diff(tx sessile.ReadTx, account string, session *sessile.Session, q *DiffQuery) ([]DiffEntry, error) {
	floor, err := ownFloor(tx, account, session, q.FloorID)
	if err != nil {
		return nil, err
	}
	left, err := diffLeft(tx, account, session, q)
	if err != nil {
		return nil, err
	}
	right, err := floorValues(tx, session, "", &floor, q.Filter)
	if err != nil {
		return nil, err
	}
	entries := make([]DiffEntry, 0, len(right))
	for i := range right { // both sides list every slot in one order
		entries = append(entries, diffEntry(&left[i], &right[i], q.FloorID))
	}
	return entries, nil
}

func diffLeft(tx sessile.ReadTx, account string, session *sessile.Session, q *DiffQuery) ([]Value, error) {
	if q.AgainstFloorID == "" {
		return liveValues(tx, session, q.Branch, q.Filter)
	}
	against, err := ownFloor(tx, account, session, q.AgainstFloorID)
	if err != nil {
		return nil, err
	}
	return floorValues(tx, session, "", &against, q.Filter)
}

func diffEntry(left, right *Value, floorID string) DiffEntry {
	e := DiffEntry{
		Namespace: right.Namespace, Slot: right.Slot, Left: left.Data, Right: right.Data,
		LeftPresent: left.Present, RightPresent: right.Present,
	}
	if right.Source != SourceNone {
		e.RightFloorID = right.FloorID
	}
	if left.Source != SourceNone {
		// A live value of a direct write has no floor; the floor asked about stands in.
		if e.LeftFloorID = left.FloorID; e.LeftFloorID == "" {
			e.LeftFloorID = floorID
		}
	}
	switch {
	case !left.Present && right.Present:
		e.Change = ChangeAdded
	case left.Present && !right.Present:
		e.Change = ChangeRemoved
	case equalValues(left.Data, right.Data):
		e.Change = ChangeUnchanged
	default:
		e.Change = ChangeChanged
	}
	return e
}
