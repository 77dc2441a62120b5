package client

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// NewRow is one row to put into a transcript. Content is a JSON text or a list of blocks. Extra is an object of further
// members, which are kept as they are (provenance, usage, …).
type NewRow struct {
	Role      string         `json:"role"` // user, assistant, system, tool or toolResult
	Content   jsontext.Value `json:"content"`
	CreatedAt int64          `json:"created_at,omitzero"`
	Extra     jsontext.Value `json:",inline"`
}

// Ingest puts rows into the transcript of a branch, and writes with them.
type Ingest struct {
	BranchID           string      `json:"branch_id,omitzero"` // default main
	Messages           []NewRow    `json:"messages"`
	SessionStateWrites []TurnWrite `json:"session_state_writes,omitzero"`
}

// Ingested is the floor that holds the rows.
type Ingested struct {
	FloorID    string   `json:"floor_id"`
	FloorNo    int64    `json:"floor_no"`
	MessageIDs []string `json:"message_ids"`
}

// Row is one row of a transcript as it was put in or said. Extra holds its further members as an object.
type Row struct {
	Seq       int            `json:"seq"`
	ID        string         `json:"id"`
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	CreatedAt int64          `json:"created_at"`
	Extra     jsontext.Value `json:",inline"`
}

// TranscriptQuery selects rows; limit goes up to 200.
type TranscriptQuery struct {
	BranchID string // default main
	Limit    int
	Offset   int
}

// MessageQuery narrows a list of messages.
type MessageQuery struct {
	PageID   string
	Role     string
	IsHidden *bool
	Paging   // sorts by created_at or seq
}

// Ingest puts rows into a transcript as one committed floor: POST /sessions/{session}/transcript.
func (c *Client) Ingest(ctx context.Context, sessionID string, in Ingest) (Ingested, error) {
	return call[Ingested](ctx, c, post(in, "sessions", sessionID, "transcript"))
}

// Transcript reads the rows of a branch and of what it grew from, oldest first: GET /sessions/{session}/transcript.
func (c *Client) Transcript(ctx context.Context, sessionID string, q TranscriptQuery) (Page[Row], error) {
	return callPage[Row](ctx, c, get("sessions", sessionID, "transcript").
		with("branch_id", q.BranchID).page(Paging{Limit: q.Limit, Offset: q.Offset}))
}

// ListMessages lists messages: GET /messages.
func (c *Client) ListMessages(ctx context.Context, q MessageQuery) (Page[Message], error) {
	hidden := ""
	if q.IsHidden != nil {
		if hidden = "false"; *q.IsHidden {
			hidden = "true"
		}
	}
	return callPage[Message](ctx, c, get("messages").
		with("page_id", q.PageID).with("role", q.Role).with("is_hidden", hidden).page(q.Paging))
}
