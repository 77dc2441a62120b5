package agenttool

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/transcript"
)

// Sessions are the use cases that the tools around sessions work on; [session.Service] is one.
type Sessions interface {
	ListFor(ctx context.Context, c session.Caller, q session.ListQuery) (session.Listing, error)
	Find(ctx context.Context, c session.Caller, text, action string) (session.Target, *session.Refusal, error)
	HistoryOf(ctx context.Context, account string, t session.Target, q session.HistoryQuery) (transcript.Result, error)
	StatusOf(ctx context.Context, c session.Caller, q session.StatusQuery) (session.Status, error)
}

var _ Sessions = (*session.Service)(nil)

// sessionCaller is the session that a call acts for; a call without one is refused.
func sessionCaller(c Caller) (session.Caller, error) {
	if c.SessionKey == nil {
		return session.Caller{}, throw("missing session context")
	}
	return session.Caller{Account: c.Account, Key: *c.SessionKey, Sandboxed: c.Sandboxed}, nil
}

// result encodes the answer of a tool.
func result(answer any) (Result, error) {
	data, err := json.Marshal(answer, json.Deterministic(true), jsontext.AllowDuplicateNames(true))
	return Result{Data: data}, err
}

// refused is the answer of a tool that did not do what it was asked.
type refused struct {
	Status string `json:"status"` // error or forbidden
	Error  string `json:"error"`
	Layer  string `json:"layer,omitzero"` // what refused
}

func refusal(r *session.Refusal) (Result, error) {
	answer := refused{Status: "error", Error: r.Reason, Layer: r.Layer}
	if r.Forbidden {
		answer.Status = "forbidden"
	}
	return result(answer)
}
