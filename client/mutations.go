package client

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// MutationQuery narrows a list of mutations; zero members do not narrow.
type MutationQuery struct {
	BranchID       string
	Status         string // staged, applied, discarded, blocked or uncertain
	ReplaySafety   string // safe, confirm_on_replay, never_auto_replay or uncertain
	WriteMode      string // direct or commit_bound
	SourceFloorID  string
	RunID          string
	StateNamespace string
	TargetSlot     string
	CreatedAfter   *int64 // milliseconds since the Unix epoch, inclusive
	CreatedBefore  *int64
	Paging         // sorts by created_at
}

// Mutation is the record of one write (spec/governed-state.md, section 11). Payload is there when one mutation was asked
// for; PayloadPreview is its beginning.
type Mutation struct {
	ID                    string           `json:"id"`
	StateNamespace        string           `json:"state_namespace"`
	TargetSlot            string           `json:"target_slot"`
	SessionID             string           `json:"session_id"`
	BranchID              string           `json:"branch_id"`
	SourceFloorID         *string          `json:"source_floor_id"`
	SourceSnapshotFloorID *string          `json:"source_snapshot_floor_id"`
	VisibilityMode        string           `json:"visibility_mode"`
	WriteMode             string           `json:"write_mode"`
	Status                string           `json:"status"`
	ReplaySafety          string           `json:"replay_safety"`
	RequestID             *string          `json:"request_id"`
	RunID                 *string          `json:"run_id"`
	LiveHeadKey           string           `json:"live_head_key"`
	DiscardReason         *string          `json:"discard_reason"`
	BlockedReason         *string          `json:"blocked_reason"`
	PayloadSizeBytes      int64            `json:"payload_size_bytes"`
	PayloadPresent        bool             `json:"payload_present"`
	PayloadPreview        string           `json:"payload_preview"`
	CreatedAt             int64            `json:"created_at"`
	UpdatedAt             int64            `json:"updated_at"`
	AppliedAt             *int64           `json:"applied_at"`
	Payload               *MutationPayload `json:"payload,omitzero"`
}

// MutationPayload is what a mutation wrote.
type MutationPayload struct {
	Present bool           `json:"present"`
	Value   jsontext.Value `json:"value"`
}

// ListMutations reads the log of a session: GET /sessions/{session}/session-state/mutations.
func (c *Client) ListMutations(ctx context.Context, sessionID string, q MutationQuery) (Page[Mutation], error) {
	r := get("sessions", sessionID, "session-state", "mutations").
		with("branch_id", q.BranchID).
		with("status", q.Status).
		with("replay_safety", q.ReplaySafety).
		with("write_mode", q.WriteMode).
		with("source_floor_id", q.SourceFloorID).
		with("run_id", q.RunID).
		with("state_namespace", q.StateNamespace).
		with("target_slot", q.TargetSlot).
		page(q.Paging)
	if q.CreatedAfter != nil {
		r = r.with("created_after", strconv.FormatInt(*q.CreatedAfter, 10))
	}
	if q.CreatedBefore != nil {
		r = r.with("created_before", strconv.FormatInt(*q.CreatedBefore, 10))
	}
	return callPage[Mutation](ctx, c, r)
}

// GetMutation reads one mutation with its payload: GET /sessions/{session}/session-state/mutations/{mutation}.
func (c *Client) GetMutation(ctx context.Context, sessionID, mutationID string) (Mutation, error) {
	return call[Mutation](ctx, c, get("sessions", sessionID, "session-state", "mutations", mutationID))
}
