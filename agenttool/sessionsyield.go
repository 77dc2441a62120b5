package agenttool

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SessionsYieldName is the name of the tool that ends a turn.
const SessionsYieldName = "sessions_yield"

const sessionsYieldParameters = `{
  "type": "object",
  "properties": {
    "message": {"type": "string", "description": "Why; for those who read along."}
  }
}`

const sessionsYieldResult = `{
  "type": "object",
  "properties": {
    "status": {"type": "string", "description": "yielded or error."},
    "message": {"type": "string"},
    "error": {"type": "string"}
  },
  "required": ["status"]
}`

const statusYielded = "yielded"

// yielded is the answer of sessions_yield.
type yielded struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// SessionsYield ends the turn in which it is called; the next message, such as the result of a sub-agent, begins another
// (spec/session-tools.md, 6.1).
func SessionsYield() Tool {
	return Tool{
		Name: SessionsYieldName,
		Description: "Ends this turn at once, to wait for the results of sub-agents: the next one that arrives begins a new turn. " +
			"Nothing that stands behind this call is run.",
		Parameters: jsontext.Value(sessionsYieldParameters),
		Result:     jsontext.Value(sessionsYieldResult),
		Run: func(_ context.Context, c Caller, a Arguments) (Result, error) {
			switch {
			case c.SessionKey == nil:
				return result(refused{Status: "error", Error: "there is no session context: nothing can be yielded"})
			case c.RunID == "":
				return result(refused{Status: "error", Error: "yielding is not supported here: this call is not part of a turn"})
			}
			p := &parameters{a: a}
			answer := yielded{Status: statusYielded, Message: p.text("message")}
			if answer.Message == "" {
				answer.Message = "Turn yielded."
			}
			return result(answer)
		},
	}
}

// yields reports whether a call ended the turn.
func yields(tool string, r Result) bool {
	var answer yielded
	return tool == SessionsYieldName && json.Unmarshal(r.Data, &answer) == nil && answer.Status == statusYielded
}
