package agenttool

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Caller is who calls a tool.
type Caller struct {
	Account string
	// SessionKey is the session that the call acts for, in the form that is stored; nil for a call without a session.
	SessionKey *string
	// Sandboxed callers see less of other sessions.
	Sandboxed bool
	// Channel is the live route of the caller; "" for none.
	Channel string
	// RunID is the run in which the tool is called; "" for none.
	RunID string
}

// Tool is what an agent can call.
type Tool struct {
	Name        string
	Description string
	// Parameters and Result are JSON schemas of objects. They use no more than clients of every kind understand.
	Parameters jsontext.Value
	Result     jsontext.Value
	// Required names the parameters that must be there and not null; Types tells of each parameter which JSON type the
	// runner asks for. A tool that reads its parameters itself leaves them out.
	Required []string
	Types    map[string]string
	// Run does the work. Arguments hold what the runner put in, under names that begin with an underscore. Errors with a
	// code of package sessile are the caller's to see; every other error is a fault of ours.
	Run func(ctx context.Context, c Caller, a Arguments) (Result, error)
}

// Result is what a tool answers.
type Result struct {
	Data jsontext.Value // an object
	Text string         // a form for people, where the tool has one
}

// Schema is how a tool is shown to who may call it.
type Schema struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
}
