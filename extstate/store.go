package extstate

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// rowKey is the primary key of a row. The session scope has the empty branch.
type rowKey struct{ plugin, session, branch string }

// owner is what a pending value belongs to.
type owner struct{ plugin, session string }

// cached is what is known of a row: its text, whether that is JSON, or that there is none.
type cached struct {
	text    []byte // never changed; nil when there is no row
	present bool
	corrupt error
}

// store is one state file in this process: what all instances on its path share (section 2.3).
type store struct {
	path string

	// turn is taken by whoever uses the write connection. It comes before mu.
	turn   chan struct{}
	writer *sqliteconn.Conn

	mu      sync.Mutex // over everything below, and the read connection
	reader  *sqliteconn.Conn
	closed  bool
	cache   map[string]map[slot]cached // by session
	pending map[owner]*[]byte
	held    map[string]int // sessions whose lock row this process keeps, see Hold

	// The cache is as fresh as readerVersion of the read connection; unknownVersion is older than everything. writerVersion
	// tells whether other processes wrote since the last write of ours.
	readerVersion, writerVersion int64
}

// slot is a row within a session.
type slot struct{ plugin, branch string }

const unknownVersion = -1

// registry holds the stores of this process by path, since one file has one cache and one set of pending values, whoever
// opens it.
type registry struct {
	mu     sync.Mutex
	stores map[string]*sharedStore
}

type sharedStore struct {
	*store
	users int
}

// stores is the registry of this process.
var stores = registry{stores: make(map[string]*sharedStore)}

// normalize makes a path absolute and takes . and .. out; links are not followed.
func normalize(path string) (string, error) { return filepath.Abs(path) }

// use finds or makes the store of a normalised path. Nothing touches the disk.
func (r *registry) use(path string) *store {
	r.mu.Lock()
	defer r.mu.Unlock()
	shared := r.stores[path]
	if shared == nil {
		shared = &sharedStore{store: newStore(path)}
		r.stores[path] = shared
	}
	shared.users++
	return shared.store
}

// leave closes the store after its last user.
func (r *registry) leave(s *store) error {
	r.mu.Lock()
	shared := r.stores[s.path]
	shared.users--
	last := shared.users == 0
	if last {
		delete(r.stores, s.path)
	}
	r.mu.Unlock()
	if !last {
		return nil
	}
	return s.close()
}

// forget drops the cache of a session in the store of a path, if this process has one.
func (r *registry) forget(path, sessionID string) {
	r.mu.Lock()
	shared := r.stores[path]
	r.mu.Unlock()
	if shared == nil {
		return
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	delete(shared.cache, sessionID)
}

// holds reports whether this process keeps the lock row of a session in a file.
func (r *registry) holds(path, sessionID string) bool {
	r.mu.Lock()
	shared := r.stores[path]
	r.mu.Unlock()
	if shared == nil {
		return false
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	return shared.held[sessionID] > 0
}

func newStore(path string) *store {
	return &store{
		path: path, turn: make(chan struct{}, 1),
		cache: make(map[string]map[slot]cached), pending: make(map[owner]*[]byte), held: make(map[string]int),
		readerVersion: unknownVersion,
	}
}

func (s *store) close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.writer == nil {
		return nil
	}
	// The writer goes last: closing it folds the write-ahead log into the file.
	return sqliteError(errors.Join(s.reader.Close(), s.writer.Close()))
}

// open opens the file at the first call that needs it. A failure is not remembered. mu is held.
func (s *store) open() error {
	if s.closed {
		return ErrClosed
	}
	if s.writer != nil {
		return nil
	}
	writer, err := openWriter(s.path)
	if err != nil {
		return &OpenError{Path: s.path, Err: err}
	}
	reader, err := sqliteconn.Open(s.path, sqliteconn.Options{ReadOnly: true})
	if err != nil {
		return &OpenError{Path: s.path, Err: errors.Join(err, writer.Close())}
	}
	s.writer, s.reader = writer, reader
	return nil
}

// fresh empties the cache if anybody wrote to the file since it was filled. mu is held, the file is open.
func (s *store) fresh() error {
	version, err := dataVersion(s.reader)
	if err != nil {
		return err
	}
	if version != s.readerVersion {
		clear(s.cache)
		s.readerVersion = version
	}
	return nil
}

// adopt keeps the cache fresh across a write of this process: if no other process wrote since the last one, the version
// that the read connection sees now is of our own making. mu and turn are held.
func (s *store) adopt() {
	known := s.readerVersion
	s.readerVersion = unknownVersion
	reader, err := dataVersion(s.reader)
	if err != nil {
		return
	}
	writer, err := dataVersion(s.writer) // asked last, so that it has seen all that the reader has
	if err == nil && writer == s.writerVersion && known != unknownVersion {
		s.readerVersion = reader
	}
	s.writerVersion = writer
}

func dataVersion(conn *sqliteconn.Conn) (int64, error) {
	var version int64
	_, err := conn.One(sqlVersion, func(r *sqliteconn.Rows) { version = r.Int64(0) })
	return version, sqliteError(err)
}

// lookup reads a row through the cache. mu is held, the file is open.
func (s *store) lookup(key rowKey) (cached, error) {
	if found, ok := s.cache[key.session][slot{key.plugin, key.branch}]; ok {
		return found, nil
	}
	row, err := get(s.reader, key)
	if err != nil {
		return cached{}, err
	}
	s.remember(key, row)
	return row, nil
}

func get(conn *sqliteconn.Conn, key rowKey) (cached, error) {
	var row cached
	found, err := conn.One(sqlGet, func(r *sqliteconn.Rows) { row.text = r.Bytes(0) }, key.plugin, key.session, key.branch)
	if err != nil {
		return cached{}, sqliteError(err)
	}
	row.present = found
	if found {
		row.corrupt = checkJSON(row.text)
	}
	return row, nil
}

func (s *store) remember(key rowKey, row cached) {
	session := s.cache[key.session]
	if session == nil {
		session = make(map[slot]cached)
		s.cache[key.session] = session
	}
	session[slot{key.plugin, key.branch}] = row
}

// onWriter waits for the write connection and runs work with it. The context ends the wait, also that for locks of other
// processes.
func (s *store) onWriter(ctx context.Context, work func() error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	err := s.open()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.writer.Interruptible(ctx)
	defer s.writer.Interruptible(context.Background())
	if err = work(); err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// change writes a row, or deletes it when text is nil, as the only writer of its session.
func (s *store) change(ctx context.Context, action Action, key rowKey, text []byte, now func() time.Time) error {
	return s.onWriter(ctx, func() error {
		s.mu.Lock()
		keep := s.held[key.session] > 0
		s.mu.Unlock()
		err := exclusively(s.writer, action, key.session, now(), keep, func() error {
			if text == nil {
				return s.writer.Exec(sqlDelete, key.plugin, key.session, key.branch)
			}
			return s.writer.Exec(sqlPut, key.plugin, key.session, key.branch, text)
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if text == nil {
			delete(s.cache[key.session], slot{key.plugin, key.branch})
		} else {
			s.remember(key, cached{text: text, present: true})
		}
		s.adopt()
		return nil
	})
}

// land writes the pending value of a plugin to the branch that now exists, without the session's lock (section 5).
func (s *store) land(ctx context.Context, key rowKey) error {
	return s.onWriter(ctx, func() error {
		s.mu.Lock()
		text := s.pending[owner{key.plugin, key.session}]
		s.mu.Unlock()
		if text == nil { // another call was faster
			return nil
		}
		if err := s.writer.Exec(sqlPut, key.plugin, key.session, key.branch, *text); err != nil {
			return sqliteError(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pending[owner{key.plugin, key.session}] == text {
			delete(s.pending, owner{key.plugin, key.session})
		}
		s.remember(key, cached{text: *text, present: true})
		s.adopt()
		return nil
	})
}

// materialize copies an inherited text into a row of the branch, without the session's lock, and returns what stands
// there afterwards.
func (s *store) materialize(ctx context.Context, key rowKey, inherited cached) (cached, error) {
	err := s.onWriter(ctx, func() error {
		err := s.writer.Exec(sqlMaterialize, key.plugin, key.session, key.branch, inherited.text)
		if err != nil {
			return sqliteError(err)
		}
		if s.writer.Changes() == 0 { // another process has written to the branch
			row, err := get(s.writer, key)
			if err != nil {
				return err
			}
			if row.present {
				inherited = row
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remember(key, inherited)
		s.adopt()
		return nil
	})
	return inherited, err
}
