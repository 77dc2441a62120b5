package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// AgentRun is one attempt to do work in a session. Times are milliseconds since the Unix epoch, nil until they have come.
type AgentRun struct {
	ID           string            `json:"id"`
	Kind         string            `json:"kind"` // turn, ingest, send, reply_back, announce_step, spawn, announcement or wake
	Status       sessile.RunStatus `json:"status"`
	SessionKey   string            `json:"session_key"`
	BranchID     string            `json:"branch_id"`
	FloorID      *string           `json:"floor_id"`
	ParentRunID  *string           `json:"parent_run_id"`
	RequesterKey *string           `json:"requester_session_key"`
	Attempt      int64             `json:"attempt"`
	CreatedAt    int64             `json:"created_at"`
	StartedAt    *int64            `json:"started_at"`
	EndedAt      *int64            `json:"ended_at"`
	DueAt        *int64            `json:"due_at"`
	Error        *RunProblem       `json:"error"`
	Result       *string           `json:"result"`
	Delivery     *string           `json:"delivery"` // where the announcement of its result stands
	Version      int64             `json:"version"`  // grows with every change
}

// RunProblem says why a run did not end well.
type RunProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// RunQuery narrows a list of runs; zero members do not narrow.
type RunQuery struct {
	SessionKey   string
	RequesterKey string
	Kind         string
	Status       sessile.RunStatus
	Limit        int    // 1 to 200, 50 by default
	Cursor       string // Meta.NextCursor of the page before
}

// ListRuns lists runs, the newest first: GET /runs.
func (c *Client) ListRuns(ctx context.Context, q RunQuery) (Page[AgentRun], error) {
	r := get("runs").with("session_key", q.SessionKey).with("requester_session_key", q.RequesterKey).with("kind", q.Kind).
		with("status", string(q.Status)).with("cursor", q.Cursor)
	return callPage[AgentRun](ctx, c, r.stretch(q.Limit, 0))
}

// GetRun finds a run, and waits for its end as long as wait says, ten minutes at most: GET /runs/{run}.
func (c *Client) GetRun(ctx context.Context, id string, wait time.Duration) (AgentRun, error) {
	r := get("runs", id)
	if wait > 0 {
		r = r.with("wait", wait.String())
	}
	return call[AgentRun](ctx, c, r)
}

// FollowRun calls observe with a run and again after each of its changes, until the run is over and its result has settled,
// ctx ends or observe returns an error: GET /runs/{run} as a stream.
func (c *Client) FollowRun(ctx context.Context, id string, observe func(AgentRun) error) error {
	return follow(ctx, c, get("runs", id), observe)
}

// CancelRun ends a run and all below it: POST /runs/{run}/cancel.
func (c *Client) CancelRun(ctx context.Context, id string) (AgentRun, error) {
	return call[AgentRun](ctx, c, post(struct{}{}, "runs", id, "cancel"))
}

// SteerRun has a sub-agent go on with a message in place of what it does: POST /runs/{run}/steer.
func (c *Client) SteerRun(ctx context.Context, id, message string) (AgentRun, error) {
	body := struct {
		Message string `json:"message"`
	}{message}
	return call[AgentRun](ctx, c, post(body, "runs", id, "steer"))
}

// AnnounceRun hands a suspended or discarded result over again: POST /runs/{run}/announce.
func (c *Client) AnnounceRun(ctx context.Context, id string) (AgentRun, error) {
	return call[AgentRun](ctx, c, post(struct{}{}, "runs", id, "announce"))
}

// Subagent is a child of a session with the newest run that was asked of it.
type Subagent struct {
	RunID              string   `json:"run_id"`
	SessionKey         string   `json:"session_key"`
	TaskName           *string  `json:"task_name"`
	Label              string   `json:"label"`
	Task               string   `json:"task"`
	Active             bool     `json:"active"`
	Status             string   `json:"status"`
	PendingDescendants int      `json:"pending_descendants"`
	ChildSessionKeys   []string `json:"child_session_keys"`
	Model              *string  `json:"model"`
	TotalTokens        int64    `json:"total_tokens"`
	StartedAt          int64    `json:"started_at"`
	EndedAt            *int64   `json:"ended_at"`
	Delivery           *string  `json:"delivery"`
}

// ListSubagents lists the active children of a session, then those that ended within the last minutes (0 is 30): GET
// /sessions/{session}/subagents. A target narrows the list to the one it names: last, a place in the list, a session key, a
// task name, a label, or the beginning of one of these or of a run id.
func (c *Client) ListSubagents(ctx context.Context, sessionID, target string, minutes int) (Page[Subagent], error) {
	r := get("sessions", sessionID, "subagents").with("target", target)
	if minutes > 0 {
		r = r.with("recent_minutes", strconv.Itoa(minutes))
	}
	return callPage[Subagent](ctx, c, r)
}

// Delivery is a text on its way to a channel.
type Delivery struct {
	ID             string               `json:"id"`
	SessionKey     string               `json:"session_key"`
	Route          Route                `json:"route"`
	Text           string               `json:"text"`
	Status         sessile.OutboxStatus `json:"status"`
	Attempts       int64                `json:"attempts"`
	IdempotencyKey string               `json:"idempotency_key"`
	RunID          *string              `json:"run_id"`
	Error          *string              `json:"error"` // of the last post
	CreatedAt      int64                `json:"created_at"`
	SettledAt      *int64               `json:"settled_at"`
	NextAttemptAt  *int64               `json:"next_attempt_at"`
	Sequence       int64                `json:"sequence"`
}

// Route is where a delivery goes.
type Route struct {
	Channel   string         `json:"channel"`
	To        string         `json:"to"`
	AccountID string         `json:"account_id,omitzero"`
	ThreadID  jsontext.Value `json:"thread_id,omitzero"` // a text or a number
}

// DeliveryQuery narrows a list of deliveries; zero members do not narrow.
type DeliveryQuery struct {
	SessionKey string
	Status     sessile.OutboxStatus
	Since      int64 // only what changed after this sequence number
	Limit      int   // 1 to 200, 50 by default
}

func (q DeliveryQuery) request() request {
	r := get("deliveries").with("session_key", q.SessionKey).with("status", string(q.Status))
	if q.Since > 0 {
		r = r.with("since", strconv.FormatInt(q.Since, 10))
	}
	return r.stretch(q.Limit, 0)
}

// ListDeliveries lists what goes out to channels, by sequence: GET /deliveries. Meta.LastSequence is the Since of the next page.
func (c *Client) ListDeliveries(ctx context.Context, q DeliveryQuery) (Page[Delivery], error) {
	return callPage[Delivery](ctx, c, q.request())
}

// FollowDeliveries calls observe with each delivery, and again after each change of one, until ctx ends, the connection breaks
// or observe returns an error: GET /deliveries as a stream. The last Sequence seen is the Since to go on with.
func (c *Client) FollowDeliveries(ctx context.Context, q DeliveryQuery, observe func(Delivery) error) error {
	return follow(ctx, c, q.request(), observe)
}

// AcknowledgeDelivery tells that a delivery arrived; it may be called again: POST /deliveries/{delivery}/ack.
func (c *Client) AcknowledgeDelivery(ctx context.Context, id string) (Delivery, error) {
	return call[Delivery](ctx, c, post(struct{}{}, "deliveries", id, "ack"))
}

// RetryDelivery has a delivery tried again, also one that was suspended or discarded: POST /deliveries/{delivery}/retry.
func (c *Client) RetryDelivery(ctx context.Context, id string) (Delivery, error) {
	return call[Delivery](ctx, c, post(struct{}{}, "deliveries", id, "retry"))
}

// follow reads a stream of events that all hold the same. A stream that the server ends has come to its end.
func follow[T any](ctx context.Context, c *Client, r request, observe func(T) error) error {
	response, err := c.stream(ctx, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	events := bufio.NewReader(response.Body)
	for {
		if _, err := events.Peek(1); errors.Is(err, io.EOF) {
			return nil // between two events
		}
		name, data, err := nextEvent(events)
		switch {
		case err != nil:
			return c.broken(ctx, err)
		case name == "error":
			return c.failure(response, data)
		}
		var one T
		if err := json.Unmarshal(data, &one, lenient()); err != nil {
			return c.strange(err)
		}
		if c.options.OnData != nil {
			c.options.OnData(data)
		}
		if err := observe(one); err != nil {
			return err
		}
	}
}
