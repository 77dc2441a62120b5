package agenttool

import (
	"context"

	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/turn"
)

// ForTurns lets models call the tools of a runner while they work on a turn. Sandboxed tells which agents run in a sandbox.
func ForTurns(r *Runner, sandboxed func(agent string) bool) turn.Tools {
	return turnTools{r, sandboxed}
}

type turnTools struct {
	runner    *Runner
	sandboxed func(agent string) bool
}

func (t turnTools) caller(c turn.ToolCaller) Caller {
	return Caller{Account: c.Account, SessionKey: &c.SessionKey, Sandboxed: t.sandboxed(c.AgentID), Channel: c.Channel, RunID: c.RunID}
}

// Offer is part of [turn.Tools].
func (t turnTools) Offer(c turn.ToolCaller) []model.Tool {
	tools := t.runner.Tools(t.caller(c))
	offered := make([]model.Tool, len(tools))
	for i, tool := range tools {
		offered[i] = model.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters}
	}
	return offered
}

// Use is part of [turn.Tools].
func (t turnTools) Use(ctx context.Context, c turn.ToolCaller, call model.ToolCall) turn.ToolResult {
	text, answer, err := t.runner.ForModel(ctx, t.caller(c), call.Name, []byte(call.Arguments), 0)
	if err != nil {
		return turn.ToolResult{Text: text, Failed: true}
	}
	return turn.ToolResult{Text: text, Yields: yields(cleanName(call.Name), answer)}
}
