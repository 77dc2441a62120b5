package statemodel

import "fmt"

// Quotas are the limits of section 7, all inclusive; 0 is no limit.
type Quotas struct {
	NamespacesPerAccount int64
	ItemsPerNamespace    int64
	BytesPerNamespace    int64
	ItemsPerAccount      int64
	BytesPerAccount      int64
	ValueBytes           int64
	LimitBuiltIn         bool // whether the limits per namespace bind game_state
}

// Usage counts retained versions and the sum of their sizes.
type Usage struct {
	Items int64
	Bytes int64
}

// Usage recounts the account.
func (m *Model) Usage() Usage { return m.account.usage(m.sizes) }

// Namespaces counts the custom namespaces of the account.
func (m *Model) Namespaces() int64 { return m.account.namespaces() }

// NamespaceUsage recounts one namespace of one session.
func (m *Model) NamespaceUsage(id SessionID, namespace string) Usage {
	s := m.account.sessions[id]
	if s == nil {
		return Usage{}
	}
	return s.usage(m.sizes)[namespace]
}

func (a *account) namespaces() int64 {
	var n int64
	for _, s := range a.sessions {
		n += int64(len(s.namespaces))
	}
	return n
}

func (a *account) usage(sizes map[MutationID]int64) Usage {
	var sum Usage
	for _, s := range a.sessions {
		for _, u := range s.usage(sizes) {
			sum.Items += u.Items
			sum.Bytes += u.Bytes
		}
	}
	return sum
}

// usage counts, by namespace, the versions that a head or a snapshot shows. A version that many show counts once.
func (s *session) usage(sizes map[MutationID]int64) map[string]Usage {
	retained := map[MutationID]string{}
	for _, heads := range s.heads {
		for slot, h := range heads {
			retained[h.Mutation] = slot.Namespace
		}
	}
	for _, f := range s.floors {
		for slot, v := range f.snapshot {
			if v.Mutation != 0 {
				retained[v.Mutation] = slot.Namespace
			}
		}
	}
	usage := map[string]Usage{}
	for mutation, namespace := range retained {
		u := usage[namespace]
		u.Items++
		u.Bytes += sizes[mutation]
		usage[namespace] = u
	}
	return usage
}

// admit makes next the account's state unless it exceeds a limit after an operation on the session. Limits are tested
// on the result and only where it grew: the namespaces in byte order, then the account.
func (m *Model) admit(next *account, id SessionID) Code {
	before, after := m.account.sessions[id].usage(m.sizes), next.sessions[id].usage(m.sizes)
	for _, namespace := range sortedKeys(after) {
		if namespace == GameState && !m.quotas.LimitBuiltIn {
			continue
		}
		old, now := before[namespace], after[namespace]
		if over(old.Items, now.Items, m.quotas.ItemsPerNamespace) {
			return NamespaceItemLimit
		}
		if over(old.Bytes, now.Bytes, m.quotas.BytesPerNamespace) {
			return NamespaceByteLimit
		}
	}
	old, now := m.account.usage(m.sizes), next.usage(m.sizes)
	if over(old.Items, now.Items, m.quotas.ItemsPerAccount) {
		return AccountItemLimit
	}
	if over(old.Bytes, now.Bytes, m.quotas.BytesPerAccount) {
		return AccountByteLimit
	}
	m.account = next
	return OK
}

func over(before, after, limit int64) bool { return limit > 0 && after > before && after > limit }

// PayloadSize is the size of a value: the bytes of the compact {"present":…,"value":…}.
func PayloadSize(present bool, value string) int64 {
	return int64(len(fmt.Sprintf(`{"present":%t,"value":%s}`, present, value)))
}
