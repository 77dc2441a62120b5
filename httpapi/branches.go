package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// branchBody is an entry of the list of branches (spec/governed-state.md, section 6).
type branchBody struct {
	BranchID      string              `json:"branch_id"`
	FloorCount    int                 `json:"floor_count"`
	LatestFloorNo *int64              `json:"latest_floor_no"`
	LatestFloorID *string             `json:"latest_floor_id"`
	LatestState   *sessile.FloorState `json:"latest_state"`
	UpdatedAt     int64               `json:"updated_at"`
}

// listBranches answers GET /sessions/{session}/branches.
func (h *Handler) listBranches(c *call) (reply, error) {
	q := openQuery(c)
	page := q.page(sessile.DefaultPageSize, "updated_at", "branch_id", "floor_count", "latest_floor_no")
	if err := q.done(); err != nil {
		return reply{}, err
	}
	branches, total, err := h.branches.Branches(c.ctx, c.account, c.path("session"), page)
	if err != nil {
		return reply{}, err
	}
	bodies := make([]branchBody, 0, len(branches))
	for _, b := range branches {
		bodies = append(bodies, branchBody{b.Name, b.FloorCount, b.LatestFloorNo, b.LatestFloorID, b.LatestState, b.UpdatedAt})
	}
	return pageReply(bodies, page, total)
}

// forkBranch answers POST /floors/{floor}/branch. Without a branch id the branch gets a generated name.
func (h *Handler) forkBranch(c *call) (reply, error) {
	o := openBody(c)
	name := o.newBranch()
	if err := o.done(); err != nil {
		return reply{}, err
	}
	fork, err := h.branches.ForkBranch(c.ctx, c.account, c.path("floor"), name)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusCreated, struct {
		BranchID      string `json:"branch_id"`
		SourceFloorID string `json:"source_floor_id"`
		SourceFloorNo int64  `json:"source_floor_no"`
		SessionID     string `json:"session_id"`
	}{fork.BranchID, fork.SourceFloorID, fork.SourceFloorNo, fork.SessionID})
}

// newBranch reads the name of a branch to be, the one name whose surrounding blanks do not count.
func (o *object) newBranch() string {
	text, ok := o.text("branch_id", optional, textRule{mayEmpty: true})
	if !ok {
		return ""
	}
	name := strings.TrimSpace(text)
	if n := state.UTF16Length(name); n == 0 || n > sessile.MaxBranchLength {
		o.problem("branch_id", wrongRange, "this must have 1 to "+strconv.Itoa(sessile.MaxBranchLength)+" characters")
	}
	return name
}

// deleteBranch answers DELETE /branches/{branch}.
func (h *Handler) deleteBranch(c *call) (reply, error) {
	q := openQuery(c)
	sessionID := q.text("session_id", optional, anyText)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	deleted, err := h.branches.DeleteBranch(c.ctx, c.account, sessionID, c.path("branch"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		BranchID  string `json:"branch_id"`
		SessionID string `json:"session_id"`
		Floors    int    `json:"deleted_floor_count"`
	}{deleted.BranchID, deleted.SessionID, deleted.Floors})
}
