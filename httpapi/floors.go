package httpapi

import (
	"net/http"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

// floorBody is a floor on the wire (spec/governed-state.md, 1.2).
type floorBody struct {
	ID             string             `json:"id"`
	SessionID      string             `json:"session_id"`
	BranchID       string             `json:"branch_id"`
	No             int64              `json:"floor_no"`
	ParentID       *string            `json:"parent_floor_id"`
	State          sessile.FloorState `json:"state"`
	TokenIn        int64              `json:"token_in"`
	TokenOut       int64              `json:"token_out"`
	CreatedAt      int64              `json:"created_at"`
	UpdatedAt      int64              `json:"updated_at"`
	SupersededAt   *int64             `json:"superseded_at"`
	SupersededByID *string            `json:"superseded_by_floor_id"`
}

func showFloor(f sessile.Floor) floorBody {
	return floorBody{
		ID: f.ID, SessionID: f.SessionID, BranchID: f.BranchName, No: f.No, ParentID: f.ParentID, State: f.State,
		TokenIn: f.TokenIn, TokenOut: f.TokenOut, CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt,
		SupersededAt: f.SupersededAt, SupersededByID: f.SupersededByID,
	}
}

// floorStates are the words for a floor's state.
func floorStates() []string {
	return []string{
		string(sessile.FloorDraft), string(sessile.FloorGenerating), string(sessile.FloorCommitted), string(sessile.FloorFailed),
	}
}

// listFloors answers GET /floors.
func (h *Handler) listFloors(c *call) (reply, error) {
	q := openQuery(c)
	f := sessile.FloorFilter{
		Account:   c.account,
		SessionID: q.text("session_id", optional, anyText),
		Branch:    q.text("branch_id", optional, anyText),
		State:     sessile.FloorState(q.choice("state", floorStates()...)),
		Page:      q.page(sessile.DefaultPageSize, "created_at", "updated_at", "floor_no"),
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	floors, total, err := h.floors.Floors(c.ctx, f)
	if err != nil {
		return reply{}, err
	}
	bodies := make([]floorBody, 0, len(floors))
	for _, floor := range floors {
		bodies = append(bodies, showFloor(floor))
	}
	return pageReply(bodies, f.Page, total)
}

// getFloor answers GET /floors/{floor}.
func (h *Handler) getFloor(c *call) (reply, error) {
	floor, err := h.floors.Floor(c.ctx, c.account, c.path("floor"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showFloor(floor))
}

// createFloor answers POST /floors: a bare floor, a draft unless the body says otherwise.
func (h *Handler) createFloor(c *call) (reply, error) {
	o := openBody(c)
	var n session.NewFloor
	n.SessionID, _ = o.text("session_id", required, anyText)
	n.No, _ = o.integer("floor_no", required, 0, maxInteger)
	n.BranchID, _ = o.text("branch_id", required, anyText)
	if !o.null("parent_floor_id") {
		n.ParentFloorID, _ = o.text("parent_floor_id", optional, anyText)
	}
	n.State = sessile.FloorState(o.choice("state", optional, floorStates()...))
	if n.State == "" {
		n.State = sessile.FloorDraft
	}
	n.TokenIn, _ = o.integer("token_in", optional, 0, maxInteger)
	n.TokenOut, _ = o.integer("token_out", optional, 0, maxInteger)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	floor, err := h.floors.CreateFloor(c.ctx, c.account, n)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusCreated, showFloor(floor))
}

// deleteFloor answers DELETE /floors/{floor}.
func (h *Handler) deleteFloor(c *call) (reply, error) {
	id := c.path("floor")
	if err := h.floors.DeleteFloor(c.ctx, c.account, id); err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, deletedBody{id, true})
}

// usageBody counts tokens.
type usageBody struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
}

// floorResult answers GET /floors/{floor}/result.
func (h *Handler) floorResult(c *call) (reply, error) {
	r, err := h.floors.FloorResult(c.ctx, c.account, c.path("floor"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		FloorID            string    `json:"floor_id"`
		OutputPageID       *string   `json:"output_page_id"`
		AssistantMessageID *string   `json:"assistant_message_id"`
		GeneratedText      string    `json:"generated_text"`
		Summaries          []string  `json:"summaries"`
		Usage              usageBody `json:"usage"`
		Verifier           *struct{} `json:"verifier"` // there is none
		CommittedAt        int64     `json:"committed_at"`
	}{
		FloorID: r.FloorID, OutputPageID: r.OutputPageID, AssistantMessageID: r.AssistantMessageID,
		GeneratedText: r.GeneratedText, Summaries: r.Summaries,
		Usage:       usageBody{r.PromptTokens, r.CompletionTokens, r.PromptTokens + r.CompletionTokens},
		CommittedAt: r.CommittedAt,
	})
}

// runBody is a run on the wire: what is known of the run record of 5.3.
type runBody struct {
	RunID       string    `json:"run_id"`
	Kind        string    `json:"kind"`
	RunType     string    `json:"run_type"`
	Status      string    `json:"status"` // running, completed, failed or cancelled
	StartedAt   int64     `json:"started_at"`
	CompletedAt *int64    `json:"completed_at"`
	Error       *runError `json:"error"`
}

type runError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func showRun(r *sessile.Run) *runBody {
	if r == nil {
		return nil
	}
	body := &runBody{RunID: r.ID, Kind: r.Kind, RunType: r.RunType, StartedAt: r.StartedAt, CompletedAt: r.EndedAt}
	switch r.Status {
	case sessile.RunRunning:
		body.Status = "running"
	case sessile.RunSucceeded:
		body.Status = "completed"
	case sessile.RunCancelled:
		body.Status = "cancelled"
	default:
		body.Status = "failed"
	}
	if r.ErrorCode != "" {
		body.Error = &runError{Code: r.ErrorCode, Message: "the run ended with " + r.ErrorCode}
	}
	return body
}

// floorRun answers GET /floors/{floor}/run.
func (h *Handler) floorRun(c *call) (reply, error) {
	floor, run, err := h.floors.FloorRun(c.ctx, c.account, c.path("floor"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		FloorID string             `json:"floor_id"`
		State   sessile.FloorState `json:"state"`
		Run     *runBody           `json:"run"`
	}{floor.ID, floor.State, showRun(run)})
}

// activeRun answers GET /sessions/{session}/active-run.
func (h *Handler) activeRun(c *call) (reply, error) {
	run, err := h.sessions.ActiveRun(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		ActiveRun *runBody `json:"active_run"`
	}{showRun(run)})
}

// messageBody is a message on the wire (section 6).
type messageBody struct {
	ID            string  `json:"id"`
	PageID        string  `json:"page_id"`
	Seq           int64   `json:"seq"`
	Role          string  `json:"role"`
	Content       string  `json:"content"`
	ContentFormat string  `json:"content_format"`
	TokenCount    int64   `json:"token_count"`
	IsHidden      bool    `json:"is_hidden"`
	Source        *string `json:"source"`
	CreatedAt     int64   `json:"created_at"`
}

func showMessage(m sessile.Message) messageBody {
	return messageBody{
		ID: m.ID, PageID: m.PageID, Seq: m.Seq, Role: m.Role, Content: m.Content, ContentFormat: m.ContentFormat,
		TokenCount: m.TokenCount, IsHidden: m.Hidden, Source: m.Source, CreatedAt: m.CreatedAt,
	}
}

// getMessage answers GET /messages/{message}.
func (h *Handler) getMessage(c *call) (reply, error) {
	m, err := h.floors.Message(c.ctx, c.account, c.path("message"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showMessage(m))
}

// pageBody is a content page with its messages.
type pageBody struct {
	ID       string           `json:"id"`
	Kind     sessile.PageKind `json:"page_kind"`
	No       int64            `json:"page_no"`
	IsActive bool             `json:"is_active"`
	Version  int64            `json:"version"`
	Messages []messageBody    `json:"messages"`
}

type timelineBody struct {
	floorBody
	Pages []pageBody `json:"pages"`
}

// maxTimeline is the largest page of a timeline.
const maxTimeline = 200

// timeline answers GET /sessions/{session}/timeline: main unless a branch is named.
func (h *Handler) timeline(c *call) (reply, error) {
	q := openQuery(c)
	branch := q.text("branch_id", optional, anyText)
	if branch == "" {
		branch = sessile.MainBranch
	}
	page := q.stretch(sessile.DefaultPageSize, maxTimeline)
	page.SortBy = "floor_no"
	if err := q.done(); err != nil {
		return reply{}, err
	}
	floors, total, err := h.sessions.Timeline(c.ctx, c.account, c.path("session"), branch, page.Limit, page.Offset)
	if err != nil {
		return reply{}, err
	}
	bodies := make([]timelineBody, 0, len(floors))
	for _, floor := range floors {
		bodies = append(bodies, showTimelineFloor(floor))
	}
	return pageReply(bodies, page, total)
}

func showTimelineFloor(f session.TimelineFloor) timelineBody {
	body := timelineBody{floorBody: showFloor(f.Floor), Pages: make([]pageBody, 0, len(f.Pages))}
	for _, p := range f.Pages {
		page := pageBody{ID: p.ID, Kind: p.Kind, No: p.No, IsActive: p.Active, Version: p.Version}
		for _, m := range p.Messages {
			page.Messages = append(page.Messages, showMessage(m))
		}
		body.Pages = append(body.Pages, page)
	}
	return body
}
