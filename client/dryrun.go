package client

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// DryRunRequest asks for the prompt of a turn on main (spec/governed-state.md, 5.3).
type DryRunRequest struct {
	Message         string              `json:"message"`
	PromptIntent    string              `json:"prompt_intent,omitzero"`
	DebugOptions    *DryRunDebugOptions `json:"debug_options,omitzero"`
	Budget          *Budget             `json:"budget,omitzero"`
	SourceSelection jsontext.Value      `json:"source_selection,omitzero"`
	Visibility      jsontext.Value      `json:"visibility,omitzero"`
	Structure       jsontext.Value      `json:"structure,omitzero"`
	Delivery        jsontext.Value      `json:"delivery,omitzero"`
}

// DryRunDebugOptions ask for more than the prompt.
type DryRunDebugOptions struct {
	IncludeWorldbookMatches bool `json:"include_worldbook_matches,omitzero"`
}

// Budget bounds a prompt, in tokens.
type Budget struct {
	MaxInputTokens           *int64 `json:"max_input_tokens,omitzero"`
	ReservedCompletionTokens *int64 `json:"reserved_completion_tokens,omitzero"`
}

// DryRun is a prompt that was assembled and not sent. AvailableForReply is nil when no budget was named. Assembly is a
// summary of what was used.
type DryRun struct {
	Messages          []PromptMessage `json:"messages"`
	TokenEstimate     int64           `json:"token_estimate"`
	AvailableForReply *int64          `json:"available_for_reply"`
	MemorySummary     *string         `json:"memory_summary"`
	PromptSnapshot    jsontext.Value  `json:"prompt_snapshot"`
	Assembly          jsontext.Value  `json:"assembly"`
}

// PromptMessage is a message as the model would see it.
type PromptMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// DryRun assembles the prompt of a turn and does nothing else: POST /sessions/{session}/respond/dry-run.
func (c *Client) DryRun(ctx context.Context, sessionID string, r DryRunRequest) (DryRun, error) {
	return call[DryRun](ctx, c, post(r, "sessions", sessionID, "respond", "dry-run"))
}
