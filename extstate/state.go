package extstate

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"
)

// Scope is what a value belongs to.
type Scope string

// The scopes (section 3). They never see each other's values.
const (
	ScopeSession Scope = "session" // one value per session, the default
	ScopeBranch  Scope = "branch"  // one value per branch; a new branch inherits the value of the one it left
)

// Options say whose state an instance keeps, and where.
type Options struct {
	// PluginID names the extension: one or more of a-z, 0-9, - and . (required).
	PluginID string
	// Scope is [ScopeSession] unless said otherwise.
	Scope Scope
	// DatabasePath is the absolute path of the file. Default: what [Resolve] finds for Place.
	DatabasePath string
	// Place says which settings count when there is no DatabasePath.
	Place Place
	// StaleCache answers from memory without asking whether other processes wrote, as the TypeScript package does. Default:
	// every read asks, which costs some microseconds.
	StaleCache bool
	// Now is the clock of lock rows; default [time.Now].
	Now func() time.Time
}

// State is one extension's value, for whichever session or branch a call works. It may be used by several goroutines.
//
// T is how the value is read and written. jsontext.Value and json.RawMessage carry the JSON as it is: key order, the text
// of numbers and strings; every other type goes through github.com/go-json-experiment/json (the v2 of encoding/json).
type State[T any] struct {
	store  *store
	plugin string
	scope  Scope
	stale  bool
	now    func() time.Time
	closed atomic.Bool
}

// Open makes an instance. It reads settings but does not touch the state file: that happens at the first call which needs
// it, and a failure is not remembered. All instances on one path share a connection, a cache and pending values.
// It fails with an [*ArgumentError] for the first of plugin id, scope and path that is wrong (section 3).
func Open[T any](options Options) (*State[T], error) {
	if err := checkPlugin(options.PluginID); err != nil {
		return nil, err
	}
	if options.Scope == "" {
		options.Scope = ScopeSession
	}
	if options.Scope != ScopeSession && options.Scope != ScopeBranch {
		return nil, &ArgumentError{fmt.Sprintf("the scope must be %q or %q, not %q", ScopeSession, ScopeBranch, options.Scope)}
	}
	path := options.DatabasePath
	if path == "" {
		found, err := Resolve(options.Place)
		if err != nil {
			return nil, err
		}
		path = found.Path
	} else if !filepath.IsAbs(path) {
		return nil, &ArgumentError{fmt.Sprintf("the database path must be absolute, not %q", path)}
	}
	path, err := normalize(path)
	if err != nil {
		return nil, err
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &State[T]{
		store: stores.use(path), plugin: options.PluginID, scope: options.Scope, stale: options.StaleCache, now: options.Now,
	}, nil
}

func checkPlugin(id string) error {
	valid := id != ""
	for _, c := range []byte(id) {
		valid = valid && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.')
	}
	if !valid {
		return &ArgumentError{fmt.Sprintf("the plugin id must be one or more of a-z, 0-9, - and ., not %q", id)}
	}
	return nil
}

// Path is the file of the instance.
func (s *State[T]) Path() string { return s.store.path }

// Close gives the instance up. The last one on a path closes the file; values that are pending then are lost. Closing
// twice is fine.
func (s *State[T]) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return stores.leave(s.store)
}

// row says where the value of a view stands; ok is false in the branch scope when there is no leaf.
func (s *State[T]) row(view View) (key rowKey, ok bool, err error) {
	if s.closed.Load() {
		return rowKey{}, false, ErrClosed
	}
	key = rowKey{plugin: s.plugin, session: view.SessionID()}
	if s.scope == ScopeSession {
		return key, true, nil
	}
	key.branch, ok, err = trees.key(view)
	return key, ok, err
}

// Read is the value for a view; found is false when there is none, which a stored null is not (section 5).
//
// In the branch scope a branch without a value of its own inherits that of the nearest branch above it, and the first read
// writes it down for the branch: later changes above do not reach it any more. That write, and the one which brings a
// pending value to the branch, take no session lock; they can wait 5 s for the file and fail with a [*SQLiteError]. All
// other reads wait for nobody.
//
// Errors: [*CorruptError], [*DecodeError], [*TreeError], [*OpenError], [*SQLiteError], the context's.
func (s *State[T]) Read(ctx context.Context, view View) (value T, found bool, err error) {
	key, ok, err := s.row(view)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return value, false, err
	}
	var row cached
	switch {
	case !ok:
		row = s.store.pendingOf(key)
	case s.scope == ScopeSession:
		row, err = s.store.read(key, !s.stale)
	default:
		row, err = s.readBranch(ctx, view, key)
	}
	if err != nil || !row.present {
		return value, false, err
	}
	if row.corrupt != nil {
		return value, false, &CorruptError{s.plugin, key.session, key.branch, row.corrupt}
	}
	value, err = decode[T](row.text)
	if err != nil {
		return value, false, &DecodeError{s.plugin, key.session, key.branch, err}
	}
	return value, true, nil
}

func (s *State[T]) readBranch(ctx context.Context, view View, key rowKey) (cached, error) {
	if s.store.pendingOf(key).present {
		if err := s.store.land(ctx, key); err != nil {
			return cached{}, err
		}
	}
	row, err := s.store.read(key, !s.stale)
	if err != nil || row.present {
		return row, err
	}
	above, damage := trees.ancestors(view, key.branch)
	for _, branch := range above {
		row, err = s.store.read(rowKey{key.plugin, key.session, branch}, false)
		if err != nil {
			return cached{}, err
		}
		if row.present {
			return s.store.materialize(ctx, key, row)
		}
	}
	return cached{}, damage
}

// read looks a row up, after a look at whether the file has changed if it is to be fresh.
func (s *store) read(key rowKey, fresh bool) (cached, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return cached{}, err
	}
	if fresh {
		if err := s.fresh(); err != nil {
			return cached{}, err
		}
	}
	return s.lookup(key)
}

func (s *store) pendingOf(key rowKey) cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.pending[owner{key.plugin, key.session}]
	if text == nil {
		return cached{}
	}
	return cached{text: *text, present: true}
}

// Write replaces the value for a view. It is durable on return. In the branch scope without a leaf the value is kept in
// memory, for this process only, until there is a branch (section 5).
//
// Errors: [*ValueError] before anything is touched; [*RefusedError] when another process writes the session, told to the
// view's UI too; [*TreeError], [*OpenError], [*SQLiteError], the context's. After an error the old value stands.
func (s *State[T]) Write(ctx context.Context, view View, value T) error {
	text, err := encode(value)
	if err != nil {
		return err
	}
	return s.change(ctx, view, ActionWrite, text)
}

// Drop takes the value of a view away; that of a branch above is inherited again by the next read. To hide an inherited
// value, write null. Dropping what is not there succeeds. Errors as for [State.Write].
func (s *State[T]) Drop(ctx context.Context, view View) error {
	return s.change(ctx, view, ActionDrop, nil)
}

func (s *State[T]) change(ctx context.Context, view View, action Action, text []byte) error {
	key, ok, err := s.row(view)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if ok {
		if err := tellRefusal(view, s.store.change(ctx, action, key, text, s.now)); err != nil {
			return err
		}
		text = nil // what was pending is outdated
	}
	if s.scope == ScopeBranch {
		s.store.setPending(key, text)
	}
	return nil
}

// setPending keeps a text for a branch that does not exist yet; nil forgets it.
func (s *store) setPending(key rowKey, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == nil {
		delete(s.pending, owner{key.plugin, key.session})
		return
	}
	s.pending[owner{key.plugin, key.session}] = &text
}

// tellRefusal shows a refusal to the view's user, once.
func tellRefusal(view View, err error) error {
	refused, ok := err.(*RefusedError) //nolint:errorlint // only what is returned as it is
	if !ok {
		return err
	}
	if ui := uiOf(view); ui != nil {
		if failed := ui.Notify(refused.Error(), LevelError); failed != nil {
			return failed
		}
	}
	return err
}

// Hold takes the lock of a view's session for longer than one write: until release, and for 60 s at most, writes of other
// processes are refused while those of this one go on. It is for changes that need several calls, a read and the write
// that depends on it for one. Calls nest. release does not depend on the context.
func (s *State[T]) Hold(ctx context.Context, view View) (release func() error, err error) {
	if s.closed.Load() {
		return nil, ErrClosed
	}
	session := view.SessionID()
	if err := tellRefusal(view, s.store.hold(ctx, session, s.now)); err != nil {
		return nil, err
	}
	var released atomic.Bool
	return func() error {
		if released.Swap(true) {
			return nil
		}
		return s.store.unhold(session)
	}, nil
}

func (s *store) hold(ctx context.Context, session string, now func() time.Time) error {
	return s.onWriter(ctx, func() error {
		at := now()
		err := exclusively(s.writer, ActionHold, session, at, false, func() error {
			return s.writer.Exec(sqlInsertLock, session, ownHolder(), at.UnixMilli())
		})
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.held[session]++
			s.adopt()
		}
		return err
	})
}

func (s *store) unhold(session string) error {
	return s.onWriter(context.Background(), func() error {
		s.mu.Lock()
		s.held[session]--
		last := s.held[session] <= 0
		if last {
			delete(s.held, session)
		}
		s.mu.Unlock()
		if !last {
			return nil
		}
		err := s.writer.Exec(sqlReleaseLock, session, ownHolder())
		s.mu.Lock()
		defer s.mu.Unlock()
		s.adopt()
		return sqliteError(err)
	})
}
