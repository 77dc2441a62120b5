package turn

import (
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/state"
)

// Run types, as they stand in the built-in state (spec/governed-state.md, 1.3).
const (
	RunTypeRespond    = "respond"
	RunTypeRegenerate = "regenerate_page"
	RunTypeRetry      = "retry_turn"
	RunTypeEdit       = "edit_and_regenerate"
)

// Request is what every turn takes.
type Request struct {
	Params    model.Params
	Writes    []state.TurnWrite
	RequestID string // of the HTTP request, kept with the mutations

	// Observe, if set, hears of what happens, and makes the model stream. It is called from the goroutine that called
	// the use case and must not block for long.
	Observe func(Event)

	// OfferTools lets the model call the tools of the session.
	OfferTools bool

	// IncludePrompt and IncludeTrace ask for Prompt and Trace of the result.
	IncludePrompt bool
	IncludeTrace  bool

	// ConfirmedMutationIDs are the mutations whose replay the caller confirms (replay guard, 5.3).
	ConfirmedMutationIDs []string
}

// RespondRequest asks for a new floor on a branch.
type RespondRequest struct {
	Request
	Message       string
	BranchID      string // "" is main
	SourceFloorID string // where a new branch starts; ignored on a branch that has floors
}

// EditRequest asks for a user message to be said differently, on a new branch.
type EditRequest struct {
	Request
	Content  string
	BranchID string // "" gets a generated name
}

// Result is a committed turn.
type Result struct {
	FloorID          string
	FloorNo          int64
	BranchID         string
	PreviousFloorID  string // of a regenerate
	SourceFloorID    string // of an edit
	SourceMessageID  string // of an edit
	GeneratedText    string
	Summaries        []string
	PromptTokens     int64
	CompletionTokens int64
	TotalTokens      int64
	Prompt           *Prompt // nil unless asked for
	Trace            *Trace  // nil unless asked for
}

// Trace tells when a run entered its phases.
type Trace struct {
	RunID  string
	Phases []PhaseEntry
}

// PhaseEntry is a phase and the time at which it was entered, in milliseconds since 1970.
type PhaseEntry struct {
	Phase     Phase
	EnteredAt int64
}
