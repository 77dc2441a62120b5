package extstate

import "sync"

// Entry is one node of a session's tree. Entries of all types count, not only messages.
type Entry struct {
	ID       string
	ParentID *string // nil for a root
}

// View is what a call sees of the session it works for: which session it is, where in its tree the user stands, and the
// tree. It must not change during a call. A View that also has a method UI() [UI] is told of refusals.
type View interface {
	// SessionID is the id of the session, from the header of its file.
	SessionID() string
	// Leaf is the entry on which the session stands; ok is false when there is none.
	Leaf() (id string, ok bool)
	// Entries lists the nodes. A slice that was handed out is only ever appended to; whoever changes entries in another way
	// hands out a new slice. It is not called while Version says that the entries are unchanged.
	Entries() []Entry
	// Version names a state of the entries: the same session id with the same version other than 0 promises the same
	// entries, within this process. 0 promises nothing: then the slice is asked for at every call, and what was not appended
	// to the slice of the call before is compared in full.
	Version() uint64
}

// Level is how much a notification matters.
type Level string

// The levels of notifications.
const (
	LevelInfo    Level = "info"
	LevelWarning Level = "warning"
	LevelError   Level = "error"
)

// UI talks to the user.
type UI interface {
	// Notify shows a message. Its error takes the place of the error that was to be told.
	Notify(message string, level Level) error
	// Confirm asks a question; false is no, or no answer.
	Confirm(question string) (bool, error)
}

// uiOf is the view's user interface, or nil.
func uiOf(view View) UI {
	if v, ok := view.(interface{ UI() UI }); ok {
		return v.UI()
	}
	return nil
}

// Tree is a View for programs that have no tree of their own: entries that are appended, and a leaf. It may be used by
// several goroutines.
type Tree struct {
	sessionID string

	mu      sync.Mutex
	entries []Entry
	leaf    string
	hasLeaf bool
}

var _ View = (*Tree)(nil)

// NewTree is the empty tree of a session.
func NewTree(sessionID string) *Tree { return &Tree{sessionID: sessionID} }

// Append adds an entry below the leaf, as a root when there is no leaf, and stands on it.
func (t *Tree) Append(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := Entry{ID: id}
	if t.hasLeaf {
		parent := t.leaf
		entry.ParentID = &parent
	}
	t.entries = append(t.entries, entry)
	t.leaf, t.hasLeaf = id, true
}

// Goto stands on an entry.
func (t *Tree) Goto(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaf, t.hasLeaf = id, true
}

// GotoNone stands before the first entry.
func (t *Tree) GotoNone() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaf, t.hasLeaf = "", false
}

// SessionID implements [View].
func (t *Tree) SessionID() string { return t.sessionID }

// Leaf implements [View].
func (t *Tree) Leaf() (id string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leaf, t.hasLeaf
}

// Entries implements [View].
func (t *Tree) Entries() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[:len(t.entries):len(t.entries)]
}

// Version implements [View]: entries are only appended.
func (t *Tree) Version() uint64 { return 0 }
