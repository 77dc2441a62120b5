// Package model is what a run talks to: a language model behind one small interface. Package echo answers without any
// model; package openai talks to every OpenAI-compatible endpoint.
package model

import (
	"context"
	"errors"
)

// Message is one entry of a conversation. Role is system, user, assistant or tool.
type Message struct {
	Role    string
	Content string
	// ToolCalls are what an assistant asked for; each is answered by a message of role tool with its id.
	ToolCalls  []ToolCall
	ToolCallID string
}

// Tool is offered to a model. Parameters is the JSON schema of an object.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte
}

// ToolCall is a model's wish to have a tool called. Arguments is what it wrote, which should be a JSON object.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// ErrTransient is wrapped by errors of [Model.Generate] that the same request may not meet a moment later: an endpoint that
// cannot be reached, is overloaded or broke down. Errors of the request itself do not wrap it.
var ErrTransient = errors.New("transient")

// Params shape a generation; nil members are left to the model (spec/governed-state.md, 5.3, generation_params).
// A model ignores what it does not know.
type Params struct {
	Temperature       *float64
	TopP              *float64
	TopK              *int64
	MaxOutputTokens   *int64
	FrequencyPenalty  *float64
	PresencePenalty   *float64
	RepetitionPenalty *float64
	MinP              *float64
	StopSequences     []string
	Seed              *int64
	ReasoningEffort   string // low, medium, high or empty
	LogitBias         map[string]int64
	ResponseFormat    []byte // JSON, or nil
}

// Request is one generation.
type Request struct {
	// Model names the model that is to answer, where an endpoint has several; "" for the one that is set up. A model that
	// is the only one ignores it.
	Model    string
	Messages []Message
	Params   Params
	Tools    []Tool // that it may call; a model that calls none ignores them
	// Dir is the folder to work in, for models that do; "" for none in particular.
	Dir string

	// OnText, if set, asks for the text as it comes: it is called with each piece, in order, from the goroutine that
	// called Generate. The pieces together are the Text of the response.
	OnText func(text string)
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	TotalTokens  int64
	CacheRead    int64 // of InputTokens
}

// Add counts another generation in.
func (u *Usage) Add(other Usage) {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.TotalTokens += other.TotalTokens
	u.CacheRead += other.CacheRead
}

// Response is a finished generation. With ToolCalls the model waits for their results before it goes on.
type Response struct {
	Text      string
	Reasoning string // what it thought, where the endpoint tells; never part of Text
	ToolCalls []ToolCall
	Usage     Usage
}

// Model generates. Implementations are safe for concurrent use, stop when the context ends and then return an error
// that wraps the context's. An error's text may reach a log, never a client; it must hold no secret.
type Model interface {
	Generate(ctx context.Context, request Request) (Response, error)
}
