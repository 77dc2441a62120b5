package statemodel

// Code says why an operation was refused; the codes are those of the sheet. The empty code is success.
type Code string

// The codes of spec/governed-state.md that the model can answer.
const (
	OK                         Code = ""
	NotFound                   Code = "not_found"
	FloorNotFound              Code = "floor_not_found"
	SourceFloorNotFound        Code = "source_floor_not_found"
	NoFloorToRegenerate        Code = "no_floor_to_regenerate"
	NoUserMessage              Code = "no_user_message"
	FloorExists                Code = "floor_exists"
	BranchExists               Code = "branch_exists"
	ProtectedBranch            Code = "protected_branch"
	InvalidState               Code = "invalid_state"
	SessionArchived            Code = "session_archived"
	OrchestrationFailed        Code = "orchestration_failed"
	HostArchived               Code = "session_state_host_archived"
	NamespaceReserved          Code = "session_state_namespace_reserved"
	NamespaceAlreadyRegistered Code = "session_state_namespace_already_registered"
	NamespaceNotRegistered     Code = "session_state_namespace_not_registered"
	SlotNotRegistered          Code = "session_state_slot_not_registered"
	PublicWriteForbidden       Code = "session_state_public_write_forbidden"
	PayloadTooLarge            Code = "session_state_payload_too_large"
	NamespaceCountLimit        Code = "session_state_namespace_count_limit_exceeded"
	NamespaceItemLimit         Code = "session_state_namespace_item_limit_exceeded"
	NamespaceByteLimit         Code = "session_state_namespace_byte_limit_exceeded"
	AccountItemLimit           Code = "session_state_account_item_limit_exceeded"
	AccountByteLimit           Code = "session_state_account_byte_limit_exceeded"
)
