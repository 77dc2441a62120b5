package state

import "github.com/sessile-dev/sessile"

// ValidNamespace reports whether a name fits ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$. Length is another matter. The
// type of a logical owner follows the same pattern (spec/governed-state.md, 3.2).
func ValidNamespace(name string) bool {
	start := true // a letter has to come
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z':
			start = false
		case start:
			return false
		case c == '.':
			start = true
		case c != '_' && (c < '0' || c > '9'):
			return false
		}
	}
	return !start
}

// ValidOwnerID reports whether an id fits ^[a-z0-9@][a-z0-9._:@/-]*$.
func ValidOwnerID(id string) bool {
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '@':
		case i == 0:
			return false
		case c != '.' && c != '_' && c != ':' && c != '/' && c != '-':
			return false
		}
	}
	return id != ""
}

// UTF16Length counts a text in UTF-16 code units, as the limits of names are stated.
func UTF16Length(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// reserved reports whether a name is the built-in namespace or lies below it.
func reserved(namespace string) bool {
	if namespace == sessile.GameState {
		return true
	}
	return len(namespace) > len(sessile.GameState) && namespace[:len(sessile.GameState)+1] == sessile.GameState+"."
}

// builtInSlots holds all slots of the built-in namespace and their budgets in bytes, hidden ones included.
func builtInBudget(slot string) (budget int64, known bool) {
	switch slot {
	case sessile.SlotScene:
		return 262_144, true
	case sessile.SlotWorld:
		return 524_288, true
	case "inventory", "combat": // reserved and hidden
		return 262_144, true
	}
	return 0, false
}
