package statemodel

import "strings"

// CreateSession makes an active session.
func (m *Model) CreateSession() SessionID {
	m.tick++
	m.lastSession++
	m.account.sessions[m.lastSession] = &session{
		namespaces:   map[string]bool{},
		materialised: map[Slot]bool{},
		heads:        map[string]map[Slot]head{},
		registered:   map[string]FloorID{},
		floors:       map[FloorID]*floor{},
	}
	return m.lastSession
}

// Archive archives a session or makes it active again.
func (m *Model) Archive(id SessionID, archived bool) Code {
	next := m.step()
	s := next.sessions[id]
	if s == nil {
		return NotFound
	}
	s.archived = archived
	m.account = next
	return OK
}

// DeleteSession forgets a session and frees all it held.
func (m *Model) DeleteSession(id SessionID) Code {
	next := m.step()
	if next.sessions[id] == nil {
		return NotFound
	}
	delete(next.sessions, id)
	m.account = next
	return OK
}

// Register registers a custom namespace (4.1).
func (m *Model) Register(id SessionID, namespace string) Code {
	next := m.step()
	s := next.sessions[id]
	switch {
	case s == nil:
		return NotFound
	case s.archived:
		return HostArchived
	case namespace == GameState || strings.HasPrefix(namespace, GameState+"."):
		return NamespaceReserved
	case s.namespaces[namespace]:
		return NamespaceAlreadyRegistered
	case over(0, next.namespaces()+1, m.quotas.NamespacesPerAccount):
		return NamespaceCountLimit
	}
	s.namespaces[namespace] = true
	m.account = next
	return OK
}

// Write writes a value directly (4.3); value is compact JSON.
func (m *Model) Write(id SessionID, branch string, slot Slot, value string) (MutationID, Code) {
	return m.direct(id, branch, slot, true, value)
}

// Delete makes a slot absent (4.4).
func (m *Model) Delete(id SessionID, branch string, slot Slot) (MutationID, Code) {
	return m.direct(id, branch, slot, false, "null")
}

func (m *Model) direct(id SessionID, branch string, slot Slot, present bool, value string) (MutationID, Code) {
	next := m.step()
	s, size := next.sessions[id], PayloadSize(present, value)
	switch {
	case s == nil:
		return 0, NotFound
	case slot.Namespace == GameState:
		return 0, PublicWriteForbidden
	case !s.namespaces[slot.Namespace]:
		return 0, NamespaceNotRegistered
	case s.archived:
		return 0, HostArchived
	case over(0, size, m.quotas.ValueBytes):
		return 0, PayloadTooLarge
	}
	v := m.write(size, present, value)
	s.setHead(branch, slot, head{Version: v, tick: m.tick, at: m.now})
	s.materialised[slot] = true
	return v.Mutation, m.admit(next, id)
}
