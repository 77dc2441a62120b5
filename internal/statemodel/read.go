package statemodel

import (
	"cmp"
	"slices"
)

// Source tells where a resolved value comes from.
type Source string

// The sources of 4.5.
const (
	LiveHead             Source = "live_head"
	LatestBranchSnapshot Source = "latest_branch_snapshot"
	SourceFloorSnapshot  Source = "source_floor_snapshot"
	None                 Source = "none"
)

// Value is one resolved slot. At is its time in milliseconds, 0 for [None].
type Value struct {
	Slot
	Version
	Source Source
	Branch string
	Floor  FloorID
	At     int64
}

// SnapshotValue is one slot of a floor's snapshot. CommittedAt is 0 when nothing is stored.
type SnapshotValue struct {
	Slot
	Version
	Branch      string
	CommittedAt int64
}

// Resolve reads every public slot from a branch, or with source set from that floor (1.6).
func (m *Model) Resolve(id SessionID, branch string, source FloorID) ([]Value, Code) {
	s := m.account.sessions[id]
	if s == nil || source != 0 && s.floors[source] == nil {
		return nil, NotFound
	}
	var values []Value
	for _, slot := range s.slots() {
		values = append(values, s.resolve(slot, branch, source))
	}
	return values, OK
}

func (s *session) resolve(slot Slot, branch string, source FloorID) Value {
	if source != 0 {
		if v, stored := s.floors[source].value(slot, SourceFloorSnapshot); stored {
			return v
		}
		return Value{Slot: slot, Version: empty, Source: None, Branch: branch, Floor: source}
	}
	if h, exists := s.heads[branch][slot]; exists {
		return Value{Slot: slot, Version: h.Version, Source: LiveHead, Branch: branch, Floor: h.floor, At: h.at}
	}
	latest := s.last(branch, true)
	if latest == nil {
		latest = s.floors[s.registered[branch]]
	}
	if v, stored := latest.value(slot, LatestBranchSnapshot); stored {
		return v
	}
	return Value{Slot: slot, Version: empty, Source: None, Branch: branch}
}

// empty is what a slot reads that holds nothing.
var empty = Version{Value: "null"}

// value reads a slot from the floor's snapshot.
func (f *floor) value(slot Slot, source Source) (v Value, stored bool) {
	if f == nil {
		return Value{}, false
	}
	shown, stored := f.snapshot[slot]
	if shown.Mutation == 0 {
		shown = empty
	}
	return Value{Slot: slot, Version: shown, Source: source, Branch: f.Branch, Floor: f.ID, At: f.committedAt}, stored
}

// Snapshot reads every public slot of a floor (4.6).
func (m *Model) Snapshot(id SessionID, floor FloorID) ([]SnapshotValue, Code) {
	s := m.account.sessions[id]
	if s == nil || s.floors[floor] == nil {
		return nil, NotFound
	}
	var values []SnapshotValue
	for _, slot := range s.slots() {
		v, stored := s.floors[floor].value(slot, "")
		if !stored {
			v = Value{Version: empty, Branch: s.floors[floor].Branch}
		}
		values = append(values, SnapshotValue{Slot: slot, Version: v.Version, Branch: v.Branch, CommittedAt: v.At})
	}
	return values, OK
}

// Sessions lists the sessions.
func (m *Model) Sessions() []SessionID { return sortedKeys(m.account.sessions) }

// Registered lists the custom namespaces of a session, in byte order.
func (m *Model) Registered(id SessionID) []string {
	s := m.account.sessions[id]
	if s == nil {
		return nil
	}
	return sortedKeys(s.namespaces)
}

// Slots lists the materialised custom slots of a session, by namespace and name in byte order.
func (m *Model) Slots(id SessionID) []Slot {
	s := m.account.sessions[id]
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(s.slots(), func(slot Slot) bool { return slot.Namespace == GameState })
}

// Floors lists the floors of a session, superseded ones included, in the order they were made.
func (m *Model) Floors(id SessionID) []Floor {
	s := m.account.sessions[id]
	if s == nil {
		return nil
	}
	var floors []Floor
	for _, fid := range sortedKeys(s.floors) {
		floors = append(floors, s.floors[fid].Floor)
	}
	return floors
}

// Branches lists the branches that branch management knows, with those that only direct writes named after them
// left out, in byte order.
func (m *Model) Branches(id SessionID) []string {
	s := m.account.sessions[id]
	if s == nil {
		return nil
	}
	names := map[string]bool{Main: true}
	for name := range s.registered {
		names[name] = true
	}
	for _, f := range s.floors {
		if !f.Superseded {
			names[f.Branch] = true
		}
	}
	return sortedKeys(names)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sortSlots(slots []Slot) {
	slices.SortFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
