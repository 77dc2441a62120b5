package state

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// Address names a cell inside a session.
type Address struct {
	Branch    string
	Namespace string
	Slot      string
}

// Registration is what a client tells about a custom namespace.
type Registration struct {
	Namespace string
	OwnerType string
	OwnerID   string
}

// Namespace is the definition of a namespace with its public, materialised slots in byte order.
type Namespace struct {
	Name      string
	BuiltIn   bool
	OwnerType string // custom ones only
	OwnerID   string
	Slots     []SlotDefinition
}

// SlotDefinition is the definition of a slot. All slots are fork_on_branch, replay-safe, schema version 1 and take
// part in snapshots and diffs; what differs is below.
type SlotDefinition struct {
	Name            string
	BuiltIn         bool // commit_bound and not client-writable; custom slots are direct and client-writable
	SizeBudgetBytes int64
}

// Source tells where a resolved value comes from.
type Source string

// The sources of spec/governed-state.md, 4.5. (latest_main_snapshot is kept for session_shared slots; none exist.)
const (
	SourceLiveHead       Source = "live_head"
	SourceBranchSnapshot Source = "latest_branch_snapshot"
	SourceFloorSnapshot  Source = "source_floor_snapshot"
	SourceNone           Source = "none"
)

// Value is one resolved cell (spec/governed-state.md, 4.3 and 4.5). Data is the JSON text as stored, compact, or null.
type Value struct {
	Namespace   string
	Slot        string
	Source      Source
	Present     bool
	Data        jsontext.Value
	SessionID   string
	BranchID    string
	FloorID     string // "" is null
	MutationIDs []string
	UpdatedAt   *int64
}

// SnapshotValue is one cell of a floor's snapshot (4.6). CommittedAt is nil when the floor stores none of it.
type SnapshotValue struct {
	Namespace   string
	Slot        string
	Present     bool
	Data        jsontext.Value
	SessionID   string
	BranchID    string
	FloorID     string
	MutationIDs []string
	CommittedAt *int64
}

// ChangeType is what happened to a cell from the left side of a diff to the right one.
type ChangeType string

// The change types of 4.7.
const (
	ChangeAdded     ChangeType = "added"
	ChangeRemoved   ChangeType = "removed"
	ChangeChanged   ChangeType = "changed"
	ChangeUnchanged ChangeType = "unchanged"
)

// DiffEntry compares one cell (4.7). Absent sides have Data null.
type DiffEntry struct {
	Namespace    string
	Slot         string
	Change       ChangeType
	LeftFloorID  string // "" is null
	RightFloorID string
	LeftPresent  bool
	RightPresent bool
	Left         jsontext.Value
	Right        jsontext.Value
}

// ResolveQuery asks for current values, or with SourceFloorID for those of that floor's snapshot.
type ResolveQuery struct {
	Branch        string
	SourceFloorID string
	Filter        sessile.SlotFilter
}

// DiffQuery compares a floor (right) with another floor or, when AgainstFloorID is empty, with the live values of
// Branch (left).
type DiffQuery struct {
	FloorID        string
	AgainstFloorID string
	Branch         string
	Filter         sessile.SlotFilter
}

// TurnWrite is one client write that rides on a turn (5.1). Data is nil for a delete.
type TurnWrite struct {
	Namespace string
	Slot      string
	Data      jsontext.Value
}

// Mutation is one row of the observation surface (section 11). Times are milliseconds.
type Mutation struct {
	sessile.MutationRecord
	ID string
}
