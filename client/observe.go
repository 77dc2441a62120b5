package client

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The methods of this file watch from beside (spec/governed-state.md, section 11). Their routes are unstable: another version
// of the server may answer differently, and this file will follow it.

// Binding is the storage that a namespace has in a session.
type Binding struct {
	DomainID                  string `json:"domain_id"`
	AccountID                 string `json:"account_id"`
	ManagerKind               string `json:"manager_kind"`
	HostType                  string `json:"host_type"`
	HostID                    string `json:"host_id"`
	StateNamespace            string `json:"state_namespace"`
	RequireCallerOwner        bool   `json:"require_caller_owner"`
	AllowAutoCreateCollection bool   `json:"allow_auto_create_collection"`
	CreatedAt                 int64  `json:"created_at"`
	UpdatedAt                 int64  `json:"updated_at"`
}

// LiveHead is the own head of a branch, without its value.
type LiveHead struct {
	StateNamespace   string  `json:"state_namespace"`
	Slot             string  `json:"slot"`
	BranchID         *string `json:"branch_id"`
	VisibilityMode   string  `json:"visibility_mode"`
	SchemaVersion    int     `json:"schema_version"`
	Present          bool    `json:"present"`
	SourceFloorID    *string `json:"source_floor_id"`
	LastMutationID   string  `json:"last_mutation_id"`
	UpdatedAt        int64   `json:"updated_at"`
	PayloadSizeBytes int64   `json:"payload_size_bytes"`
}

// LiveValue is a [Value] as this surface names it.
type LiveValue struct {
	StateNamespace    string         `json:"state_namespace"`
	Slot              string         `json:"slot"`
	Source            string         `json:"source"`
	VisibilityMode    string         `json:"visibility_mode"`
	SchemaVersion     int            `json:"schema_version"`
	Present           bool           `json:"present"`
	Value             jsontext.Value `json:"value"`
	SessionID         string         `json:"session_id"`
	BranchID          string         `json:"branch_id"`
	FloorID           *string        `json:"floor_id"`
	SourceMutationIDs []string       `json:"source_mutation_ids"`
	UpdatedAt         *int64         `json:"updated_at"`
}

// FloorValue is what a floor stores of a cell: in a list with its size, alone with its value.
type FloorValue struct {
	StateNamespace    string         `json:"state_namespace"`
	Slot              string         `json:"slot"`
	VisibilityMode    string         `json:"visibility_mode"`
	SchemaVersion     int            `json:"schema_version"`
	Present           bool           `json:"present"`
	SessionID         string         `json:"session_id"`
	BranchID          string         `json:"branch_id"`
	FloorID           string         `json:"floor_id"`
	SourceMutationIDs []string       `json:"source_mutation_ids"`
	CommittedAt       *int64         `json:"committed_at"`
	PayloadSizeBytes  int64          `json:"payload_size_bytes,omitzero"`
	Value             jsontext.Value `json:"value,omitzero"`
}

// ReplaySafety says whether a floor may be run again, and what stands in the way.
type ReplaySafety struct {
	Allowed  bool            `json:"allowed"`
	Blockers []ReplayBlocker `json:"blockers"`
}

// ReplayBlocker is a mutation that keeps a floor from being run again.
type ReplayBlocker struct {
	MutationID     string `json:"mutation_id"`
	StateNamespace string `json:"state_namespace"`
	TargetSlot     string `json:"target_slot"`
	ReplaySafety   string `json:"replay_safety"`
	Status         string `json:"status"`
	Reason         string `json:"reason"`
}

// FloorDiffEntry compares one cell on two sides; the values are there when they were asked for.
type FloorDiffEntry struct {
	StateNamespace string         `json:"state_namespace"`
	Slot           string         `json:"slot"`
	ChangeType     string         `json:"change_type"`
	LeftFloorID    *string        `json:"left_floor_id"`
	RightFloorID   *string        `json:"right_floor_id"`
	LeftPresent    bool           `json:"left_present"`
	RightPresent   bool           `json:"right_present"`
	LeftValue      jsontext.Value `json:"left_value,omitzero"`
	RightValue     jsontext.Value `json:"right_value,omitzero"`
}

// FloorDiffQuery says what to compare a floor with. Against another floor the left side is the floor asked about; against
// live values it is they.
type FloorDiffQuery struct {
	Against        Against
	StateNamespace string
	IncludeValues  bool
}

// ListBindings lists the storage of a session: GET /sessions/{session}/session-state/bindings.
func (c *Client) ListBindings(ctx context.Context, sessionID string) ([]Binding, error) {
	return call[[]Binding](ctx, c, get("sessions", sessionID, "session-state", "bindings"))
}

// ListLive lists the own heads of a branch, or of all: GET /sessions/{session}/session-state/live.
func (c *Client) ListLive(ctx context.Context, sessionID, branchID, namespace string) ([]LiveHead, error) {
	return call[[]LiveHead](ctx, c, get("sessions", sessionID, "session-state", "live").
		with("branch_id", branchID).with("state_namespace", namespace))
}

// GetLive reads one value, which must be there: GET /sessions/{session}/session-state/live/{namespace}/{slot}.
func (c *Client) GetLive(ctx context.Context, sessionID string, a Address, sourceFloorID string) (LiveValue, error) {
	return call[LiveValue](ctx, c, get("sessions", sessionID, "session-state", "live", a.Namespace, a.Slot).
		with("branch_id", a.BranchID).with("source_floor_id", sourceFloorID))
}

// ListFloorSnapshots lists what a floor stores, without values: GET /floors/{floor}/session-state/snapshots.
func (c *Client) ListFloorSnapshots(ctx context.Context, floorID, namespace string) ([]FloorValue, error) {
	return call[[]FloorValue](ctx, c, get("floors", floorID, "session-state", "snapshots").with("state_namespace", namespace))
}

// GetFloorSnapshot reads one value that a floor stores: GET /floors/{floor}/session-state/snapshots/{namespace}/{slot}.
func (c *Client) GetFloorSnapshot(ctx context.Context, floorID, namespace, slot string) (FloorValue, error) {
	return call[FloorValue](ctx, c, get("floors", floorID, "session-state", "snapshots", namespace, slot))
}

// ReplaySafety asks whether a floor may be run again once these mutations are confirmed: GET
// /floors/{floor}/session-state/replay-safety.
func (c *Client) ReplaySafety(ctx context.Context, floorID string, confirmedMutationIDs ...string) (ReplaySafety, error) {
	return call[ReplaySafety](ctx, c, get("floors", floorID, "session-state", "replay-safety").
		with("confirmed_mutation_ids", strings.Join(confirmedMutationIDs, ",")))
}

// FloorDiff compares what a floor stores: GET /floors/{floor}/session-state/diff.
func (c *Client) FloorDiff(ctx context.Context, floorID string, q FloorDiffQuery) ([]FloorDiffEntry, error) {
	return call[[]FloorDiffEntry](ctx, c, get("floors", floorID, "session-state", "diff").
		with("against", q.Against.target).with("branch_id", q.Against.branch).with("state_namespace", q.StateNamespace).
		with("include_values", strconv.FormatBool(q.IncludeValues)))
}
