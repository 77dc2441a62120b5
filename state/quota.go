package state

import "github.com/sessile-dev/sessile"

// budget is the size a value of a slot may have.
func (s *Service) budget(builtIn bool, slot string) int64 {
	if !builtIn {
		return s.quotas.ValueBytes
	}
	budget, _ := builtInBudget(slot)
	return budget
}

// counters are what a write may bring over its limits.
type counters struct {
	builtIn          bool
	namespace        sessile.Usage // after the write
	account          sessile.Usage // after the write
	namespaceGrowth  sessile.Usage
	accountGrowth    sessile.Usage
	namespaceDisplay string
}

// check tests the counters (spec/governed-state.md, section 7): only those that grew, limits inclusive.
func (s *Service) check(c counters) error {
	if !c.builtIn || s.quotas.LimitBuiltIn {
		if c.namespaceGrowth.Items > 0 && c.namespace.Items > s.quotas.ItemsPerNamespace {
			return limitError(sessile.CodeNamespaceItemLimit, "items in the namespace "+c.namespaceDisplay, c.namespace.Items, s.quotas.ItemsPerNamespace)
		}
		if c.namespaceGrowth.Bytes > 0 && c.namespace.Bytes > s.quotas.BytesPerNamespace {
			return limitError(sessile.CodeNamespaceByteLimit, "bytes in the namespace "+c.namespaceDisplay, c.namespace.Bytes, s.quotas.BytesPerNamespace)
		}
	}
	if c.accountGrowth.Items > 0 && c.account.Items > s.quotas.ItemsPerAccount {
		return limitError(sessile.CodeAccountItemLimit, "items of the account", c.account.Items, s.quotas.ItemsPerAccount)
	}
	if c.accountGrowth.Bytes > 0 && c.account.Bytes > s.quotas.BytesPerAccount {
		return limitError(sessile.CodeAccountByteLimit, "bytes of the account", c.account.Bytes, s.quotas.BytesPerAccount)
	}
	return nil
}

// limitError names the limit and what was needed, so that nobody has to guess.
func limitError(code sessile.Code, what string, needed, limit int64) error {
	return &sessile.Error{
		Code:    code,
		Message: "too many " + what,
		Details: map[string]int64{"limit": limit, "needed": needed},
	}
}

func tooLarge(size, budget int64) error {
	return &sessile.Error{
		Code: sessile.CodeValueTooLarge, Message: "the value is larger than its slot allows",
		Details: map[string]int64{"limit": budget, "needed": size},
	}
}

func errHostArchived() error {
	return sessile.Errorf(sessile.CodeHostArchived, "the session is archived and takes no writes")
}

func errNotRegistered(namespace string) error {
	return sessile.Errorf(sessile.CodeNamespaceNotRegistered, "the namespace %s is not registered in this session", namespace)
}

func errForbidden(namespace string) error {
	return sessile.Errorf(sessile.CodePublicWriteForbidden, "clients may not write to the namespace %s", namespace)
}

// retained reports whether a version counts: it is the head of a branch, or a floor shows it.
func retained(tx sessile.ReadTx, seq int64) (bool, error) {
	head, err := tx.IsHead(seq)
	if err != nil || head {
		return head, err
	}
	return tx.Shown(seq)
}

// retention follows versions whose standing a change may alter, and moves the counters by what it did.
type retention struct {
	account  int64
	versions []tracked
	known    map[int64]bool
}

type tracked struct {
	seq, namespace, size int64
	before               bool
}

func newRetention(account int64) *retention {
	return &retention{account: account, known: map[int64]bool{}}
}

// follow takes a version in before the change. retainedBefore may be given by a caller that knows.
func (r *retention) follow(tx sessile.ReadTx, seq, namespace, size int64) error {
	if seq == 0 || r.known[seq] {
		return nil
	}
	before, err := retained(tx, seq)
	if err != nil {
		return err
	}
	r.add(seq, namespace, size, before)
	return nil
}

func (r *retention) add(seq, namespace, size int64, before bool) {
	if seq == 0 || r.known[seq] {
		return
	}
	r.known[seq] = true
	r.versions = append(r.versions, tracked{seq, namespace, size, before})
}

// settle moves the counters after the change and tells by how much each namespace moved.
func (r *retention) settle(tx sessile.Tx) (map[int64]sessile.Usage, error) {
	moved := map[int64]sessile.Usage{}
	for _, v := range r.versions {
		after, err := retained(tx, v.seq)
		if err != nil {
			return nil, err
		}
		if after == v.before {
			continue
		}
		items, bytes := int64(1), v.size
		if !after {
			items, bytes = -1, -v.size
		}
		u := moved[v.namespace]
		moved[v.namespace] = sessile.Usage{Items: u.Items + items, Bytes: u.Bytes + bytes}
	}
	for namespace, u := range moved {
		if err := tx.AddUsage(r.account, namespace, u.Items, u.Bytes); err != nil {
			return nil, err
		}
	}
	return moved, nil
}
