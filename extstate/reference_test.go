//go:build unix

package extstate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// reference is a client that speaks the protocol of the TypeScript package, word for word as the sheet has it (sections
// 2.1, 2.3 and 7), and shares no code with the package under test.
type reference struct {
	conn   *sqliteconn.Conn
	holder string
}

func openReference(path string) (*reference, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	conn, err := sqliteconn.Open(path, sqliteconn.Options{BusyTimeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	for _, sql := range []string{
		`CREATE TABLE IF NOT EXISTS state (plugin_id TEXT NOT NULL, session_id TEXT NOT NULL, branch_id TEXT NOT NULL,
			value TEXT NOT NULL, PRIMARY KEY (plugin_id, session_id, branch_id))`,
		`CREATE TABLE IF NOT EXISTS write_lock (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at INTEGER NOT NULL)`,
	} {
		if err := conn.Exec(sql); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return &reference{conn: conn, holder: fmt.Sprintf("pid:%d", os.Getpid())}, nil
}

func startReference(t *testing.T, path string) *reference {
	t.Helper()
	r, err := openReference(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.conn.Close() })
	return r
}

// referenceRefused is the refusal of the reference.
type referenceRefused struct{ holder string }

func (e referenceRefused) Error() string { return "held by " + e.holder }

// write takes the lock, replaces the row and releases the lock: three transactions.
func (r *reference) write(plugin, session, branch, value string) error {
	if err := r.acquire(session); err != nil {
		return err
	}
	err := r.put(plugin, session, branch, value)
	return errors.Join(err, r.release(session))
}

// put replaces a row without the lock, as materialisation does.
func (r *reference) put(plugin, session, branch, value string) error {
	return r.conn.Exec(`INSERT OR REPLACE INTO state (plugin_id, session_id, branch_id, value) VALUES (?, ?, ?, ?)`,
		plugin, session, branch, value)
}

func (r *reference) insertLock(session, holder string, at int64) (bool, error) {
	err := r.conn.Exec(`INSERT OR IGNORE INTO write_lock (session_id, holder, acquired_at) VALUES (?, ?, ?)`, session, holder, at)
	return err == nil && r.conn.Changes() == 1, err
}

func (r *reference) readLock(session string) (holder string, at int64, found bool, err error) {
	found, err = r.conn.One(`SELECT holder, acquired_at FROM write_lock WHERE session_id = ?`, func(rows *sqliteconn.Rows) {
		holder, at = rows.Text(0), rows.Int64(1)
	}, session)
	return holder, at, found, err
}

func (r *reference) acquire(session string) error {
	now := time.Now().UnixMilli()
	if ok, err := r.insertLock(session, r.holder, now); err != nil || ok {
		return err
	}
	holder, at, found, err := r.readLock(session)
	if err != nil {
		return err
	}
	if !found {
		if ok, err := r.insertLock(session, r.holder, now); err != nil || ok {
			return err
		}
		return referenceRefused{"unknown"}
	}
	if holder == r.holder || r.gone(holder) || now-at > 60_000 {
		err := r.conn.Exec(`UPDATE write_lock SET holder = ?, acquired_at = ? WHERE session_id = ? AND holder = ? AND acquired_at = ?`,
			r.holder, now, session, holder, at)
		if err != nil || r.conn.Changes() == 1 {
			return err
		}
	}
	holder, _, found, err = r.readLock(session)
	if !found {
		holder = "unknown"
	}
	return errors.Join(err, referenceRefused{holder})
}

var pidHolder = regexp.MustCompile(`^pid:([0-9]+)$`)

func (r *reference) gone(holder string) bool {
	m := pidHolder.FindStringSubmatch(holder)
	if m == nil {
		return false
	}
	pid, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return true
	}
	err = syscall.Kill(int(pid), 0)
	return err != nil && !errors.Is(err, syscall.EPERM)
}

// release deletes the lock row. Where other writers kept the file for five seconds it tries again.
func (r *reference) release(session string) error {
	for {
		err := r.conn.Exec(`DELETE FROM write_lock WHERE session_id = ? AND holder = ?`, session, r.holder)
		if !errors.Is(err, sqlite3.BUSY) {
			return err
		}
	}
}

// row is a row of the table state, with the key of plugin and session left out.
type row struct{ branch, value string }

// rows are all rows of a plugin in a session, by branch.
func (r *reference) rows(t *testing.T, plugin, session string) []row {
	t.Helper()
	var list []row
	found := r.conn.Query(`SELECT branch_id, value FROM state WHERE plugin_id = ? AND session_id = ? ORDER BY branch_id`, plugin, session)
	for found.Next() {
		list = append(list, row{found.Text(0), found.Text(1)})
	}
	if err := found.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

// locks are the holders of all lock rows, by session.
func (r *reference) locks(t *testing.T) map[string]string {
	t.Helper()
	held := map[string]string{}
	rows := r.conn.Query(`SELECT session_id, holder FROM write_lock`)
	for rows.Next() {
		held[rows.Text(0)] = rows.Text(1)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return held
}
