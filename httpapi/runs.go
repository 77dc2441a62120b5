package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
)

// Runs is what people see of runs and do with them; [agentrun.Service] is one.
type Runs interface {
	Runs(ctx context.Context, f sessile.RunFilter) ([]sessile.Run, error)
	Describe(ctx context.Context, runs []sessile.Run) ([]agentrun.Details, error)
	Find(ctx context.Context, account, id string) (agentrun.Details, error)
	Wait(ctx context.Context, account, id string, limit time.Duration) (agentrun.Details, error)
	Cancel(ctx context.Context, account, id string) (agentrun.Details, error)
	Steer(ctx context.Context, account, id, message string) (agentrun.Details, error)
	Announce(ctx context.Context, account, id string) (agentrun.Details, error)
	SubagentsOf(ctx context.Context, account, sessionID, word string, minutes int64) (agentrun.Subagents, error)
	Changed() <-chan struct{}

	Deliveries(ctx context.Context, f sessile.DeliveryFilter) ([]sessile.Delivery, error)
	Acknowledge(ctx context.Context, account, id string) (sessile.Delivery, error)
	Retry(ctx context.Context, account, id string) (sessile.Delivery, error)
	DeliveriesChanged() <-chan struct{}
}

var _ Runs = (*agentrun.Service)(nil)

type runErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// agentRunBody is a run on the wire. Times are null until they have come.
type agentRunBody struct {
	ID           string            `json:"id"`
	Kind         string            `json:"kind"`
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
	Error        *runErrorBody     `json:"error"`
	Result       *string           `json:"result"`
	Delivery     *string           `json:"delivery"`
	Version      int64             `json:"version"`
}

func showAgentRun(d *agentrun.Details) agentRunBody {
	b := agentRunBody{
		ID: d.ID, Kind: d.Kind, Status: d.Status, SessionKey: d.SessionKey, BranchID: d.BranchID, FloorID: orNull(d.FloorID),
		ParentRunID: orNull(d.Parent), RequesterKey: orNull(d.Requester), Attempt: d.Attempt, CreatedAt: d.CreatedAt, EndedAt: d.EndedAt,
		Result: orNull(d.Result), Delivery: orNull(string(d.Delivery)), Version: d.Version,
	}
	if d.StartedAt != 0 {
		b.StartedAt = &d.StartedAt
	}
	if d.DueAt != 0 && d.Status == sessile.RunQueued {
		b.DueAt = &d.DueAt
	}
	if d.ErrorCode != "" || d.Error != "" {
		b.Error = &runErrorBody{d.ErrorCode, d.Error}
	}
	return b
}

const (
	defaultRunPage = 50
	maxRunPage     = 200
	maxRunWait     = 10 * time.Minute
)

type cursorMeta struct {
	Limit      int     `json:"limit"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

func runStatuses() []string {
	return []string{"queued", "running", "paused", "succeeded", "failed", "timeout", "cancelled"}
}

func runKinds() []string {
	return []string{
		sessile.RunKindTurn, sessile.RunKindIngest, sessile.RunKindSend, sessile.RunKindReplyBack, sessile.RunKindAnnounceStep,
		sessile.RunKindSpawn, sessile.RunKindAnnouncement, sessile.RunKindWake,
	}
}

// listRuns answers GET /runs, the newest first.
func (h *Handler) listRuns(c *call) (reply, error) {
	q := openQuery(c)
	f := sessile.RunFilter{
		Account: c.account, SessionKey: q.text("session_key", optional, anyText), Requester: q.text("requester_session_key", optional, anyText),
		Kind: q.choice("kind", runKinds()...), Status: sessile.RunStatus(q.choice("status", runStatuses()...)),
	}
	limit := defaultRunPage
	if n := q.integer("limit", 1, maxRunPage); n != nil {
		limit = int(*n)
	}
	if n := q.integer("cursor", 1, 1<<53); n != nil {
		f.Before = *n
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	f.Limit = limit + 1
	runs, err := h.runs.Runs(c.ctx, f)
	if err != nil {
		return reply{}, err
	}
	meta := cursorMeta{Limit: limit, HasMore: len(runs) > limit}
	if meta.HasMore {
		runs = runs[:limit]
		cursor := strconv.FormatInt(runs[limit-1].Row, 10)
		meta.NextCursor = &cursor
	}
	described, err := h.runs.Describe(c.ctx, runs)
	if err != nil {
		return reply{}, err
	}
	items := make([]agentRunBody, 0, len(described))
	for i := range described {
		items = append(items, showAgentRun(&described[i]))
	}
	body, err := encode(struct {
		Data []agentRunBody `json:"data"`
		Meta cursorMeta     `json:"meta"`
	}{items, meta})
	return reply{status: http.StatusOK, body: body}, err
}

// getRun answers GET /runs/{run}: at once, after the end of the run with wait, or as a stream of its changes.
func (h *Handler) getRun(c *call) (reply, error) {
	q := openQuery(c)
	limit := q.wait("wait", maxRunWait)
	since := q.since(c.r)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	if wantsStream(c.r) {
		next := h.runs.Changed()
		run, err := h.runs.Find(c.ctx, c.account, c.path("run"))
		if err != nil {
			return reply{}, err
		}
		return reply{status: http.StatusOK, stream: func(w http.ResponseWriter) error { return h.followRun(c, w, run, since, next) }}, nil
	}
	run, err := h.runs.Wait(c.ctx, c.account, c.path("run"), limit)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showAgentRun(&run))
}

// wait asks for a time such as 30s; a bare number is seconds.
func (q *query) wait(name string, most time.Duration) time.Duration {
	text := q.text(name, optional, anyText)
	if text == "" {
		return 0
	}
	if isDecimal(text) {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		q.problems.add(name, wrongSyntax, "a time such as 30s is expected")
		return 0
	}
	return min(d, most)
}

// followRun sends a run whenever it has changed, until it is over and its result has settled, or the client goes away.
func (h *Handler) followRun(c *call, w http.ResponseWriter, run agentrun.Details, since int64, next <-chan struct{}) error {
	s := startEvents(w)
	for s.err == nil {
		if run.Version > since {
			since = run.Version
			s.sendNumbered(run.Version, "run", showAgentRun(&run))
		}
		if run.Status.Ended() && settled(&run) {
			return s.err
		}
		select {
		case <-c.ctx.Done():
			return nil
		case <-next:
		}
		next = h.runs.Changed()
		var err error
		if run, err = h.runs.Find(c.ctx, c.account, run.ID); err != nil {
			if c.ctx.Err() != nil {
				return nil //nolint:nilerr // the client went away
			}
			s.send("error", h.streamError(err))
			return err
		}
	}
	return s.err
}

// settled reports whether the result of a run that is over has got where it was to go, or rests.
func settled(run *agentrun.Details) bool {
	switch run.Delivery {
	case sessile.DeliveryPending, sessile.DeliveryInProgress:
		return false
	}
	return !run.Open
}

// cancelRun answers POST /runs/{run}/cancel.
func (h *Handler) cancelRun(c *call) (reply, error) {
	if err := openBody(c).done(); err != nil {
		return reply{}, err
	}
	run, err := h.runs.Cancel(c.ctx, c.account, c.path("run"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showAgentRun(&run))
}

// steerRun answers POST /runs/{run}/steer.
func (h *Handler) steerRun(c *call) (reply, error) {
	o := openBody(c)
	message, _ := o.text("message", required, anyText)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	run, err := h.runs.Steer(c.ctx, c.account, c.path("run"), message)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showAgentRun(&run))
}

// announceRun answers POST /runs/{run}/announce.
func (h *Handler) announceRun(c *call) (reply, error) {
	if err := openBody(c).done(); err != nil {
		return reply{}, err
	}
	run, err := h.runs.Announce(c.ctx, c.account, c.path("run"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showAgentRun(&run))
}

type subagentBody struct {
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

// listSubagents answers GET /sessions/{session}/subagents: the active children of a session, then those that ended lately.
func (h *Handler) listSubagents(c *call) (reply, error) {
	q := openQuery(c)
	minutes, target := q.integer("recent_minutes", 1, agentrun.MaxRecentMinutes), q.text("target", optional, anyText)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	recent := int64(agentrun.DefaultRecentMinutes)
	if minutes != nil {
		recent = *minutes
	}
	list, err := h.runs.SubagentsOf(c.ctx, c.account, c.path("session"), target, recent)
	if err != nil {
		return reply{}, err
	}
	items := []subagentBody{}
	for _, one := range slices.Concat(list.Active, list.Recent) {
		items = append(items, subagentBody{
			RunID: one.RunID, SessionKey: one.SessionKey, TaskName: orNull(one.TaskName), Label: one.Label, Task: one.Task, Active: one.Active,
			Status: one.Status, PendingDescendants: one.PendingDescendants, ChildSessionKeys: append([]string{}, one.ChildSessions...),
			Model: orNull(one.Model), TotalTokens: one.TotalTokens, StartedAt: one.StartedAt, EndedAt: one.EndedAt,
			Delivery: orNull(one.Delivery),
		})
	}
	body, err := encode(struct {
		Data []subagentBody `json:"data"`
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}{items, struct {
		Total int `json:"total"`
	}{list.Total}})
	return reply{status: http.StatusOK, body: body}, err
}
