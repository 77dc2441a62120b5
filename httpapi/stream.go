package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/lorebook"
	"github.com/sessile-dev/sessile/turn"
)

// respondStream answers POST /sessions/{session}/respond/stream with server-sent events (spec/governed-state.md, 5.3). What
// is wrong with the request is answered as JSON; from then on the status is 200 and every problem an error event. A client
// that goes away ends the turn.
func (h *Handler) respondStream(c *call) (reply, error) {
	r, err := h.respondBody(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, stream: func(w http.ResponseWriter) error {
		s := startEvents(w)
		r.Observe = func(e turn.Event) { s.turnEvent(&e) }
		result, err := h.turns.Respond(c.ctx, c.account, c.path("session"), r)
		if err != nil {
			s.send("error", h.streamError(err))
			return err
		}
		s.send("done", showTurn(result))
		return s.err
	}}, nil
}

// events writes server-sent events: one line with the name, one with JSON, and a blank one. After an error of the
// connection it writes no more.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buffer  []byte
	err     error
}

func startEvents(w http.ResponseWriter) *events {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Connection", "keep-alive")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	s := &events{w: w, control: http.NewResponseController(w)}
	s.flush()
	return s
}

func (s *events) flush() {
	if err := s.control.Flush(); err != nil && s.err == nil && !errors.Is(err, http.ErrNotSupported) {
		s.err = err
	}
}

func (s *events) send(name string, data any) { s.write("", name, data) }

// sendNumbered sends an event with an id, from which a client that lost its connection goes on.
func (s *events) sendNumbered(id int64, name string, data any) {
	s.write("id: "+strconv.FormatInt(id, 10)+"\n", name, data)
}

func (s *events) write(id, name string, data any) {
	if s.err != nil {
		return
	}
	text, err := encode(data)
	if err != nil {
		s.err = err
		return
	}
	s.buffer = append(append(append(append(s.buffer[:0], id...), "event: "...), name...), "\ndata: "...)
	s.buffer = append(append(s.buffer, text...), "\n\n"...)
	if _, err := s.w.Write(s.buffer); err != nil {
		s.err = err
		return
	}
	s.flush()
}

type startEvent struct {
	FloorID  string `json:"floor_id"`
	FloorNo  int64  `json:"floor_no"`
	BranchID string `json:"branch_id"`
}

type chunkEvent struct {
	Chunk string `json:"chunk"`
}

type summaryEvent struct {
	Summaries []string `json:"summaries"`
}

// runEvent is the run record of 5.3. Verification and outputs that wait for it do not exist here, so they are null.
type runEvent struct {
	FloorID       string    `json:"floor_id"`
	RunID         string    `json:"run_id"`
	RunType       string    `json:"run_type"`
	Status        string    `json:"status"`
	Phase         string    `json:"phase"`
	PublicPhase   string    `json:"public_phase"`
	PhaseSeq      int       `json:"phase_seq"`
	AttemptNo     int       `json:"attempt_no"`
	StartedAt     int64     `json:"started_at"`
	UpdatedAt     int64     `json:"updated_at"`
	CompletedAt   *int64    `json:"completed_at"`
	PendingOutput *struct{} `json:"pending_output"`
	Verifier      *struct{} `json:"verifier"`
	Error         *runError `json:"error"`
}

func (s *events) turnEvent(e *turn.Event) {
	switch {
	case e.Start != nil:
		s.send("start", startEvent{e.Start.FloorID, e.Start.FloorNo, e.Start.BranchID})
	case e.Run != nil:
		s.send("run", showRunEvent(e.Run))
	case e.Summaries != nil:
		s.send("summary", summaryEvent{e.Summaries})
	default:
		s.send("chunk", chunkEvent{e.Text})
	}
}

func showRunEvent(r *turn.RunRecord) runEvent {
	body := runEvent{
		FloorID: r.FloorID, RunID: r.RunID, RunType: r.RunType, Status: r.Status, Phase: string(r.Phase), PublicPhase: r.Phase.Public(),
		PhaseSeq: r.PhaseSeq, AttemptNo: 1, StartedAt: r.StartedAt, UpdatedAt: r.UpdatedAt, CompletedAt: r.CompletedAt,
	}
	if r.Code != "" {
		known := publicError(&sessile.Error{Code: r.Code, Message: r.Message})
		body.Error = &runError{Code: string(known.Code), Message: known.Message}
	}
	return body
}

type streamErrorEvent struct {
	Code    sessile.Code `json:"code"`
	Message string       `json:"message"`
}

func (h *Handler) streamError(err error) streamErrorEvent {
	body := publicError(err)
	return streamErrorEvent{body.Code, body.Message}
}

// dryRun answers POST /sessions/{session}/respond/dry-run: the prompt and nothing else (5.3).
func (h *Handler) dryRun(c *call) (reply, error) {
	o := openBody(c)
	var r turn.DryRunRequest
	r.Message, _ = o.text("message", required, anyText)
	o.choice("prompt_intent", optional, "normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
	withMatches := false
	if options, ok := o.child("debug_options"); ok {
		withMatches, _ = options.flag("include_worldbook_matches")
		options.close()
	}
	if budget, ok := o.child("budget"); ok {
		r.MaxInputTokens = budget.count("max_input_tokens")
		r.ReservedCompletionTokens = budget.count("reserved_completion_tokens")
		budget.close()
	}
	for _, name := range []string{"source_selection", "visibility", "structure", "delivery"} {
		o.ignored(name)
	}
	if err := o.done(); err != nil {
		return reply{}, err
	}
	d, err := h.turns.DryRun(c.ctx, c.account, c.path("session"), r)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showDryRun(&d, withMatches))
}

// count asks for a number of tokens.
func (o *object) count(name string) *int64 {
	if n, ok := o.integer(name, optional, 0, 1<<40); ok {
		return &n
	}
	return nil
}

type dryRunBody struct {
	Messages          []promptMessage `json:"messages"`
	TokenEstimate     int64           `json:"token_estimate"`
	AvailableForReply *int64          `json:"available_for_reply"`
	MemorySummary     *string         `json:"memory_summary"`
	PromptSnapshot    promptSnapshot  `json:"prompt_snapshot"`
	Assembly          assembly        `json:"assembly"`
}

type promptMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type promptSnapshot struct {
	WorldbookID       *string `json:"worldbook_id"`
	WorldbookVersion  *int64  `json:"worldbook_version"`
	ActivatedEntryIDs []int64 `json:"worldbook_activated_entry_uids"`
	PresetID          *string `json:"preset_id"`
	RegexProfileID    *string `json:"regex_profile_id"`
	PromptMode        *string `json:"prompt_mode"`
	PromptDigest      string  `json:"prompt_digest"`
	TokenEstimate     int64   `json:"token_estimate"`
}

type assembly struct {
	HistoryMessages  int              `json:"history_messages"`
	WorldbookHits    int              `json:"worldbook_hits"`
	WorldbookMatches []lorebook.Match `json:"worldbook_matches,omitzero"`
}

// showPrompt tells what a prompt was made of, and nothing of what it says.
func showPrompt(p *turn.Prompt) promptSnapshot {
	s := promptSnapshot{ActivatedEntryIDs: []int64{}, PromptDigest: p.Digest(), TokenEstimate: p.TokenEstimate}
	if w := p.Worldbook; w != nil {
		s.WorldbookID, s.WorldbookVersion, s.ActivatedEntryIDs = &w.ID, &w.Version, w.UIDs
	}
	return s
}

func showDryRun(d *turn.DryRun, withMatches bool) dryRunBody {
	body := dryRunBody{
		TokenEstimate: d.TokenEstimate, AvailableForReply: d.AvailableForReply,
		PromptSnapshot: showPrompt(&d.Prompt),
		Assembly:       assembly{HistoryMessages: d.History},
	}
	if w := d.Worldbook; w != nil {
		body.Assembly.WorldbookHits = len(w.UIDs)
		if withMatches {
			body.Assembly.WorldbookMatches = w.Matches
		}
	}
	for _, m := range d.Messages {
		body.Messages = append(body.Messages, promptMessage{m.Role, m.Content})
	}
	return body
}
