package extstate

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// lease is the age beyond which a lock row is taken over whoever holds it (section 7).
const lease = 60 * time.Second

// Liveness says whether the process that a lock row names is there.
type Liveness string

// What is known of a lock's holder. An unknown one has a text that names no process of this machine.
const (
	Alive    Liveness = "alive"
	NotAlive Liveness = "not alive"
	Unknown  Liveness = "unknown"
)

// ownHolder is the text of this process's lock rows.
func ownHolder() string { return fmt.Sprintf("pid:%d", os.Getpid()) }

// holderPID reads "pid:<decimal>". ok is false for any other text; a number that no process can have is pid -1.
func holderPID(holder string) (pid int, ok bool) {
	digits, found := strings.CutPrefix(holder, "pid:")
	if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return -1, true
	}
	return int(n), true
}

func liveness(holder string) Liveness {
	pid, ok := holderPID(holder)
	switch {
	case !ok:
		return Unknown
	case pid >= 0 && pidAlive(pid):
		return Alive
	}
	return NotAlive
}

const (
	sqlReadLock    = `SELECT holder, acquired_at FROM write_lock WHERE session_id = ?`
	sqlInsertLock  = `INSERT INTO write_lock (session_id, holder, acquired_at) VALUES (?, ?, ?)`
	sqlReleaseLock = `DELETE FROM write_lock WHERE session_id = ? AND holder = ?`
	sqlDeleteLock  = `DELETE FROM write_lock WHERE session_id = ?`
)

// exclusively runs change in one transaction in which nobody else writes the session, or answers a [*RefusedError].
//
// The transaction is the lock: it holds SQLite's own write lock from its beginning, so no other process can take the
// session's lock row, and none can have it, until what was changed is committed. A lock row of this process would never be
// seen by anybody, so none is written, and a write costs one commit. A lock row that stands is respected or taken over by
// the rules of section 7; with keep, one of this process stays.
func exclusively(conn *sqliteconn.Conn, action Action, sessionID string, now time.Time, keep bool, change func() error) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return sqliteError(err)
	}
	err := clearLock(conn, action, sessionID, now, keep)
	if err == nil {
		err = change()
	}
	if err == nil {
		err = conn.Exec("COMMIT")
	}
	if err != nil {
		_ = conn.Rollback() // the error that led here is the one to tell
		return sqliteError(err)
	}
	return nil
}

func clearLock(conn *sqliteconn.Conn, action Action, sessionID string, now time.Time, keep bool) error {
	var holder string
	var acquiredAt int64
	found, err := conn.One(sqlReadLock, func(r *sqliteconn.Rows) { holder, acquiredAt = r.Text(0), r.Int64(1) }, sessionID)
	if err != nil || !found {
		return err
	}
	own := holder == ownHolder()
	if own && keep {
		return nil
	}
	if !own && liveness(holder) != NotAlive && now.UnixMilli()-acquiredAt <= lease.Milliseconds() {
		return &RefusedError{Action: action, SessionID: sessionID, Holder: holder}
	}
	return conn.Exec(sqlDeleteLock, sessionID)
}
