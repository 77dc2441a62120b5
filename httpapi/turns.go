package httpapi

import (
	"math"
	"net/http"
	"strconv"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// respond answers POST /sessions/{session}/respond (spec/governed-state.md, 5.3).
func (h *Handler) respond(c *call) (reply, error) {
	r, err := h.respondBody(c)
	if err != nil {
		return reply{}, err
	}
	result, err := h.turns.Respond(c.ctx, c.account, c.path("session"), r)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showTurn(result))
}

func (h *Handler) respondBody(c *call) (turn.RespondRequest, error) {
	o := openBody(c)
	var r turn.RespondRequest
	r.Message, _ = o.text("message", required, anyText)
	r.BranchID, _ = o.text("branch_id", optional, anyText)
	r.SourceFloorID, _ = o.text("source_floor_id", optional, anyText)
	o.choice("prompt_intent", optional, "normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
	o.ignored("prompt_runtime_injections")
	r.Request = o.turn(c)
	return r, h.admit(o, r.Request)
}

// regenerate answers POST /sessions/{session}/regenerate (5.3). The branch is always main and is not told.
func (h *Handler) regenerate(c *call) (reply, error) {
	r, err := h.rerun(c)
	if err != nil {
		return reply{}, err
	}
	result, err := h.turns.Regenerate(c.ctx, c.account, c.path("session"), r)
	if err != nil {
		return reply{}, err
	}
	body := showTurn(result)
	body.BranchID, body.PreviousFloorID = "", result.PreviousFloorID
	return dataReply(http.StatusOK, body)
}

// retry answers POST /floors/{floor}/retry (5.3).
func (h *Handler) retry(c *call) (reply, error) {
	r, err := h.rerun(c)
	if err != nil {
		return reply{}, err
	}
	result, err := h.turns.Retry(c.ctx, c.account, c.path("floor"), r)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, showTurn(result))
}

// edit answers POST /messages/{message}/edit-and-regenerate (5.3).
func (h *Handler) edit(c *call) (reply, error) {
	o := openBody(c)
	var r turn.EditRequest
	r.Content, _ = o.text("content", required, anyText)
	r.BranchID, _ = o.text("branch_id", optional, anyText)
	var err error
	if r.Request, err = h.rerunMembers(c, o); err != nil {
		return reply{}, err
	}
	result, err := h.turns.Edit(c.ctx, c.account, c.path("message"), r)
	if err != nil {
		return reply{}, err
	}
	body := showTurn(result)
	body.SourceFloorID, body.SourceMessageID = result.SourceFloorID, result.SourceMessageID
	return dataReply(http.StatusOK, body)
}

// rerun reads the body of a turn that runs something again.
func (h *Handler) rerun(c *call) (turn.Request, error) {
	return h.rerunMembers(c, openBody(c))
}

func (h *Handler) rerunMembers(c *call, o *object) (turn.Request, error) {
	o.texts("confirmed_execution_ids", optional)
	confirmed, _ := o.texts("confirmed_session_state_mutation_ids", optional)
	r := o.turn(c)
	r.ConfirmedMutationIDs = confirmed
	return r, h.admit(o, r)
}

// admit closes the body of a turn, then refuses writes while the feature is off: after validation, before anything else
// (3.6).
func (h *Handler) admit(o *object, r turn.Request) error {
	if err := o.done(); err != nil {
		return err
	}
	if !h.clientData && len(r.Writes) > 0 {
		return sessile.Errorf(sessile.CodeFeatureUnavailable, "session state is switched off on this server")
	}
	return nil
}

// turn reads what all turns take.
func (o *object) turn(c *call) turn.Request {
	tools := o.turnConfig()
	prompt, trace := o.debugOptions()
	o.ignored("structure")
	o.ignored("delivery")
	return turn.Request{Params: o.params(), Writes: o.turnWrites(), RequestID: c.requestID, IncludePrompt: prompt, IncludeTrace: trace, OfferTools: tools}
}

// ignored asks for a member that shapes prompts: it must be an object or a list, and has no effect.
func (o *object) ignored(name string) {
	o.typed(name, optional, "an object or a list", '{', '[')
}

// turnConfig reads config. Of its switches, the one for tools counts; the others are checked and have no effect.
func (o *object) turnConfig() (tools bool) {
	config, ok := o.child("config")
	if !ok {
		return false
	}
	tools, _ = config.flag("enableTools")
	for _, name := range []string{"enableDirector", "enableVerifier", "enableMemoryConsolidation"} {
		config.flag(name)
	}
	config.choice("verifierFailStrategy", optional, "warn", "block", "retry")
	config.choice("toolMode", optional, "inline", "standalone", "both")
	config.integer("maxRetries", optional, 0, 5)
	config.close()
	return tools
}

// debugOptions reads debug_options: what a turn's answer shows besides. Which entries of a worldbook matched, and why, is
// what a dry run tells.
func (o *object) debugOptions() (prompt, trace bool) {
	options, ok := o.child("debug_options")
	if !ok {
		return false, false
	}
	prompt, _ = options.flag("include_prompt_snapshot")
	trace, _ = options.flag("include_runtime_trace")
	options.flag("include_worldbook_matches")
	options.close()
	return prompt, trace
}

// params reads generation_params. A null is the same as nothing.
func (o *object) params() (p model.Params) {
	g, ok := o.child("generation_params")
	if !ok {
		return p
	}
	p.Temperature = g.optionalNumber("temperature", 0, 2)
	p.TopP = g.optionalNumber("top_p", 0, 1)
	p.TopK = g.optionalInteger("top_k", 1)
	p.MaxOutputTokens = g.optionalInteger("max_output_tokens", 1)
	p.FrequencyPenalty = g.optionalNumber("frequency_penalty", -math.MaxFloat64, math.MaxFloat64)
	p.PresencePenalty = g.optionalNumber("presence_penalty", -math.MaxFloat64, math.MaxFloat64)
	p.RepetitionPenalty = g.optionalNumber("repetition_penalty", -math.MaxFloat64, math.MaxFloat64)
	p.MinP = g.optionalNumber("min_p", 0, 1)
	p.Seed = g.optionalInteger("seed", -maxInteger)
	if !g.null("stop_sequences") {
		p.StopSequences, _ = g.texts("stop_sequences", optional)
	}
	if !g.null("reasoning_effort") {
		p.ReasoningEffort = g.choice("reasoning_effort", optional, "low", "medium", "high")
	}
	if !g.null("logit_bias") {
		p.LogitBias = g.logitBias()
	}
	if !g.null("response_format") {
		format, _ := g.storedObject("response_format")
		p.ResponseFormat = format
	}
	if !g.null("stream") {
		g.flag("stream") // how an answer travels is said by the route
	}
	g.close()
	return p
}

func (o *object) optionalNumber(name string, low, high float64) *float64 {
	if o.null(name) {
		return nil
	}
	if x, ok := o.number(name, low, high); ok {
		return &x
	}
	return nil
}

func (o *object) optionalInteger(name string, low int64) *int64 {
	if o.null(name) {
		return nil
	}
	if n, ok := o.integer(name, optional, low, maxInteger); ok {
		return &n
	}
	return nil
}

// logitBias reads an object from token to whole number.
func (o *object) logitBias() map[string]int64 {
	child, ok := o.child("logit_bias")
	if !ok {
		return nil
	}
	bias := make(map[string]int64, len(child.members))
	for _, m := range child.members {
		if n, ok := child.integer(m.name, optional, -maxInteger, maxInteger); ok {
			bias[m.name] = n
		}
	}
	child.close()
	return bias
}

// turnWrites reads session_state_writes (5.1). An empty list is none.
func (o *object) turnWrites() []state.TurnWrite {
	items, ok := o.list("session_state_writes", optional)
	if !ok {
		return nil
	}
	writes := make([]state.TurnWrite, 0, len(items))
	for i, item := range items {
		w := o.open("session_state_writes."+strconv.Itoa(i), item)
		if w.unread {
			continue
		}
		writes = append(writes, w.turnWrite())
		w.close()
	}
	return writes
}

// turnWrite reads one write: a value, or delete: true.
func (o *object) turnWrite() (w state.TurnWrite) {
	w.Namespace, _ = o.text("namespace", required, namespaceRule)
	w.Slot, _ = o.text("slot", required, slotRule)
	hasValue, hasDelete := o.has("value"), o.has("delete")
	w.Data, _ = o.value("value", optional)
	if del, ok := o.flag("delete"); ok && !del {
		o.problem("delete", wrongChoice, "this can only be true")
	}
	if hasValue == hasDelete {
		o.problem("", wrongPair, "a write has either a value, or delete: true")
	}
	return w
}

// turnBody is a committed turn on the wire (5.3).
type turnBody struct {
	FloorID         string    `json:"floor_id"`
	FloorNo         int64     `json:"floor_no"`
	BranchID        string    `json:"branch_id,omitzero"`
	PreviousFloorID string    `json:"previous_floor_id,omitzero"`
	SourceFloorID   string    `json:"source_floor_id,omitzero"`
	SourceMessageID string    `json:"source_message_id,omitzero"`
	GeneratedText   string    `json:"generated_text"`
	Summaries       []string  `json:"summaries"`
	Usage           usageBody `json:"total_usage"`
	FinalState      string    `json:"final_state"`

	PromptSnapshot *promptSnapshot `json:"prompt_snapshot,omitzero"`
	RuntimeTrace   *runtimeTrace   `json:"runtime_trace,omitzero"`
}

// runtimeTrace tells when a run entered its phases.
type runtimeTrace struct {
	RunID  string       `json:"run_id"`
	Phases []phaseEntry `json:"phases"`
}

type phaseEntry struct {
	Phase     turn.Phase `json:"phase"`
	EnteredAt int64      `json:"entered_at"`
}

func showTurn(r turn.Result) turnBody {
	body := turnBody{
		FloorID: r.FloorID, FloorNo: r.FloorNo, BranchID: r.BranchID, GeneratedText: r.GeneratedText,
		Summaries:  r.Summaries,
		Usage:      usageBody{r.PromptTokens, r.CompletionTokens, r.TotalTokens},
		FinalState: string(sessile.FloorCommitted),
	}
	if r.Prompt != nil {
		body.PromptSnapshot = new(showPrompt(r.Prompt))
	}
	if r.Trace != nil {
		body.RuntimeTrace = &runtimeTrace{RunID: r.Trace.RunID}
		for _, p := range r.Trace.Phases {
			body.RuntimeTrace.Phases = append(body.RuntimeTrace.Phases, phaseEntry{p.Phase, p.EnteredAt})
		}
	}
	return body
}
