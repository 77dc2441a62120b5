package agenttool_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/transcript"
)

// told is a service that remembers what it was asked and answers the same to everything.
type told struct {
	list    session.ListQuery
	history session.HistoryQuery
	status  session.StatusQuery
	refusal *session.Refusal
	answer  session.Status
}

func (s *told) ListFor(_ context.Context, _ session.Caller, q session.ListQuery) (session.Listing, error) {
	s.list = q
	row := sessile.Session{Key: "agent:main:main", AgentID: "main", ID: "ses_1", UpdatedAt: 5}
	return session.Listing{
		Sessions: []session.Listed{{Row: row, Kind: "main", Channel: "unknown", Display: row.Key, Model: "p/m"}},
		Next:     &sessile.SessionPlace{UpdatedAt: 5, Key: row.Key}, Level: session.LevelTree,
	}, nil
}

func (s *told) Find(_ context.Context, _ session.Caller, text, _ string) (session.Target, *session.Refusal, error) {
	return session.Target{Key: text, Display: text}, s.refusal, nil
}

func (s *told) HistoryOf(_ context.Context, _ string, _ session.Target, q session.HistoryQuery) (transcript.Result, error) {
	s.history = q
	return transcript.NewView(nil).Page(transcript.Page{}), nil
}

func (s *told) StatusOf(_ context.Context, _ session.Caller, q session.StatusQuery) (session.Status, error) {
	s.status = q
	return s.answer, nil
}

func sessionTools(s *told) *agenttool.Runner {
	now := func() time.Time { return time.UnixMilli(1_000_000_000) }
	return agenttool.New([]agenttool.Tool{
		agenttool.SessionsList(s, session.Keys{}, now), agenttool.SessionsHistory(s), agenttool.SessionStatus(s, now, "1.2.3"),
	}, agenttool.Options{})
}

// Section 0: how parameters are read.
func TestSessionParameters(t *testing.T) {
	for _, c := range []struct{ tool, arguments, want string }{
		{"sessions_history", `{}`, "sessionKey is required"},
		{"sessions_history", `{"sessionKey":"  "}`, "sessionKey is required"},
		{"sessions_history", `{"session_key":"k"}`, ""},
		{"sessions_history", `{"sessionKey":"k","offset":-1}`, "offset must be a non-negative integer"},
		{"sessions_history", `{"sessionKey":"k","offset":" "}`, "offset must be a non-negative integer"},
		{"sessions_history", `{"sessionKey":"k","limit":" "}`, ""},
		{"sessions_history", `{"sessionKey":"k","limit":null}`, ""},
		{"sessions_history", `{"sessionKey":"k","offset":0,"messageId":"m"}`, "offset and messageId cannot be used together"},
		{"sessions_history", `{"sessionKey":"k","sessionId":"s"}`, "sessionId is for use with messageId only"},
		{"sessions_list", `{"limit":0}`, "limit must be a positive integer"},
		{"sessions_list", `{"limit":1.5}`, "limit must be a positive integer"},
		{"sessions_list", `{"limit":"x"}`, "limit must be a positive integer"},
		{"sessions_list", `{"limit":"5"}`, ""},
		{"sessions_list", `{"limit":"5","unknown":{}}`, ""},
		{"sessions_list", `{"cursor":"!"}`, "cursor is not one that a list gave"},
		{"session_status", `{"changesSince":-1}`, "changesSince must be a non-negative integer"},
	} {
		_, err := sessionTools(&told{}).Call(t.Context(), caller("agent:main:main"), c.tool, []byte(c.arguments))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s %s: %q, want %q", c.tool, c.arguments, got, c.want)
		}
	}
	s := &told{}
	_, err := sessionTools(s).Call(t.Context(), caller("k"), "sessions_list", []byte(`{"kinds":"CRON","active_minutes":"10","messageLimit":50,"archived":"true","include_derived_titles":true}`))
	if err != nil || len(s.list.Kinds) != 1 || s.list.Kinds[0] != "cron" || s.list.Since != 1_000_000_000-600_000 || s.list.Messages != 20 ||
		s.list.Archived || !s.list.Titles || s.list.Limit != 100 {
		t.Errorf("%v %+v", err, s.list)
	}
	if _, err := sessionTools(s).Call(t.Context(), agenttool.Caller{Account: "a"}, "sessions_list", nil); sessile.CodeOf(err) != sessile.CodeToolError {
		t.Errorf("without a session: %v", err)
	}
}

func TestSessionAnswers(t *testing.T) {
	call := func(s *told, tool, arguments string) agenttool.Result {
		t.Helper()
		r, err := sessionTools(s).Call(t.Context(), caller("agent:main:main"), tool, []byte(arguments))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	list := string(call(&told{}, "sessions_list", `{}`).Data)
	for _, part := range []string{`"count":1`, `"mode":"tree"`, `"archived":false`, `"pinned":false`, `"model":"m"`, `"modelProvider":"p"`} {
		if !strings.Contains(list, part) {
			t.Errorf("the list lacks %s: %s", part, list)
		}
	}
	if strings.Contains(list, "nextCursor") || !strings.Contains(string(call(&told{}, "sessions_list", `{"limit":1}`).Data), "nextCursor") {
		t.Error("the cursor is there exactly when a limit was given")
	}
	expect(t, string(call(&told{}, "sessions_history", `{"sessionKey":"k"}`).Data),
		`{"sessionKey":"k","messages":[],"truncated":false,"droppedMessages":false,"contentTruncated":false,"contentRedacted":false,"bytes":2}`)
	expect(t, string(call(&told{refusal: &session.Refusal{Forbidden: true, Layer: "visibility", Reason: "no"}}, "sessions_history", `{"sessionKey":"k"}`).Data),
		`{"status":"forbidden","error":"no","layer":"visibility"}`)

	s := &told{answer: session.Status{
		Target: session.Target{Key: "k", Display: "main"}, Model: "p/m", Own: true, StateVersion: 7,
		Details:  session.Details{InputTokens: 1234, OutputTokens: 999, CacheRead: 500, TotalTokens: 123_456, ContextTokens: 200_000, Thinking: "high"},
		Delivery: session.Route{Channel: "slack", ThreadID: jsontext.Value("7")},
		Activity: session.Activity{Status: "running", StartedAt: 1, RuntimeMS: 65_000},
		Tasks:    session.Tasks{Failed: 2, Title: "Count\nthe ferries", Key: "k2", Detail: "model_error", Activity: session.Activity{Status: "failed", RuntimeMS: 7_260_000}},
		Changes:  &changelog.Changes{StateVersion: 7, Events: []sessile.Event{{Sequence: 7, Kind: sessile.EventGoalChanged}}, Earliest: 7},
	}}
	r := call(s, "session_status", `{"changesSince":0,"model":"default"}`)
	for _, part := range []string{
		"Sessile 1.2.3\n", "Model: p/m\n", "Tokens: 1.2k in / 999 out\n", "Cache: 28% hit", "Context: 123k/200k (61%)\n", "Session: main\n",
		"Tasks: 2 recent failures, 2h1m, Count the ferries, model_error\n",
		"Runtime: running (1m5s)\nThinking: high\n", "\nRoute context:\n```json\n", `"threadId": 7`, "\nSession state changes:\n```json\n", `"stateVersion": 7`,
	} {
		if !strings.Contains(r.Text, part) {
			t.Errorf("the card lacks %q:\n%s", part, r.Text)
		}
	}
	for _, part := range []string{`"modelOverride":null`, `"model":"m"`, `"historyGap":false`, `"deliveryContext":{"channel":"slack","threadId":7}`} {
		if !strings.Contains(string(r.Data), part) {
			t.Errorf("the details lack %s: %s", part, r.Data)
		}
	}
	if strings.Contains(string(r.Data), `"active"`) || strings.Contains(string(r.Data), `"origin"`) {
		t.Errorf("empty routes are shown: %s", r.Data)
	}
}
