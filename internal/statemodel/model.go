package statemodel

import "maps"

// SessionID names a session; zero is none.
type SessionID int

// FloorID names a floor; zero is none.
type FloorID int

// MutationID names a mutation; zero is none.
type MutationID int

// Main is the branch that every session has.
const Main = "main"

// GameState is the built-in namespace; Scene and World are its public slots.
const (
	GameState = "game_state"
	Scene     = "scene"
	World     = "world"
)

// Slot names a slot of a session.
type Slot struct {
	Namespace string
	Name      string
}

// Version is what a mutation made of a slot. The zero Version is an empty slot that nobody wrote.
type Version struct {
	Mutation MutationID
	Present  bool
	Value    string // compact JSON; "null" when not present
}

// Model is the governed state of one account.
type Model struct {
	quotas  Quotas
	account *account

	tick         int   // one per operation: the order of writes and commits
	now          int64 // what the clock shows, for answers only
	lastSession  SessionID
	lastFloor    FloorID
	lastMutation MutationID
	sizes        map[MutationID]int64 // of every version ever written
}

// account holds the sessions that are not deleted.
type account struct {
	sessions map[SessionID]*session
}

type session struct {
	archived     bool
	namespaces   map[string]bool          // custom ones
	materialised map[Slot]bool            // custom ones
	heads        map[string]map[Slot]head // by branch; state routes ask for no branch to exist
	registered   map[string]FloorID       // branches made from a floor that still is
	floors       map[FloorID]*floor       // the deleted are gone
}

// head is the live value of a slot on a branch.
type head struct {
	Version
	floor FloorID // 0 after a direct write
	tick  int
	at    int64
}

// floor is a floor with all that its commits left.
type floor struct {
	Floor
	userMessage bool
	own         map[Slot]Version // the last mutation of its own turn, over all attempts
	snapshot    map[Slot]Version // nil when none is stored
	firstTick   int              // of the first commit
	firstHeads  map[Slot]head    // its branch's heads as the first commit left them
	committedAt int64            // of the latest commit
}

// New makes an account without sessions.
func New(quotas Quotas) *Model {
	return &Model{
		quotas:  quotas,
		account: &account{sessions: map[SessionID]*session{}},
		sizes:   map[MutationID]int64{},
	}
}

// SetTime sets what the clock shows.
func (m *Model) SetTime(ms int64) { m.now = ms }

// step begins an operation on a copy of the account; it happens when m.account becomes that copy.
func (m *Model) step() *account {
	m.tick++
	next := &account{sessions: map[SessionID]*session{}}
	for id, s := range m.account.sessions {
		next.sessions[id] = s.clone()
	}
	return next
}

func (s *session) clone() *session {
	c := &session{
		archived:     s.archived,
		namespaces:   maps.Clone(s.namespaces),
		materialised: maps.Clone(s.materialised),
		heads:        map[string]map[Slot]head{},
		registered:   maps.Clone(s.registered),
		floors:       map[FloorID]*floor{},
	}
	for branch, heads := range s.heads {
		c.heads[branch] = maps.Clone(heads)
	}
	for id, f := range s.floors {
		g := *f
		g.own, g.snapshot, g.firstHeads = maps.Clone(f.own), maps.Clone(f.snapshot), maps.Clone(f.firstHeads)
		c.floors[id] = &g
	}
	return c
}

// write makes a mutation.
func (m *Model) write(size int64, present bool, value string) Version {
	m.lastMutation++
	m.sizes[m.lastMutation] = size
	return Version{Mutation: m.lastMutation, Present: present, Value: value}
}

// setHead puts a version at the head of a branch.
func (s *session) setHead(branch string, slot Slot, h head) {
	if s.heads[branch] == nil {
		s.heads[branch] = map[Slot]head{}
	}
	s.heads[branch][slot] = h
}

// slots are those that commits and reads consider.
func (s *session) slots() []Slot {
	slots := []Slot{{GameState, Scene}, {GameState, World}}
	for slot := range s.materialised {
		slots = append(slots, slot)
	}
	sortSlots(slots)
	return slots
}
