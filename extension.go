package sessile

// ExtensionVersion is a value that an extension keeps on a branch, or that it took one away. A branch without a value
// of its own shows what it inherited at its fork.
type ExtensionVersion struct {
	Branch   int64
	Plugin   string
	Revision int64  // place in the log: ascending over everything, never reused
	Dropped  bool   // what the branch inherited shows again
	Value    []byte // JSON text; nil when dropped
}

// MaxExtensionBytes bounds one value of an extension, inclusive (conformance/WIRE.md, "Sessions").
const MaxExtensionBytes = 1 << 20

// ValidPlugin reports whether a text is a plugin id: one or more of a-z, 0-9, - and . (spec/extension-state.md, section 3).
func ValidPlugin(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '.':
		default:
			return false
		}
	}
	return id != ""
}
