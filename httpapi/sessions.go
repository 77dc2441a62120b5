package httpapi

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
)

// settingKind is what a setting of a session may be.
type settingKind int

const (
	settingText   settingKind = iota // a text that is not empty
	settingObject                    // any object, kept as it is
	settingFlag
	settingMode // a prompt mode
)

type setting struct {
	name     string
	kind     settingKind
	nullable bool // null removes it
}

// settings lists the members of a session object that are kept as they were given (spec/governed-state.md, section 6).
var settings = []setting{
	{name: "character_id"},
	{name: "character_snapshot", kind: settingObject},
	{name: "user_id"},
	{name: "user_snapshot", kind: settingObject},
	{name: "preset_id", nullable: true},
	{name: "regex_profile_id", nullable: true},
	{name: "worldbook_profile_id", nullable: true},
	{name: "deep_binding", kind: settingFlag},
	{name: "character_version_id", nullable: true},
	{name: "preset_version_id", nullable: true},
	{name: "regex_profile_version_id", nullable: true},
	{name: "worldbook_version_id", nullable: true},
	{name: "model_provider"},
	{name: "model_name"},
	{name: "model_params", kind: settingObject},
	{name: "prompt_mode", kind: settingMode},
	{name: "metadata", kind: settingObject},
}

// sessionSettings reads the settings that a body gives.
func (o *object) sessionSettings() map[string]jsontext.Value {
	given := map[string]jsontext.Value{}
	for _, s := range settings {
		if s.nullable && o.null(s.name) {
			given[s.name] = jsontext.Value("null")
			continue
		}
		if value, ok := o.setting(s); ok {
			given[s.name] = value
		}
	}
	return given
}

func (o *object) setting(s setting) (jsontext.Value, bool) {
	switch s.kind {
	case settingObject:
		return o.storedObject(s.name)
	case settingFlag:
		value, ok := o.flag(s.name)
		return jsontext.Value(strconv.FormatBool(value)), ok
	case settingMode:
		text, ok := o.text(s.name, optional, textRule{choices: []string{"compat_strict", "compat_plus", "native"}})
		return appendText(nil, text), ok
	default:
		text, ok := o.text(s.name, optional, anyText)
		return appendText(nil, text), ok
	}
}

// titleAndStatus reads the two members that are columns of their own.
func (o *object) titleAndStatus() (title *string, status sessile.SessionStatus) {
	if text, ok := o.text("title", optional, titleRule); ok {
		title = &text
	}
	return title, o.status(optional)
}

func (o *object) label() *string {
	if text, ok := o.text("label", optional, labelRule); ok {
		return &text
	}
	return nil
}

func (o *object) status(p presence) sessile.SessionStatus {
	return sessile.SessionStatus(o.choice("status", p, string(sessile.SessionActive), string(sessile.SessionArchived)))
}

// appendSession appends a session object. Every member is there; what was not given is null.
func appendSession(b []byte, s *session.Session) []byte {
	b = append(b, '{')
	b = appendText(appendMember(b, "id"), s.ID)
	b = appendText(appendMember(b, "key"), s.Key)
	b = appendText(appendMember(b, "agent_id"), s.AgentID)
	b = appendMaybe(appendMember(b, "title"), s.Title)
	b = appendMaybe(appendMember(b, "label"), s.Label)
	b = appendOptional(appendMember(b, "channel"), s.Channel)
	b = appendText(appendMember(b, "status"), string(s.Status))
	b = appendBinding(appendMember(b, "character_binding"), s.Settings, "character")
	b = appendBinding(appendMember(b, "user_binding"), s.Settings, "user")
	for _, setting := range settings {
		switch setting.name {
		case "character_id", "character_snapshot", "user_id", "user_snapshot": // shown as bindings
		default:
			b = appendValue(appendMember(b, setting.name), s.Settings[setting.name])
		}
	}
	b = appendMark(appendMember(b, "pinned_at"), s.PinnedAt)
	b = appendMark(appendMember(b, "archived_at"), s.ArchivedAt)
	b = strconv.AppendInt(appendMember(b, "created_at"), s.CreatedAt, 10)
	b = strconv.AppendInt(appendMember(b, "updated_at"), s.UpdatedAt, 10)
	return append(b, '}')
}

func appendMaybe(b []byte, text *string) []byte {
	if text == nil {
		return append(b, "null"...)
	}
	return appendText(b, *text)
}

// appendMark appends the time of a mark, null where there is none.
func appendMark(b []byte, at int64) []byte {
	if at == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, at, 10)
}

// appendBinding appends the character or the user of a session, or null.
func appendBinding(b []byte, settings map[string]jsontext.Value, who string) []byte {
	id, snapshot := settings[who+"_id"], settings[who+"_snapshot"]
	if id == nil && snapshot == nil {
		return append(b, "null"...)
	}
	b = appendValue(appendMember(append(b, '{'), who+"_id"), id)
	if snapshot != nil {
		b = appendValue(appendMember(b, "snapshot"), snapshot)
	}
	return append(b, '}')
}

// createSession answers POST /sessions.
func (h *Handler) createSession(c *call) (reply, error) {
	o := openBody(c)
	var n session.NewSession
	n.Title, n.Status = o.titleAndStatus()
	n.Label = o.label()
	n.Key, _ = o.text("key", optional, keyRule)
	n.AgentID, _ = o.text("agent_id", optional, agentRule)
	n.Channel, _ = o.text("channel", optional, channelRule)
	n.Settings = o.sessionSettings()
	o.details(&n)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	s, err := h.sessions.Create(c.ctx, c.account, n)
	if err != nil {
		return reply{}, err
	}
	return rawReply(http.StatusCreated, appendSession(nil, &s))
}

// listSessions answers GET /sessions.
func (h *Handler) listSessions(c *call) (reply, error) {
	q := openQuery(c)
	f := sessile.SessionFilter{
		Status:  sessile.SessionStatus(q.choice("status", string(sessile.SessionActive), string(sessile.SessionArchived))),
		Key:     q.text("key", optional, anyText),
		Keyword: q.text("keyword", optional, anyText),
		Page:    q.page(sessile.DefaultPageSize, "created_at", "updated_at"),
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	sessions, total, err := h.sessions.List(c.ctx, c.account, f)
	if err != nil {
		return reply{}, err
	}
	return rawPageReply(appendList(nil, sessions, appendSession), f.Page, total)
}

// getSession answers GET /sessions/{session}.
func (h *Handler) getSession(c *call) (reply, error) {
	s, err := h.sessions.Get(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	return rawReply(http.StatusOK, appendSession(nil, &s))
}

// updateSession answers PATCH /sessions/{session}.
func (h *Handler) updateSession(c *call) (reply, error) {
	o := openBody(c)
	var p session.Patch
	p.Title, p.Status = o.titleAndStatus()
	if o.null("label") {
		p.Label = new("")
	} else {
		p.Label = o.label()
	}
	if pinned, ok := o.flag("pinned"); ok {
		p.Pinned = &pinned
	}
	p.Settings = o.sessionSettings()
	if len(o.members) == 0 && !o.unread {
		o.problem("", wrongMissing, "at least one member is required")
	}
	if err := o.done(); err != nil {
		return reply{}, err
	}
	s, err := h.sessions.Update(c.ctx, c.account, c.path("session"), p)
	if err != nil {
		return reply{}, err
	}
	return rawReply(http.StatusOK, appendSession(nil, &s))
}

// deletedBody tells that something is gone.
type deletedBody struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// deleteSession answers DELETE /sessions/{session}.
func (h *Handler) deleteSession(c *call) (reply, error) {
	id := c.path("session")
	if err := h.sessions.Delete(c.ctx, c.account, id); err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, deletedBody{id, true})
}

// deleteSessionKey answers DELETE /sessions?key=.
func (h *Handler) deleteSessionKey(c *call) (reply, error) {
	q := openQuery(c)
	key, n := q.find("key")
	if n != 1 {
		q.text("key", required, anyText)
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	if err := h.sessions.DeleteKey(c.ctx, c.account, key); err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

// clearSessions answers POST /sessions/clear-all.
func (h *Handler) clearSessions(c *call) (reply, error) {
	if err := openBody(c).done(); err != nil {
		return reply{}, err
	}
	deleted, err := h.sessions.ClearAll(c.ctx, c.account)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		Deleted int `json:"deleted"`
	}{deleted})
}

// resetSession answers POST /sessions/{session}/reset.
func (h *Handler) resetSession(c *call) (reply, error) {
	if err := openBody(c).done(); err != nil {
		return reply{}, err
	}
	s, err := h.sessions.Reset(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	return rawReply(http.StatusOK, appendSession(nil, &s))
}

// forkSession answers POST /sessions/{session}/fork.
func (h *Handler) forkSession(c *call) (reply, error) {
	o := openBody(c)
	var f session.ForkOptions
	f.State = state.EntrySharing(o.choice("state", optional, string(state.EntriesEmpty), string(state.EntriesCopy), string(state.EntriesShare)))
	f.Key, _ = o.text("key", optional, keyRule)
	f.Label = o.label()
	if err := o.done(); err != nil {
		return reply{}, err
	}
	s, err := h.sessions.Fork(c.ctx, c.account, c.path("session"), f)
	if err != nil {
		return reply{}, err
	}
	return rawReply(http.StatusCreated, appendSession(nil, &s))
}

type batchResult struct {
	Index  int    `json:"index"`
	ID     string `json:"id"`
	Action string `json:"action"`
}

type batchBody struct {
	Results []batchResult `json:"results"`
	Meta    any           `json:"meta"`
}

// showBatch lists results and counts them by action.
func showBatch(results []session.BatchResult) (shown []batchResult, counts map[string]int) {
	counts = map[string]int{}
	for i, r := range results {
		shown = append(shown, batchResult{i, r.ID, r.Action})
		counts[r.Action]++
	}
	return shown, counts
}

// maxBatch bounds the sessions of one batch.
const maxBatch = 100

// ids reads a list of distinct session ids.
func (o *object) ids() []string {
	ids, ok := o.texts("ids", required)
	if !ok {
		return nil
	}
	if len(ids) == 0 || len(ids) > maxBatch {
		o.problem("ids", wrongRange, "there must be 1 to 100 ids")
		return nil
	}
	seen := map[string]bool{}
	for i, id := range ids {
		if seen[id] {
			o.problem("ids."+strconv.Itoa(i), wrongRepeated, "this id stands there more than once")
		}
		seen[id] = true
	}
	return ids
}

// setStatuses answers PATCH /sessions/batch/status.
func (h *Handler) setStatuses(c *call) (reply, error) {
	o := openBody(c)
	ids, status := o.ids(), o.status(required)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	results, err := h.sessions.SetStatuses(c.ctx, c.account, ids, status)
	if err != nil {
		return reply{}, err
	}
	shown, counts := showBatch(results)
	return dataReply(http.StatusOK, batchBody{shown, struct {
		Total    int                   `json:"total"`
		Updated  int                   `json:"updated"`
		NotFound int                   `json:"not_found"`
		Status   sessile.SessionStatus `json:"status"`
	}{len(results), counts["updated"], counts["not_found"], status}})
}

// deleteSessions answers POST /sessions/batch/delete.
func (h *Handler) deleteSessions(c *call) (reply, error) {
	o := openBody(c)
	ids := o.ids()
	if err := o.done(); err != nil {
		return reply{}, err
	}
	results, err := h.sessions.DeleteMany(c.ctx, c.account, ids)
	if err != nil {
		return reply{}, err
	}
	shown, counts := showBatch(results)
	return dataReply(http.StatusOK, batchBody{shown, struct {
		Total    int `json:"total"`
		Deleted  int `json:"deleted"`
		NotFound int `json:"not_found"`
		Conflict int `json:"conflict"`
	}{len(results), counts["deleted"], counts["not_found"], counts["conflict"]}})
}
