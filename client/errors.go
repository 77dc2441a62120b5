package client

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// Error is what the server answered in place of a result. It unwraps to the [*sessile.Error], so that
// [sessile.CodeOf] works on it. Details are a list of [sessile.FieldError] for validation_error and a
// [jsontext.Value] otherwise.
type Error struct {
	Status    int    // of HTTP
	RequestID string // under which the server's log knows the request; "" when it did not say

	refusal *sessile.Error
}

// Error is the code and the message.
func (e *Error) Error() string { return e.refusal.Error() }

// Unwrap returns what the server said.
func (e *Error) Unwrap() error { return e.refusal }

// UnreachableError says that no answer of a Sessile server came: there was none, it broke off, or it was another
// program's. Whether a request that changes something took effect is then unknown.
type UnreachableError struct {
	Where string // URL or socket
	Err   error
}

// Error names the server and what happened.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cannot reach a Sessile server at %s: %v", e.Where, e.Err)
}

// Unwrap returns what happened.
func (e *UnreachableError) Unwrap() error { return e.Err }

// LargeAnswerError says that an answer was larger than Options.MaxAnswerBytes. A request that changes something has taken
// effect.
type LargeAnswerError struct{ Limit int64 }

// Error names the limit.
func (e *LargeAnswerError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes", e.Limit)
}

// envelope is every answer (spec/governed-state.md, 3.1).
type envelope struct {
	Data  jsontext.Value `json:"data"`
	Meta  *Meta          `json:"meta"`
	Error *errorBody     `json:"error"`
}

type errorBody struct {
	Code    sessile.Code   `json:"code"`
	Message string         `json:"message"`
	Details jsontext.Value `json:"details"`
}

func (b *errorBody) decode() *sessile.Error {
	e := &sessile.Error{Code: b.Code, Message: b.Message}
	if b.Details == nil {
		return e
	}
	e.Details = b.Details
	if b.Code == sessile.CodeValidation {
		var fields []sessile.FieldError
		if json.Unmarshal(b.Details, &fields) == nil {
			e.Details = fields
		}
	}
	return e
}

// busy reports whether the server turned a request away before it did anything.
func busy(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && refused.refusal.Code == sessile.CodeServerBusy
}

// missing is the refusal of a request that lacks something the server could only ask for.
func missing(path string) error {
	return sessile.Invalid(sessile.FieldError{Path: path, Code: "required", Message: "this is required"})
}

// checkSlot refuses a slot without its namespace (spec/governed-state.md, section 12).
func checkSlot(namespace, slot string) error {
	if slot == "" || namespace != "" {
		return nil
	}
	return sessile.Invalid(sessile.FieldError{Path: "slot", Code: "conflict", Message: "this needs a namespace"})
}
