package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// Options tell how to open a store.
type Options struct {
	// Clock tells the time of transactions; default time.Now.
	Clock func() time.Time
	// Logger hears of checkpoints that fail and the like; default none.
	Logger *slog.Logger
	// QueueLength bounds the updates that wait for the writer; default 1024.
	QueueLength int
	// Readers bounds the read connections; default twice the number of processors, at least 4.
	Readers int
	// CheckpointBytes is the size of the write-ahead log from which on it is copied into the file; default 16 MiB.
	CheckpointBytes int64
	// LogLimitBytes is the size at which the writer waits for readers to let go of the log; default 64 MiB.
	LogLimitBytes int64
	// HeadCacheBytes bounds the memory for heads that are read by name; default 64 MiB, negative for none.
	HeadCacheBytes int64
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.QueueLength == 0 {
		o.QueueLength = 1024
	}
	if o.Readers == 0 {
		o.Readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if o.CheckpointBytes == 0 {
		o.CheckpointBytes = 16 << 20
	}
	if o.LogLimitBytes == 0 {
		o.LogLimitBytes = 64 << 20
	}
	if o.HeadCacheBytes == 0 {
		o.HeadCacheBytes = 64 << 20
	}
	return o
}

// Store is an open database file. It is safe for concurrent use.
type Store struct {
	path    string
	lock    *fileLock
	schema  int
	writer  *writer
	readers *readerPool
	heads   *headCache

	closeOnce sync.Once
	closeErr  error
}

var _ sessile.Store = (*Store)(nil)

// Open opens the file, creates it when it does not exist, brings its schema up to date and takes ownership. It fails
// with a [LockedError] when another process owns the file. The folder must exist.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	options = options.withDefaults()
	path, err := canonicalPath(path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, lock: lock}
	if err := s.open(ctx, options); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, options Options) error {
	if err := createPrivate(s.path); err != nil {
		return err
	}
	schema, err := migrate(ctx, s.path)
	if err != nil {
		return fmt.Errorf("bring the schema of %s up to date: %w", s.path, err)
	}
	if err := createPrivate(s.path); err != nil { // the last connection to close took the log files with it
		return err
	}
	s.schema = schema
	s.heads = newHeadCache(options.HeadCacheBytes)
	s.writer, err = newWriter(s.path, s.heads, options)
	if err != nil {
		return err
	}
	s.readers = &readerPool{
		free: make(chan *sqliteconn.Conn, options.Readers), slots: make(chan struct{}, options.Readers),
		open: func() (*sqliteconn.Conn, error) {
			return sqliteconn.Open(s.path, sqliteconn.Options{ReadOnly: true, CacheKiB: readerCacheKiB})
		},
	}
	return nil
}

// canonicalPath makes the path absolute and follows links, so that one file has one lock.
func canonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("the folder of the database: %w", err)
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// createPrivate makes the database and its log files readable by their owner alone, where they do not exist yet: the
// driver would make the log files, which hold values too, readable by all.
func createPrivate(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		f, err := os.OpenFile(path+suffix, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// View runs fn over one consistent, committed state.
func (s *Store) View(ctx context.Context, fn func(sessile.ReadTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readers.isClosed() {
		return errClosed
	}
	t := &readTx{ctx: ctx, pool: s.readers, heads: s.heads}
	defer t.end()
	return fn(t)
}

// Update runs fn in the writer and returns when its effect is durable.
func (s *Store) Update(ctx context.Context, fn func(sessile.Tx) error) error {
	return s.writer.update(ctx, fn)
}

// SocketPath is where the owner of the file listens for other processes of the machine.
func (s *Store) SocketPath() string { return s.lock.owner.Socket }

// SchemaVersion is the number of the latest migration.
func (s *Store) SchemaVersion() int { return s.schema }

// Close finishes what was accepted, copies the log into the file and gives the file free.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = errors.Join(s.readers.close(), s.writer.close(), s.lock.release())
	})
	return s.closeErr
}

// readerCacheKiB is the page cache of a read connection: enough for some thousand values. It fills with use.
const readerCacheKiB = 16 << 10

// Statements of transactions.
const (
	sqlBeginRead  = "BEGIN"
	sqlBeginWrite = "BEGIN IMMEDIATE"
	sqlCommit     = "COMMIT"
	sqlRollback   = "ROLLBACK"
	sqlSavepoint  = "SAVEPOINT request"
	sqlRelease    = "RELEASE request"
	sqlUndo       = "ROLLBACK TO request"
)

// readerPool opens read connections as they are needed, up to a bound, and waits beyond it.
type readerPool struct {
	open  func() (*sqliteconn.Conn, error)
	free  chan *sqliteconn.Conn
	slots chan struct{} // one token per open connection

	mu     sync.RWMutex // held for reading while a connection is out; close takes it for writing
	closed bool
}

var errClosed = errors.New("sqlite: the store is closed")

func (p *readerPool) acquire(ctx context.Context) (*sqliteconn.Conn, error) {
	p.mu.RLock()
	if p.closed {
		p.mu.RUnlock()
		return nil, errClosed
	}
	conn, err := p.take(ctx)
	if err != nil {
		p.mu.RUnlock()
		return nil, err
	}
	return conn, nil
}

func (p *readerPool) take(ctx context.Context) (*sqliteconn.Conn, error) {
	select {
	case conn := <-p.free:
		return conn, nil
	default:
	}
	select {
	case conn := <-p.free:
		return conn, nil
	case p.slots <- struct{}{}:
		conn, err := p.open()
		if err != nil {
			<-p.slots
		}
		return conn, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *readerPool) release(conn *sqliteconn.Conn) {
	p.free <- conn
	p.mu.RUnlock()
}

func (p *readerPool) isClosed() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.closed
}

func (p *readerPool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for len(p.free) > 0 {
		errs = append(errs, (<-p.free).Close())
	}
	return errors.Join(errs...)
}
