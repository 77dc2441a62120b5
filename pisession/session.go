package pisession

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// MaxText is how many bytes of a name or of a first message are kept.
const MaxText = 4096

// ErrNotSession says that a file is not a session: its first line that is JSON is not a header.
var ErrNotSession = errors.New("pisession: not a session file")

// Header is the first line of a session file.
type Header struct {
	// ID is the session's id, as it stands there: most are UUIDs, but see [ValidID].
	ID string
	// Version is that of the format: 1 if the file does not say, 3 in all files of today.
	Version int
	// Created is zero if the file does not say it in ISO form.
	Created time.Time
	// WorkingDirectory is where Pi was started; empty if the file does not say.
	WorkingDirectory string
	// ParentSession is the path of the file that this one was forked from; empty if it was not.
	ParentSession string
}

// Summary is what lists of sessions show.
type Summary struct {
	Header
	// Path is where the file is, below the root of the file system it was found in. [Read] leaves it empty.
	Path string
	// Name is the one that was given last, without blanks around it; empty if there is none.
	Name string
	// Messages counts the entries of type message.
	Messages int
	// FirstMessage is the text of the first message of the user that has any; empty if there is none.
	FirstMessage string
	// Modified is the time of the latest message of user or assistant, else that of the header, else that of the file,
	// which [Read] does not know.
	Modified time.Time
}

// Entry is one node of the tree.
type Entry struct {
	ID string
	// Parent is the recorded parent; HasParent is false for a root, which has none.
	Parent    string
	HasParent bool
	// Type is message, model_change, compaction, label, and so on; types that nobody knows are entries like any other.
	Type string
}

// Session is one session file, read to its end. It is not changed after [Read].
type Session struct {
	Summary
	// Faults are the first [MaxFaults] things that Pi would not have written, first those of single lines in their order, then
	// those of the tree. FaultCount counts all of them.
	Faults     []Fault
	FaultCount int

	entries []Entry
	leaf    string
	hasLeaf bool
	tree    tree
}

// Read reads a session. It returns [ErrNotSession] for anything else, and the error of r as it is.
func Read(r io.Reader) (*Session, error) {
	s := &Session{}
	s.tree.start()
	if err := s.read(r, true); err != nil {
		return nil, err
	}
	if n := len(s.entries); n > 0 {
		s.leaf, s.hasLeaf = s.entries[n-1].ID, true
	}
	s.link()
	return s, nil
}

// ReadSummary reads what lists show of a session, at the memory of one buffer. Errors are those of [Read].
func ReadSummary(r io.Reader) (Summary, error) {
	var s Session
	err := s.read(r, false)
	return s.Summary, err
}

// maxHeader is how far into a file Pi looks for a header when it looks for one session among many.
const maxHeader = 1 << 20

// ReadHeader reads no more than the header, which has to lie within the first MiB. Errors are those of [Read].
func ReadHeader(r io.Reader) (Header, error) {
	var s Session
	scan := newScanner(io.LimitReader(r, maxHeader))
	if !s.readHeader(newRecord(scan)) {
		return Header{}, notSession(scan)
	}
	return s.Header, nil
}

func notSession(scan *scanner) error {
	if scan.err != nil && !errors.Is(scan.err, io.EOF) {
		return fmt.Errorf("pisession: %w", scan.err)
	}
	return ErrNotSession
}

func (s *Session) read(r io.Reader, tree bool) error {
	scan := newScanner(r)
	rec := newRecord(scan)
	if !s.readHeader(rec) {
		return notSession(scan)
	}
	for scan.next() {
		switch rec.read() {
		case lineGood:
			s.take(rec, tree)
		case lineBad:
			s.fault(Fault{Kind: FaultLine, Line: scan.line})
		}
	}
	if !errors.Is(scan.err, io.EOF) {
		return fmt.Errorf("pisession: %w", scan.err)
	}
	if s.Modified.IsZero() {
		s.Modified = s.Created
	}
	return nil
}

// readHeader reads the first line that is JSON, and reports whether it is a header.
func (s *Session) readHeader(rec *record) bool {
	for more := true; more; more = rec.scanner.next() {
		switch read := rec.read(); {
		case read == lineBlank:
			continue
		case read == lineBad || rec.nothing():
			s.fault(Fault{Kind: FaultLine, Line: rec.scanner.line})
			continue
		}
		id, ok := rec.id.whole()
		if !ok || !rec.is("session") {
			return false
		}
		s.Header = Header{ID: id, Version: 1, Created: rec.time.moment()}
		if n, ok := rec.version.number(); ok {
			s.Version = int(max(0, min(n, math.MaxInt32)))
		}
		s.WorkingDirectory, _ = rec.workingDirectory.whole()
		s.ParentSession, _ = rec.parentSession.whole()
		return true
	}
	return false
}

// take counts an entry, and keeps its place in the tree if asked to.
func (s *Session) take(rec *record, tree bool) {
	switch {
	case rec.value.kind != object:
		s.fault(Fault{Kind: FaultLine, Line: rec.scanner.line})
		return
	case rec.is("session"):
		return
	case rec.is("session_info"):
		s.Name = ""
		if rec.name.kind == text {
			s.Name = trim(string(rec.name.kept))
		}
	case rec.is("message"):
		s.takeMessage(rec)
	}
	if tree && s.Version > 1 {
		s.keep(rec)
	}
}

func (s *Session) takeMessage(rec *record) {
	s.Messages++
	if !rec.message.said() {
		return
	}
	if at := rec.spokenAt(); at.UnixMilli() > 0 && at.After(s.Modified) {
		s.Modified = at
	}
	if s.FirstMessage == "" && string(rec.message.role.kept) == "user" {
		s.FirstMessage = string(rec.message.text.kept)
	}
}

// keep adds an entry to the tree.
func (s *Session) keep(rec *record) {
	line := rec.scanner.line
	id, ok := rec.id.whole()
	if !ok || id == "" {
		s.fault(Fault{Kind: FaultNoID, Line: line})
		return
	}
	e := Entry{ID: id, Type: s.tree.shared(rec.kind.kept)}
	switch rec.parent.kind {
	case missing, null:
	case text:
		e.HasParent, e.Parent = true, s.idOf(rec.parent.kept)
	default:
		s.fault(Fault{Kind: FaultParent, Line: line, ID: id})
	}
	s.add(e, line)
}

// SessionID is the id of the header.
func (s *Session) SessionID() string { return s.ID }

// Leaf is the entry that the session is seen from: the last one of the file, unless [Session.At] said another one. It is
// false if there is none.
func (s *Session) Leaf() (string, bool) { return s.leaf, s.hasLeaf }

// Len is the number of entries.
func (s *Session) Len() int { return len(s.entries) }

// At is the session seen from another entry, whether it exists or not. It shares all else with s.
func (s *Session) At(leaf string) *Session {
	other := *s
	other.leaf, other.hasLeaf = leaf, true
	return &other
}
