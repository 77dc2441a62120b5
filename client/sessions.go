package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// SessionInput are the members of a session that a caller may give, when it is made and later. What is zero is not sent:
// a new session does without, an old one keeps what it has.
type SessionInput struct {
	Key                   string                `json:"key,omitzero"`      // when it is made only
	AgentID               string                `json:"agent_id,omitzero"` // likewise
	Channel               string                `json:"channel,omitzero"`  // likewise
	Label                 Setting               `json:"label,omitzero"`
	Pinned                *bool                 `json:"pinned,omitzero"` // later only
	Title                 string                `json:"title,omitzero"`
	Status                sessile.SessionStatus `json:"status,omitzero"`
	CharacterID           string                `json:"character_id,omitzero"`
	CharacterSnapshot     jsontext.Value        `json:"character_snapshot,omitzero"` // an object
	UserID                string                `json:"user_id,omitzero"`
	UserSnapshot          jsontext.Value        `json:"user_snapshot,omitzero"` // an object
	PresetID              Setting               `json:"preset_id,omitzero"`
	RegexProfileID        Setting               `json:"regex_profile_id,omitzero"`
	WorldbookProfileID    Setting               `json:"worldbook_profile_id,omitzero"`
	DeepBinding           *bool                 `json:"deep_binding,omitzero"`
	CharacterVersionID    Setting               `json:"character_version_id,omitzero"`
	PresetVersionID       Setting               `json:"preset_version_id,omitzero"`
	RegexProfileVersionID Setting               `json:"regex_profile_version_id,omitzero"`
	WorldbookVersionID    Setting               `json:"worldbook_version_id,omitzero"`
	ModelProvider         string                `json:"model_provider,omitzero"`
	ModelName             string                `json:"model_name,omitzero"`
	ModelParams           jsontext.Value        `json:"model_params,omitzero"` // an object
	PromptMode            string                `json:"prompt_mode,omitzero"`  // compat_strict, compat_plus or native
	Metadata              jsontext.Value        `json:"metadata,omitzero"`     // an object
}

// Setting is a text that can be taken away again. The zero value leaves it as it is.
type Setting struct {
	text  string
	given bool
}

// SetTo gives a setting a text. An empty one takes it away, as [Unset] does.
func SetTo(text string) Setting { return Setting{text: text, given: true} }

// Unset takes a setting away.
func Unset() Setting { return Setting{given: true} }

// IsZero reports whether the setting is to stay as it is.
func (s Setting) IsZero() bool { return !s.given }

// MarshalJSONTo writes the text, or null to take it away.
func (s Setting) MarshalJSONTo(e *jsontext.Encoder) error {
	if s.text == "" {
		return e.WriteToken(jsontext.Null)
	}
	return e.WriteToken(jsontext.String(s.text))
}

// Session is one conversation. Members that were never given are nil.
type Session struct {
	ID                    string                `json:"id"`
	Key                   string                `json:"key"`
	AgentID               string                `json:"agent_id"`
	Title                 *string               `json:"title"`
	Label                 *string               `json:"label"`
	Channel               *string               `json:"channel"`
	PinnedAt              *int64                `json:"pinned_at"`
	ArchivedAt            *int64                `json:"archived_at"`
	Status                sessile.SessionStatus `json:"status"`
	CharacterBinding      *CharacterBinding     `json:"character_binding"`
	UserBinding           *UserBinding          `json:"user_binding"`
	PresetID              *string               `json:"preset_id"`
	RegexProfileID        *string               `json:"regex_profile_id"`
	WorldbookProfileID    *string               `json:"worldbook_profile_id"`
	DeepBinding           *bool                 `json:"deep_binding"`
	CharacterVersionID    *string               `json:"character_version_id"`
	PresetVersionID       *string               `json:"preset_version_id"`
	RegexProfileVersionID *string               `json:"regex_profile_version_id"`
	WorldbookVersionID    *string               `json:"worldbook_version_id"`
	ModelProvider         *string               `json:"model_provider"`
	ModelName             *string               `json:"model_name"`
	ModelParams           jsontext.Value        `json:"model_params"`
	PromptMode            *string               `json:"prompt_mode"`
	Metadata              jsontext.Value        `json:"metadata"`
	CreatedAt             int64                 `json:"created_at"` // milliseconds since the Unix epoch
	UpdatedAt             int64                 `json:"updated_at"`
}

// CharacterBinding is the character of a session.
type CharacterBinding struct {
	CharacterID *string        `json:"character_id"`
	Snapshot    jsontext.Value `json:"snapshot,omitzero"`
}

// UserBinding is the user of a session.
type UserBinding struct {
	UserID   *string        `json:"user_id"`
	Snapshot jsontext.Value `json:"snapshot,omitzero"`
}

// SessionQuery narrows a list of sessions; zero members do not narrow.
type SessionQuery struct {
	Key     string
	Status  sessile.SessionStatus
	Keyword string // part of the title, whatever the case
	Paging         // sorts by created_at or updated_at
}

// Deleted tells what is gone.
type Deleted struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// BatchResult tells what became of one session of a batch.
type BatchResult struct {
	Index  int    `json:"index"`
	ID     string `json:"id"`
	Action string `json:"action"` // updated, deleted, not_found or conflict
}

// StatusBatch is the outcome of [Client.SetStatuses].
type StatusBatch struct {
	Results []BatchResult   `json:"results"`
	Meta    StatusBatchMeta `json:"meta"`
}

// StatusBatchMeta counts the results.
type StatusBatchMeta struct {
	Total    int                   `json:"total"`
	Updated  int                   `json:"updated"`
	NotFound int                   `json:"not_found"`
	Status   sessile.SessionStatus `json:"status"`
}

// DeleteBatch is the outcome of [Client.DeleteSessions].
type DeleteBatch struct {
	Results []BatchResult   `json:"results"`
	Meta    DeleteBatchMeta `json:"meta"`
}

// DeleteBatchMeta counts the results.
type DeleteBatchMeta struct {
	Total    int `json:"total"`
	Deleted  int `json:"deleted"`
	NotFound int `json:"not_found"`
	Conflict int `json:"conflict"`
}

// CreateSession makes a session: POST /sessions.
func (c *Client) CreateSession(ctx context.Context, s SessionInput) (Session, error) {
	return call[Session](ctx, c, post(s, "sessions"))
}

// ListSessions lists the sessions of the account: GET /sessions.
func (c *Client) ListSessions(ctx context.Context, q SessionQuery) (Page[Session], error) {
	return callPage[Session](ctx, c, get("sessions").
		with("status", string(q.Status)).with("keyword", q.Keyword).with("key", q.Key).page(q.Paging))
}

// GetSession reads a session: GET /sessions/{session}.
func (c *Client) GetSession(ctx context.Context, sessionID string) (Session, error) {
	return call[Session](ctx, c, get("sessions", sessionID))
}

// UpdateSession changes a session, which needs at least one member: PATCH /sessions/{session}. Archive it by its status.
func (c *Client) UpdateSession(ctx context.Context, sessionID string, s SessionInput) (Session, error) {
	return call[Session](ctx, c, request{method: http.MethodPatch, path: []string{"sessions", sessionID}, body: s})
}

// DeleteSession deletes a session with all its state: DELETE /sessions/{session}.
func (c *Client) DeleteSession(ctx context.Context, sessionID string) (Deleted, error) {
	return call[Deleted](ctx, c, request{method: http.MethodDelete, path: []string{"sessions", sessionID}})
}

// DeleteSessionKey deletes what a key stands for, whether or not it has a session: DELETE /sessions?key=.
func (c *Client) DeleteSessionKey(ctx context.Context, key string) (Done, error) {
	return call[Done](ctx, c, request{method: http.MethodDelete, path: []string{"sessions"}, query: url.Values{"key": {key}}})
}

// Done tells that something was done.
type Done struct {
	OK bool `json:"ok"`
}

// Cleared tells how many sessions went.
type Cleared struct {
	Deleted int `json:"deleted"`
}

// ClearSessions deletes all sessions but main ones, those with a channel and a few more: POST /sessions/clear-all.
func (c *Client) ClearSessions(ctx context.Context) (Cleared, error) {
	return call[Cleared](ctx, c, post(struct{}{}, "sessions", "clear-all"))
}

// ResetSession gives the key of a session a new session: POST /sessions/{session}/reset.
func (c *Client) ResetSession(ctx context.Context, sessionID string) (Session, error) {
	return call[Session](ctx, c, post(struct{}{}, "sessions", sessionID, "reset"))
}

// SessionFork says what a fork of a session gets; zero members leave it to the server.
type SessionFork struct {
	State string `json:"state,omitzero"` // empty, copy or share
	Key   string `json:"key,omitzero"`
	Label string `json:"label,omitzero"`
}

// ForkSession makes a session with the transcript of another: POST /sessions/{session}/fork.
func (c *Client) ForkSession(ctx context.Context, sessionID string, f SessionFork) (Session, error) {
	return call[Session](ctx, c, post(f, "sessions", sessionID, "fork"))
}

// SetStatuses archives or revives 1 to 100 sessions at once: PATCH /sessions/batch/status.
func (c *Client) SetStatuses(ctx context.Context, sessionIDs []string, status sessile.SessionStatus) (StatusBatch, error) {
	body := struct {
		IDs    []string              `json:"ids"`
		Status sessile.SessionStatus `json:"status"`
	}{sessionIDs, status}
	return call[StatusBatch](ctx, c, request{
		method: http.MethodPatch, path: []string{"sessions", "batch", "status"}, body: body,
	})
}

// DeleteSessions deletes 1 to 100 sessions at once: POST /sessions/batch/delete.
func (c *Client) DeleteSessions(ctx context.Context, sessionIDs []string) (DeleteBatch, error) {
	body := struct {
		IDs []string `json:"ids"`
	}{sessionIDs}
	return call[DeleteBatch](ctx, c, post(body, "sessions", "batch", "delete"))
}

// TimelineQuery selects a stretch of a branch.
type TimelineQuery struct {
	BranchID string // default main
	Limit    int    // 1 to 200
	Offset   int
}

// Timeline lists the floors of a branch with their content: GET /sessions/{session}/timeline.
func (c *Client) Timeline(ctx context.Context, sessionID string, q TimelineQuery) (Page[TimelineFloor], error) {
	return callPage[TimelineFloor](ctx, c, get("sessions", sessionID, "timeline").
		with("branch_id", q.BranchID).stretch(q.Limit, q.Offset))
}

// ActiveRun is what a session is doing; nil for nothing.
type ActiveRun struct {
	ActiveRun *Run `json:"active_run"`
}

// ActiveRun asks what a session is doing: GET /sessions/{session}/active-run.
func (c *Client) ActiveRun(ctx context.Context, sessionID string) (ActiveRun, error) {
	return call[ActiveRun](ctx, c, get("sessions", sessionID, "active-run"))
}
