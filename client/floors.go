package client

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// Floor is one turn's place on a branch (spec/governed-state.md, 1.2). Times are milliseconds since the Unix epoch.
type Floor struct {
	ID                  string             `json:"id"`
	SessionID           string             `json:"session_id"`
	BranchID            string             `json:"branch_id"`
	FloorNo             int64              `json:"floor_no"`
	ParentFloorID       *string            `json:"parent_floor_id"`
	State               sessile.FloorState `json:"state"`
	TokenIn             int64              `json:"token_in"`
	TokenOut            int64              `json:"token_out"`
	CreatedAt           int64              `json:"created_at"`
	UpdatedAt           int64              `json:"updated_at"`
	SupersededAt        *int64             `json:"superseded_at"`
	SupersededByFloorID *string            `json:"superseded_by_floor_id"`
}

// FloorQuery narrows a list of floors; zero members do not narrow.
type FloorQuery struct {
	SessionID string
	BranchID  string
	State     sessile.FloorState
	Paging    // sorts by created_at, updated_at or floor_no
}

// NewFloor describes a bare floor: one without content and without snapshots.
type NewFloor struct {
	SessionID     string             `json:"session_id"`
	FloorNo       int64              `json:"floor_no"`
	BranchID      string             `json:"branch_id"`
	ParentFloorID string             `json:"parent_floor_id,omitzero"`
	State         sessile.FloorState `json:"state,omitzero"` // default draft
	TokenIn       int64              `json:"token_in,omitzero"`
	TokenOut      int64              `json:"token_out,omitzero"`
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
}

// FloorResult is what a committed floor produced.
type FloorResult struct {
	FloorID            string         `json:"floor_id"`
	OutputPageID       *string        `json:"output_page_id"`
	AssistantMessageID *string        `json:"assistant_message_id"`
	GeneratedText      string         `json:"generated_text"`
	Summaries          []string       `json:"summaries"`
	Usage              Usage          `json:"usage"`
	Verifier           jsontext.Value `json:"verifier"`
	CommittedAt        int64          `json:"committed_at"`
}

// FloorRun is the latest run of a floor; Run is nil when it never had one.
type FloorRun struct {
	FloorID string             `json:"floor_id"`
	State   sessile.FloorState `json:"state"`
	Run     *Run               `json:"run"`
}

// Run is one attempt to do work on a branch.
type Run struct {
	RunID       string    `json:"run_id"`
	Kind        string    `json:"kind"`
	RunType     string    `json:"run_type"`
	Status      string    `json:"status"` // running, completed, failed or cancelled
	StartedAt   int64     `json:"started_at"`
	CompletedAt *int64    `json:"completed_at"`
	Error       *RunError `json:"error"`
}

// RunError is why a run ended without success.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// TimelineFloor is a floor with its content.
type TimelineFloor struct {
	Floor
	Pages []ContentPage `json:"pages"`
}

// ContentPage is a version of content in a floor.
type ContentPage struct {
	ID       string           `json:"id"`
	PageKind sessile.PageKind `json:"page_kind"`
	PageNo   int64            `json:"page_no"`
	IsActive bool             `json:"is_active"`
	Version  int64            `json:"version"`
	Messages []Message        `json:"messages"`
}

// Message is one transcript row of a floor.
type Message struct {
	ID            string  `json:"id"`
	PageID        string  `json:"page_id"`
	Seq           int64   `json:"seq"`
	Role          string  `json:"role"` // system, user, assistant or narrator
	Content       string  `json:"content"`
	ContentFormat string  `json:"content_format"`
	TokenCount    int64   `json:"token_count"`
	IsHidden      bool    `json:"is_hidden"`
	Source        *string `json:"source"`
	CreatedAt     int64   `json:"created_at"`
}

// ListFloors lists floors, without superseded ones: GET /floors.
func (c *Client) ListFloors(ctx context.Context, q FloorQuery) (Page[Floor], error) {
	return callPage[Floor](ctx, c, get("floors").
		with("session_id", q.SessionID).with("branch_id", q.BranchID).with("state", string(q.State)).page(q.Paging))
}

// CreateFloor makes a bare floor: POST /floors.
func (c *Client) CreateFloor(ctx context.Context, f NewFloor) (Floor, error) {
	return call[Floor](ctx, c, post(f, "floors"))
}

// GetFloor reads a floor, superseded or not: GET /floors/{floor}.
func (c *Client) GetFloor(ctx context.Context, floorID string) (Floor, error) {
	return call[Floor](ctx, c, get("floors", floorID))
}

// DeleteFloor deletes a floor: DELETE /floors/{floor}. Values that came from it stay.
func (c *Client) DeleteFloor(ctx context.Context, floorID string) (Deleted, error) {
	return call[Deleted](ctx, c, request{method: http.MethodDelete, path: []string{"floors", floorID}})
}

// FloorRun reads the latest run of a floor: GET /floors/{floor}/run.
func (c *Client) FloorRun(ctx context.Context, floorID string) (FloorRun, error) {
	return call[FloorRun](ctx, c, get("floors", floorID, "run"))
}

// FloorResult reads what a committed floor produced: GET /floors/{floor}/result.
func (c *Client) FloorResult(ctx context.Context, floorID string) (FloorResult, error) {
	return call[FloorResult](ctx, c, get("floors", floorID, "result"))
}

// GetMessage reads a message: GET /messages/{message}.
func (c *Client) GetMessage(ctx context.Context, messageID string) (Message, error) {
	return call[Message](ctx, c, get("messages", messageID))
}
