package httpapi

import (
	"net/http"

	"github.com/sessile-dev/sessile/session"
)

// objectiveRule is what the objective of a goal may be.
var objectiveRule = textRule{max: 4000}

type goalBody struct {
	ID          string `json:"id"`
	Objective   string `json:"objective"`
	Status      string `json:"status"`
	TokenBudget *int64 `json:"token_budget"`
	TokensUsed  int64  `json:"tokens_used"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

// setGoal answers PUT /sessions/{session}/goal.
func (h *Handler) setGoal(c *call) (reply, error) {
	o := openBody(c)
	var n session.NewGoal
	n.Objective, _ = o.text("objective", required, objectiveRule)
	n.Status = o.choice("status", optional, session.GoalStatuses()...)
	if budget, ok := o.integer("token_budget", optional, 1, 1<<53); ok {
		n.TokenBudget = &budget
	}
	if err := o.done(); err != nil {
		return reply{}, err
	}
	g, err := h.sessions.SetGoal(c.ctx, c.account, c.path("session"), n)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, goalBody{g.ID, g.Objective, g.Status, g.TokenBudget, g.TokensUsed, g.CreatedAt, g.UpdatedAt})
}

// clearGoal answers DELETE /sessions/{session}/goal.
func (h *Handler) clearGoal(c *call) (reply, error) {
	cleared, err := h.sessions.ClearGoal(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		Deleted bool `json:"deleted"`
	}{cleared})
}

// why answers GET /sessions/{session}/why: the layer that keeps a session from using a tool on another, or null.
func (h *Handler) why(c *call) (reply, error) {
	q := openQuery(c)
	target, tool := q.text("target_key", required, anyText), q.text("tool", required, anyText)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	refusal, err := h.sessions.Why(c.ctx, c.account, c.path("session"), target, tool)
	if err != nil {
		return reply{}, err
	}
	body := struct {
		Allowed bool    `json:"allowed"`
		Layer   *string `json:"layer"`
		Reason  *string `json:"reason"`
	}{Allowed: refusal == nil}
	if refusal != nil {
		body.Layer, body.Reason = orNull(refusal.Layer), orNull(refusal.Reason)
	}
	return dataReply(http.StatusOK, body)
}
