package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// Registration describes a custom namespace to register. All members are required.
type Registration struct {
	Namespace        string `json:"namespace"`
	LogicalOwnerType string `json:"logical_owner_type"`
	LogicalOwnerID   string `json:"logical_owner_id"`
}

// Namespace is the definition of a namespace (spec/governed-state.md, 4.1 and 4.2). Built-in ones have neither owner
// nor template.
type Namespace struct {
	Namespace           string           `json:"namespace"`
	OwnerKind           string           `json:"owner_kind"` // built_in or custom
	LogicalOwnerType    string           `json:"logical_owner_type,omitzero"`
	LogicalOwnerID      string           `json:"logical_owner_id,omitzero"`
	DefaultSlotTemplate *SlotTemplate    `json:"default_slot_template,omitzero"`
	Slots               []SlotDefinition `json:"slots"`
}

// OwnerCustom is the owner kind of namespaces that were registered.
const OwnerCustom = "custom"

// SlotTemplate is what every slot of a custom namespace starts from.
type SlotTemplate struct {
	DefaultVisibilityMode string   `json:"default_visibility_mode"`
	DefaultWriteMode      string   `json:"default_write_mode"`
	DefaultReplaySafety   string   `json:"default_replay_safety"`
	ClientWritable        bool     `json:"client_writable"`
	AllowedWriteModes     []string `json:"allowed_write_modes"`
	SupportsSnapshot      bool     `json:"supports_snapshot"`
	SupportsDiff          bool     `json:"supports_diff"`
	ReplayPolicySource    string   `json:"replay_policy_source"`
}

// SlotDefinition is the definition of a slot.
type SlotDefinition struct {
	Slot                string           `json:"slot"`
	ExposureLifecycle   string           `json:"exposure_lifecycle"`
	VisibilityMode      string           `json:"visibility_mode"`
	DefaultWriteMode    string           `json:"default_write_mode"`
	DefaultReplaySafety string           `json:"default_replay_safety"`
	SchemaVersion       int              `json:"schema_version"`
	SizeBudgetBytes     int64            `json:"size_budget_bytes"`
	Capabilities        SlotCapabilities `json:"capabilities"`
}

// SlotCapabilities tell what may be done with a slot.
type SlotCapabilities struct {
	ClientReadable    bool     `json:"client_readable"`
	ClientWritable    bool     `json:"client_writable"`
	AllowedWriteModes []string `json:"allowed_write_modes"`
	SupportsSnapshot  bool     `json:"supports_snapshot"`
	SupportsDiff      bool     `json:"supports_diff"`
}

// Address names a cell on a branch of a session. All members are required.
type Address struct {
	BranchID  string `json:"branch_id"`
	Namespace string `json:"namespace"`
	Slot      string `json:"slot"`
}

// Value is one resolved cell (4.3 and 4.5). Times are milliseconds since the Unix epoch.
type Value struct {
	Namespace         string         `json:"namespace"`
	Slot              string         `json:"slot"`
	Source            string         `json:"source"` // live_head, latest_branch_snapshot, source_floor_snapshot or none
	VisibilityMode    string         `json:"visibility_mode"`
	SchemaVersion     int            `json:"schema_version"`
	Present           bool           `json:"present"`
	Value             jsontext.Value `json:"value"` // null when not present, and when null is the value
	SessionID         string         `json:"session_id"`
	BranchID          string         `json:"branch_id"`
	FloorID           *string        `json:"floor_id"`
	SourceMutationIDs []string       `json:"source_mutation_ids"`
	UpdatedAt         *int64         `json:"updated_at"`
}

// SnapshotValue is one cell of a floor's snapshot (4.6). CommittedAt is nil when the floor stores none of it.
type SnapshotValue struct {
	Namespace         string         `json:"namespace"`
	Slot              string         `json:"slot"`
	VisibilityMode    string         `json:"visibility_mode"`
	SchemaVersion     int            `json:"schema_version"`
	Present           bool           `json:"present"`
	Value             jsontext.Value `json:"value"`
	SessionID         string         `json:"session_id"`
	BranchID          string         `json:"branch_id"`
	FloorID           string         `json:"floor_id"`
	SourceMutationIDs []string       `json:"source_mutation_ids"`
	CommittedAt       *int64         `json:"committed_at"`
}

// DiffEntry compares one cell on two sides (4.7).
type DiffEntry struct {
	Namespace    string         `json:"namespace"`
	Slot         string         `json:"slot"`
	ChangeType   string         `json:"change_type"` // added, removed, changed or unchanged
	LeftFloorID  *string        `json:"left_floor_id"`
	RightFloorID *string        `json:"right_floor_id"`
	LeftPresent  bool           `json:"left_present"`
	RightPresent bool           `json:"right_present"`
	LeftValue    jsontext.Value `json:"left_value"`
	RightValue   jsontext.Value `json:"right_value"`
}

// Filter narrows an answer to a namespace, or to one slot of it.
type Filter struct {
	Namespace string
	Slot      string // needs a namespace
}

// ResolveQuery asks for the values that a branch shows, or with SourceFloorID for those of that floor's snapshot.
type ResolveQuery struct {
	BranchID      string // required
	SourceFloorID string
	Filter
}

// DiffQuery compares a floor, on the right, with what Against names, on the left.
type DiffQuery struct {
	FloorID string // required
	Against Against
	Filter
}

// Against is the left side of a diff: [LiveOf] or [FloorOf].
type Against struct {
	target, branch string
}

// LiveOf is what a branch shows now.
func LiveOf(branchID string) Against { return Against{target: "live", branch: branchID} }

// FloorOf is the snapshot of a floor.
func FloorOf(floorID string) Against { return Against{target: "floor:" + floorID} }

// filter adds a filter to a request.
func (r request) filter(f Filter) request {
	return r.unless(checkSlot(f.Namespace, f.Slot)).with("namespace", f.Namespace).with("slot", f.Slot)
}

// RegisterNamespace registers a custom namespace in a session: POST /sessions/{session}/state/namespaces (4.1).
// Registering the same name twice is session_state_namespace_already_registered.
func (c *Client) RegisterNamespace(ctx context.Context, sessionID string, r Registration) (Namespace, error) {
	n, err := call[Namespace](ctx, c, post(r, "sessions", sessionID, "state", "namespaces"))
	if err == nil && n.OwnerKind != OwnerCustom {
		return n, c.strange(fmt.Errorf("it registered a namespace of owner kind %q", n.OwnerKind))
	}
	return n, err
}

// ListNamespaces lists the namespaces of a session with their slots: GET /sessions/{session}/state/namespaces (4.2).
func (c *Client) ListNamespaces(ctx context.Context, sessionID string) ([]Namespace, error) {
	return call[[]Namespace](ctx, c, get("sessions", sessionID, "state", "namespaces"))
}

// WriteValue writes a value at once: POST /sessions/{session}/state/values/write (4.3). The value is JSON text; null is
// a value too, and none at all is refused. The last writer wins.
func (c *Client) WriteValue(ctx context.Context, sessionID string, a Address, value jsontext.Value) (Value, error) {
	r := post(struct {
		Address
		Value jsontext.Value `json:"value"`
	}{a, value}, "sessions", sessionID, "state", "values", "write")
	if value == nil {
		r = r.unless(missing("value"))
	}
	return call[Value](ctx, c, r)
}

// DeleteValue governs a cell to "no value": DELETE /sessions/{session}/state/values (4.4). The cell stays, and so does its
// history.
func (c *Client) DeleteValue(ctx context.Context, sessionID string, a Address) (Value, error) {
	return call[Value](ctx, c, request{
		method: http.MethodDelete, path: []string{"sessions", sessionID, "state", "values"}, body: a,
	})
}

// Resolve reads the values of a branch: GET /sessions/{session}/state/resolve (4.5), ordered by namespace, then slot.
func (c *Client) Resolve(ctx context.Context, sessionID string, q ResolveQuery) ([]Value, error) {
	return call[[]Value](ctx, c, get("sessions", sessionID, "state", "resolve").
		with("branch_id", q.BranchID).with("source_floor_id", q.SourceFloorID).filter(q.Filter))
}

// Snapshot reads what the cells looked like when a floor committed: GET
// /sessions/{session}/state/floors/{floor}/snapshot (4.6).
func (c *Client) Snapshot(ctx context.Context, sessionID, floorID string, f Filter) ([]SnapshotValue, error) {
	return call[[]SnapshotValue](ctx, c, get("sessions", sessionID, "state", "floors", floorID, "snapshot").filter(f))
}

// Diff compares a floor with another or with the live values of a branch: GET /sessions/{session}/state/diff (4.7). Read a
// change as going from Against to the floor.
func (c *Client) Diff(ctx context.Context, sessionID string, q DiffQuery) ([]DiffEntry, error) {
	return call[[]DiffEntry](ctx, c, get("sessions", sessionID, "state", "diff").
		with("floor_id", q.FloorID).with("against", q.Against.target).with("branch_id", q.Against.branch).filter(q.Filter))
}
