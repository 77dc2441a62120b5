package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// NewGoal is what a session is to achieve. Status "" keeps the present one.
type NewGoal struct {
	Objective   string `json:"objective"`
	Status      string `json:"status,omitzero"` // active, paused, blocked, budget_limited, usage_limited or complete
	TokenBudget *int64 `json:"token_budget,omitzero"`
}

// Goal is the goal of a session.
type Goal struct {
	ID          string `json:"id"`
	Objective   string `json:"objective"`
	Status      string `json:"status"`
	TokenBudget *int64 `json:"token_budget"`
	TokensUsed  int64  `json:"tokens_used"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

// SetGoal gives a session a goal or changes it: PUT /sessions/{session}/goal.
func (c *Client) SetGoal(ctx context.Context, sessionID string, g NewGoal) (Goal, error) {
	return call[Goal](ctx, c, request{method: http.MethodPut, path: []string{"sessions", sessionID, "goal"}, body: g})
}

// Removed tells whether there was anything to delete.
type Removed struct {
	Deleted bool `json:"deleted"`
}

// ClearGoal takes the goal of a session away: DELETE /sessions/{session}/goal.
func (c *Client) ClearGoal(ctx context.Context, sessionID string) (Removed, error) {
	return call[Removed](ctx, c, request{method: http.MethodDelete, path: []string{"sessions", sessionID, "goal"}})
}

// Change is a line of the log of changes.
type Change struct {
	Sequence   int64          `json:"sequence"`
	SessionKey string         `json:"session_key"`
	SessionID  string         `json:"session_id"`
	AgentID    string         `json:"agent_id"`
	Kind       string         `json:"kind"`
	ActorType  string         `json:"actor_type"` // human, agent or system
	ActorID    *string        `json:"actor_id"`
	RunID      *string        `json:"run_id"`
	OccurredAt int64          `json:"occurred_at"`
	Summary    string         `json:"summary"`
	Payload    jsontext.Value `json:"payload"`
}

// ListChanges lists up to 200 changes of a session after a sequence number, the oldest first: GET /sessions/{session}/events.
// For more, go on after the last one.
func (c *Client) ListChanges(ctx context.Context, sessionID string, since int64) ([]Change, error) {
	return call[[]Change](ctx, c, get("sessions", sessionID, "events").with("since", strconv.FormatInt(since, 10)))
}

// Notice tells a session that another one, which it watches, has changed.
type Notice struct {
	ID           string `json:"id"`
	TargetKey    string `json:"target_key"`
	ChangesSince int64  `json:"changes_since"`
	Text         string `json:"text"`
	CreatedAt    int64  `json:"created_at"`
}

// ListNotices lists what waits for a session, the oldest first: GET /sessions/{session}/notices.
func (c *Client) ListNotices(ctx context.Context, sessionID string) ([]Notice, error) {
	return call[[]Notice](ctx, c, get("sessions", sessionID, "notices"))
}

// Acknowledged tells how many notices were drained.
type Acknowledged struct {
	Acknowledged int `json:"acknowledged"`
}

// AcknowledgeNotices drains notices: POST /sessions/{session}/notices/ack. Ids of no notice are passed over.
func (c *Client) AcknowledgeNotices(ctx context.Context, sessionID string, ids []string) (Acknowledged, error) {
	body := struct {
		IDs []string `json:"ids"`
	}{ids}
	return call[Acknowledged](ctx, c, post(body, "sessions", sessionID, "notices", "ack"))
}

// Watch is a session that another one is told of.
type Watch struct {
	TargetKey string `json:"target_key"`
	LastSeen  int64  `json:"last_seen"`
	Pending   bool   `json:"pending"` // a notice waits
}

// ListWatches lists what a session watches: GET /sessions/{session}/watches.
func (c *Client) ListWatches(ctx context.Context, sessionID string) ([]Watch, error) {
	return call[[]Watch](ctx, c, get("sessions", sessionID, "watches"))
}

// AddWatch has a session be told of what happens to another: POST /sessions/{session}/watches.
func (c *Client) AddWatch(ctx context.Context, sessionID, targetKey string) (Watch, error) {
	body := struct {
		TargetKey string `json:"target_key"`
	}{targetKey}
	return call[Watch](ctx, c, post(body, "sessions", sessionID, "watches"))
}

// DeleteWatch ends a watch: DELETE /sessions/{session}/watches/{target}.
func (c *Client) DeleteWatch(ctx context.Context, sessionID, targetKey string) (Removed, error) {
	return call[Removed](ctx, c, request{method: http.MethodDelete, path: []string{"sessions", sessionID, "watches", targetKey}})
}

// Reason tells whether a session may use a tool on another, and what refuses.
type Reason struct {
	Allowed bool    `json:"allowed"`
	Layer   *string `json:"layer"`
	Reason  *string `json:"reason"`
}

// Why tells whether a session may use a tool on another: GET /sessions/{session}/why.
func (c *Client) Why(ctx context.Context, sessionID, targetKey, tool string) (Reason, error) {
	return call[Reason](ctx, c, get("sessions", sessionID, "why").with("target_key", targetKey).with("tool", tool))
}
