package extstate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The history is a table beside the others, filled by triggers on state, so it knows the writes of every program. The
// TypeScript package neither sees nor minds it (section 2.4).
const (
	sqlCreateHistory = `CREATE TABLE IF NOT EXISTS sessile_history (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	plugin_id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	branch_id TEXT NOT NULL,
	value TEXT,
	at INTEGER NOT NULL,
	baseline INTEGER NOT NULL DEFAULT 0
)`
	sqlIndexHistory = `CREATE INDEX IF NOT EXISTS sessile_history_row ON sessile_history (plugin_id, session_id, branch_id, id)`
	// The values of before, so that the first change can be undone.
	sqlBaseline = `INSERT INTO sessile_history (plugin_id, session_id, branch_id, value, at, baseline)
SELECT plugin_id, session_id, branch_id, value, ` + sqlNow + `, 1 FROM state`
	sqlNow = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`
)

// historyTriggers are named statements; %d is how many versions of a row are kept.
func historyTriggers(keep int) []string {
	record := func(name, event, value, row string) string {
		return fmt.Sprintf(`CREATE TRIGGER sessile_history_%[1]s AFTER %[2]s ON state BEGIN
	INSERT INTO sessile_history (plugin_id, session_id, branch_id, value, at)
	VALUES (%[4]s.plugin_id, %[4]s.session_id, %[4]s.branch_id, %[3]s, %[5]s);
	DELETE FROM sessile_history
	WHERE plugin_id = %[4]s.plugin_id AND session_id = %[4]s.session_id AND branch_id = %[4]s.branch_id AND id <= (
		SELECT id FROM sessile_history
		WHERE plugin_id = %[4]s.plugin_id AND session_id = %[4]s.session_id AND branch_id = %[4]s.branch_id
		ORDER BY id DESC LIMIT 1 OFFSET %[6]d);
END`, name, event, value, row, sqlNow, keep)
	}
	return []string{
		record("insert", "INSERT", "NEW.value", "NEW"),
		record("update", "UPDATE", "NEW.value", "NEW"),
		record("delete", "DELETE", "NULL", "OLD"),
	}
}

// ErrNoHistory says that the history is not enabled, or knows nothing to go back to.
var ErrNoHistory = errors.New("session-state: no history")

// Version is one value that a row had.
type Version struct {
	ID    int64 // ascending in the order of changes
	Row   Row
	Value []byte // nil when the row was dropped
	At    time.Time
	// Baseline says that the row had this value when the history was enabled; what it had before is not known.
	Baseline bool
}

// EnableHistory keeps the newest keep versions of every row from now on, whichever program writes it. The values of now
// are the first versions. Enabling it again only changes keep, which is at least 2.
func (f *File) EnableHistory(ctx context.Context, keep int) error {
	if keep < 2 {
		return &ArgumentError{"the history keeps two versions at least"}
	}
	return f.with(ctx, func() error {
		return f.transaction(func() error {
			enabled, err := f.hasHistory()
			if err != nil {
				return err
			}
			statements := []string{sqlCreateHistory, sqlIndexHistory}
			if !enabled {
				statements = append(statements, sqlBaseline)
			}
			return f.run(append(append(statements, dropTriggers()...), historyTriggers(keep)...))
		})
	})
}

// DisableHistory forgets all versions and keeps none any more.
func (f *File) DisableHistory(ctx context.Context) error {
	return f.with(ctx, func() error {
		return f.transaction(func() error { return f.run(append(dropTriggers(), `DROP TABLE IF EXISTS sessile_history`)) })
	})
}

func dropTriggers() []string {
	return []string{
		`DROP TRIGGER IF EXISTS sessile_history_insert`, `DROP TRIGGER IF EXISTS sessile_history_update`,
		`DROP TRIGGER IF EXISTS sessile_history_delete`,
	}
}

func (f *File) hasHistory() (bool, error) {
	columns, err := columnsOf(f.conn, "sessile_history")
	return len(columns) > 0, err
}

// HistoryEnabled reports whether versions are kept.
func (f *File) HistoryEnabled(ctx context.Context) (enabled bool, err error) {
	err = f.with(ctx, func() error {
		enabled, err = f.hasHistory()
		return err
	})
	return enabled, err
}

// History lists the versions of a row, the newest first. It fails with [ErrNoHistory] when none are kept.
func (f *File) History(ctx context.Context, row Row) ([]Version, error) {
	var versions []Version
	err := f.with(ctx, func() error {
		var err error
		versions, err = f.versions(row)
		return err
	})
	return versions, err
}

func (f *File) versions(row Row) ([]Version, error) {
	if enabled, err := f.hasHistory(); err != nil || !enabled {
		return nil, errors.Join(err, ErrNoHistory)
	}
	var versions []Version
	rows := f.conn.Query(`SELECT id, value, at, baseline FROM sessile_history WHERE plugin_id = ? AND session_id = ? AND branch_id = ?
		ORDER BY id DESC`, row.PluginID, row.SessionID, row.BranchID)
	for rows.Next() {
		versions = append(versions, Version{
			ID: rows.Int64(0), Row: row, Value: rows.Bytes(1), At: time.UnixMilli(rows.Int64(2)), Baseline: rows.Bool(3),
		})
	}
	return versions, rows.Close()
}

// Undo gives a row the value it had before its newest version, under the session's lock. It is a change like any other, so
// undoing twice brings the newest value back; see [File.Restore] to go further. Before its first version a row was not
// there. It fails with [ErrNoHistory] when nothing is known of what the row was before.
func (f *File) Undo(ctx context.Context, row Row) (now Version, err error) {
	return f.goBack(ctx, row, func(versions []Version) (Version, bool) {
		if len(versions) == 1 {
			return Version{Row: row}, !versions[0].Baseline
		}
		return versions[1], true
	})
}

// Restore gives a row the value of one of its versions, under the session's lock.
func (f *File) Restore(ctx context.Context, row Row, id int64) (now Version, err error) {
	return f.goBack(ctx, row, func(versions []Version) (Version, bool) {
		for _, version := range versions {
			if version.ID == id {
				return version, true
			}
		}
		return Version{}, false
	})
}

// goBack writes the version that choose picks from those of a row, of which there is one at least.
func (f *File) goBack(ctx context.Context, row Row, choose func([]Version) (Version, bool)) (now Version, err error) {
	err = f.changing(ctx, func() error {
		return f.exclusively(ActionWrite, row.SessionID, func() error {
			versions, err := f.versions(row)
			if err != nil {
				return err
			}
			if len(versions) == 0 {
				return ErrNoHistory
			}
			version, ok := choose(versions)
			if !ok {
				return ErrNoHistory
			}
			if version.Value == nil {
				err = f.remove(row)
			} else {
				err = f.put(row, version.Value)
			}
			if err != nil {
				return err
			}
			if versions, err = f.versions(row); err == nil {
				now = versions[0]
			}
			return err
		})
	}, row.SessionID)
	return now, err
}

// transaction runs work in a transaction that may write.
func (f *File) transaction(work func() error) error {
	if err := f.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := work()
	if err == nil {
		err = f.conn.Exec("COMMIT")
	}
	if err != nil {
		_ = f.conn.Rollback()
	}
	return err
}

func (f *File) run(statements []string) error {
	for _, sql := range statements {
		if err := f.conn.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// texts reads the first column.
func (f *File) texts(sql string, args ...any) ([]string, error) {
	var list []string
	rows := f.conn.Query(sql, args...)
	for rows.Next() {
		list = append(list, rows.Text(0))
	}
	return list, rows.Close()
}
