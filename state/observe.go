package state

import (
	"context"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
)

// Binding says that a session holds a namespace (spec/governed-state.md, section 11).
type Binding struct {
	Namespace string
	Account   string
	SessionID string
	Row       int64 // of the namespace, for an id
	CreatedAt int64
}

// LiveHead is a branch's own head without its value.
type LiveHead struct {
	Namespace  string
	Slot       string
	BranchID   string
	Present    bool
	FloorID    string // "" after a direct write
	MutationID string
	UpdatedAt  int64
	Size       int64
}

// FloorValue is what a floor stores of a slot, hidden ones included.
type FloorValue struct {
	SnapshotValue
	Size int64
}

// FloorDiffQuery compares a floor with another one, or with the live values of Branch when AgainstFloorID is "".
type FloorDiffQuery struct {
	AgainstFloorID string
	Branch         string
	Namespace      string
}

// hiddenSlots are the built-in slots that only the observation surface shows. Nothing writes them.
func hiddenSlots() []string { return []string{"combat", "inventory"} }

// Bindings lists the namespaces that a session holds. Codes: not_found.
func (s *Service) Bindings(ctx context.Context, account, sessionID string) (bindings []Binding, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		namespaces, err := tx.Namespaces(session.Row)
		for _, n := range namespaces {
			bindings = append(bindings, Binding{Namespace: n.Name, Account: account, SessionID: sessionID, Row: n.Row, CreatedAt: n.CreatedAt})
		}
		return err
	})
	return bindings, err
}

// LiveHeads lists the own heads of a branch, or of all branches for "". Codes: not_found for the session.
func (s *Service) LiveHeads(ctx context.Context, account, sessionID, branch, namespace string) (heads []LiveHead, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		branches, err := tx.SessionBranches(session.Row)
		if err != nil {
			return err
		}
		for i := range branches {
			if branch != "" && branches[i].Name != branch {
				continue
			}
			versions, err := tx.Heads(session.Row, branches[i].Row, 0, false, sessile.SlotFilter{Namespace: namespace})
			if err != nil {
				return err
			}
			for j := range versions {
				if versions[j].Seq != 0 {
					heads = append(heads, liveHead(branches[i].Name, &versions[j]))
				}
			}
		}
		return nil
	})
	return heads, err
}

func liveHead(branch string, v *sessile.Version) LiveHead {
	return LiveHead{
		Namespace: v.Namespace, Slot: v.Slot, BranchID: branch, Present: v.Present, FloorID: v.FloorID,
		MutationID: sessile.MutationID(v.Seq), UpdatedAt: v.CreatedAt, Size: sizeOf(v.Value),
	}
}

// LiveValue resolves one cell. Codes: not_found for the session, the floor, the slot or when nothing resolves;
// session_state_namespace_not_registered (ruling 6).
func (s *Service) LiveValue(ctx context.Context, account, sessionID string, a Address, sourceFloorID string) (value Value, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		if err := mustBeRegistered(tx, &session, a.Namespace); err != nil {
			return err
		}
		var floor *sessile.Floor
		if sourceFloorID != "" {
			source, err := ownFloor(tx, account, &session, sourceFloorID)
			if err != nil {
				return err
			}
			floor = &source
		}
		values, err := observedValues(tx, &session, a, floor)
		if err != nil {
			return err
		}
		if len(values) == 0 || values[0].Source == SourceNone {
			return sessile.NotFound()
		}
		value = values[0]
		return nil
	})
	return value, err
}

// observedValues resolves one cell from the floor, or from the branch for nil. What a floor holds of a hidden slot is stored
// and empty (1.6).
func observedValues(tx sessile.ReadTx, session *sessile.Session, a Address, floor *sessile.Floor) ([]Value, error) {
	hidden := a.Namespace == sessile.GameState && slices.Contains(hiddenSlots(), a.Slot)
	filter := sessile.SlotFilter{Namespace: a.Namespace, Slot: a.Slot}
	empty := sessile.Version{Namespace: a.Namespace, Slot: a.Slot}
	switch {
	case floor != nil && hidden:
		return []Value{floorValue(session, a.Branch, floor, &empty)}, nil
	case floor != nil:
		return floorValues(tx, session, a.Branch, floor, filter)
	case hidden:
		branch, _, err := tx.Branch(session.Row, a.Branch)
		if err != nil {
			return nil, err
		}
		latest, err := latestSnapshotFloor(tx, &branch)
		return []Value{liveValue(session, a.Branch, branch.Row, latest, &empty)}, err
	default:
		return liveValues(tx, session, a.Branch, filter)
	}
}

func mustBeRegistered(tx sessile.ReadTx, session *sessile.Session, namespace string) error {
	_, registered, err := tx.Namespace(session.Row, namespace)
	if err == nil && !registered {
		err = errNotRegistered(namespace)
	}
	return err
}

// FloorSnapshots lists what a floor stores, hidden slots included. Codes: not_found.
func (s *Service) FloorSnapshots(ctx context.Context, account, floorID, namespace string) (values []FloorValue, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, floor, err := floorWithSession(tx, account, floorID)
		if err != nil {
			return err
		}
		values, err = floorSnapshots(tx, &session, &floor, sessile.SlotFilter{Namespace: namespace})
		return err
	})
	return values, err
}

// FloorSnapshot reads what a floor stores of one slot. Codes: not_found, session_state_namespace_not_registered.
func (s *Service) FloorSnapshot(ctx context.Context, account, floorID, namespace, slot string) (value FloorValue, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, floor, err := floorWithSession(tx, account, floorID)
		if err != nil {
			return err
		}
		if err := mustBeRegistered(tx, &session, namespace); err != nil {
			return err
		}
		values, err := floorSnapshots(tx, &session, &floor, sessile.SlotFilter{Namespace: namespace})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(values, func(v FloorValue) bool { return v.Slot == slot })
		if i < 0 {
			return sessile.NotFound()
		}
		value = values[i]
		return nil
	})
	return value, err
}

// floorSnapshots lists the stored entries of a floor, with the hidden slots in their places.
func floorSnapshots(tx sessile.ReadTx, session *sessile.Session, floor *sessile.Floor, filter sessile.SlotFilter) ([]FloorValue, error) {
	if !floor.HasSnapshot() {
		return nil, nil
	}
	versions, err := floorVersions(tx, session.Row, floor, filter)
	if err != nil {
		return nil, err
	}
	var out []FloorValue
	for i := range versions {
		v := &versions[i]
		if !stored(floor, v) {
			continue
		}
		out = append(out, FloorValue{SnapshotValue: snapshotValue(session, floor, v), Size: sizeOf(v.Value)})
	}
	if filter.Namespace != "" && filter.Namespace != sessile.GameState {
		return out, nil
	}
	for _, slot := range hiddenSlots() {
		v := sessile.Version{Namespace: sessile.GameState, Slot: slot}
		out = append(out, FloorValue{SnapshotValue: snapshotValue(session, floor, &v), Size: sizeOf(nil)})
	}
	slices.SortStableFunc(out, func(a, b FloorValue) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Slot, b.Slot)
	})
	return out, nil
}

// FloorDiff compares a floor with another one or with live values. Between floors the left side is the floor of the path,
// the reverse of the public diff; against live the left side is live, as there (section 11). Codes: not_found.
func (s *Service) FloorDiff(ctx context.Context, account, floorID string, q FloorDiffQuery) (entries []DiffEntry, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, _, err := floorWithSession(tx, account, floorID)
		if err != nil {
			return err
		}
		d := DiffQuery{FloorID: floorID, AgainstFloorID: q.AgainstFloorID, Branch: q.Branch, Filter: sessile.SlotFilter{Namespace: q.Namespace}}
		if q.AgainstFloorID != "" {
			d.FloorID, d.AgainstFloorID = q.AgainstFloorID, floorID
		}
		entries, err = diff(tx, account, &session, &d)
		return err
	})
	return entries, err
}

// floorWithSession finds a floor of the account without being told its session.
func floorWithSession(tx sessile.ReadTx, account, floorID string) (sessile.Session, sessile.Floor, error) {
	floor, found, err := tx.Floor(account, floorID)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	if err != nil {
		return sessile.Session{}, floor, err
	}
	session, err := ownSession(tx, account, floor.SessionID)
	return session, floor, err
}
