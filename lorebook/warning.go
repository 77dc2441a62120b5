package lorebook

import "strconv"

// Warning is one place where a book is read differently from what its author may have meant
// (spec/governed-state.md, section 9, last rule).
type Warning struct {
	// UID is the entry's; nil for the book itself and for an entry that was skipped because it is no object.
	UID *int64 `json:"uid"`
	// Key is the key it is about, as it stands in the book; empty when it is about no key.
	Key string `json:"key,omitzero"`
	// Reason is a sentence for people.
	Reason string `json:"reason"`
}

// maxWarnings bounds the list, since a damaged book of some megabytes could have a warning for every few bytes.
const maxWarnings = 1000

// warnings collects them in the order in which they are found.
type warnings struct {
	list []Warning
	more int
}

func (w *warnings) add(uid *int64, key, reason string) {
	if len(w.list) == maxWarnings {
		w.more++
		return
	}
	w.list = append(w.list, Warning{UID: uid, Key: key, Reason: reason})
}

// all ends the list: with the number of warnings that found no room, if any.
func (w *warnings) all() []Warning {
	if w.more > 0 {
		return append(w.list, Warning{Reason: "and " + strconv.Itoa(w.more) + " more warnings"})
	}
	return w.list
}
