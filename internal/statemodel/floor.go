package statemodel

// State is the state of a floor.
type State string

// The states in which a floor can be seen between operations.
const (
	Draft     State = "draft"
	Committed State = "committed"
	Failed    State = "failed"
)

// Floor is a floor as a list shows it. Parent may name a floor that has been deleted since.
type Floor struct {
	ID         FloorID
	Branch     string
	No         int64
	Parent     FloorID
	State      State
	Superseded bool
}

// Fork registers a branch from a floor (section 6).
func (m *Model) Fork(floor FloorID, branch string) Code {
	m.tick++
	id, f := m.find(floor)
	switch {
	case f == nil:
		return NotFound
	case f.State != Committed || f.Superseded:
		return InvalidState
	case m.account.sessions[id].exists(branch):
		return BranchExists
	}
	m.account.sessions[id].registered[branch] = floor
	return OK
}

// DeleteBranch removes a branch, its heads and its floors (ruling 14).
func (m *Model) DeleteBranch(id SessionID, branch string) (floors int, code Code) {
	m.tick++
	s := m.account.sessions[id]
	switch {
	case branch == Main:
		return 0, ProtectedBranch
	case s == nil || !s.exists(branch):
		return 0, NotFound
	}
	for floor, f := range s.floors {
		if f.Branch == branch {
			s.remove(floor)
			floors++
		}
	}
	delete(s.heads, branch)
	delete(s.registered, branch)
	return floors, OK
}

// DeleteFloor removes a floor. Heads that came from it stay.
func (m *Model) DeleteFloor(floor FloorID) Code {
	m.tick++
	id, f := m.find(floor)
	if f == nil {
		return NotFound
	}
	m.account.sessions[id].remove(floor)
	return OK
}

// BareFloor makes a floor without content and without snapshots.
func (m *Model) BareFloor(id SessionID, branch string, no int64, parent FloorID, state State) (FloorID, Code) {
	m.tick++
	s := m.account.sessions[id]
	if s == nil || parent != 0 && s.floors[parent] == nil {
		return 0, NotFound
	}
	for _, f := range s.floors {
		if f.Branch == branch && f.No == no && !f.Superseded {
			return 0, FloorExists
		}
	}
	return m.addFloor(s, branch, no, parent, state).ID, OK
}

func (m *Model) addFloor(s *session, branch string, no int64, parent FloorID, state State) *floor {
	m.lastFloor++
	f := &floor{
		Floor: Floor{ID: m.lastFloor, Branch: branch, No: no, Parent: parent, State: state},
		own:   map[Slot]Version{},
	}
	s.floors[f.ID] = f
	return f
}

// remove forgets a floor; branches registered from it lose their source.
func (s *session) remove(id FloorID) {
	delete(s.floors, id)
	for branch, source := range s.registered {
		if source == id {
			delete(s.registered, branch)
		}
	}
}

func (m *Model) find(id FloorID) (SessionID, *floor) {
	for sid, s := range m.account.sessions {
		if f := s.floors[id]; f != nil {
			return sid, f
		}
	}
	return 0, nil
}

// exists tells whether branch management knows the branch: direct writes alone make none (1.1).
func (s *session) exists(branch string) bool {
	_, registered := s.registered[branch]
	return branch == Main || registered || s.last(branch, false) != nil
}

// last finds the floor of a branch with the highest number that is not superseded.
func (s *session) last(branch string, committed bool) *floor {
	var last *floor
	for _, f := range s.floors {
		if f.Branch != branch || f.Superseded || committed && f.State != Committed {
			continue
		}
		if last == nil || f.No > last.No {
			last = f
		}
	}
	return last
}

// place gives the next floor of a branch its number and its parent (1.2, and 5.3 with ruling 13).
func (s *session) place(branch string, source FloorID) (no int64, parent FloorID, code Code) {
	if last := s.last(branch, false); last != nil {
		if committed := s.last(branch, true); committed != nil {
			return last.No + 1, committed.ID, OK
		}
		return last.No + 1, last.Parent, OK
	}
	from := s.last(Main, true)
	if registered := s.floors[s.registered[branch]]; registered != nil {
		from = registered
	}
	if source != 0 {
		from = s.floors[source]
		if from == nil || from.State != Committed || from.Superseded {
			return 0, 0, SourceFloorNotFound
		}
	}
	if from == nil {
		return 0, 0, OK
	}
	return from.No + 1, from.ID, OK
}
