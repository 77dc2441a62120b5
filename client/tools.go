package client

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool is what an agent can call.
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"` // a JSON schema
}

// ToolCall is a call of a tool for a session; nil is no session. Arguments are a JSON object, none at all an empty one.
type ToolCall struct {
	SessionKey *string        `json:"session_key,omitzero"`
	Arguments  jsontext.Value `json:"arguments,omitzero"`
	Context    ToolContext    `json:"context,omitzero"`
}

// ToolContext is what a tool learns of its caller.
type ToolContext struct {
	Sandboxed bool   `json:"sandboxed,omitzero"`
	Channel   string `json:"channel,omitzero"`
}

// ListTools lists what a session may call: GET /tools.
func (c *Client) ListTools(ctx context.Context, sessionKey string) ([]Tool, error) {
	r := get("tools")
	r.query = url.Values{"session_key": {sessionKey}}
	return call[[]Tool](ctx, c, r)
}

// CallTool calls a tool and returns what it answered, an object: POST /tools/{tool}. It is not tried again once it may have
// been run.
func (c *Client) CallTool(ctx context.Context, tool string, t ToolCall) (jsontext.Value, error) {
	return call[jsontext.Value](ctx, c, post(t, "tools", tool))
}
