package agenttool

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
)

// SessionStatusName is the name of the tool that shows the state of a session.
const SessionStatusName = "session_status"

const sessionStatusParameters = `{
  "type": "object",
  "properties": {
    "sessionKey": {"type": "string", "description": "The session; the current one when left out."},
    "model": {"type": "string", "description": "Have this model (provider/model) answer in the session from now on; default goes back to the normal one."},
    "changesSince": {"type": "integer", "minimum": 0, "description": "Also show what changed after this state version."}
  }
}`

const sessionStatusResult = `{
  "type": "object",
  "properties": {
    "ok": {"type": "boolean"},
    "sessionKey": {"type": "string"},
    "changedModel": {"type": "boolean"},
    "stateVersion": {"type": "integer"},
    "stateChanges": {"type": "object"},
    "model": {"type": "string"},
    "modelProvider": {"type": "string"},
    "modelOverride": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "statusText": {"type": "string"},
    "origin": {"type": "object"},
    "active": {"type": "object"},
    "deliveryContext": {"type": "object"}
  },
  "required": ["ok", "sessionKey", "changedModel", "stateVersion", "statusText"]
}`

// SessionStatus shows the state of a session the caller sees as a card and as data, and changes the model that answers in it
// (spec/session-tools.md, 6.3). Now tells the time, version is ours.
func SessionStatus(sessions Sessions, now func() time.Time, version string) Tool {
	return Tool{
		Name: SessionStatusName,
		Description: "Shows the state of a session: model, tokens, context, last update, routes, and on request what changed " +
			"since a version. Can change the model that answers in the session.",
		Parameters: jsontext.Value(sessionStatusParameters),
		Result:     jsontext.Value(sessionStatusResult),
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			caller, err := sessionCaller(c)
			if err != nil {
				return Result{}, err
			}
			p := &parameters{a: a}
			q := session.StatusQuery{Session: p.text("sessionKey"), Model: p.text("model")}
			if since, ok := p.integer("changesSince", 0, false); ok {
				q.Since = &since
			}
			if p.err != nil {
				return Result{}, p.err
			}
			status, err := sessions.StatusOf(ctx, caller, q)
			if err != nil {
				return Result{}, err
			}
			return showStatus(&status, c, q.Model != "", now(), version)
		},
	}
}

type statusDetails struct {
	OK              bool           `json:"ok"`
	SessionKey      string         `json:"sessionKey"`
	ChangedModel    bool           `json:"changedModel"`
	StateVersion    int64          `json:"stateVersion"`
	StateChanges    *stateChanges  `json:"stateChanges,omitzero"`
	Model           string         `json:"model,omitzero"`
	ModelProvider   string         `json:"modelProvider,omitzero"`
	ModelOverride   jsontext.Value `json:"modelOverride,omitzero"`
	StatusText      string         `json:"statusText"`
	Origin          session.Origin `json:"origin,omitempty"`
	Active          session.Route  `json:"active,omitempty"`
	DeliveryContext session.Route  `json:"deliveryContext,omitempty"`
}

type stateChanges struct {
	Events            []shownEvent `json:"events"`
	Truncated         bool         `json:"truncated"`
	EarliestAvailable int64        `json:"earliestAvailableSequence"`
	HistoryGap        bool         `json:"historyGap"`
}

type shownEvent struct {
	Sequence   int64             `json:"sequence"`
	SessionKey string            `json:"sessionKey"`
	SessionID  string            `json:"sessionId,omitzero"`
	AgentID    string            `json:"agentId"`
	Kind       sessile.EventKind `json:"kind"`
	ActorType  sessile.ActorType `json:"actorType"`
	ActorID    string            `json:"actorId,omitzero"`
	RunID      string            `json:"runId,omitzero"`
	OccurredAt int64             `json:"occurredAt"`
	Summary    string            `json:"summary"`
	Payload    jsontext.Value    `json:"payload,omitzero"`
}

func showChanges(c *changelog.Changes) *stateChanges {
	shown := &stateChanges{Events: make([]shownEvent, 0, len(c.Events)), Truncated: c.Truncated, EarliestAvailable: c.Earliest, HistoryGap: c.Gap}
	for _, e := range c.Events {
		shown.Events = append(shown.Events, shownEvent{
			e.Sequence, e.SessionKey, e.SessionID, e.AgentID, e.Kind, e.ActorType, e.ActorID, e.RunID, e.OccurredAt, e.Summary, e.Payload,
		})
	}
	return shown
}

func showStatus(s *session.Status, c Caller, modelGiven bool, now time.Time, version string) (Result, error) {
	d := statusDetails{
		OK: true, SessionKey: s.Display, ChangedModel: s.ChangedModel, StateVersion: s.StateVersion, Origin: s.Origin,
		DeliveryContext: s.Delivery,
	}
	if s.Own {
		d.Active.Channel = c.Channel
	}
	if s.Changes != nil {
		d.StateChanges = showChanges(s.Changes)
	}
	if modelGiven {
		d.ModelProvider, d.Model = session.SplitModel(s.Model)
		d.ModelOverride = jsontext.Value("null")
		if s.Details.ModelOverride != "" {
			d.ModelOverride, _ = jsontext.AppendQuote(nil, s.Details.ModelOverride)
		}
	}
	text, err := statusCard(s, &d, now, version)
	if err != nil {
		return Result{}, err
	}
	d.StatusText = text
	r, err := result(d)
	r.Text = text
	return r, err
}

// statusCard writes the card: a line for each thing that is known.
func statusCard(s *session.Status, d *statusDetails, now time.Time, version string) (string, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Sessile %s", version)
	line("Time: %s", now.UTC().Format("2006-01-02 15:04 MST"))
	if s.Model != "" {
		note := ""
		if s.Details.ModelOverride != "" {
			note = " (chosen for this session)"
		}
		line("Model: %s%s", s.Model, note)
	} else {
		line("Model: not configured")
	}
	t := &s.Details
	if t.InputTokens > 0 || t.OutputTokens > 0 {
		line("Tokens: %s in / %s out", figure(t.InputTokens), figure(t.OutputTokens))
	}
	if all := t.CacheRead + t.CacheWrite + t.InputTokens; t.CacheRead+t.CacheWrite > 0 {
		line("Cache: %d%% hit, %s read, %s written", t.CacheRead*100/all, figure(t.CacheRead), figure(t.CacheWrite))
	}
	if t.TotalTokens > 0 || t.ContextTokens > 0 {
		line("Context: %s", contextUse(t.TotalTokens, t.ContextTokens))
	}
	session := "Session: " + s.Display
	if s.Row != nil {
		session += ", updated " + time.UnixMilli(s.Row.UpdatedAt).UTC().Format("2006-01-02 15:04 MST")
		if s.Row.Status == sessile.SessionArchived {
			session += ", archived"
		}
	}
	line("%s", session)
	if t.Goal != nil {
		line("Goal: %s", t.Goal.Status)
	}
	if s.Tasks.Key != "" {
		line("Tasks: %s", taskLine(&s.Tasks))
	}
	if a := &s.Activity; a.Status != "" {
		line("Runtime: %s (%s)", a.Status, runtimeText(a.RuntimeMS))
	}
	if t.Thinking != "" {
		line("Thinking: %s", t.Thinking)
	}
	return appendBlocks(&b, d)
}

// taskLine tells of the tasks of the caller: how many are active, else how many failed, else what the last one came to.
func taskLine(t *session.Tasks) string {
	state := t.Status
	switch {
	case t.Active > 0:
		state = fmt.Sprintf("%d active", t.Active)
	case t.Failed == 1:
		state = "1 recent failure"
	case t.Failed > 1:
		state = fmt.Sprintf("%d recent failures", t.Failed)
	}
	text := fmt.Sprintf("%s, %s, %s", state, runtimeText(t.RuntimeMS), strings.Join(strings.Fields(t.Title), " "))
	if t.Active == 0 && t.Detail != "" {
		text += ", " + t.Detail
	}
	return text
}

// runtimeText writes a time short: 12s, 3m4s, 2h5m.
func runtimeText(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// appendBlocks puts routes and changes behind the card.
func appendBlocks(b *strings.Builder, d *statusDetails) (string, error) {
	routes := map[string]any{}
	if d.Origin.Provider != "" || d.Origin.AccountID != "" || len(d.Origin.ThreadID) > 0 {
		routes["origin"] = d.Origin
	}
	if d.Active.Channel != "" {
		routes["active"] = d.Active
	}
	if r := &d.DeliveryContext; r.Channel != "" || r.To != "" || r.AccountID != "" || len(r.ThreadID) > 0 {
		routes["deliveryContext"] = r
	}
	fenced := func(title string, value any) error {
		text, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndent("  "))
		fmt.Fprintf(b, "\n%s\n```json\n%s\n```\n", title, text)
		return err
	}
	if len(routes) > 0 {
		if err := fenced("Route context:", routes); err != nil {
			return "", err
		}
	}
	if d.StateChanges != nil {
		err := fenced("Session state changes:", struct {
			StateVersion int64         `json:"stateVersion"`
			StateChanges *stateChanges `json:"stateChanges"`
		}{d.StateVersion, d.StateChanges})
		if err != nil {
			return "", err
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// figure writes a count short: 999, 1.2k, 12k, 1.2m.
func figure(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 10_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 0, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1_000_000, 'f', 1, 64) + "m"
}

func contextUse(used, limit int64) string {
	left, right := "?", "?"
	if used > 0 {
		left = figure(used)
	}
	if limit > 0 {
		right = figure(limit)
	}
	if used == 0 || limit == 0 {
		return left + "/" + right
	}
	return fmt.Sprintf("%s/%s (%d%%)", left, right, min(999, used*100/limit))
}
