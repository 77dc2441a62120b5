package sessile

// SessionStatus tells whether a session takes writes.
type SessionStatus string

// An archived session answers every read; state writes, registrations and turns are refused, branch and floor
// management stays possible (spec/governed-state.md, 1.1).
const (
	SessionActive   SessionStatus = "active"
	SessionArchived SessionStatus = "archived"
)

// Session is one conversation, owned by one account.
type Session struct {
	Row        int64 // the store's own number, meaningless outside
	AccountRow int64
	ID         string
	Account    string
	Key        string // its stable name; unique in the account (spec/session-tools.md, 1.1 and 1.2)
	AgentID    string
	Title      *string
	Label      *string
	Channel    string // where it is bound to; "" for nowhere
	Status     SessionStatus
	Settings   []byte // JSON object; the session package knows its members
	PinnedAt   int64  // 0 is not pinned
	ArchivedAt int64  // 0 is not archived

	DisplayName string
	Subject     string
	ChatType    string // direct, group, channel; "" for unknown
	SpawnedBy   string // key of the session that spawned this one; "" for none, as for the next two
	ParentKey   string // key of the parent of a thread
	OwnerKey    string // key of the session that owns it
	Details     []byte // JSON object, or nil; the session package knows its members

	Lane Lane   // "" is stored as other; fixed, as its name is
	Name string // its key without the agent where that is one word, else ""

	Worldbook   int64 // row of the bound worldbook; 0 for none
	WorldbookID string

	CreatedAt int64 // milliseconds since the Unix epoch, as all times
	UpdatedAt int64
}

// Page selects a stretch of a list.
type Page struct {
	Limit      int
	Offset     int
	SortBy     string // a name the list documents
	Descending bool
}

// SessionFilter narrows a list of sessions; zero members do not narrow.
type SessionFilter struct {
	Key     string
	Status  SessionStatus
	Keyword string // case-insensitive part of the title
	Page    Page   // sorts by created_at or updated_at
}

// Lane is what the key and the chat type of a session say it is, whatever is configured.
type Lane string

// The lanes.
const (
	LaneCron  Lane = "cron"
	LaneHook  Lane = "hook"
	LaneNode  Lane = "node"
	LaneGroup Lane = "group"
	LaneOther Lane = "other"
)

// Lanes lists all of them.
func Lanes() []Lane { return []Lane{LaneCron, LaneHook, LaneNode, LaneGroup, LaneOther} }

// SessionSelection narrows what [SessionReader.ListSessions] walks over; zero members do not narrow. Sessions that one of
// Lanes, Names or Keys fits are in it; beside Of and Label these three do not narrow.
type SessionSelection struct {
	Archived bool   // archived ones alone, else those that are not
	Of       string // only the session with this key, and those that it spawned, is the parent of or owns
	Agent    string
	Label    string // exactly this one
	Since    int64  // updated then or later
	Lanes    []Lane
	Names    []string
	Keys     []string
	// Found has the store look for sessions with this text in what a search looks into, beside which Archived, Agent,
	// Label and Since alone narrow. It may find more, and nothing where it is not [SessionReader.Searchable].
	Found string
	After *SessionPlace
}

// SessionPlace is a place in the order of [SessionReader.ListSessions]: behind the session with these values.
type SessionPlace struct {
	PinnedAt, UpdatedAt int64
	Key                 string
}

// MainBranch is the branch every session has.
const MainBranch = "main"

// Branch is a line of floors in a session. A row exists as soon as anything was written under its name; whether the
// branch exists for a caller is decided by its floors and its source (spec/governed-state.md, 1.1).
type Branch struct {
	Row         int64
	Session     int64
	Name        string
	SourceFloor int64 // row of the floor it was registered from; 0 when not registered, or when that floor is gone
	ForkSeq     int64 // CommitSeq of the parent of its first committed floor: older own versions are not in its floors
	Based       bool  // whether the pointers it inherits have been laid
	CreatedAt   int64
	UpdatedAt   int64
}

// BranchSummary is what a list of branches tells.
type BranchSummary struct {
	Name          string
	FloorCount    int
	LatestFloorNo *int64
	LatestFloorID *string
	LatestState   *FloorState
	UpdatedAt     int64
}

// FloorState is the state of a floor's life (spec/governed-state.md, 1.2).
type FloorState string

// The states. Committed is left only by a retry and comes back; failed is final.
const (
	FloorDraft      FloorState = "draft"
	FloorGenerating FloorState = "generating"
	FloorCommitted  FloorState = "committed"
	FloorFailed     FloorState = "failed"
)

// Floor is one turn's place on a branch, and a point in the log of mutations.
type Floor struct {
	Row              int64
	Session          int64
	Branch           int64
	Parent           int64 // row; 0 when none
	ID               string
	SessionID        string
	BranchName       string
	ParentID         *string
	No               int64
	State            FloorState
	TokenIn          int64
	TokenOut         int64
	CreatedAt        int64
	UpdatedAt        int64
	SupersededAt     *int64
	SupersededByID   *string
	Deleted          bool
	CommitSeq        int64 // log position of the first commit
	SnapshotSeq      int64 // log position of the latest commit: what was materialised by then is in the snapshot
	FirstCommittedAt int64
	CommittedAt      int64
	BranchForkSeq    int64 // ForkSeq of its branch
	Replaces         int64 // row of the floor it will supersede when it commits; it is in no list until then
}

// HasSnapshot reports whether the floor stores snapshots: bare floors and floors never committed do not.
func (f *Floor) HasSnapshot() bool { return f.CommittedAt > 0 }

// FloorFilter narrows a list of floors; zero members do not narrow. Superseded floors are never listed.
type FloorFilter struct {
	Account   string
	SessionID string
	Branch    string
	State     FloorState
	Page      Page // sorts by created_at, updated_at or floor_no
}

// PageKind tells what a content page holds.
type PageKind string

// A turn has one active input page and one active output page; a retry makes a new output page active.
const (
	PageInput  PageKind = "input"
	PageOutput PageKind = "output"
	PageMixed  PageKind = "mixed"
)

// ContentPage is a version of content in a floor.
type ContentPage struct {
	Row       int64
	Floor     int64
	ID        string
	Kind      PageKind
	No        int64
	Active    bool
	Version   int64
	Summaries []byte // JSON list of texts; nil on input pages
}

// Message is one transcript row of a floor.
type Message struct {
	Row           int64
	Page          int64
	PageID        string
	ID            string
	Seq           int64
	Role          string // system, user, assistant, narrator; ingested rows may also be tool or toolResult
	Content       string
	ContentFormat string // text, or blocks: a JSON list
	Extra         []byte // JSON object of further members as they were ingested; nil for none
	TokenCount    int64
	Hidden        bool
	Source        *string
	CreatedAt     int64
}

// MessageFilter narrows a list of messages; zero members do not narrow.
type MessageFilter struct {
	Account string
	PageID  string
	Role    string
	Hidden  *bool
	Page    Page // sorts by created_at or seq
}
