package agenttool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/agentrun"
)

// SubagentsName is the name of the tool that shows the children of a session.
const SubagentsName = "subagents"

const subagentsParameters = `{
  "type": "object",
  "properties": {
    "action": {"type": "string", "description": "list, which is the default%s."},
    "recentMinutes": {"type": "integer", "minimum": 1, "description": "Show what ended within so many minutes; 30 when left out, up to 1440."},
    "target": {"type": "string", "description": "For other actions than list: last, an index, a session key, a task name, a label, or the beginning of one."},
    "message": {"type": "string", "description": "For steer: what the sub-agent is to do instead."},
    "timeoutSeconds": {"type": "integer", "minimum": 0, "description": "For wait: how long; 30 when left out."}
  }
}`

const subagentsResult = `{
  "type": "object",
  "properties": {
    "status": {"type": "string", "description": "ok, error or forbidden."},
    "action": {"type": "string"},
    "error": {"type": "string"},
    "requesterSessionKey": {"type": "string"},
    "callerSessionKey": {"type": "string"},
    "callerIsSubagent": {"type": "boolean"},
    "total": {"type": "integer"},
    "active": {"type": "array", "items": {"type": "object"}},
    "recent": {"type": "array", "items": {"type": "object"}},
    "text": {"type": "string"},
    "runId": {"type": "string"},
    "sessionKey": {"type": "string"},
    "runStatus": {"type": "string"},
    "result": {"type": "string"}
  },
  "required": ["status"]
}`

// SubagentActions are what agents may do with their children beside listing them, once a configuration lets them.
func SubagentActions() []string { return []string{"kill", "steer", "wait"} }

type listedSubagents struct {
	Status    string              `json:"status"`
	Action    string              `json:"action"`
	Requester string              `json:"requesterSessionKey"`
	Caller    string              `json:"callerSessionKey"`
	Subagent  bool                `json:"callerIsSubagent"`
	Total     int                 `json:"total"`
	Active    []agentrun.Subagent `json:"active"`
	Recent    []agentrun.Subagent `json:"recent"`
	Text      string              `json:"text"`
}

type handledSubagent struct {
	Status     string `json:"status"`
	Action     string `json:"action"`
	RunID      string `json:"runId"`
	SessionKey string `json:"sessionKey"`
	RunStatus  string `json:"runStatus"`
	Result     string `json:"result,omitzero"`
}

// Subagents lists the children of a session (spec/session-tools.md, 6.2), and stops, steers and awaits them where actions
// names that: some of [SubagentActions].
func Subagents(runs Runs, actions ...string) Tool {
	more := ""
	if len(actions) > 0 {
		more = ", or " + strings.Join(actions, ", ")
	}
	return Tool{
		Name:        SubagentsName,
		Description: "Lists the sub-agents of this session: the active ones, and those that ended lately.",
		Parameters:  jsontext.Value(fmt.Sprintf(subagentsParameters, more)),
		Result:      jsontext.Value(subagentsResult),
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			caller, err := runCaller(c)
			if err != nil {
				return Result{}, err
			}
			p := &parameters{a: a}
			action := p.text("action")
			minutes, ok := p.integer("recentMinutes", 1, false)
			if !ok {
				minutes = agentrun.DefaultRecentMinutes
			}
			switch {
			case p.err != nil:
				return Result{}, p.err
			case slices.Contains(actions, action):
				return handleSubagent(ctx, runs, caller, action, p)
			case action != "" && action != "list":
				return result(refused{Status: "error", Error: fmt.Sprintf("action %q is not supported", action)})
			}
			list, err := runs.Subagents(ctx, caller.Account, caller.Key, minutes)
			if err != nil {
				return Result{}, err
			}
			return result(listedSubagents{
				Status: "ok", Action: "list", Requester: list.Requester, Caller: caller.Key, Subagent: list.IsSubagent, Total: list.Total,
				Active: list.Active, Recent: list.Recent, Text: list.Text,
			})
		},
	}
}

// handleSubagent does something with a child. Sessions that have none control none.
func handleSubagent(ctx context.Context, runs Runs, c agentrun.Caller, action string, p *parameters) (Result, error) {
	target, message := p.required("target"), ""
	if action == "steer" {
		message = p.required("message")
	}
	wait := defaultSendWait
	if seconds, ok := p.integer("timeoutSeconds", 0, false); ok {
		wait = time.Duration(min(seconds, int64(maxSendWait/time.Second))) * time.Second
	}
	if p.err != nil {
		return Result{}, p.err
	}
	child, err := runs.ChildOf(ctx, c.Account, c.Key, target)
	var d agentrun.Details
	if err == nil {
		switch action {
		case "kill":
			d, err = runs.Cancel(ctx, c.Account, child.RunID)
		case "steer":
			d, err = runs.Steer(ctx, c.Account, child.RunID, message)
		case "wait":
			d, err = runs.Wait(ctx, c.Account, child.RunID, wait)
		}
	}
	if text := refusedText(err); text != "" {
		return result(refused{Status: "error", Error: text})
	}
	if err != nil {
		return Result{}, err
	}
	return result(handledSubagent{
		Status: "ok", Action: action, RunID: d.ID, SessionKey: d.SessionKey, RunStatus: string(d.Status), Result: d.Result,
	})
}
