package statemodel

// Turn is what a turn brings: the client's writes and the sizes of the two values that it writes itself.
type Turn struct {
	Writes    []TurnWrite
	SceneSize int64
	WorldSize int64
	Fails     bool // generation fails
}

// TurnWrite is one write of a turn; Value is compact JSON, "" to delete.
type TurnWrite struct {
	Slot
	Value string
}

// Respond makes a floor on a branch (5.3). A turn that fails after the floor was made leaves it, failed: floor is then
// set although code is not [OK].
func (m *Model) Respond(id SessionID, branch string, source FloorID, t Turn) (FloorID, Code) {
	s := m.account.sessions[id]
	if s == nil {
		return 0, NotFound
	}
	if s.archived {
		return 0, SessionArchived
	}
	no, parent, code := s.place(branch, source)
	if code != OK {
		return 0, code
	}
	if code := m.check(s, t.Writes); code != OK {
		return 0, code
	}
	f := m.addFloor(s, branch, no, parent, Failed)
	f.userMessage = true
	return f.ID, m.run(id, f.ID, t, nil)
}

// Regenerate replaces the latest committed floor of main. A turn that fails leaves nothing (ruling 9).
func (m *Model) Regenerate(id SessionID, t Turn) (replaced, floor FloorID, code Code) {
	s := m.account.sessions[id]
	if s == nil {
		return 0, 0, NotFound
	}
	if s.archived {
		return 0, 0, SessionArchived
	}
	old := s.last(Main, true)
	if old == nil {
		return 0, 0, NoFloorToRegenerate
	}
	if !old.userMessage {
		return 0, 0, NoUserMessage
	}
	if code := m.check(s, t.Writes); code != OK {
		return 0, 0, code
	}
	f := m.addFloor(s, Main, old.No, old.ID, Failed)
	f.userMessage = true
	code = m.run(id, f.ID, t, func(s *session) { s.floors[old.ID].Superseded = true })
	if code != OK {
		delete(m.account.sessions[id].floors, f.ID)
		return 0, 0, code
	}
	return old.ID, f.ID, OK
}

// Retry runs a committed floor again. A turn that fails leaves the floor as it was (ruling 10).
func (m *Model) Retry(floor FloorID, t Turn) Code {
	id, f := m.find(floor)
	switch {
	case f == nil:
		return FloorNotFound
	case m.account.sessions[id].archived:
		return SessionArchived
	case f.State != Committed || f.Superseded:
		return InvalidState
	case !f.userMessage:
		return NoUserMessage
	}
	if code := m.check(m.account.sessions[id], t.Writes); code != OK {
		return code
	}
	return m.run(id, floor, t, nil)
}

// check tests the client's writes of a turn, in order (5.1). They are refused before a floor is made (ruling 18).
func (m *Model) check(s *session, writes []TurnWrite) Code {
	for _, w := range writes {
		present, value := w.payload()
		switch {
		case w.Namespace == GameState && builtInSlots[w.Name]:
			return PublicWriteForbidden
		case w.Namespace == GameState:
			return SlotNotRegistered
		case !s.namespaces[w.Namespace]:
			return NamespaceNotRegistered
		case over(0, PayloadSize(present, value), m.quotas.ValueBytes):
			return PayloadTooLarge
		}
	}
	return OK
}

// builtInSlots are the slots of [GameState], the hidden ones included.
var builtInSlots = map[string]bool{Scene: true, World: true, "inventory": true, "combat": true}

func (w TurnWrite) payload() (present bool, value string) {
	if w.Value == "" {
		return false, "null"
	}
	return true, w.Value
}

// run generates and commits a floor; with happens in the same transaction. When it fails the account is as before.
func (m *Model) run(id SessionID, floor FloorID, t Turn, with func(*session)) Code {
	if t.Fails {
		return OrchestrationFailed
	}
	next := m.step()
	s := next.sessions[id]
	m.commit(s, s.floors[floor], t)
	if with != nil {
		with(s)
	}
	return m.admit(next, id)
}

// commit is section 1.7, and for a floor that committed before, ruling 12.
func (m *Model) commit(s *session, f *floor, t Turn) {
	apply := func(slot Slot, v Version) {
		f.own[slot] = v
		if slot.Namespace != GameState {
			s.materialised[slot] = true
		}
		if h, exists := s.heads[f.Branch][slot]; exists && f.snapshot != nil && h.tick > f.firstTick && h.floor != f.ID {
			return // a retry behind a later write
		}
		s.setHead(f.Branch, slot, head{Version: v, floor: f.ID, tick: m.tick, at: m.now})
	}
	apply(Slot{GameState, Scene}, m.write(t.SceneSize, true, ""))
	apply(Slot{GameState, World}, m.write(t.WorldSize, true, ""))
	for _, w := range t.Writes {
		present, value := w.payload()
		apply(w.Slot, m.write(PayloadSize(present, value), present, value))
	}
	if f.snapshot == nil {
		f.firstTick = m.tick
		f.firstHeads = map[Slot]head{}
		for slot, h := range s.heads[f.Branch] {
			f.firstHeads[slot] = h
		}
	}
	parent := s.floors[f.Parent]
	f.snapshot = map[Slot]Version{}
	for _, slot := range s.slots() {
		f.snapshot[slot] = f.shows(slot, parent)
	}
	f.State, f.committedAt = Committed, m.now
}

// shows is step 2 of section 1.7 for one slot. A head that the parent's own first commit wrote counts as the parent's
// snapshot: the two differ only when both floors ran again, and then the child follows what the parent shows now.
func (f *floor) shows(slot Slot, parent *floor) Version {
	if own, wrote := f.own[slot]; wrote {
		return own
	}
	var inherited Version
	stored := false
	if parent != nil {
		inherited, stored = parent.snapshot[slot]
	}
	if h, exists := f.firstHeads[slot]; exists && (!stored || h.tick > parent.firstTick) {
		return h.Version
	}
	return inherited
}
