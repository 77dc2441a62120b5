package agenttool

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

// SessionsListName is the name of the tool that lists sessions.
const SessionsListName = "sessions_list"

// Bounds of sessions_list.
const (
	defaultListLimit = 100
	maxListLimit     = 1000
)

const sessionsListParameters = `{
  "type": "object",
  "properties": {
    "kinds": {"type": "array", "items": {"type": "string"}, "description": "Only these kinds: main, group, cron, hook, node, other."},
    "limit": {"type": "integer", "minimum": 1, "description": "At most so many sessions; 100 when left out."},
    "cursor": {"type": "string", "description": "nextCursor of the answer before."},
    "activeMinutes": {"type": "integer", "minimum": 1, "description": "Only sessions that changed in so many minutes."},
    "messageLimit": {"type": "integer", "minimum": 0, "description": "Show so many recent messages of each, up to 20."},
    "label": {"type": "string", "description": "Only sessions with exactly this label."},
    "agentId": {"type": "string", "description": "Only sessions of this agent."},
    "search": {"type": "string", "description": "Only sessions with this text in name, label, subject, id, key or model."},
    "archived": {"type": "boolean", "description": "Archived sessions instead of the others."},
    "includeDerivedTitles": {"type": "boolean", "description": "Show a title of each."},
    "includeLastMessage": {"type": "boolean", "description": "Show the last message of each in one line."}
  }
}`

const sessionsListResult = `{
  "type": "object",
  "properties": {
    "count": {"type": "integer"},
    "sessions": {"type": "array", "items": {"type": "object"}},
    "visibility": {"type": "object"},
    "nextCursor": {"type": "string"}
  },
  "required": ["count", "sessions"]
}`

// SessionsList lists the sessions that a session sees (spec/session-tools.md, section 2). Beyond the sheet it takes a cursor:
// where a limit was given and there are more sessions, the answer carries nextCursor. Now tells the time.
func SessionsList(sessions Sessions, keys session.Keys, now func() time.Time) Tool {
	return Tool{
		Name: SessionsListName,
		Description: "Lists the conversations that this session may see, pinned ones first, then the newest, with kind, channel, " +
			"model, token counts and, on request, titles and recent messages.",
		Parameters: jsontext.Value(sessionsListParameters),
		Result:     jsontext.Value(sessionsListResult),
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			caller, err := sessionCaller(c)
			if err != nil {
				return Result{}, err
			}
			q, paged, err := listQuery(a, now())
			if err != nil {
				return Result{}, err
			}
			l, err := sessions.ListFor(ctx, caller, q)
			if err != nil {
				return Result{}, err
			}
			return result(listAnswer(&l, keys, paged))
		},
	}
}

func listQuery(a Arguments, now time.Time) (q session.ListQuery, paged bool, err error) {
	p := &parameters{a: a}
	for _, kind := range p.texts("kinds") {
		switch kind = strings.ToLower(kind); kind {
		case session.KindMain, session.KindGroup, session.KindCron, session.KindHook, session.KindNode, session.KindOther:
			q.Kinds = append(q.Kinds, kind)
		}
	}
	limit, paged := p.integer("limit", 1, false)
	if !paged {
		limit = defaultListLimit
	}
	q.Limit = int(min(limit, maxListLimit))
	if minutes, ok := p.integer("activeMinutes", 1, false); ok {
		q.Since = now.UnixMilli() - min(minutes, 1<<30)*time.Minute.Milliseconds()
	}
	messages, _ := p.integer("messageLimit", 0, false)
	q.Messages = int(min(messages, 20))
	q.Label, q.Agent, q.Search = p.text("label"), strings.ToLower(p.text("agentId")), p.text("search")
	q.Archived, q.Titles, q.Previews = p.yes("archived"), p.yes("includeDerivedTitles"), p.yes("includeLastMessage")
	if cursor := p.text("cursor"); cursor != "" {
		place, ok := readPlace(cursor)
		if !ok {
			p.fail("cursor is not one that a list gave")
		}
		q.After, paged = &place, true
	}
	return q, paged, p.err
}

func readPlace(cursor string) (place sessile.SessionPlace, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return place, false
	}
	return place, json.Unmarshal(text, &place) == nil
}

func writePlace(place *sessile.SessionPlace) string {
	text, err := json.Marshal(place)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

type listedSession struct {
	Key              string           `json:"key"`
	AgentID          string           `json:"agentId"`
	Kind             string           `json:"kind"`
	Channel          string           `json:"channel"`
	Origin           *shownOrigin     `json:"origin,omitzero"`
	SpawnedBy        string           `json:"spawnedBy,omitzero"`
	ParentSessionKey string           `json:"parentSessionKey,omitzero"`
	ChildSessions    []string         `json:"childSessions,omitempty"`
	Label            *string          `json:"label,omitzero"`
	DisplayName      string           `json:"displayName,omitzero"`
	DerivedTitle     string           `json:"derivedTitle,omitzero"`
	LastMessage      string           `json:"lastMessagePreview,omitzero"`
	DeliveryContext  session.Route    `json:"deliveryContext,omitzero"`
	UpdatedAt        int64            `json:"updatedAt"`
	Archived         bool             `json:"archived"`
	ArchivedAt       int64            `json:"archivedAt,omitzero"`
	Pinned           bool             `json:"pinned"`
	PinnedAt         int64            `json:"pinnedAt,omitzero"`
	SessionID        string           `json:"sessionId"`
	StateVersion     int64            `json:"stateVersion,omitzero"`
	Model            string           `json:"model,omitzero"`
	ModelProvider    string           `json:"modelProvider,omitzero"`
	ContextTokens    int64            `json:"contextTokens,omitzero"`
	TotalTokens      int64            `json:"totalTokens,omitzero"`
	InputTokens      int64            `json:"inputTokens,omitzero"`
	OutputTokens     int64            `json:"outputTokens,omitzero"`
	Status           string           `json:"status,omitzero"`
	StartedAt        int64            `json:"startedAt,omitzero"`
	EndedAt          int64            `json:"endedAt,omitzero"`
	RuntimeMS        *int64           `json:"runtimeMs,omitzero"`
	ThinkingLevel    string           `json:"thinkingLevel,omitzero"`
	LastChannel      string           `json:"lastChannel,omitzero"`
	LastTo           string           `json:"lastTo,omitzero"`
	LastAccountID    string           `json:"lastAccountId,omitzero"`
	Messages         []jsontext.Value `json:"messages,omitzero"`
}

type shownOrigin struct {
	Provider  string `json:"provider,omitzero"`
	AccountID string `json:"accountId,omitzero"`
}

type listVisibility struct {
	Mode       session.Level `json:"mode"`
	Restricted bool          `json:"restricted"`
	Warning    string        `json:"warning"`
}

type listing struct {
	Count      int             `json:"count"`
	Sessions   []listedSession `json:"sessions"`
	Visibility *listVisibility `json:"visibility,omitzero"`
	NextCursor string          `json:"nextCursor,omitzero"`
}

func listAnswer(l *session.Listing, keys session.Keys, paged bool) listing {
	answer := listing{Count: len(l.Sessions), Sessions: make([]listedSession, 0, len(l.Sessions))}
	for i := range l.Sessions {
		answer.Sessions = append(answer.Sessions, showListed(&l.Sessions[i], keys))
	}
	if l.Level != session.LevelAll {
		answer.Visibility = &listVisibility{
			Mode: l.Level, Restricted: true,
			Warning: "This session sees other sessions at level " + string(l.Level) + " only: sessions outside that scope may be " +
				"missing, and the count covers the scope alone.",
		}
	}
	if paged && l.Next != nil {
		answer.NextCursor = writePlace(l.Next)
	}
	return answer
}

func showListed(s *session.Listed, keys session.Keys) listedSession {
	row, d := &s.Row, &s.Details
	one := listedSession{
		Key: s.Display, AgentID: row.AgentID, Kind: s.Kind, Channel: s.Channel, SpawnedBy: row.SpawnedBy,
		ParentSessionKey: row.ParentKey, Label: row.Label, DisplayName: row.DisplayName, DerivedTitle: s.Title, LastMessage: s.Preview,
		DeliveryContext: d.Delivery(), UpdatedAt: row.UpdatedAt, Archived: row.ArchivedAt != 0, ArchivedAt: row.ArchivedAt,
		Pinned: row.PinnedAt != 0, PinnedAt: row.PinnedAt, SessionID: row.ID, StateVersion: s.Version,
		ContextTokens: d.ContextTokens, TotalTokens: d.TotalTokens, InputTokens: d.InputTokens, OutputTokens: d.OutputTokens,
		Status: s.Activity.Status, StartedAt: s.Activity.StartedAt, EndedAt: s.Activity.EndedAt, ThinkingLevel: d.Thinking,
		LastChannel: d.Last.Channel, LastTo: d.Last.To, LastAccountID: d.Last.AccountID, Messages: s.Messages,
	}
	if s.Activity.Status != "" {
		one.RuntimeMS = &s.Activity.RuntimeMS
	}
	one.ModelProvider, one.Model = session.SplitModel(s.Model)
	if d.Origin.Provider != "" || d.Origin.AccountID != "" {
		one.Origin = &shownOrigin{d.Origin.Provider, d.Origin.AccountID}
	}
	for _, child := range slices.Sorted(slices.Values(s.Children)) {
		one.ChildSessions = append(one.ChildSessions, keys.Display(child))
	}
	return one
}
