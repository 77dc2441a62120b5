package sessile

// EventKind says what changed in a session (spec/session-tools.md, 7.3).
type EventKind string

// The kinds. The first three notify watchers.
const (
	EventHumanDirectMessage EventKind = "human_direct_message"
	EventGoalChanged        EventKind = "goal_changed"
	EventUpstreamMissing    EventKind = "upstream_missing"
	EventRunCompleted       EventKind = "run_completed"
	EventRunFailed          EventKind = "run_failed"
	EventChildSpawned       EventKind = "child_spawned"
	EventCompacted          EventKind = "compacted"
)

// ActorType says who changed something.
type ActorType string

// The actors.
const (
	ActorHuman  ActorType = "human"
	ActorAgent  ActorType = "agent"
	ActorSystem ActorType = "system"
)

// Event is a line of the log of changes: who, what and when, and never what anybody wrote.
type Event struct {
	Sequence   int64 // from one counter for everybody that only grows
	Account    string
	SessionKey string
	SessionID  string // "" for unknown, as for the ids below
	AgentID    string
	Kind       EventKind
	ActorType  ActorType
	ActorID    string
	RunID      string
	OccurredAt int64
	Summary    string
	Payload    []byte // JSON object, or nil
	Dedupe     string // of two events of an account with the same one the first counts; "" for none
}

// EventHead tells how far the log of a session key goes. It outlives the events.
type EventHead struct {
	Head     int64 // sequence of the newest event; 0 for none
	Pruned   int64 // sequence of the newest event that was removed
	Earliest int64 // sequence of the oldest event that is kept; 0 for none
}

// Watch is the cursor of a watcher: what it was told of a target (spec/session-tools.md, 7.5).
type Watch struct {
	Watcher  string // session keys
	Target   string
	LastSeen int64 // it knows of events up to here
	Notified int64 // the notice that waits tells of events up to here
	Material int64 // the newest event that is worth a notice
}

// Notice is a message to a watcher that waits until it is acknowledged: the target changed after LastSeen.
type Notice struct {
	Row       int64
	Watcher   string
	Target    string
	Since     int64
	CreatedAt int64
}

// UnheardNotice is a notice that nobody was woken for yet.
type UnheardNotice struct {
	Row     int64
	Account string
	Watcher string
}

// EventReader reads the log of changes.
type EventReader interface {
	// Events lists events of a session key with a sequence above since, ascending.
	Events(account, sessionKey string, since int64, limit int) ([]Event, error)
	EventHead(account, sessionKey string) (EventHead, error)
	// StateVersions finds the heads of session keys; keys without events are left out.
	StateVersions(account string, sessionKeys []string) (map[string]int64, error)
	// EventNamed finds an event by its dedupe key.
	EventNamed(account, dedupe string) (Event, bool, error)
	Watch(account, watcher, target string) (Watch, bool, error)
	// Watches lists what a session key watches, by target.
	Watches(account, watcher string) ([]Watch, error)
	// WatchersOf lists who watches a session key, by watcher.
	WatchersOf(account, target string) ([]Watch, error)
	// Notices lists what waits for a session key, oldest first.
	Notices(account, watcher string) ([]Notice, error)
	// UnheardNotices lists the notices of all accounts that [EventWriter.HearNotice] was not called for, oldest first.
	UnheardNotices(limit int) ([]UnheardNotice, error)
}

// EventWriter writes the log of changes.
type EventWriter interface {
	// AddEvent appends an event under the next sequence number, which it fills in.
	AddEvent(*Event) error
	// PutWatch inserts or replaces a cursor.
	PutWatch(account string, w Watch) error
	// DeleteWatch removes a cursor with its notice and reports whether there was one.
	DeleteWatch(account, watcher, target string) (bool, error)
	// ForgetWatcher removes all cursors of a watcher, with their notices.
	ForgetWatcher(account, watcher string) error
	// ForgetEvents removes everything about a session key: events, head, cursors and notices on both sides.
	ForgetEvents(account, sessionKey string) error
	// AddNotice adds a notice, unless one for the same pair waits, and fills in its row.
	AddNotice(account string, n *Notice) error
	DeleteNotice(account, watcher, target string) error
	// HearNotice marks a notice: its watcher was woken for it, or needs no waking.
	HearNotice(row int64) error
	// PruneEvents removes up to limit of the events that occurred before a time or are not among the newest keep, and
	// remembers for each session key how far that went. more tells whether any are left.
	PruneEvents(before int64, keep, limit int) (more bool, err error)
	// PruneWatches removes cursors that nothing happened to since a time.
	PruneWatches(before int64) error
}
