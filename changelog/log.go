package changelog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/sessile-dev/sessile"
)

// Options tell how a log behaves.
type Options struct {
	// MaxEvents is how many events are kept over all sessions; default 50,000.
	MaxEvents int
	// MaxAge is how long events are kept, and cursors that nothing happens to; default 30 days.
	MaxAge time.Duration
	// PruneEvery is how often old events are removed; default an hour.
	PruneEvery time.Duration
	// Now tells the time by which events are old; default time.Now.
	Now func() time.Time
	// Logger hears of what goes wrong in the background; default none.
	Logger *slog.Logger
}

// Log is the log of changes over a store. It is safe for concurrent use.
type Log struct {
	store   sessile.Store
	options Options

	mu   sync.Mutex
	bell chan struct{} // closed and replaced by Announce
}

// New makes a log. It does no IO.
func New(store sessile.Store, o Options) *Log {
	if o.MaxEvents == 0 {
		o.MaxEvents = 50_000
	}
	if o.MaxAge == 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	if o.PruneEvery == 0 {
		o.PruneEvery = time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Log{store: store, options: o, bell: make(chan struct{})}
}

// Announce wakes those who wait for changes. It is called after the commit of events or notices; one call too many does no
// harm.
func (l *Log) Announce() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.bell)
	l.bell = make(chan struct{})
}

// Next is closed at the next announcement. Who follows the log takes it first, then reads, then waits for it: so nothing is
// missed in between.
func (l *Log) Next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bell
}

// MaxChanges bounds the events of one answer (spec/session-tools.md, 7.7).
const MaxChanges = 200

// Changes is what happened to a session after a version.
type Changes struct {
	StateVersion int64 // sequence of the newest event ever; 0 for none
	Events       []sessile.Event
	Truncated    bool  // there are more: go on after the last one
	Earliest     int64 // sequence of the oldest event that is kept; one above StateVersion when none is
	Gap          bool  // events after the version are kept no more
}

// Changes reads what happened to a session after a version, the oldest first; limit is at most [MaxChanges]. Events before a
// reset of the session are there too. Reading acknowledges nothing. Codes: not_found.
func (l *Log) Changes(ctx context.Context, account, sessionID string, since int64, limit int) (c Changes, err error) {
	err = l.store.View(ctx, func(tx sessile.ReadTx) error {
		key, err := keyOf(tx, account, sessionID)
		if err == nil {
			c, err = ReadChanges(tx, account, key, since, limit)
		}
		return err
	})
	return c, err
}

// ReadChanges is [Log.Changes] for a session key, which needs no session.
func ReadChanges(tx sessile.ReadTx, account, key string, since int64, limit int) (Changes, error) {
	limit = min(limit, MaxChanges)
	head, err := tx.EventHead(account, key)
	if err != nil {
		return Changes{}, err
	}
	c := Changes{StateVersion: head.Head, Earliest: head.Earliest, Gap: since < head.Pruned}
	if head.Head > 0 && head.Earliest == 0 {
		c.Earliest = head.Head + 1
	}
	events, err := tx.Events(account, key, since, limit+1)
	if err != nil {
		return Changes{}, err
	}
	c.Truncated = len(events) > limit
	c.Events = events[:min(len(events), limit)]
	return c, nil
}

func keyOf(tx sessile.ReadTx, account, sessionID string) (string, error) {
	row, found, err := tx.Session(account, sessionID)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	return row.Key, err
}

// Notices lists what waits for a session, the oldest first. Codes: not_found.
func (l *Log) Notices(ctx context.Context, account, sessionID string) (notices []sessile.Notice, err error) {
	err = l.store.View(ctx, func(tx sessile.ReadTx) error {
		key, err := keyOf(tx, account, sessionID)
		if err == nil {
			notices, err = tx.Notices(account, key)
		}
		return err
	})
	return notices, err
}

// NoticeText is what a notice says. It depends on nothing but the pair and the cursor, so it stays the same while the notice
// waits.
func NoticeText(n *sessile.Notice) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' { // a key must not begin a line of its own in a prompt
			return ' '
		}
		return r
	}, n.Target)
	return fmt.Sprintf("Session %s was changed by somebody else. Before you rely on what you know of it, call session_status "+
		"with sessionKey %q and changesSince %d.", name, n.Target, n.Since)
}

// Acknowledge drains the notices of a session with the given rows; others are passed over. It tells how many there were.
// Codes: not_found.
func (l *Log) Acknowledge(ctx context.Context, account, sessionID string, rows []int64) (drained int, err error) {
	err = l.store.Update(ctx, func(tx sessile.Tx) error {
		key, err := keyOf(tx, account, sessionID)
		if err != nil {
			return err
		}
		notices, err := tx.Notices(account, key)
		if err != nil {
			return err
		}
		notices = slices.DeleteFunc(notices, func(n sessile.Notice) bool { return !slices.Contains(rows, n.Row) })
		drained = len(notices)
		return Drain(tx, account, notices)
	})
	if err == nil && drained > 0 {
		l.Announce()
	}
	return drained, err
}

// Watches lists what a session watches. Codes: not_found.
func (l *Log) Watches(ctx context.Context, account, sessionID string) (watches []sessile.Watch, err error) {
	err = l.store.View(ctx, func(tx sessile.ReadTx) error {
		key, err := keyOf(tx, account, sessionID)
		if err == nil {
			watches, err = tx.Watches(account, key)
		}
		return err
	})
	return watches, err
}

// Watch has a session be told of what happens to another from now on; a watch that exists stays as it is. The target must be
// a session of the account. Codes: not_found, invalid_state when the one cannot watch the other.
func (l *Log) Watch(ctx context.Context, account, sessionID, target string) (w sessile.Watch, err error) {
	err = l.store.Update(ctx, func(tx sessile.Tx) error {
		key, err := keyOf(tx, account, sessionID)
		if err != nil {
			return err
		}
		if _, found, err := tx.SessionByKey(account, target); err != nil || !found {
			if err == nil {
				err = sessile.NotFound()
			}
			return err
		}
		watching, err := StartWatch(tx, account, key, target)
		if err != nil {
			return err
		}
		if !watching {
			return sessile.Errorf(sessile.CodeInvalidState, "only sessions of an agent watch others, and none watches itself")
		}
		w, _, err = tx.Watch(account, key, target)
		return err
	})
	return w, err
}

// Unwatch ends a watch and drops its notice. It reports whether there was one. Codes: not_found for the session.
func (l *Log) Unwatch(ctx context.Context, account, sessionID, target string) (ended bool, err error) {
	err = l.store.Update(ctx, func(tx sessile.Tx) error {
		key, err := keyOf(tx, account, sessionID)
		if err == nil {
			ended, err = tx.DeleteWatch(account, key, target)
		}
		return err
	})
	return ended, err
}
