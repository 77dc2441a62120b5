// Package model is what a run talks to: a language model behind one small interface. Package echo answers without any
// model; package openai talks to every OpenAI-compatible endpoint.
package model

import "context"

// Message is one entry of a conversation. Role is system, user or assistant.
type Message struct {
	Role    string
	Content string
}

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

	// OnText, if set, asks for the text as it comes: it is called with each piece, in order, from the goroutine that
	// called Generate. The pieces together are the Text of the response.
	OnText func(text string)
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	TotalTokens  int64
}

// Response is a finished generation.
type Response struct {
	Text  string
	Usage Usage
}

// Model generates. Implementations are safe for concurrent use, stop when the context ends and then return an error
// that wraps the context's. An error's text may reach a log, never a client; it must hold no secret.
type Model interface {
	Generate(ctx context.Context, request Request) (Response, error)
}
