package session

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// NewSession describes a session to create. Settings holds further members of the session object by their wire name; values
// are valid JSON, checked by the caller.
type NewSession struct {
	Key      string // "" makes one
	AgentID  string // counts for a key that names no agent; "" is the default agent
	Title    *string
	Label    *string
	Channel  string
	Status   sessile.SessionStatus // "" is active
	Settings map[string]jsontext.Value

	DisplayName string
	Subject     string
	ChatType    string // direct, group, channel; "" for unknown
	SpawnedBy   string // keys of sessions, which need not be there; "" for none
	ParentKey   string
	OwnerKey    string
	Details     Details
	UpdatedAt   *int64 // nil is now; for rows that come from elsewhere
}

// Patch changes a session; nil members stay. A setting given as null is removed.
type Patch struct {
	Title    *string
	Label    *string // "" takes it away
	Pinned   *bool
	Status   sessile.SessionStatus
	Settings map[string]jsontext.Value
}

// Session is a session as callers see it.
type Session struct {
	ID         string
	Key        string
	AgentID    string
	Title      *string
	Label      *string
	Channel    string
	Status     sessile.SessionStatus
	PinnedAt   int64 // 0 is not pinned
	ArchivedAt int64 // 0 is not archived
	Settings   map[string]jsontext.Value
	CreatedAt  int64
	UpdatedAt  int64
}

// BatchResult tells what became of one session of a batch, in the order of the request.
type BatchResult struct {
	ID     string
	Action string // updated, deleted, not_found or conflict
}

// Fork is a branch that was registered from a floor.
type Fork struct {
	BranchID      string
	SourceFloorID string
	SourceFloorNo int64
	SessionID     string
}

// DeletedBranch tells what a branch deletion removed.
type DeletedBranch struct {
	BranchID  string
	SessionID string
	Floors    int
}

// NewFloor describes a bare floor: one without content and without snapshots.
type NewFloor struct {
	SessionID     string
	BranchID      string
	No            int64
	ParentFloorID string // "" is none
	State         sessile.FloorState
	TokenIn       int64
	TokenOut      int64
}

// FloorResult is what a committed floor produced.
type FloorResult struct {
	FloorID            string
	OutputPageID       *string
	AssistantMessageID *string
	GeneratedText      string
	Summaries          []string
	PromptTokens       int64
	CompletionTokens   int64
	CommittedAt        int64
}

// TimelineFloor is a floor with its content.
type TimelineFloor struct {
	sessile.Floor
	Pages []TimelinePage
}

// TimelinePage is a content page with its messages in order.
type TimelinePage struct {
	sessile.ContentPage
	Messages []sessile.Message
}
