package httpapi

import (
	"net/http"

	"github.com/sessile-dev/sessile"
)

// statusClientClosed is the status of a request whose work was cancelled (spec/governed-state.md, 5.5).
const statusClientClosed = 499

// statuses is the one table from code to status (spec/governed-state.md, 4.8, 5.5, 6 and 8; design.md, section 5).
var statuses = map[sessile.Code]int{
	sessile.CodeInternal:         http.StatusInternalServerError,
	sessile.CodeValidation:       http.StatusBadRequest,
	sessile.CodeNotFound:         http.StatusNotFound,
	sessile.CodeMethodNotAllowed: http.StatusMethodNotAllowed,
	sessile.CodePayloadTooLarge:  http.StatusRequestEntityTooLarge,
	sessile.CodeUnsupportedMedia: http.StatusUnsupportedMediaType,
	sessile.CodeServerBusy:       http.StatusServiceUnavailable,
	sessile.CodeRateLimited:      http.StatusTooManyRequests,
	sessile.CodeHostNotAllowed:   http.StatusForbidden,
	sessile.CodeOriginNotAllowed: http.StatusForbidden,

	sessile.CodeAuthRequired:           http.StatusUnauthorized,
	sessile.CodeAuthInvalidCredentials: http.StatusForbidden,
	sessile.CodeAuthAccountUnresolved:  http.StatusForbidden,

	sessile.CodeFeatureUnavailable: http.StatusServiceUnavailable,

	sessile.CodeNamespaceNotRegistered:     http.StatusNotFound,
	sessile.CodeSlotNotRegistered:          http.StatusNotFound,
	sessile.CodePublicWriteForbidden:       http.StatusConflict,
	sessile.CodeNamespaceReserved:          http.StatusConflict,
	sessile.CodeNamespaceAlreadyRegistered: http.StatusConflict,
	sessile.CodeHostArchived:               http.StatusConflict,
	sessile.CodeValueTooLarge:              http.StatusConflict,
	sessile.CodeNamespaceCountLimit:        http.StatusConflict,
	sessile.CodeNamespaceItemLimit:         http.StatusConflict,
	sessile.CodeNamespaceByteLimit:         http.StatusConflict,
	sessile.CodeAccountItemLimit:           http.StatusConflict,
	sessile.CodeAccountByteLimit:           http.StatusConflict,
	sessile.CodeStageFailed:                http.StatusInternalServerError,
	sessile.CodeReplayBlocked:              http.StatusConflict,
	sessile.CodeReplayConfirmation:         http.StatusConflict,

	sessile.CodeSessionArchived:        http.StatusConflict,
	sessile.CodeGenerationConflict:     http.StatusConflict,
	sessile.CodeGenerationTargetStale:  http.StatusConflict,
	sessile.CodeGenerationCancelled:    statusClientClosed,
	sessile.CodeGenerationTimeout:      http.StatusGatewayTimeout,
	sessile.CodeOrchestrationFailed:    http.StatusInternalServerError,
	sessile.CodeTurnCommitFailed:       http.StatusInternalServerError,
	sessile.CodeCommitConflict:         http.StatusConflict,
	sessile.CodeCommitBusy:             http.StatusServiceUnavailable,
	sessile.CodeInvalidState:           http.StatusConflict,
	sessile.CodeBranchExists:           http.StatusConflict,
	sessile.CodeProtectedBranch:        http.StatusConflict,
	sessile.CodeAmbiguousBranch:        http.StatusConflict,
	sessile.CodeActiveRunInProgress:    http.StatusConflict,
	sessile.CodeFloorNotFound:          http.StatusNotFound,
	sessile.CodeFloorExists:            http.StatusConflict,
	sessile.CodeMessageNotFound:        http.StatusNotFound,
	sessile.CodeAuthInvalidToken:       http.StatusForbidden,
	sessile.CodeInvalidMessageRole:     http.StatusBadRequest,
	sessile.CodeInvalidMessageScope:    http.StatusBadRequest,
	sessile.CodeGenerationQueueTimeout: http.StatusServiceUnavailable,
	sessile.CodeSourceFloorNotFound:    http.StatusNotFound,
	sessile.CodeNoFloorToRegenerate:    http.StatusNotFound,
	sessile.CodeNoUserMessage:          http.StatusNotFound,
	sessile.CodeSessionKeyTaken:        http.StatusConflict,

	sessile.CodePreconditionFailed: http.StatusPreconditionFailed,

	sessile.CodeToolNotFound:         http.StatusNotFound,
	sessile.CodeToolArgumentsInvalid: http.StatusBadRequest,
	sessile.CodeToolError:            http.StatusBadRequest,
	sessile.CodeEntryTooLarge:        http.StatusConflict,
	sessile.CodeEntryLimit:           http.StatusConflict,
	sessile.CodeRevisionMismatch:     http.StatusConflict,
}

// problems collects what is wrong with the fields of a request, so that a caller learns of all of it at once.
type problems struct {
	fields []sessile.FieldError
}

// maxProblems bounds an answer to a request that is wrong everywhere.
const maxProblems = 50

// Words for programs in the details of a validation error.
const (
	wrongSyntax   = "malformed"
	wrongMissing  = "required"
	wrongUnknown  = "unknown_field"
	wrongRepeated = "repeated"
	wrongType     = "wrong_type"
	wrongEmpty    = "empty"
	wrongLength   = "too_long"
	wrongPattern  = "wrong_pattern"
	wrongChoice   = "not_a_choice"
	wrongRange    = "out_of_range"
	wrongPair     = "conflict"
)

func (p *problems) add(path, code, message string) {
	if len(p.fields) < maxProblems {
		p.fields = append(p.fields, sessile.FieldError{Path: path, Message: message, Code: code})
	}
}

// err is the validation error for everything collected, nil when there is nothing.
func (p *problems) err() error {
	if len(p.fields) == 0 {
		return nil
	}
	return sessile.Invalid(p.fields...)
}

// panicked is what a recovered panic becomes: an error without a code.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return "a handler panicked" }
