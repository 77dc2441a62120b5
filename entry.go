package sessile

// Home holds key-value entries. One or more session keys of an account lead to it: a sub-agent's beside its parent's, a
// fork's beside its source's. It is made on the first write and needs no session (spec/kv-tool.md, sections 3 and 10).
type Home struct {
	Row     int64
	Account int64 // row
	Entries int64 // how many there are
	Bytes   int64 // the sum of their sizes
}

// Entry is a text under a namespace and a key in a home. Both names are any texts, the empty ones too.
type Entry struct {
	Namespace string
	Key       string
	Value     string
	Revision  int64 // place in the log: ascending over everything, never reused
	UpdatedAt int64
	ExpiresAt int64 // from then on it is not there any more; 0 is never
}

// Size is what an entry counts for: the bytes of its names and its value.
func (e *Entry) Size() int64 { return int64(len(e.Namespace) + len(e.Key) + len(e.Value)) }

// EntryFilter selects a stretch of one namespace of a home, in ascending order of the keys' bytes.
type EntryFilter struct {
	Namespace string
	Prefix    string  // of the key
	After     *string // the key before the first one wanted; nil starts at the first
	Limit     int     // 0 is no limit
	Now       int64   // entries that expired by then are left out
}
