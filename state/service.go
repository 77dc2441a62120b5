package state

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// Options tell how a service behaves.
type Options struct {
	// Quotas bound what may be kept; the zero value means sessile.DefaultQuotas.
	Quotas sessile.Quotas
}

// Service is the use cases of cells over a store. It is safe for concurrent use.
type Service struct {
	store  sessile.Store
	quotas sessile.Quotas
}

// New makes a service. It does no IO.
func New(store sessile.Store, options Options) *Service {
	if options.Quotas == (sessile.Quotas{}) {
		options.Quotas = sessile.DefaultQuotas()
	}
	return &Service{store: store, quotas: options.Quotas}
}

// ownSession finds a session of the account. Missing and foreign ones answer alike.
func ownSession(tx sessile.ReadTx, account, id string) (sessile.Session, error) {
	s, found, err := tx.Session(account, id)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	return s, err
}

// ownFloor finds a floor of that session.
func ownFloor(tx sessile.ReadTx, account string, session *sessile.Session, id string) (sessile.Floor, error) {
	f, found, err := tx.Floor(account, id)
	if err == nil && (!found || f.Session != session.Row) {
		err = sessile.NotFound()
	}
	return f, err
}

// Register makes a custom namespace in a session and reserves its place in the account's capacity
// (spec/governed-state.md, 4.1). It is not idempotent. Codes: not_found, session_state_host_archived,
// session_state_namespace_reserved, session_state_namespace_already_registered,
// session_state_namespace_count_limit_exceeded.
func (s *Service) Register(ctx context.Context, account, sessionID string, r Registration) (Namespace, error) {
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		return s.register(tx, account, sessionID, r)
	})
	if err != nil {
		return Namespace{}, err
	}
	return Namespace{Name: r.Namespace, OwnerType: r.OwnerType, OwnerID: r.OwnerID}, nil
}

func (s *Service) register(tx sessile.Tx, account, sessionID string, r Registration) error {
	session, err := ownSession(tx, account, sessionID)
	if err != nil {
		return err
	}
	if session.Status == sessile.SessionArchived {
		return errHostArchived()
	}
	if reserved(r.Namespace) {
		return sessile.Errorf(sessile.CodeNamespaceReserved, "the namespace %s is reserved", r.Namespace)
	}
	_, taken, err := tx.Namespace(session.Row, r.Namespace)
	if err != nil {
		return err
	}
	if taken {
		return sessile.Errorf(sessile.CodeNamespaceAlreadyRegistered, "the namespace %s is already registered in this session", r.Namespace)
	}
	usage, err := tx.Usage(session.AccountRow)
	if err != nil {
		return err
	}
	if limit := s.quotas.NamespacesPerAccount; usage.Namespaces+1 > limit {
		return limitError(sessile.CodeNamespaceCountLimit, "custom namespaces of the account", usage.Namespaces+1, limit)
	}
	n := sessile.Namespace{
		Session: session.Row, Name: r.Namespace, OwnerType: r.OwnerType, OwnerID: r.OwnerID, CreatedAt: tx.Now(),
	}
	if err := tx.AddNamespace(&n); err != nil {
		return err
	}
	return tx.AddNamespaceCount(session.AccountRow, 1)
}

// Namespaces lists the definitions of a session's namespaces in byte order, the built-in one always among them (4.2).
func (s *Service) Namespaces(ctx context.Context, account, sessionID string) (definitions []Namespace, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		definitions, err = s.namespaces(tx, account, sessionID)
		return err
	})
	return definitions, err
}

func (s *Service) namespaces(tx sessile.ReadTx, account, sessionID string) ([]Namespace, error) {
	session, err := ownSession(tx, account, sessionID)
	if err != nil {
		return nil, err
	}
	namespaces, err := tx.Namespaces(session.Row)
	if err != nil {
		return nil, err
	}
	slots, err := tx.Slots(session.Row)
	if err != nil {
		return nil, err
	}
	byNamespace := make(map[int64][]SlotDefinition, len(namespaces))
	builtIn := make(map[int64]bool, len(namespaces))
	for _, n := range namespaces {
		builtIn[n.Row] = n.BuiltIn
	}
	for _, slot := range slots {
		byNamespace[slot.Namespace] = append(byNamespace[slot.Namespace], SlotDefinition{
			Name: slot.Name, BuiltIn: builtIn[slot.Namespace], SizeBudgetBytes: s.budget(builtIn[slot.Namespace], slot.Name),
		})
	}
	definitions := make([]Namespace, 0, len(namespaces))
	for _, n := range namespaces {
		definitions = append(definitions, Namespace{
			Name: n.Name, BuiltIn: n.BuiltIn, OwnerType: n.OwnerType, OwnerID: n.OwnerID, Slots: byNamespace[n.Row],
		})
	}
	return definitions, nil
}

// Mutations lists the log of a session (section 11). Codes: not_found.
func (s *Service) Mutations(ctx context.Context, account, sessionID string, f sessile.MutationFilter) (mutations []Mutation, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		records, n, err := tx.Mutations(session.Row, f)
		for _, r := range records {
			mutations = append(mutations, Mutation{MutationRecord: r, ID: sessile.MutationID(r.Seq)})
		}
		total = n
		return err
	})
	return mutations, total, err
}

// Mutation finds one mutation of a session. Codes: not_found, also for one of another session.
func (s *Service) Mutation(ctx context.Context, account, sessionID, mutationID string) (m Mutation, err error) {
	seq, known := sessile.ParseMutationID(mutationID)
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		if !known {
			return sessile.NotFound()
		}
		record, found, err := tx.Mutation(session.Row, seq)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		m = Mutation{MutationRecord: record, ID: mutationID}
		return err
	})
	return m, err
}
