package extstate

import (
	"sync"
	"unsafe"
)

// index answers questions about the tree of one session (section 4). It follows the entries as they grow: a linear append
// costs the same however long the session is, a fork costs one walk over its run.
type index struct {
	sessionID string
	version   uint64
	entries   []Entry
	parents   map[string]*string // of listed entries; of an id listed twice the last one
	children  map[string]int     // how many listed entries name a parent, whether or not it exists
	keys      map[string]string  // branch keys found so far
	used      uint64             // when it was last asked, see forest
}

func newIndex(sessionID string) *index {
	return &index{
		sessionID: sessionID,
		parents:   make(map[string]*string), children: make(map[string]int), keys: make(map[string]string),
	}
}

// follows reports whether the entries begin with those that are indexed.
func (x *index) follows(entries []Entry) bool {
	n := len(x.entries)
	if n > len(entries) {
		return false
	}
	if n == 0 {
		return true
	}
	if unsafe.SliceData(entries) == unsafe.SliceData(x.entries) {
		// The same array, which is only appended to. Its end is looked at in case two slices were grown from one.
		return x.entries[n-1] == entries[n-1] || sameEntry(x.entries[n-1], entries[n-1])
	}
	for i, entry := range x.entries {
		if !sameEntry(entry, entries[i]) {
			return false
		}
	}
	return true
}

func sameEntry(a, b Entry) bool {
	if a.ID != b.ID || (a.ParentID == nil) != (b.ParentID == nil) {
		return false
	}
	return a.ParentID == b.ParentID || *a.ParentID == *b.ParentID
}

func (x *index) grow(entries []Entry) {
	for _, entry := range entries[len(x.entries):] {
		x.add(entry)
	}
	x.entries = entries
}

func (x *index) add(entry Entry) {
	_, listed := x.parents[entry.ID]
	_, asked := x.keys[entry.ID]
	fork := entry.ParentID != nil && x.children[*entry.ParentID] > 0
	if listed || asked || fork || x.children[entry.ID] > 0 {
		clear(x.keys) // keys below this place may be others now
	}
	x.parents[entry.ID] = entry.ParentID
	if entry.ParentID != nil {
		x.children[*entry.ParentID]++
	}
}

// key is the branch key of an entry (section 4.2).
func (x *index) key(entry string) (string, error) {
	var path []string
	at := entry
	for {
		if known, ok := x.keys[at]; ok {
			at = known
			break
		}
		path = append(path, at)
		parent := x.parents[at]
		if parent == nil || x.children[*parent] != 1 {
			break
		}
		if len(path) > len(x.parents) {
			return "", x.damaged(entry, "its ancestors form a cycle")
		}
		at = *parent
	}
	if at == "" {
		return "", x.damaged(entry, "an id is empty")
	}
	for _, id := range path {
		x.keys[id] = at
	}
	return at, nil
}

// ancestors are the keys of the runs above a run, the nearest first (section 4.3). With an error they are those below the
// damage.
func (x *index) ancestors(key string) ([]string, error) {
	var keys []string
	seen := map[string]bool{key: true}
	for {
		parent := x.parents[key]
		if parent == nil {
			return keys, nil
		}
		next, err := x.key(*parent)
		if err != nil {
			return keys, err
		}
		if seen[next] {
			return keys, x.damaged(key, "its ancestors form a cycle")
		}
		seen[next] = true
		keys = append(keys, next)
		key = next
	}
}

func (x *index) damaged(entry, reason string) error {
	return &TreeError{SessionID: x.sessionID, EntryID: entry, Reason: reason}
}

// forest keeps the indexes of the sessions that were asked for last. A tree belongs to no file, so all stores of the
// process share it.
type forest struct {
	mu      sync.Mutex
	indexes map[string]*index
	clock   uint64
}

// maxIndexes bounds how many sessions a forest remembers.
const maxIndexes = 64

// trees is the forest of this process.
var trees = forest{indexes: make(map[string]*index)}

// of brings the index of a view's session up to date. The lock is held.
func (f *forest) of(view View) *index {
	id, version := view.SessionID(), view.Version()
	x := f.indexes[id]
	if x == nil || version == 0 || version != x.version {
		entries := view.Entries()
		if x == nil || !x.follows(entries) {
			x = newIndex(id)
			f.keep(x)
		}
		x.grow(entries)
		x.version = version
	}
	f.clock++
	x.used = f.clock
	return x
}

func (f *forest) keep(x *index) {
	if _, known := f.indexes[x.sessionID]; !known && len(f.indexes) >= maxIndexes {
		oldest := ""
		for id, other := range f.indexes {
			if oldest == "" || other.used < f.indexes[oldest].used {
				oldest = id
			}
		}
		delete(f.indexes, oldest)
	}
	f.indexes[x.sessionID] = x
}

// key is the branch key of a view's leaf; ok is false when there is no leaf.
func (f *forest) key(view View) (key string, ok bool, err error) {
	leaf, ok := view.Leaf()
	if !ok {
		return "", false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key, err = f.of(view).key(leaf)
	return key, err == nil, err
}

func (f *forest) ancestors(view View, key string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of(view).ancestors(key)
}

// BranchKey is the key of the branch on which a view stands: the id of the first entry of the leaf's run (section 4.2).
// ok is false when there is no leaf. The error is a [*TreeError].
func BranchKey(view View) (key string, ok bool, err error) { return trees.key(view) }
