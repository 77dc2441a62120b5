package sqlite

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const pageBytes = 4096

// checkpointer keeps the write-ahead log from growing. The bulk is copied by a helper connection while the writer goes
// on; the rest, what came in meanwhile, by the writer itself between two batches, so that the log can start anew.
type checkpointer struct {
	writer    *sqliteconn.Conn
	helper    *sqliteconn.Conn
	logger    *slog.Logger
	threshold int // pages
	limit     int // pages

	pages   atomic.Int64  // in the log after the last commit
	wake    chan struct{} // holds at most one signal; closed to end the goroutine
	stopped chan struct{}
	copied  atomic.Bool // the helper has done its part
	ended   bool
}

func newCheckpointer(path string, writer *sqliteconn.Conn, options Options) (*checkpointer, error) {
	helper, err := sqliteconn.Open(path, sqliteconn.Options{})
	if err != nil {
		return nil, err
	}
	c := &checkpointer{
		writer: writer, helper: helper, logger: options.Logger,
		threshold: int(options.CheckpointBytes / pageBytes), limit: int(options.LogLimitBytes / pageBytes),
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	// A hook of one's own takes the place of the automatic checkpoint.
	writer.Raw().WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		c.pages.Store(int64(pages))
		return nil
	})
	if err := helper.Raw().WALAutoCheckpoint(0); err != nil {
		return nil, errors.Join(err, helper.Close())
	}
	go c.run()
	return c, nil
}

func (c *checkpointer) run() {
	defer close(c.stopped)
	for range c.wake {
		if _, _, err := c.helper.Raw().WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE); err != nil {
			c.logger.Warn("checkpoint beside the writer", "error", err)
		}
		c.copied.Store(true)
	}
}

// betweenBatches is called by the writer when no transaction is open.
func (c *checkpointer) betweenBatches() {
	pages := int(c.pages.Load())
	switch {
	case pages >= c.limit:
		c.finish(sqlite3.CHECKPOINT_RESTART)
	case c.copied.CompareAndSwap(true, false):
		c.finish(sqlite3.CHECKPOINT_PASSIVE)
	case pages >= c.threshold:
		select {
		case c.wake <- struct{}{}:
		default: // it is at work already
		}
	}
}

func (c *checkpointer) finish(mode sqlite3.CheckpointMode) {
	_, _, err := c.writer.Raw().WALCheckpoint("main", mode)
	if errors.Is(err, sqlite3.BUSY) {
		return // the helper or a reader is at work; the next batch tries again
	}
	if err != nil {
		c.logger.Warn("checkpoint between batches", "error", err)
	}
	if mode == sqlite3.CHECKPOINT_RESTART {
		c.pages.Store(0)
	}
}

// close is called when the writer's goroutine has ended.
func (c *checkpointer) close() error {
	if c.ended {
		return nil
	}
	c.ended = true
	close(c.wake)
	<-c.stopped
	_, _, err := c.writer.Raw().WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	return errors.Join(err, c.helper.Close())
}
