package agenttool

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/agentrun"
)

// SessionsSendName is the name of the tool that sends a message to another session.
const SessionsSendName = "sessions_send"

const sessionsSendParameters = `{
  "type": "object",
  "properties": {
    "sessionKey": {"type": "string", "description": "Key of a session as sessions_list shows it, a session id, or main."},
    "label": {"type": "string", "description": "The exact label of a session, instead of its key."},
    "agentId": {"type": "string", "description": "The agent of the label; alone: the main session of that agent."},
    "message": {"type": "string", "description": "What to tell the session."},
    "timeoutSeconds": {"type": "integer", "minimum": 0, "description": "How long to wait for the answer; 30 when left out, 0 does not wait."},
    "watch": {"type": "boolean", "description": "Also be told of what changes in the session from now on."}
  },
  "required": ["message"]
}`

const sessionsSendResult = `{
  "type": "object",
  "properties": {
    "runId": {"type": "string"},
    "status": {"type": "string", "description": "ok, accepted, timeout, error or forbidden."},
    "reply": {"type": "string"},
    "sessionKey": {"type": "string"},
    "error": {"type": "string"},
    "sentBeforeError": {"type": "boolean", "description": "The message arrived: do not send it again."},
    "delivery": {"type": "object", "properties": {
      "status": {"type": "string"}, "mode": {"type": "string"}, "stages": {"type": "object"}
    }},
    "watched": {"type": "boolean"},
    "layer": {"type": "string", "description": "What refused."}
  },
  "required": ["runId", "status"]
}`

// Bounds of the parameters of sessions_send (spec/session-tools.md, 4.1).
const (
	defaultSendWait = 30 * time.Second
	maxSendWait     = 24 * time.Hour
	maxLabel        = 512
	maxAgentID      = 64
)

// SessionsSend sends a message to another session, which works on it, and waits for the answer
// (spec/session-tools.md, section 4).
func SessionsSend(runs Runs) Tool {
	return Tool{
		Name: SessionsSendName,
		Description: "Sends a message to another session, named by key or by label, and waits for its answer. When the wait ends " +
			"before, the message still stands and the answer follows later: do not send it again.",
		Parameters: jsontext.Value(sessionsSendParameters),
		Result:     jsontext.Value(sessionsSendResult),
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			caller, err := runCaller(c)
			if err != nil {
				return Result{}, err
			}
			request, err := readSend(a)
			if err != nil {
				return Result{}, err
			}
			answer, err := runs.Send(ctx, caller, request)
			if err != nil {
				return Result{}, err
			}
			return result(answer)
		},
	}
}

func readSend(a Arguments) (agentrun.SendRequest, error) {
	p := &parameters{a: a}
	r := agentrun.SendRequest{
		SessionKey: p.text("sessionKey"), Label: p.text("label"), AgentID: p.text("agentId"), Wait: defaultSendWait, Watch: p.yes("watch"),
	}
	for _, name := range []string{"message", "SendMessage", "content", "text"} {
		if r.Message == "" {
			r.Message = p.text(name)
		}
	}
	if r.Message == "" {
		p.fail("message is required")
	}
	p.atMost("label", r.Label, maxLabel)
	p.atMost("agentId", r.AgentID, maxAgentID)
	if seconds, ok := p.integer("timeoutSeconds", 0, false); ok {
		r.Wait = maxSendWait
		if seconds < int64(maxSendWait/time.Second) {
			r.Wait = time.Duration(seconds) * time.Second
		}
	}
	return r, p.err
}
