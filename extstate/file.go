package extstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// FileOptions say how to open a state file for maintenance.
type FileOptions struct {
	// ReadOnly refuses every change. Files of old schema versions are read as they are.
	ReadOnly bool
	// Now is the clock; default [time.Now].
	Now func() time.Time
}

// File is a state file seen as a whole: what the commands for maintenance work on, while other programs use it too.
// Changes of a value take the session's lock as every writer does. It may be used by several goroutines, one at a time
// works. Errors of all methods: [*SQLiteError], [*RefusedError] where a lock is needed, the context's.
type File struct {
	path     string
	readOnly bool
	now      func() time.Time

	mu      sync.Mutex
	conn    *sqliteconn.Conn // nil after Close
	hasLock bool             // the table write_lock is there, with acquired_at: schema version v2
}

// OpenFile opens a state file that exists; it never makes one, and fails with an [*OpenError] that is fs.ErrNotExist when
// there is none, or when the file is no state file. For changes it brings an old schema up to date.
func OpenFile(path string, options FileOptions) (*File, error) {
	path, err := normalize(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, &OpenError{Path: path, Err: err}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	// A look comes first, since opening for changes would switch a foreign database to the write-ahead log.
	f, err := openFile(path, FileOptions{ReadOnly: true, Now: options.Now})
	if err != nil || options.ReadOnly {
		return f, err
	}
	if err := f.Close(); err != nil {
		return nil, &OpenError{Path: path, Err: err}
	}
	return openFile(path, options)
}

func openFile(path string, options FileOptions) (*File, error) {
	conn, err := sqliteconn.Open(path, sqliteconn.Options{ReadOnly: options.ReadOnly, NoCreate: true})
	if err != nil {
		return nil, &OpenError{Path: path, Err: err}
	}
	f := &File{path: path, readOnly: options.ReadOnly, now: options.Now, conn: conn}
	if err := f.inspect(); err != nil {
		return nil, &OpenError{Path: path, Err: errors.Join(err, conn.Close())}
	}
	return f, nil
}

// inspect makes sure that this is a state file and looks at its schema.
func (f *File) inspect() error {
	columns, err := columnsOf(f.conn, "state")
	if err != nil {
		return err
	}
	for _, name := range []string{"plugin_id", "session_id", "branch_id", "value"} {
		if !columns[name] {
			return fmt.Errorf("not a state file: the table state has no column %s", name)
		}
	}
	if !f.readOnly {
		if err := upgrade(f.conn); err != nil {
			return err
		}
	}
	columns, err = columnsOf(f.conn, "write_lock")
	f.hasLock = columns["acquired_at"]
	return err
}

// Path is the file's normalised path.
func (f *File) Path() string { return f.path }

// Close closes the file. Closing twice is fine.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conn == nil {
		return nil
	}
	err := f.conn.Close()
	f.conn = nil
	return err
}

// with runs work as the only user of the connection, until the context ends.
func (f *File) with(ctx context.Context, work func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conn == nil {
		return ErrClosed
	}
	f.conn.Interruptible(ctx)
	defer f.conn.Interruptible(context.Background())
	if err := work(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return sqliteError(err)
	}
	return nil
}

// changing is with for work that writes rows of sessions; what this process knows of them is forgotten afterwards.
func (f *File) changing(ctx context.Context, work func() error, sessions ...string) error {
	err := f.with(ctx, work)
	for _, session := range sessions {
		stores.forget(f.path, session)
	}
	return err
}

// Row names a row of the table state. BranchID is "" in the session scope.
type Row struct {
	PluginID, SessionID, BranchID string
}

func (r Row) key() rowKey { return rowKey{r.PluginID, r.SessionID, r.BranchID} }

// Filter chooses rows; an empty field chooses all.
type Filter struct {
	PluginID, SessionID string
}

// Lock is a row of the table write_lock.
type Lock struct {
	SessionID  string
	Holder     string
	PID        int // 0 when the holder is not understood
	Liveness   Liveness
	AcquiredAt time.Time // 1970 in files that came from version v1
	Age        time.Duration
	// Expired says that the next writer takes the lock over.
	Expired bool
}

// Locks lists the locks that are held, by session.
func (f *File) Locks(ctx context.Context) ([]Lock, error) {
	var locks []Lock
	err := f.with(ctx, func() error {
		sql := `SELECT session_id, holder, acquired_at FROM write_lock ORDER BY session_id`
		if !f.hasLock {
			columns, err := columnsOf(f.conn, "write_lock")
			if err != nil || len(columns) == 0 {
				return err
			}
			sql = `SELECT session_id, holder, 0 FROM write_lock ORDER BY session_id`
		}
		now := f.now()
		rows := f.conn.Query(sql)
		for rows.Next() {
			l := Lock{SessionID: rows.Text(0), Holder: rows.Text(1), AcquiredAt: time.UnixMilli(rows.Int64(2))}
			if pid, ok := holderPID(l.Holder); ok {
				l.PID = pid
			}
			l.Liveness, l.Age = liveness(l.Holder), now.Sub(l.AcquiredAt)
			l.Expired = l.Liveness == NotAlive || l.Age > lease
			locks = append(locks, l)
		}
		return rows.Close()
	})
	return locks, err
}

// Count is how much a plugin keeps.
type Count struct {
	PluginID string
	Sessions int
	Rows     int64
	Bytes    int64 // of the values
}

// Counts counts the chosen rows of each plugin, by plugin id in byte order.
func (f *File) Counts(ctx context.Context, filter Filter) ([]Count, error) {
	var counts []Count
	err := f.with(ctx, func() error {
		rows := f.conn.Query(`SELECT plugin_id, count(DISTINCT session_id), count(*), sum(octet_length(value)) FROM state
			WHERE (?1 = '' OR plugin_id = ?1) AND (?2 = '' OR session_id = ?2) GROUP BY plugin_id ORDER BY plugin_id`,
			filter.PluginID, filter.SessionID)
		for rows.Next() {
			counts = append(counts, Count{rows.Text(0), rows.Int(1), rows.Int64(2), rows.Int64(3)})
		}
		return rows.Close()
	})
	return counts, err
}

// Rows lists the chosen rows with the size of their values in bytes, by session, plugin and branch.
func (f *File) Rows(ctx context.Context, filter Filter) ([]SizedRow, error) {
	var list []SizedRow
	err := f.with(ctx, func() error {
		var err error
		list, err = f.rows(filter)
		return err
	})
	return list, err
}

// SizedRow is a row and the size of its value in bytes.
type SizedRow struct {
	Row
	Bytes int64
}

func (f *File) rows(filter Filter) ([]SizedRow, error) {
	var list []SizedRow
	rows := f.conn.Query(`SELECT plugin_id, session_id, branch_id, octet_length(value) FROM state
		WHERE (?1 = '' OR plugin_id = ?1) AND (?2 = '' OR session_id = ?2) ORDER BY session_id, plugin_id, branch_id`,
		filter.PluginID, filter.SessionID)
	for rows.Next() {
		list = append(list, SizedRow{Row{rows.Text(0), rows.Text(1), rows.Text(2)}, rows.Int64(3)})
	}
	return list, rows.Close()
}

// Get reads the text of a row as it stands, JSON or not; found is false when there is no such row. Nothing is inherited.
func (f *File) Get(ctx context.Context, row Row) (text []byte, found bool, err error) {
	err = f.with(ctx, func() error {
		stored, err := get(f.conn, row.key())
		text, found = stored.text, stored.present
		return err
	})
	return text, found, err
}

// Set writes a row, under the session's lock. The value must be JSON; see [State] for how it is kept.
func (f *File) Set(ctx context.Context, row Row, value jsontext.Value) error {
	if err := checkPlugin(row.PluginID); err != nil {
		return err
	}
	text, err := compact(value)
	if err != nil {
		return err
	}
	return f.changing(ctx, func() error {
		return f.exclusively(ActionWrite, row.SessionID, func() error { return f.put(row, text) })
	}, row.SessionID)
}

// Drop deletes a row, under the session's lock; dropped is false when there was none.
func (f *File) Drop(ctx context.Context, row Row) (dropped bool, err error) {
	err = f.changing(ctx, func() error {
		return f.exclusively(ActionDrop, row.SessionID, func() error {
			err := f.remove(row)
			dropped = err == nil && f.conn.Changes() > 0
			return err
		})
	}, row.SessionID)
	return dropped, err
}

func (f *File) exclusively(action Action, sessionID string, change func() error) error {
	return exclusively(f.conn, action, sessionID, f.now(), stores.holds(f.path, sessionID), change)
}

func (f *File) put(row Row, text []byte) error {
	return f.conn.Exec(sqlPut, row.PluginID, row.SessionID, row.BranchID, text)
}

func (f *File) remove(row Row) error {
	return f.conn.Exec(sqlDelete, row.PluginID, row.SessionID, row.BranchID)
}

// ForceRefresh deletes the lock row of a session, whoever holds it, and empties this process's cache of the session. It
// returns the holder; found is false when there was no row. Ask a user first where the holder is not [NotAlive].
func (f *File) ForceRefresh(ctx context.Context, sessionID string) (holder string, found bool, err error) {
	err = f.changing(ctx, func() error {
		rows := f.conn.Query(sqlDeleteLock+` RETURNING holder`, sessionID)
		if rows.Next() {
			holder, found = rows.Text(0), true
		}
		for rows.Next() { //nolint:revive // a statement with RETURNING works until its end
		}
		return rows.Close()
	}, sessionID)
	return holder, found, err
}

// Explanation says where the value of a view comes from.
type Explanation struct {
	// Found is false when there is no value; then only Key and Searched are set.
	Found bool
	Value []byte // text as it stands, JSON or not
	// Key is the branch of the view, "" in the session scope or without a leaf; Source the branch whose row has the value.
	Key, Source string
	// Inherited says that the value stands on a branch above. The first read would write it down for Key.
	Inherited bool
	// Searched are the branches that were looked at, in order; the last one is Source if a value was found.
	Searched []string
}

// Explain finds the value that a read would give, without writing anything and past every cache. A pending value lives in
// the process that wrote it and is not seen. Without a leaf nothing is found in the branch scope. The error can be a
// [*TreeError].
func (f *File) Explain(ctx context.Context, pluginID string, scope Scope, view View) (Explanation, error) {
	var e Explanation
	branches := []string{""}
	var damage error
	if scope == ScopeBranch {
		key, ok, err := trees.key(view)
		if err != nil || !ok {
			return e, err
		}
		branches, damage = trees.ancestors(view, key)
		branches = append([]string{key}, branches...)
		e.Key = key
	}
	err := f.with(ctx, func() error {
		if err := f.conn.Exec("BEGIN"); err != nil {
			return err
		}
		defer func() { _ = f.conn.Rollback() }() // nothing was written
		for _, branch := range branches {
			e.Searched = append(e.Searched, branch)
			row, err := get(f.conn, rowKey{pluginID, view.SessionID(), branch})
			if err != nil {
				return err
			}
			if row.present {
				e.Found, e.Value, e.Source, e.Inherited = true, row.text, branch, branch != e.Key
				return nil
			}
		}
		return damage
	})
	return e, err
}
