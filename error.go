package sessile

import (
	"errors"
	"fmt"
)

// Code is a stable, documented word for what went wrong. Clients branch on it; it never changes meaning.
type Code string

// The codes of spec/governed-state.md, sections 4.8, 5.5, 6 and 8, and of design.md section 5.
const (
	CodeInternal         Code = "internal_error"
	CodeValidation       Code = "validation_error"
	CodeNotFound         Code = "not_found"
	CodeMethodNotAllowed Code = "method_not_allowed"
	CodePayloadTooLarge  Code = "payload_too_large"
	CodeUnsupportedMedia Code = "unsupported_media_type"
	CodeServerBusy       Code = "server_busy"
	CodeRateLimited      Code = "rate_limited"
	CodeHostNotAllowed   Code = "host_not_allowed"
	CodeOriginNotAllowed Code = "origin_not_allowed"

	CodeAuthRequired           Code = "auth_required"
	CodeAuthInvalidCredentials Code = "auth_invalid_credentials"
	CodeAuthInvalidToken       Code = "auth_invalid_token"
	CodeAuthAccountUnresolved  Code = "auth_account_unresolved"

	CodeFeatureUnavailable Code = "feature_unavailable"

	CodeNamespaceNotRegistered     Code = "session_state_namespace_not_registered"
	CodeSlotNotRegistered          Code = "session_state_slot_not_registered"
	CodePublicWriteForbidden       Code = "session_state_public_write_forbidden"
	CodeNamespaceReserved          Code = "session_state_namespace_reserved"
	CodeNamespaceAlreadyRegistered Code = "session_state_namespace_already_registered"
	CodeHostArchived               Code = "session_state_host_archived"
	CodeValueTooLarge              Code = "session_state_payload_too_large"
	CodeNamespaceCountLimit        Code = "session_state_namespace_count_limit_exceeded"
	CodeNamespaceItemLimit         Code = "session_state_namespace_item_limit_exceeded"
	CodeNamespaceByteLimit         Code = "session_state_namespace_byte_limit_exceeded"
	CodeAccountItemLimit           Code = "session_state_account_item_limit_exceeded"
	CodeAccountByteLimit           Code = "session_state_account_byte_limit_exceeded"
	CodeStageFailed                Code = "session_state_stage_failed"
	CodeReplayBlocked              Code = "session_state_replay_blocked"
	CodeReplayConfirmation         Code = "session_state_replay_confirmation_required"

	CodeSessionArchived       Code = "session_archived"
	CodeGenerationConflict    Code = "generation_conflict"
	CodeGenerationTargetStale Code = "generation_target_stale"
	CodeGenerationCancelled   Code = "generation_cancelled"
	CodeGenerationTimeout     Code = "generation_timeout"

	CodeGenerationQueueTimeout Code = "generation_queue_timeout"
	CodeInvalidMessageRole     Code = "invalid_message_role"
	CodeInvalidMessageScope    Code = "invalid_message_scope"

	CodeOrchestrationFailed Code = "orchestration_failed"
	CodeTurnCommitFailed    Code = "turn_commit_failed"
	CodeCommitConflict      Code = "commit_conflict"
	CodeCommitBusy          Code = "commit_busy"
	CodeInvalidState        Code = "invalid_state"
	CodeBranchExists        Code = "branch_exists"
	CodeProtectedBranch     Code = "protected_branch"
	CodeAmbiguousBranch     Code = "ambiguous_branch"
	CodeActiveRunInProgress Code = "active_run_in_progress"
	CodeFloorNotFound       Code = "floor_not_found"
	CodeFloorExists         Code = "floor_exists"
	CodeMessageNotFound     Code = "message_not_found"
	CodeSourceFloorNotFound Code = "source_floor_not_found"
	CodeNoFloorToRegenerate Code = "no_floor_to_regenerate"
	CodeNoUserMessage       Code = "no_user_message"
	CodeSessionKeyTaken     Code = "session_key_taken"

	CodeToolNotFound         Code = "tool_not_found"
	CodeToolArgumentsInvalid Code = "tool_arguments_invalid"
	CodeToolError            Code = "tool_error"

	CodePreconditionFailed Code = "precondition_failed"

	// What key-value state refuses; to callers of a tool all of these are tool_error.
	CodeEntryTooLarge    Code = "entry_too_large"
	CodeEntryLimit       Code = "entry_limit_exceeded"
	CodeRevisionMismatch Code = "revision_mismatch"
)

// Error is the only error type that leaves a use case with something to say to the caller. Code and Message are
// public; Details is public and must be encodable as JSON; Cause is for the log alone and never leaves the process.
// Messages never hold stored values or secrets.
type Error struct {
	Code    Code
	Message string
	Details any
	Cause   error
}

// Error returns the code, the message and, for the log, the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an [Error] with a message for people.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NotFound is the one answer for what is missing, foreign or deleted (spec/governed-state.md, 3.4): it says nothing
// about which of these it is, nor of what.
func NotFound() *Error { return &Error{Code: CodeNotFound, Message: "no such resource"} }

// CodeOf returns the code an error carries, "" for nil, and [CodeInternal] for an error that carries none.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// FieldError is one entry of the details of a [CodeValidation] error: where in the request, in dotted form, what is
// wrong for a person, and a short stable word for a program.
type FieldError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// Invalid makes a [CodeValidation] error out of the fields that were found wrong.
func Invalid(fields ...FieldError) *Error {
	message := "the request is not valid"
	if len(fields) > 0 {
		message = fields[0].Message
		if fields[0].Path != "" {
			message = fields[0].Path + ": " + message
		}
	}
	return &Error{Code: CodeValidation, Message: message, Details: fields}
}
