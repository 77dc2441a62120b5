package client

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// TurnOptions is what every turn takes (spec/governed-state.md, 5.3).
type TurnOptions struct {
	SessionStateWrites []TurnWrite       `json:"session_state_writes,omitzero"`
	Config             *TurnConfig       `json:"config,omitzero"`
	GenerationParams   *GenerationParams `json:"generation_params,omitzero"`
	DebugOptions       *DebugOptions     `json:"debug_options,omitzero"`
	Structure          jsontext.Value    `json:"structure,omitzero"`
	Delivery           jsontext.Value    `json:"delivery,omitzero"`
}

// TurnWrite is one write that becomes visible with the turn, or not at all (5.1): a value, or Delete.
type TurnWrite struct {
	Namespace string         `json:"namespace"`
	Slot      string         `json:"slot"`
	Value     jsontext.Value `json:"value,omitzero"`
	Delete    bool           `json:"delete,omitzero"`
}

// TurnConfig switches parts of a turn. Its members are camelCase on the wire.
type TurnConfig struct {
	EnableTools               *bool  `json:"enableTools,omitzero"`
	EnableDirector            *bool  `json:"enableDirector,omitzero"`
	EnableVerifier            *bool  `json:"enableVerifier,omitzero"`
	EnableMemoryConsolidation *bool  `json:"enableMemoryConsolidation,omitzero"`
	VerifierFailStrategy      string `json:"verifierFailStrategy,omitzero"` // warn, block or retry
	ToolMode                  string `json:"toolMode,omitzero"`             // inline, standalone or both
	MaxRetries                *int   `json:"maxRetries,omitzero"`           // 0 to 5
}

// GenerationParams are handed to the model; what is zero is left to it.
type GenerationParams struct {
	Temperature       *float64         `json:"temperature,omitzero"`
	MaxOutputTokens   *int64           `json:"max_output_tokens,omitzero"`
	TopP              *float64         `json:"top_p,omitzero"`
	TopK              *int64           `json:"top_k,omitzero"`
	FrequencyPenalty  *float64         `json:"frequency_penalty,omitzero"`
	PresencePenalty   *float64         `json:"presence_penalty,omitzero"`
	StopSequences     []string         `json:"stop_sequences,omitzero"`
	Seed              *int64           `json:"seed,omitzero"`
	RepetitionPenalty *float64         `json:"repetition_penalty,omitzero"`
	MinP              *float64         `json:"min_p,omitzero"`
	LogitBias         map[string]int64 `json:"logit_bias,omitzero"`
	ResponseFormat    jsontext.Value   `json:"response_format,omitzero"` // an object
	ReasoningEffort   string           `json:"reasoning_effort,omitzero"`
}

// DebugOptions ask for more than the answer.
type DebugOptions struct {
	IncludePromptSnapshot   bool `json:"include_prompt_snapshot,omitzero"`
	IncludeRuntimeTrace     bool `json:"include_runtime_trace,omitzero"`
	IncludeWorldbookMatches bool `json:"include_worldbook_matches,omitzero"`
}

// RespondRequest asks for a new floor on a branch.
type RespondRequest struct {
	Message                 string         `json:"message"`
	BranchID                string         `json:"branch_id,omitzero"`       // default main
	SourceFloorID           string         `json:"source_floor_id,omitzero"` // where a new branch starts
	PromptIntent            string         `json:"prompt_intent,omitzero"`   // normal, continue, impersonate, swipe, regenerate or quiet
	PromptRuntimeInjections jsontext.Value `json:"prompt_runtime_injections,omitzero"`
	TurnOptions
}

// RerunRequest runs something again. The confirmed ids answer the replay guard.
type RerunRequest struct {
	ConfirmedExecutionIDs            []string `json:"confirmed_execution_ids,omitzero"`
	ConfirmedSessionStateMutationIDs []string `json:"confirmed_session_state_mutation_ids,omitzero"`
	TurnOptions
}

// EditRequest says a user message differently, on a new branch.
type EditRequest struct {
	Content  string `json:"content"`
	BranchID string `json:"branch_id,omitzero"` // default a name that is made up
	RerunRequest
}

// Turn is a committed turn. BranchID is empty after a regenerate, PreviousFloorID in all other cases; the sources are
// those of an edit.
type Turn struct {
	FloorID         string   `json:"floor_id"`
	FloorNo         int64    `json:"floor_no"`
	BranchID        string   `json:"branch_id,omitzero"`
	PreviousFloorID string   `json:"previous_floor_id,omitzero"`
	SourceFloorID   string   `json:"source_floor_id,omitzero"`
	SourceMessageID string   `json:"source_message_id,omitzero"`
	GeneratedText   string   `json:"generated_text"`
	Summaries       []string `json:"summaries"`
	TotalUsage      Usage    `json:"total_usage"`
	FinalState      string   `json:"final_state"`

	PromptSnapshot jsontext.Value `json:"prompt_snapshot,omitzero"` // what DebugOptions asked for
	RuntimeTrace   jsontext.Value `json:"runtime_trace,omitzero"`
}

// Respond answers a message with a new floor: POST /sessions/{session}/respond. It returns when the floor has committed.
// When ctx ends before that, the server gives the turn up.
func (c *Client) Respond(ctx context.Context, sessionID string, r RespondRequest) (Turn, error) {
	return call[Turn](ctx, c, post(r, "sessions", sessionID, "respond"))
}

// Regenerate replaces the latest committed floor of main: POST /sessions/{session}/regenerate.
func (c *Client) Regenerate(ctx context.Context, sessionID string, r RerunRequest) (Turn, error) {
	return call[Turn](ctx, c, post(r, "sessions", sessionID, "regenerate"))
}

// Retry runs a committed floor again in place: POST /floors/{floor}/retry.
func (c *Client) Retry(ctx context.Context, floorID string, r RerunRequest) (Turn, error) {
	return call[Turn](ctx, c, post(r, "floors", floorID, "retry"))
}

// Edit says a user message differently and answers it on a new branch: POST /messages/{message}/edit-and-regenerate. The
// old message and its floor stay as they are.
func (c *Client) Edit(ctx context.Context, messageID string, r EditRequest) (Turn, error) {
	return call[Turn](ctx, c, post(r, "messages", messageID, "edit-and-regenerate"))
}
