package agenttool

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/transcript"
)

// SessionsHistoryName is the name of the tool that reads transcripts.
const SessionsHistoryName = "sessions_history"

const sessionsHistoryParameters = `{
  "type": "object",
  "properties": {
    "sessionKey": {"type": "string", "description": "Key of a session as sessions_list shows it, a session id, main or current."},
    "limit": {"type": "integer", "minimum": 1, "description": "At most so many of the newest messages; 200 when left out, up to 1000."},
    "offset": {"type": "integer", "minimum": 0, "description": "Skip so many of the newest messages; the answer then says where the next page begins."},
    "includeTools": {"type": "boolean", "description": "Also show what tools answered."},
    "messageId": {"type": "string", "description": "Show what is around this message instead."},
    "sessionId": {"type": "string", "description": "With messageId: an earlier session behind the same key."}
  },
  "required": ["sessionKey"]
}`

const sessionsHistoryResult = `{
  "type": "object",
  "properties": {
    "sessionKey": {"type": "string"},
    "messages": {"type": "array", "items": {"type": "object"}},
    "truncated": {"type": "boolean"},
    "droppedMessages": {"type": "boolean"},
    "contentTruncated": {"type": "boolean"},
    "contentRedacted": {"type": "boolean"},
    "bytes": {"type": "integer"},
    "offset": {"type": "integer"},
    "nextOffset": {"type": "integer"},
    "hasMore": {"type": "boolean"},
    "totalMessages": {"type": "integer"},
    "status": {"type": "string", "description": "error or forbidden, when there is nothing to show."},
    "error": {"type": "string"},
    "layer": {"type": "string", "description": "What refused."}
  }
}`

// SessionsHistory reads the transcript of a session that the caller sees, without scaffolding and credentials, cut to size
// (spec/session-tools.md, section 3).
func SessionsHistory(sessions Sessions) Tool {
	return Tool{
		Name: SessionsHistoryName,
		Description: "Reads the messages of another session, oldest first. Reasoning, tool scaffolding and credentials are " +
			"left out, long texts are cut.",
		Parameters: jsontext.Value(sessionsHistoryParameters),
		Result:     jsontext.Value(sessionsHistoryResult),
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			return runSessionsHistory(ctx, sessions, c, a)
		},
	}
}

// runSessionsHistory resolves and checks the session before it looks at the numbers (spec/session-tools.md, 3.1).
func runSessionsHistory(ctx context.Context, sessions Sessions, c Caller, a Arguments) (Result, error) {
	caller, err := sessionCaller(c)
	if err != nil {
		return Result{}, err
	}
	p := &parameters{a: a}
	text := p.required("sessionKey")
	if p.err != nil {
		return Result{}, p.err
	}
	target, no, err := sessions.Find(ctx, caller, text, SessionsHistoryName)
	if err != nil {
		return Result{}, err
	}
	if no != nil {
		return refusal(no)
	}
	q := session.HistoryQuery{
		IncludeTools: p.truthy("includeTools"), MessageID: p.text("messageId"), SessionID: p.text("sessionId"), Limit: transcript.DefaultLimit,
	}
	if limit, ok := p.integer("limit", 1, false); ok {
		q.Limit = int(min(limit, transcript.MaxLimit))
	}
	if offset, ok := p.integer("offset", 0, true); ok {
		q.Offset, q.Paged = int(min(offset, 1<<31-1)), true
	}
	if q.Paged && q.MessageID != "" {
		p.fail("offset and messageId cannot be used together")
	}
	if q.SessionID != "" && q.MessageID == "" {
		p.fail("sessionId is for use with messageId only")
	}
	if p.err != nil {
		return Result{}, p.err
	}
	history, err := sessions.HistoryOf(ctx, c.Account, target, q)
	if sessile.CodeOf(err) == sessile.CodeNotFound {
		return Result{}, throw("session %s is not an earlier one of this key", q.SessionID)
	}
	if err != nil {
		return Result{}, err
	}
	return result(struct {
		SessionKey string `json:"sessionKey"`
		transcript.Result
	}{target.Display, history})
}
