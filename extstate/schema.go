package extstate

import (
	"os"
	"path/filepath"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// The schema is the one of the TypeScript package, column for column (section 2.1).
const (
	sqlCreateState = `CREATE TABLE IF NOT EXISTS state (
	plugin_id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	branch_id TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (plugin_id, session_id, branch_id)
)`
	sqlCreateLock = `CREATE TABLE IF NOT EXISTS write_lock (
	session_id TEXT PRIMARY KEY,
	holder TEXT NOT NULL,
	acquired_at INTEGER NOT NULL
)`
	sqlAddAcquiredAt = `ALTER TABLE write_lock ADD COLUMN acquired_at INTEGER NOT NULL DEFAULT 0`
	sqlColumns       = `SELECT name FROM pragma_table_info(?)`
)

const (
	sqlGet = `SELECT value FROM state WHERE plugin_id = ? AND session_id = ? AND branch_id = ?`
	// The whole row is replaced, as the other side does, so that triggers see the same from both.
	sqlPut = `INSERT OR REPLACE INTO state (plugin_id, session_id, branch_id, value) VALUES (?, ?, ?, ?)`
	// A value that is inherited never replaces one that another process has written meanwhile.
	sqlMaterialize = `INSERT INTO state (plugin_id, session_id, branch_id, value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlDelete      = `DELETE FROM state WHERE plugin_id = ? AND session_id = ? AND branch_id = ?`
	sqlVersion     = `PRAGMA data_version`
)

// openWriter makes the directories, the file and the tables where they are missing, and brings old ones up to date
// (section 2.3).
func openWriter(path string) (*sqliteconn.Conn, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	conn, err := sqliteconn.Open(path, sqliteconn.Options{})
	if err != nil {
		return nil, err
	}
	if err := upgrade(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	for _, sql := range []string{sqlGet, sqlPut, sqlMaterialize, sqlDelete, sqlReadLock, sqlInsertLock} {
		if err := conn.Prepare(sql); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// upgrade brings versions v0 and v1 of the schema to v2. It writes nothing where nothing is missing.
func upgrade(conn *sqliteconn.Conn) error {
	for _, sql := range []string{sqlCreateState, sqlCreateLock} {
		if err := conn.Exec(sql); err != nil {
			return err
		}
	}
	columns, err := columnsOf(conn, "write_lock")
	if err != nil || columns["acquired_at"] {
		return err
	}
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	columns, err = columnsOf(conn, "write_lock") // another process may have been faster
	if err == nil && !columns["acquired_at"] {
		err = conn.Exec(sqlAddAcquiredAt)
	}
	if err == nil {
		err = conn.Exec("COMMIT")
	}
	if err != nil {
		_ = conn.Rollback()
	}
	return err
}

// columnsOf names the columns of a table; none when there is no such table.
func columnsOf(conn *sqliteconn.Conn, table string) (map[string]bool, error) {
	columns := map[string]bool{}
	rows := conn.Query(sqlColumns, table)
	for rows.Next() {
		columns[rows.Text(0)] = true
	}
	return columns, rows.Close()
}
