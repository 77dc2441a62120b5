package pisession

import (
	"iter"
	"slices"
)

// Fault is one thing in a file that Pi would not have written. Reading goes on behind it as Pi does.
type Fault struct {
	Kind FaultKind
	Line int    // of the file, from 1
	ID   string // of the entry, where it has one
}

// FaultKind says what is wrong.
type FaultKind string

// The faults. The first four are of lines, the others of the tree.
const (
	FaultLine      FaultKind = "line_not_object" // neither blank nor a JSON object; passed over
	FaultNoID      FaultKind = "no_id"           // an entry without an id that is a text; no node of the tree
	FaultParent    FaultKind = "parent_no_text"  // a parentId that is neither a text nor null; taken for a root
	FaultDuplicate FaultKind = "duplicate_id"    // an id that an earlier line has; the last one counts

	FaultEmptyParent   FaultKind = "empty_parent"   // a parentId that is an empty text
	FaultMissingParent FaultKind = "missing_parent" // a parentId that no line has
	FaultCycle         FaultKind = "cycle"          // one of several entries that are their own ancestors; told once for each cycle
)

// MaxFaults is how many faults of a session are told one by one.
const MaxFaults = 100

func (s *Session) fault(f Fault) {
	if s.FaultCount++; len(s.Faults) < MaxFaults {
		s.Faults = append(s.Faults, f)
	}
}

// tree is what finds entries by their ids.
type tree struct {
	index map[string]int // of the last entry with this id
	lines []int          // of the file, by entry
	types map[string]string

	// Children in the order of the file: the first one of each entry, and the next one of the same parent; -1 is none. The
	// roots are the children of nothing.
	first, last, next []int
	roots             []int
}

func (t *tree) start() { t.index, t.types = map[string]int{}, map[string]string{} }

// shared returns one string for each type, of which there are few.
func (t *tree) shared(kind []byte) string {
	s, ok := t.types[string(kind)]
	if !ok {
		s = string(kind)
		t.types[s] = s
	}
	return s
}

// idOf returns an id that is already there without a copy.
func (s *Session) idOf(id []byte) string {
	if at, ok := s.tree.index[string(id)]; ok {
		return s.entries[at].ID
	}
	return string(id)
}

func (s *Session) add(e Entry, line int) {
	if _, ok := s.tree.index[e.ID]; ok {
		s.fault(Fault{Kind: FaultDuplicate, Line: line, ID: e.ID})
	}
	s.tree.index[e.ID] = len(s.entries)
	s.tree.lines = append(s.tree.lines, line)
	s.entries = append(s.entries, e)
}

// parentOf is the index of the parent of an entry; -1 if it has none, or one that does not exist.
func (s *Session) parentOf(at int) int {
	if e := s.entries[at]; e.HasParent {
		if parent, ok := s.tree.index[e.Parent]; ok {
			return parent
		}
	}
	return -1
}

// link connects the entries, once all are read, and looks for faults of the tree.
func (s *Session) link() {
	t := &s.tree
	t.first, t.last, t.next = make([]int, len(s.entries)), make([]int, len(s.entries)), make([]int, len(s.entries))
	for i := range s.entries {
		t.first[i], t.last[i], t.next[i] = -1, -1, -1
	}
	for i, e := range s.entries {
		parent := s.parentOf(i)
		switch {
		case parent >= 0 && parent != i:
			if t.first[parent] < 0 {
				t.first[parent] = i
			} else {
				t.next[t.last[parent]] = i
			}
			t.last[parent] = i
			continue
		case parent == i:
		case e.HasParent && e.Parent == "":
			s.fault(Fault{Kind: FaultEmptyParent, Line: t.lines[i], ID: e.ID})
		case e.HasParent:
			s.fault(Fault{Kind: FaultMissingParent, Line: t.lines[i], ID: e.ID})
		}
		t.roots = append(t.roots, i)
	}
	s.findCycles()
	t.last, t.types = nil, nil
}

// findCycles walks up from each entry until it meets what an earlier walk has seen, so that each entry is passed once.
func (s *Session) findCycles() {
	const fresh = -1
	walk := make([]int, len(s.entries)) // which walk has passed an entry
	for i := range walk {
		walk[i] = fresh
	}
	for start := range s.entries {
		at := start
		for at >= 0 && walk[at] == fresh {
			walk[at] = start
			at = s.parentOf(at)
		}
		if at >= 0 && walk[at] == start {
			s.fault(Fault{Kind: FaultCycle, Line: s.tree.lines[at], ID: s.entries[at].ID})
		}
	}
}

// All are the entries in the order of the file. An id that is listed twice comes twice.
func (s *Session) All() iter.Seq[Entry] { return slices.Values(s.entries) }

// Lookup finds an entry by its id.
func (s *Session) Lookup(id string) (Entry, bool) {
	at, ok := s.tree.index[id]
	if !ok {
		return Entry{}, false
	}
	return s.entries[at], true
}

// Roots are the entries without a parent, or with one that does not exist, in the order of the file. An entry that is its
// own parent is a root as well, as Pi shows it; longer cycles hang below no root.
func (s *Session) Roots() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, at := range s.tree.roots {
			if !yield(s.entries[at]) {
				return
			}
		}
	}
}

// Children are the entries whose parent an entry is, in the order of the file.
func (s *Session) Children(id string) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		at, ok := s.tree.index[id]
		if !ok {
			return
		}
		for at = s.tree.first[at]; at >= 0; at = s.tree.next[at] {
			if !yield(s.entries[at]) {
				return
			}
		}
	}
}
