package lorebook

import (
	"fmt"
	"math"
)

// rawEntry is an entry whose members have been read, but not what they mean.
type rawEntry struct {
	fields   *fields // nil if it is no object
	repeated []string
	uid      int64
	problem  string // what is to be said about the uid
}

// giveUIDs leaves out what is no object and gives each entry its number: `uid`, else `id`, if it is an integer; else the
// entry's index in the book if nobody has it, else the lowest free number above the largest (spec/governed-state.md,
// section 9).
func giveUIDs(raw []rawEntry) []rawEntry {
	taken := make(map[int64]bool, len(raw))
	own := make([]bool, len(raw))
	largest := int64(-1)
	for i := range raw {
		if raw[i].fields == nil {
			continue
		}
		if raw[i].uid, own[i] = ownUID(raw[i].fields); own[i] {
			taken[raw[i].uid] = true
			largest = max(largest, raw[i].uid)
		}
	}
	entries := make([]rawEntry, 0, len(raw))
	lowest := int64(0)
	for i, e := range raw {
		if e.fields == nil {
			continue
		}
		if !own[i] {
			e.uid = int64(i)
			switch {
			case !taken[e.uid]:
			case largest < math.MaxInt64:
				e.uid = largest + 1
			default: // nothing is above the largest
				for ; taken[lowest]; lowest++ {
				}
				e.uid = lowest
			}
			e.problem = uidProblem(e, int64(i))
			taken[e.uid] = true
			largest = max(largest, e.uid)
		}
		entries = append(entries, e)
	}
	return entries
}

func ownUID(f *fields) (uid int64, ok bool) {
	for _, name := range []string{"uid", "id"} {
		if v := f.root[name]; v != nil {
			if uid, ok = integerOf(v); ok {
				return uid, true
			}
		}
	}
	return 0, false
}

func uidProblem(e rawEntry, index int64) string {
	switch {
	case e.fields.root["uid"] != nil:
		return fmt.Sprintf("the uid is no integer; the entry has the number %d", e.uid)
	case e.uid != index:
		return fmt.Sprintf("the entry has no uid and another one has its index; it has the number %d", e.uid)
	default:
		return ""
	}
}
