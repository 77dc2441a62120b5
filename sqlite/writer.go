package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// Bounds of one batch. More would only make the first callers of a batch wait for the last ones.
const (
	maxBatchRequests = 256
	maxBatchBytes    = 4 << 20
)

// writerCacheKiB is the page cache of the write connection: the pages that it comes back to, which are those of indexes.
// When a commit moved pages about, SQLite looks through the whole cache, so more is not better.
const writerCacheKiB = 16 << 10

// request is one update on its way through the writer.
type request struct {
	ctx  context.Context
	fn   func(sessile.Tx) error
	done chan error // takes one value
}

// panicked carries a panic of an update's function back to its caller.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic in an update: %v\n%s", p.value, p.stack) }

// writer owns the write connection. Its goroutine is started by newWriter and waited for by close.
type writer struct {
	conn       *sqliteconn.Conn
	clock      func() time.Time
	logger     *slog.Logger
	queue      chan *request
	stopped    chan struct{} // closed when the goroutine has ended
	checkpoint *checkpointer
	cache      *headCache
	cells      *cellCache // of the goroutine

	mu     sync.RWMutex // held for reading while a request enters the queue; close takes it for writing
	closed bool

	// What follows belongs to the goroutine.
	lastSeq int64
	lastNow int64
	usage   usageDeltas // of the batch, as is what follows
	heads   []committedHead
	forget  bool
	bytes   int // appended
}

func newWriter(path string, cache *headCache, options Options) (*writer, error) {
	conn, err := sqliteconn.Open(path, sqliteconn.Options{CacheKiB: writerCacheKiB})
	if err != nil {
		return nil, err
	}
	w := &writer{
		conn: conn, clock: options.Clock, logger: options.Logger, cache: cache, cells: newCellCache(),
		queue: make(chan *request, options.QueueLength), stopped: make(chan struct{}),
	}
	if err := w.load(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	w.checkpoint, err = newCheckpointer(path, conn, options)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go w.run()
	return w, nil
}

// The newest mutation tells how far the log has come. The counter stands in for mutations that were removed: it is saved
// when rows are, and not with every write.
const (
	sqlLoadSeq = "SELECT max(value, coalesce((SELECT max(seq) FROM mutation), 0)) FROM counter WHERE name = 'mutation_seq'"
	sqlSaveSeq = "UPDATE counter SET value = ? WHERE name = 'mutation_seq'"
	sqlLastNow = "SELECT created_at FROM mutation ORDER BY seq DESC LIMIT 1"
)

// load reads the sequence counter, and the newest time in the log so that time never runs backwards over a restart.
func (w *writer) load() error {
	if _, err := w.conn.One(sqlLoadSeq, func(r *sqliteconn.Rows) { w.lastSeq = r.Int64(0) }); err != nil {
		return err
	}
	_, err := w.conn.One(sqlLastNow, func(r *sqliteconn.Rows) { w.lastNow = r.Int64(0) })
	return err
}

// update hands fn to the goroutine and waits for its commit. Once accepted an update is not given up: what fn did
// counts even if the caller's context ends meanwhile, so the caller must learn of it.
func (w *writer) update(ctx context.Context, fn func(sessile.Tx) error) error {
	r := &request{ctx: ctx, fn: fn, done: make(chan error, 1)}
	if err := w.enqueue(r); err != nil {
		return err
	}
	err := <-r.done
	if p, ok := errors.AsType[*panicked](err); ok {
		panic(p)
	}
	return err
}

func (w *writer) enqueue(r *request) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	select {
	case w.queue <- r:
		return nil
	default:
		return sessile.Errorf(sessile.CodeServerBusy, "too many writes are waiting, try again in a moment")
	}
}

func (w *writer) close() error {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	if first {
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.stopped
	return errors.Join(w.checkpoint.close(), w.conn.Close())
}

func (w *writer) run() {
	defer close(w.stopped)
	for r := range w.queue {
		w.batch(r)
		w.checkpoint.betweenBatches()
	}
}

// batch runs the request and whatever waits behind it, and commits once. A commit that fails fails them all.
func (w *writer) batch(first *request) {
	if err := w.conn.Exec(sqlBeginWrite); err != nil {
		first.done <- storeError(err)
		return
	}
	w.usage.clear()
	w.heads, w.forget, w.bytes = w.heads[:0], false, 0
	seqBefore := w.lastSeq
	accepted := make([]*request, 0, maxBatchRequests)
	for r := first; r != nil; r = w.next(len(accepted)) {
		err := w.one(r)
		if err == nil {
			accepted = append(accepted, r)
			continue
		}
		r.done <- err
		if w.conn.Raw().GetAutocommit() {
			// SQLite gave up the whole transaction, as it does on a full disk: nothing of the batch is left.
			w.cells.clear()
			w.lastSeq = seqBefore
			for _, r := range accepted {
				r.done <- err
			}
			return
		}
	}
	err := w.commit()
	if err == nil {
		w.publish()
	} else {
		w.lastSeq = seqBefore
	}
	for _, r := range accepted {
		r.done <- err
	}
}

// yields is how often the writer lets others run before it takes it that nobody else wants into the batch.
const yields = 3

// next takes one more request if the batch has room and one is waiting. Before a batch ends, callers that are ready to
// ask get the processor: under load that nearly doubles the requests which share a commit, and it costs nothing when
// there are none.
func (w *writer) next(taken int) *request {
	if taken >= maxBatchRequests || w.bytes >= maxBatchBytes {
		return nil
	}
	for range yields {
		select {
		case r := <-w.queue: // nil when the queue is closed and empty
			return r
		default:
			runtime.Gosched()
		}
	}
	return nil
}

// one runs a request in a savepoint of its own.
func (w *writer) one(r *request) (err error) {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if err := w.conn.Exec(sqlSavepoint); err != nil {
		return storeError(err)
	}
	seqBefore := w.lastSeq
	w.lastNow = max(w.lastNow, w.clock().UnixMilli())
	tx := &tx{readTx: readTx{conn: w.conn, batch: &w.usage}, writer: w, now: w.lastNow}
	tx.request = &tx.usage
	if err := call(r.fn, tx); err != nil {
		tx.forgetTouched()
		if undo := errors.Join(w.conn.Exec(sqlUndo), w.conn.Exec(sqlRelease)); undo != nil {
			return storeError(errors.Join(err, undo))
		}
		w.lastSeq = seqBefore // no floor may stand at a place in the log that a restart does not find
		return storeError(err)
	}
	if err := w.conn.Exec(sqlRelease); err != nil {
		return storeError(err)
	}
	w.usage.merge(&tx.usage)
	w.cells.settle(&tx.usage)
	w.heads = append(w.heads, tx.heads...)
	w.forget = w.forget || tx.forget
	return nil
}

func call(fn func(sessile.Tx) error, tx *tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return fn(tx)
}

// publish brings the cache of heads up to what was committed.
func (w *writer) publish() {
	if w.forget {
		w.cache.clear()
		return
	}
	for i := range w.heads {
		w.cache.publish(&w.heads[i])
	}
	clear(w.heads) // lets go of the values
}

// commit writes what the batch carried in memory and commits.
func (w *writer) commit() error {
	err := w.usage.write(w.conn)
	if err == nil {
		err = w.conn.Exec(sqlCommit)
	}
	if err == nil {
		return nil
	}
	w.cells.clear()
	if undo := w.conn.Exec(sqlRollback); undo != nil && !w.conn.Raw().GetAutocommit() {
		w.logger.Error("roll back a failed batch", "error", undo)
	}
	return storeError(err)
}

// storeError names what the driver says about a database that cannot take a write now. Errors that carry a code of
// ours pass.
func storeError(err error) error {
	if _, ok := errors.AsType[*sessile.Error](err); ok {
		return err
	}
	if errors.Is(err, sqlite3.FULL) {
		return &sessile.Error{Code: sessile.CodeInternal, Message: "the disk of the database is full", Cause: err}
	}
	if errors.Is(err, sqlite3.BUSY) {
		return &sessile.Error{Code: sessile.CodeServerBusy, Message: "the database is locked, try again in a moment", Cause: err}
	}
	return err
}
