package sessile

// Limits of names, in UTF-16 code units as the wire contract counts them (spec/governed-state.md, 3.2).
const (
	MaxNamespaceLength  = 128
	MaxOwnerTypeLength  = 128
	MaxOwnerIDLength    = 256
	MaxSlotLength       = 256
	MaxTitleLength      = 200
	MaxLabelLength      = 512
	MaxChannelLength    = 128
	MaxAccountLength    = 200
	MaxSessionKeyLength = 1024
	MaxBranchLength     = 100 // of a branch that is registered by name; state routes set no bound
)

// Limits of lists.
const (
	DefaultPageSize = 50
	MaxPageSize     = 100
)

// Quotas bound what governed state may keep (spec/governed-state.md, section 7). All limits are inclusive.
type Quotas struct {
	NamespacesPerAccount int64 // custom namespaces of all sessions that are not deleted
	ItemsPerNamespace    int64 // retained versions in one namespace of one session
	BytesPerNamespace    int64 // and the sum of their sizes
	ItemsPerAccount      int64
	BytesPerAccount      int64
	ValueBytes           int64 // size of one value of a custom slot

	// LimitBuiltIn makes the two per-namespace limits bind the built-in namespace too. It is set when these limits
	// are configured explicitly: a turn keeps two new versions, so the defaults would end every long session.
	LimitBuiltIn bool
}

// DefaultQuotas returns the documented defaults.
func DefaultQuotas() Quotas {
	return Quotas{
		NamespacesPerAccount: 10_000,
		ItemsPerNamespace:    10_000,
		BytesPerNamespace:    10 << 20,
		ItemsPerAccount:      1_000_000,
		BytesPerAccount:      1 << 30,
		ValueBytes:           1 << 20,
	}
}

// EntryLimits bound the key-value entries behind one session key (spec/kv-tool.md, section 11). All are inclusive.
type EntryLimits struct {
	ValueBytes int64 // of one value
	NameBytes  int64 // of a session key, of a namespace and of a key
	Entries    int64 // in all namespaces together
	Bytes      int64 // of all their names and values, which also bounds what a list may answer
}

// DefaultEntryLimits returns the documented defaults.
func DefaultEntryLimits() EntryLimits {
	return EntryLimits{ValueBytes: 1 << 20, NameBytes: 64 << 10, Entries: 100_000, Bytes: 64 << 20}
}
