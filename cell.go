package sessile

// GameState is the one built-in namespace (spec/governed-state.md, section 2).
const GameState = "game_state"

// The public slots of [GameState].
const (
	SlotScene = "scene"
	SlotWorld = "world"
)

// Namespace is a named group of slots in one session, with its counters.
type Namespace struct {
	Row       int64
	Session   int64
	Name      string
	BuiltIn   bool
	OwnerType string
	OwnerID   string
	Items     int64
	Bytes     int64
	CreatedAt int64
}

// Slot is a materialised state item. FirstSeq is 0 for built-in slots, which are materialised from the start.
type Slot struct {
	Row       int64
	Namespace int64
	Name      string
	FirstSeq  int64
}

// MutationKind tells who wrote.
type MutationKind int

// The kinds, as they are stored.
const (
	KindDirect     MutationKind = 1 // a client, at once
	KindTurn       MutationKind = 2 // a client, with a turn
	KindFirstParty MutationKind = 3 // Sessile itself, with a turn
)

// MutationStatus tells what became of a write.
type MutationStatus int

// The statuses, as they are stored. Staged writes are never in the store: a turn's writes are inserted when it commits
// (applied) or fails after staging (discarded).
const (
	StatusApplied   MutationStatus = 1
	StatusDiscarded MutationStatus = 2
	StatusBlocked   MutationStatus = 3
	StatusUncertain MutationStatus = 4
)

// String is the name on the wire.
func (s MutationStatus) String() string {
	switch s {
	case StatusDiscarded:
		return "discarded"
	case StatusBlocked:
		return "blocked"
	case StatusUncertain:
		return "uncertain"
	}
	return "applied"
}

// ReplaySafety ranks what may happen to a write when its turn runs again (spec/governed-state.md, 1.5).
type ReplaySafety int

// The safeties, as they are stored, from loose to tight. What clients write is always safe.
const (
	ReplaySafe ReplaySafety = iota
	ReplayConfirm
	ReplayNever
	ReplayUncertain
)

// String is the name on the wire.
func (s ReplaySafety) String() string {
	switch s {
	case ReplayConfirm:
		return "confirm_on_replay"
	case ReplayNever:
		return "never_auto_replay"
	case ReplayUncertain:
		return "uncertain"
	}
	return "safe"
}

// Mutation is the append-only record of one write to a cell.
type Mutation struct {
	Address       CellAddress // names of the cell, for a driver that keeps heads at hand; not stored
	Seq           int64       // given by the store, ascending, never reused
	Branch        int64
	Slot          int64
	Present       bool
	Value         []byte // JSON text; nil when not present
	Size          int64  // bytes of the compact {"present":…,"value":…}
	OnLine        bool   // it moved the branch's head; false for discarded ones and for a retry behind a later write
	Materialises  bool   // it is the first applied one of its slot; not stored
	Kind          MutationKind
	Status        MutationStatus
	Safety        ReplaySafety
	Floor         int64 // row of the source floor, 0 for direct writes
	RunID         string
	RequestID     string
	DiscardReason string
	CreatedAt     int64
}

// MutationRecord is a mutation with the names around it, as the observation surface shows it.
type MutationRecord struct {
	Mutation
	Namespace  string
	SlotName   string
	SessionID  string
	BranchName string
	FloorID    *string
}

// MutationFilter narrows a list of mutations; zero members do not narrow. Lists are by created_at, ties by seq.
type MutationFilter struct {
	Branch        string
	Status        MutationStatus
	FloorID       string
	RunID         string
	Namespace     string
	Slot          string
	Direct        *bool  // written at once, or with a turn
	CreatedAfter  *int64 // inclusive
	CreatedBefore *int64 // inclusive
	Page          Page
}

// SlotFilter selects slots by exact names; empty members do not narrow.
type SlotFilter struct {
	Namespace string
	Slot      string
}

// CellAddress names a cell as a caller does.
type CellAddress struct {
	Account   string
	SessionID string
	Branch    string
	Namespace string
	Slot      string
}

// Cell is everything a write has to know about the cell it goes to, found by one statement. Rows are 0 where nothing
// exists yet.
type Cell struct {
	Session        int64
	SessionStatus  SessionStatus
	Account        int64
	Branch         int64
	LastCommitSeq  int64 // highest CommitSeq of any floor ever committed on the branch
	Namespace      int64
	BuiltIn        bool
	Slot           int64
	Materialised   bool
	HeadSeq        int64 // the branch's own head; 0 when it has none
	HeadSize       int64
	HeadFloor      int64
	HeadFromRetry  bool // its floor had committed before the head was written
	NamespaceUsage Usage
	AccountUsage   Usage
}

// Version is the value a mutation gave a cell, seen from a branch or a floor. Seq is 0 for an empty cell.
type Version struct {
	Namespace    string
	Slot         string
	NamespaceRow int64
	SlotRow      int64
	FirstSeq     int64
	Seq          int64
	Branch       int64 // row of the branch the mutation was written on
	Floor        int64 // row of its source floor, 0 for a direct write
	FloorID      string
	Present      bool
	Value        []byte // nil where the caller asked for no values
	Size         int64
	CreatedAt    int64
}

// Point is a place in the log from which a branch's cells are read: the newest own version with After < seq <= At,
// else what the branch inherited. With Floor set, that floor's own exceptions come first.
type Point struct {
	Branch int64
	After  int64
	At     int64
	Floor  int64
}

// PointOf is where a committed floor stands.
func PointOf(f *Floor) Point {
	return Point{Branch: f.Branch, After: f.BranchForkSeq, At: f.CommitSeq, Floor: f.Row}
}

// Usage counts what an account keeps.
type Usage struct {
	Namespaces int64 // custom ones
	Items      int64
	Bytes      int64
}
