package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/config"
)

// reachError is a store or server that cannot be reached.
type reachError struct{ err error }

func (e *reachError) Error() string { return e.err.Error() }
func (e *reachError) Unwrap() error { return e.err }

// usageError is a command line that says too little or too much.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

// hintedError is an error with advice of its own.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// fail prints an error and returns the exit code for it.
func fail(w io.Writer, err error) int {
	fmt.Fprintf(w, "sessile: %s\n", describe(err))
	if refused, ok := errors.AsType[*sessile.Error](err); ok {
		printFields(w, refused)
	}
	if advice := hintFor(err); advice != "" {
		fmt.Fprintf(w, "hint: %s\n", advice)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*reachError](err); ok {
		return exitReach
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return exitReach
	}
	return exitRefused
}

// describe is the message with its code. The message may quote what somebody else wrote.
func describe(err error) string {
	switch exitCode(err) {
	case exitUsage, exitReach:
		return visible(err.Error())
	}
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if refused, ok := errors.AsType[*sessile.Error](err); ok {
		return fmt.Sprintf("%s (%s)", oneLine(refused.Message), oneLine(string(refused.Code)))
	}
	return visible(err.Error())
}

// printFields lists the further problems of a request; the first is the message.
func printFields(w io.Writer, e *sessile.Error) {
	fields, ok := e.Details.([]sessile.FieldError)
	if !ok {
		return
	}
	for i, f := range fields {
		if i > 0 {
			fmt.Fprintf(w, "  %s: %s\n", oneLine(f.Path), oneLine(f.Message))
		}
	}
}

// hintFor is what to do about an error, where that can be known.
func hintFor(err error) string {
	if e, ok := errors.AsType[*hintedError](err); ok {
		return e.hint
	}
	if e, ok := errors.AsType[*usageError](err); ok {
		return e.hint
	}
	if _, ok := errors.AsType[*client.Error](err); ok {
		return hintForCode(sessile.CodeOf(err))
	}
	return ""
}

func hintForCode(code sessile.Code) string {
	switch code {
	case sessile.CodeNotFound, sessile.CodeFloorNotFound, sessile.CodeSourceFloorNotFound:
		return "sessile sessions list and sessile floors list show what there is"
	case sessile.CodeNamespaceNotRegistered:
		return "register it with: sessile state register NAMESPACE"
	case sessile.CodeNamespaceAlreadyRegistered:
		return "it can be used as it is; sessile state namespaces shows it"
	case sessile.CodePublicWriteForbidden, sessile.CodeNamespaceReserved:
		return "game_state is written by turns alone; register a namespace of your own with: sessile state register NAMESPACE"
	case sessile.CodeSessionArchived, sessile.CodeHostArchived:
		return "bring the session back with: sessile sessions archive --undo ID"
	case sessile.CodeValueTooLarge:
		return "the server's setting quota.valueBytes bounds a value"
	case sessile.CodeNamespaceCountLimit, sessile.CodeNamespaceItemLimit, sessile.CodeNamespaceByteLimit,
		sessile.CodeAccountItemLimit, sessile.CodeAccountByteLimit:
		return "delete sessions or branches that are no longer needed, or raise the server's settings quota.*"
	case sessile.CodeFeatureUnavailable:
		return "the server's setting enableClientData is off"
	case sessile.CodeAuthRequired:
		return "give a key with --api-key or " + envAPIKey
	case sessile.CodeAuthInvalidCredentials, sessile.CodeAuthAccountUnresolved:
		return "check --api-key and " + envAPIKey
	case sessile.CodeHostNotAllowed:
		return "use the name the server listens on, such as 127.0.0.1 or localhost"
	case sessile.CodeGenerationConflict, sessile.CodeActiveRunInProgress:
		return "a turn is running; try again when it has ended"
	case sessile.CodeServerBusy, sessile.CodeCommitBusy:
		return "try again in a moment"
	case sessile.CodeGenerationTimeout:
		return "the server's setting generationTimeout bounds an answer of the model"
	case sessile.CodeBranchExists:
		return "sessile branches list shows the names that are taken"
	case sessile.CodeAmbiguousBranch:
		return "name the session with --session ID"
	default:
		return ""
	}
}
