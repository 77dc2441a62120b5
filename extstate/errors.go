package extstate

import (
	"errors"
	"fmt"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// Action is what was to be done to a value when another process held the session.
type Action string

// The actions that need a session's lock.
const (
	ActionWrite Action = "write"
	ActionDrop  Action = "drop"
	ActionHold  Action = "hold"
)

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("session-state: closed")

// ArgumentError says what is wrong with an option (section 3).
type ArgumentError struct{ message string }

func (e *ArgumentError) Error() string { return "session-state: " + e.message }

// ValueError says that a value has no JSON form. Nothing was locked or written (section 8).
type ValueError struct {
	Err    error // the encoder's; nil for an undefined value
	reason string
}

func (e *ValueError) Error() string { return "session-state: the value is " + e.reason }
func (e *ValueError) Unwrap() error { return e.Err }

// RefusedError says that somebody else writes the session just now (section 7). Nothing was changed; trying again soon is
// reasonable.
type RefusedError struct {
	Action    Action
	SessionID string
	Holder    string // text of the lock row, "pid:<decimal>" as a rule
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("session-state: %s refused — initiator: %s; action: %s; object: session %s; "+
		"reason: one writer at a time, and the session is being written", e.Action, e.Holder, e.Action, e.SessionID)
}

// OpenError says that the file could not be opened or is not a state file. The next call tries again.
type OpenError struct {
	Path string
	Err  error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("session-state: cannot open %s: %v", e.Path, e.Err)
}
func (e *OpenError) Unwrap() error { return e.Err }

// CorruptError says that the stored text is not JSON. It stays an error until the value is written anew.
type CorruptError struct {
	PluginID, SessionID, BranchID string
	Err                           error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("session-state: the value of plugin %s in session %s, branch %q, is not JSON", e.PluginID, e.SessionID, e.BranchID)
}
func (e *CorruptError) Unwrap() error { return e.Err }

// DecodeError says that the stored JSON does not fit the Go type of the instance.
type DecodeError struct {
	PluginID, SessionID, BranchID string
	Err                           error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("session-state: the value of plugin %s in session %s, branch %q, does not fit the Go type",
		e.PluginID, e.SessionID, e.BranchID)
}
func (e *DecodeError) Unwrap() error { return e.Err }

// TreeError says that the entries are damaged: they form a cycle, or a key would be empty and so name the row of the
// session scope (section 4.2).
type TreeError struct {
	SessionID string
	EntryID   string // where the walk met the damage
	Reason    string
}

func (e *TreeError) Error() string {
	return fmt.Sprintf("session-state: damaged tree of session %s at entry %q: %s", e.SessionID, e.EntryID, e.Reason)
}

// SQLiteError is a failure of a statement, with SQLite's text as it is. Code 5 is "database is locked": other processes
// kept the file for longer than 5 s.
type SQLiteError struct {
	Code int // primary result code
	Err  error
}

func (e *SQLiteError) Error() string { return e.Err.Error() }
func (e *SQLiteError) Unwrap() error { return e.Err }

// sqliteError gives a driver's error its kind and leaves others as they are.
func sqliteError(err error) error {
	var done *SQLiteError
	if err == nil || errors.As(err, &done) {
		return err
	}
	if code, ok := sqliteconn.Code(err); ok {
		return &SQLiteError{Code: code, Err: err}
	}
	return err
}
