package extstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// Commands are the two commands that users of an agent have over the state of their session, and the notice at its start
// (section 11). They look at the same file as the instances that are opened with the same [Place].
type Commands struct {
	now func() time.Time

	mu       sync.Mutex
	location Resolution
	started  bool
	told     map[string]bool // notices, once per process
}

// NewCommands makes the commands; now nil is [time.Now]. They are silent until SessionStart.
func NewCommands(now func() time.Time) *Commands {
	if now == nil {
		now = time.Now
	}
	return &Commands{now: now, told: make(map[string]bool)}
}

// SessionStart finds the file anew and warns of a setting that cannot be used, once for each.
func (c *Commands) SessionStart(view View, place Place) error {
	location, err := Resolve(place)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.location, c.started = location, true
	ui, notice := uiOf(view), location.Notice()
	tell := ui != nil && notice != "" && !c.told[notice]
	if tell {
		c.told[notice] = true
	}
	c.mu.Unlock()
	if !tell {
		return nil
	}
	return ui.Notify(notice, LevelWarning)
}

// path is the file; ok is false before the first SessionStart.
func (c *Commands) path() (path string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.location.Path, c.started
}

// Status shows where the file is, who holds the session's lock and how many rows each plugin has in the session. It writes
// nothing, makes no file and brings no old one up to date. It is silent without a UI.
func (c *Commands) Status(ctx context.Context, view View) error {
	ui := uiOf(view)
	path, ok := c.path()
	if ui == nil || !ok {
		return nil
	}
	lock, rows := "none", "none"
	held, counts, err := c.look(ctx, path, view.SessionID())
	if err != nil {
		return err
	}
	if held != nil {
		lock = fmt.Sprintf("%s (%s)", held.Holder, held.Liveness)
	}
	if len(counts) > 0 {
		var pairs []string
		for _, count := range counts {
			pairs = append(pairs, fmt.Sprintf("%s: %d", count.PluginID, count.Rows))
		}
		rows = strings.Join(pairs, ", ")
	}
	return ui.Notify(fmt.Sprintf("session-state: /state:status\ndatabase: %s\nlock: %s\nstate rows: %s", path, lock, rows), LevelInfo)
}

// look reads what Status shows; nothing when there is no file.
func (c *Commands) look(ctx context.Context, path, session string) (*Lock, []Count, error) {
	f, err := OpenFile(path, FileOptions{ReadOnly: true, Now: c.now})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	locks, err := f.Locks(ctx)
	if err != nil {
		return nil, nil, err
	}
	var held *Lock
	for _, lock := range locks {
		if lock.SessionID == session {
			held = &lock
		}
	}
	counts, err := f.Counts(ctx, Filter{SessionID: session})
	return held, counts, err
}

// ForceRefresh deletes the session's lock row, whoever holds it, and makes the next reads of all instances on the file come
// from disk. A row whose holder is alive or unknown goes only after the user said yes; without a UI it stays, and so
// does everything else. State rows and pending values are never touched.
func (c *Commands) ForceRefresh(ctx context.Context, view View) error {
	path, ok := c.path()
	if !ok {
		return nil
	}
	ui, session := uiOf(view), view.SessionID()
	held, _, err := c.look(ctx, path, session)
	if err != nil {
		return err
	}
	holder := "none"
	if held != nil {
		holder = held.Holder
	}
	if held != nil && held.Liveness != NotAlive {
		if ui == nil {
			return nil
		}
		yes, err := ui.Confirm(fmt.Sprintf("session-state: the lock of session %s is held by %s (%s). Remove it?", session, held.Holder, held.Liveness))
		if err != nil {
			return err
		}
		if !yes {
			return ui.Notify(fmt.Sprintf("session-state: the lock of session %s was kept (%s)", session, held.Holder), LevelWarning)
		}
	}
	if err := forceRefresh(ctx, path, session); err != nil || ui == nil {
		return err
	}
	return ui.Notify(fmt.Sprintf("session-state: lock removed: %s; the next read of session %s comes from disk", holder, session), LevelInfo)
}

// forceRefresh works on the process's own store, so that its instances see it. It makes a file that is missing.
func forceRefresh(ctx context.Context, path, session string) error {
	path, err := normalize(path)
	if err != nil {
		return err
	}
	s := stores.use(path)
	err = s.onWriter(ctx, func() error {
		if err := s.writer.Exec(sqlDeleteLock, session); err != nil {
			return sqliteError(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.cache, session)
		s.adopt()
		return nil
	})
	return errors.Join(err, stores.leave(s))
}
