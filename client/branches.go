package client

import (
	"context"
	"net/http"

	"github.com/sessile-dev/sessile"
)

// Branch is an entry of the list of branches. What tells of its latest floor is nil while it has none.
type Branch struct {
	BranchID      string              `json:"branch_id"`
	FloorCount    int                 `json:"floor_count"`
	LatestFloorNo *int64              `json:"latest_floor_no"`
	LatestFloorID *string             `json:"latest_floor_id"`
	LatestState   *sessile.FloorState `json:"latest_state"`
	UpdatedAt     int64               `json:"updated_at"`
}

// Fork is a branch that was registered from a floor.
type Fork struct {
	BranchID      string `json:"branch_id"`
	SourceFloorID string `json:"source_floor_id"`
	SourceFloorNo int64  `json:"source_floor_no"`
	SessionID     string `json:"session_id"`
}

// DeletedBranch tells what a deletion removed.
type DeletedBranch struct {
	BranchID          string `json:"branch_id"`
	SessionID         string `json:"session_id"`
	DeletedFloorCount int    `json:"deleted_floor_count"`
}

// ListBranches lists the branches of a session: GET /sessions/{session}/branches. It sorts by updated_at, branch_id,
// floor_count or latest_floor_no.
func (c *Client) ListBranches(ctx context.Context, sessionID string, p Paging) (Page[Branch], error) {
	return callPage[Branch](ctx, c, get("sessions", sessionID, "branches").page(p))
}

// ForkBranch registers a branch that starts from a committed floor: POST /floors/{floor}/branch. Without a name it gets
// one.
func (c *Client) ForkBranch(ctx context.Context, floorID, branchID string) (Fork, error) {
	body := struct {
		BranchID string `json:"branch_id,omitzero"`
	}{branchID}
	return call[Fork](ctx, c, post(body, "floors", floorID, "branch"))
}

// DeleteBranch deletes a branch with its floors: DELETE /branches/{branch}. Without a session the branch is looked for in
// all sessions of the account and must be in one only.
func (c *Client) DeleteBranch(ctx context.Context, sessionID, branchID string) (DeletedBranch, error) {
	r := request{method: http.MethodDelete, path: []string{"branches", branchID}}
	return call[DeletedBranch](ctx, c, r.with("session_id", sessionID))
}
