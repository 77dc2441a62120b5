package sessile

import "context"

// Store is a database. A driver stores and finds rows; it decides nothing. Every driver passes the suite in package
// storetest. All methods may be called concurrently.
type Store interface {
	// View runs fn over one consistent, committed state. It never waits for writers. fn must not call View itself.
	View(ctx context.Context, fn func(ReadTx) error) error

	// Update runs fn in a transaction of its own and returns when its effect is durable. It may share its commit with
	// other updates, but none sees another's failure: when fn returns an error, its effect and only its effect is
	// undone and Update returns that error. fn must not block, must not call the store and must not do anything that
	// cannot be undone. When too much work waits already the answer is [CodeServerBusy].
	Update(ctx context.Context, fn func(Tx) error) error

	// Close finishes what was accepted and releases the database. It may be called more than once.
	Close() error
}

// ReadTx reads.
type ReadTx interface {
	SessionReader
	BranchReader
	FloorReader
	MessageReader
	RunReader
	CellReader
	MutationReader
	WorldbookReader
	APIKeyReader
	EntryReader
	ExtensionReader
	EventReader
	DeliveryReader
}

// Tx reads and writes. Reads see what the transaction wrote.
type Tx interface {
	ReadTx
	SessionWriter
	BranchWriter
	FloorWriter
	MessageWriter
	RunWriter
	CellWriter
	WorldbookWriter
	APIKeyWriter
	EntryWriter
	ExtensionWriter
	EventWriter
	DeliveryWriter

	// Now is the transaction's time in milliseconds since the Unix epoch. It is the same for the whole transaction and
	// never smaller than that of one committed before.
	Now() int64
}

// SessionReader finds sessions. Deleted sessions are not found.
type SessionReader interface {
	Session(account, id string) (Session, bool, error)
	SessionByRow(row int64) (Session, bool, error)
	// SessionByKey finds the session behind a key.
	SessionByKey(account, key string) (Session, bool, error)
	Sessions(account string, filter SessionFilter) (sessions []Session, total int, err error)
	// ListSessions visits sessions, pinned ones first by the time of the pin, then by UpdatedAt, the newest first, and by
	// key, until visit returns false or an error. visit must not use the transaction.
	ListSessions(account string, selection SessionSelection, visit func(*Session) (bool, error)) error
	// Searchable reports whether the store finds sessions by a text without reading all of them.
	Searchable(text string) bool
	// Children lists the keys of sessions that one of the parents spawned and that are at work, whose last run ended at or
	// after ended, or, where no run is known, that were updated at or after touched; by parent, in the order of keys: of a
	// hundred at most, the newest first. Both times are needed: what ended was updated then.
	Children(account string, parents []string, touched, ended int64) (map[string][]string, error)
	// LastRun finds the newest run of a session that began. Rows that came from elsewhere were put in by no such run.
	LastRun(session int64) (Run, bool, error)
	// RetiredSession finds an earlier session behind a key that was reset.
	RetiredSession(account, key, id string) (Session, bool, error)
}

// SessionWriter changes sessions and accounts.
type SessionWriter interface {
	// AddSession inserts the session, its main branch and its built-in namespace, and fills in the rows. An account
	// is made at first sight.
	AddSession(*Session) error
	// UpdateSession writes all but ids, account, key, agent and CreatedAt.
	UpdateSession(*Session) error
	// TouchSession writes Details and UpdatedAt alone.
	TouchSession(*Session) error
	// DeleteSession hides the session and all earlier ones behind its key, and gives back everything it counted for.
	DeleteSession(*Session) error
	// RetireSession hides the session like a deleted one, but keeps its transcript, until the key is deleted.
	RetireSession(*Session) error
	// PurgeDeleted removes up to limit rows of deleted sessions and homes and reports whether any are left.
	PurgeDeleted(limit int) (more bool, err error)
}

// EntryReader reads key-value entries.
type EntryReader interface {
	// Home finds the home that a session key leads to.
	Home(account, sessionKey string) (Home, bool, error)
	// Entry finds an entry, expired or not.
	Entry(home int64, namespace, key string) (Entry, bool, error)
	Entries(home int64, filter EntryFilter) ([]Entry, error)
	// HomeKeys lists the session keys that lead to a home.
	HomeKeys(home int64) ([]string, error)
	// NextExpiry is when the next entry expires, 0 if none ever does.
	NextExpiry() (int64, error)
	// EntryNamespaces lists the namespaces that hold entries, in byte order.
	EntryNamespaces(home int64) ([]string, error)
}

// EntryWriter changes key-value entries. It keeps the counters of the homes.
type EntryWriter interface {
	// AddHome makes an empty home for a session key. An account is made at first sight.
	AddHome(account, sessionKey string) (Home, error)
	// ShareHome has a session key lead to a home. The key must lead nowhere before.
	ShareHome(account, sessionKey string, home int64) error
	// LeaveHome has a session key lead nowhere. With the last key that led to it a home is gone, with all entries.
	LeaveHome(account, sessionKey string) error
	// CopyEntries puts everything of a home into an empty one. The values themselves are not copied.
	CopyEntries(from, to int64) error
	// PutEntry inserts or replaces an entry, under the next number of the log and at the time of the transaction, which it
	// fills in.
	PutEntry(home int64, e *Entry) error
	// DeleteEntry reports whether there was such an entry.
	DeleteEntry(home int64, namespace, key string) (bool, error)
	// PurgeExpired removes up to limit entries that have expired by the transaction's time.
	PurgeExpired(limit int) error
	// ClearEntries removes a namespace and tells how many of its entries had not expired by now.
	ClearEntries(home int64, namespace string, now int64) (int64, error)
}

// ExtensionReader reads what extensions keep on branches.
type ExtensionReader interface {
	// ExtensionAt finds the newest version that was written on the branch up to a place in the log, dropped ones too.
	ExtensionAt(branch int64, plugin string, at int64) (ExtensionVersion, bool, error)
	// ExtensionBase finds what the branch was pointed at by [BranchWriter.LayBase].
	ExtensionBase(branch int64, plugin string) (ExtensionVersion, bool, error)
	// ExtensionShown reports whether a live floor of the branch committed at that place of the log or later.
	ExtensionShown(branch, revision int64) (bool, error)
	// HiddenExtensions lists, without values, what was written on the branch, has a successor and is what no live floor
	// of the branch saw when it committed.
	HiddenExtensions(branch int64) ([]ExtensionVersion, error)
}

// ExtensionWriter changes what extensions keep on branches.
type ExtensionWriter interface {
	// PutExtension adds a version under the next number of the log, which it fills in.
	PutExtension(*ExtensionVersion) error
	// RemoveExtension removes a version that was written on the branch. Branches that inherited the value keep it.
	RemoveExtension(branch int64, plugin string, revision int64) error
}

// BranchReader finds branches. Deleted branches are not found.
type BranchReader interface {
	Branch(session int64, name string) (Branch, bool, error)
	// BranchesNamed finds the branches of that name in all live sessions of an account.
	BranchesNamed(account, name string) ([]Branch, error)
	// SessionBranches lists every branch that anything was written under, by name.
	SessionBranches(session int64) ([]Branch, error)
	// BranchSummaries lists main, the registered branches and those with floors that are not superseded; sorted by
	// branch_id, floor_count, latest_floor_no or updated_at.
	BranchSummaries(session int64, page Page) (branches []BranchSummary, total int, err error)
}

// BranchWriter changes branches.
type BranchWriter interface {
	AddBranch(*Branch) error
	// RegisterBranch sets the source floor of a branch.
	RegisterBranch(branch, sourceFloor int64) error
	// DeleteBranch turns the branch into a tombstone without heads and without what extensions keep on it, and its floors
	// too; their content goes as far as no live floor descends from them. It tells how many floors that were.
	DeleteBranch(session, branch int64) (floors int, err error)
	// LayBase points the branch at everything the floor's snapshot shows and sets ForkSeq to its CommitSeq; of what
	// extensions keep, at what the floor's branch showed then. What the branch inherited before is forgotten; its own heads
	// stay.
	LayBase(branch int64, from *Floor) error
}

// FloorReader finds floors. Deleted floors and floors of deleted sessions are not found by id.
type FloorReader interface {
	Floor(account, id string) (Floor, bool, error)
	// FloorByRow finds deleted floors too.
	FloorByRow(row int64) (Floor, bool, error)
	Floors(filter FloorFilter) (floors []Floor, total int, err error)
	// LatestFloor finds the floor of a branch with the highest number, then the newest, that is not superseded; with
	// committed set, among the committed ones, a floor under retry being one of them.
	LatestFloor(branch int64, committed bool) (Floor, bool, error)
	// HasSnapshotFloor reports whether any live floor of the branch, superseded or not, has a snapshot.
	HasSnapshotFloor(branch int64) (bool, error)
	// HasGeneratingFloor reports whether a floor of the branch is generating.
	HasGeneratingFloor(branch int64) (bool, error)
	// FloorNumberTaken reports whether a floor that is not superseded has the number.
	FloorNumberTaken(branch, no int64) (bool, error)
}

// FloorWriter changes floors.
type FloorWriter interface {
	AddFloor(*Floor) error
	// SetFloorState changes the state alone.
	SetFloorState(floor int64, state FloorState) error
	// CommitFloor makes the floor committed, with State, TokenIn, TokenOut, CommitSeq, SnapshotSeq,
	// FirstCommittedAt and CommittedAt as given.
	CommitFloor(*Floor) error
	// SupersedeFloor marks a floor as replaced by another, which takes its place in lists.
	SupersedeFloor(floor, by int64) error
	// DeleteFloor turns the floor into a tombstone; its content goes unless a live floor descends from it, and
	// branches registered from it lose their source.
	DeleteFloor(session, floor int64) error
}

// MessageReader finds content.
type MessageReader interface {
	Message(account, id string) (Message, bool, error)
	Messages(filter MessageFilter) (messages []Message, total int, err error)
	// Pages lists the pages of a floor: inputs before outputs, then by number.
	Pages(floor int64) ([]ContentPage, error)
	PageByRow(row int64) (ContentPage, bool, error)
	PageMessages(page int64) ([]Message, error)
	// Story lists the messages on the active pages of the ancestors of a floor, and with own set of the floor itself,
	// oldest first, over at most maxFloors floors. An ancestor that was replaced by its child on the way is left out.
	Story(floor int64, own bool, maxFloors int) ([]Message, error)
	// StoryLength counts the messages of the story that ends with a floor.
	StoryLength(floor int64) (int, error)
	// StoryTail lists up to limit messages of that story, oldest first: the newest but for the skip that are newer still.
	StoryTail(floor int64, skip, limit int) ([]Message, error)
	// StoryHead lists the first messages of that story by one role, up to limit, oldest first.
	StoryHead(floor int64, role string, limit int) ([]Message, error)
	// StoryPlace finds the place of a message in that story, from 1.
	StoryPlace(floor int64, messageID string) (place int, found bool, err error)
}

// MessageWriter changes content.
type MessageWriter interface {
	AddPage(*ContentPage) error
	AddMessage(*Message) error
	// DeactivatePages makes all pages of a kind inactive.
	DeactivatePages(floor int64, kind PageKind) error
}

// CellReader reads cells. Lists are ordered by namespace, then slot, in byte order.
type CellReader interface {
	Namespaces(session int64) ([]Namespace, error)
	Namespace(session int64, name string) (Namespace, bool, error)
	// Slots lists the materialised slots.
	Slots(session int64) ([]Slot, error)
	// Locate finds everything a write has to know. A missing or foreign session gives Session 0.
	Locate(CellAddress) (Cell, error)
	// Head finds the own head of a cell by its names, which is how most values are read. As the first read of a view it
	// may be answered from memory; it is then as new as the newest commit. Value belongs to the store.
	Head(CellAddress) (Version, bool, error)
	// Heads reads every materialised slot from a branch: its own head, else, with inherit set, the exception of the
	// floor latest, else what the branch inherited.
	Heads(session int64, branch, latest int64, inherit bool, filter SlotFilter) ([]Version, error)
	// Versions reads every materialised slot at a point. With values, it tells of each version its number and value, and
	// nothing of where it came from; without, everything but the value.
	Versions(session int64, at Point, filter SlotFilter, values bool) ([]Version, error)
	// Overrides lists the exceptions of a floor: what it shows other than its point in the log says.
	Overrides(floor int64) ([]Override, error)
	// BranchVersions lists every version that a branch wrote, inherited or shows by an exception.
	BranchVersions(branch int64) ([]Version, error)
	// Shown reports whether the snapshot of any live floor shows the version.
	Shown(seq int64) (bool, error)
	// IsHead reports whether the version is the own head of a live branch.
	IsHead(seq int64) (bool, error)
	Usage(account int64) (Usage, error)
	NamespaceUsage(namespace int64) (Usage, error)
}

// Override is an exception of a floor: Seq 0 is an empty cell.
type Override struct {
	Slot int64
	Seq  int64
}

// CellWriter changes cells.
type CellWriter interface {
	AddNamespace(*Namespace) error
	AddSlot(*Slot) error
	// AppendMutation inserts the mutation under the next sequence number and fills it in. An applied one materialises
	// its slot; one that is on line becomes the branch's head.
	AppendMutation(*Mutation) error
	// LastSeq is the sequence number given last.
	LastSeq() (int64, error)
	// SetOverrides replaces the exceptions of a floor.
	SetOverrides(floor int64, overrides []Override) error
	// AddUsage moves the counters of a namespace and its account.
	AddUsage(account, namespace int64, items, bytes int64) error
	// AddNamespaceCount moves the count of custom namespaces of an account.
	AddNamespaceCount(account int64, n int64) error
}

// MutationReader reads the log.
type MutationReader interface {
	// Mutations lists records; of a value they hold the first 256 bytes.
	Mutations(session int64, filter MutationFilter) (mutations []MutationRecord, total int, err error)
	Mutation(session int64, seq int64) (MutationRecord, bool, error)
	// FloorMutations lists what the turns of a floor wrote, in their order.
	FloorMutations(floor int64) ([]MutationRecord, error)
}
