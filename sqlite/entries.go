package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	sqlHome = `SELECT h.id, h.account, h.entries, h.bytes
FROM account a JOIN home_key k ON k.account = a.id AND k.key = ?2 JOIN home h ON h.id = k.home WHERE a.name = ?1`

	sqlNextExpiry = `SELECT min(expires_at) FROM entry WHERE expires_at IS NOT NULL`

	sqlHomeKeys = `SELECT key FROM home_key WHERE home = ?`

	entryColumns = `e.namespace, e.key, v.value, e.revision, e.updated_at, e.expires_at`

	sqlEntry = `SELECT ` + entryColumns + `
FROM entry e JOIN entry_value v ON v.revision = e.revision WHERE e.home = ? AND e.namespace = ? AND e.key = ?`

	// Keys from ?3 on, which is the first of a prefix or lies behind the key before.
	sqlEntries = `SELECT ` + entryColumns + `
FROM entry e CROSS JOIN entry_value v ON v.revision = e.revision
WHERE e.home = ?1 AND e.namespace = ?2 AND e.key >= ?3 AND (?4 IS NULL OR e.key < ?4) AND (e.expires_at IS NULL OR e.expires_at > ?5)
ORDER BY e.key LIMIT ?6`

	// Each step goes to the next namespace through the key.
	sqlEntryNamespaces = `WITH RECURSIVE step (namespace) AS (
  SELECT min(namespace) FROM entry WHERE home = ?1
  UNION ALL SELECT (SELECT min(namespace) FROM entry WHERE home = ?1 AND namespace > step.namespace) FROM step WHERE step.namespace IS NOT NULL)
SELECT namespace FROM step WHERE namespace IS NOT NULL`

	sqlAddHome    = `INSERT INTO home (account) VALUES (?)`
	sqlAddHomeKey = `INSERT INTO home_key (account, key, home) VALUES (?, ?, ?)`

	sqlLeaveHome  = `DELETE FROM home_key WHERE account = (SELECT id FROM account WHERE name = ?) AND key = ?`
	sqlDeleteHome = `UPDATE home SET deleted_at = ?1 WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM home_key k WHERE k.home = ?2)`

	sqlCopyEntries = `INSERT INTO entry (home, namespace, key, revision, size, updated_at, expires_at)
SELECT ?2, namespace, key, revision, size, updated_at, expires_at FROM entry WHERE home = ?1`
	sqlCopyCounters = `UPDATE home SET (entries, bytes) = (SELECT entries, bytes FROM home WHERE id = ?1) WHERE id = ?2`

	sqlEntryRevision = `SELECT revision, size FROM entry WHERE home = ? AND namespace = ? AND key = ?`
	sqlPutEntry      = `INSERT INTO entry (home, namespace, key, revision, size, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET revision = excluded.revision, size = excluded.size, updated_at = excluded.updated_at, expires_at = excluded.expires_at`
	sqlPutEntryValue = `INSERT INTO entry_value (revision, value) VALUES (?, ?)`
	sqlDeleteEntry   = `DELETE FROM entry WHERE home = ? AND namespace = ? AND key = ?`
	// A value goes with the last entry that shows it; copies of a home show the same ones.
	sqlDropEntryValue = `DELETE FROM entry_value WHERE revision = ?1 AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.revision = ?1)`
	sqlMoveHome       = `UPDATE home SET entries = entries + ?, bytes = bytes + ? WHERE id = ?`

	sqlNamespaceEntries = `SELECT revision, size, expires_at FROM entry WHERE home = ? AND namespace = ?`
	sqlClearEntries     = `DELETE FROM entry WHERE home = ? AND namespace = ?`

	sqlDeletedHome    = `SELECT id FROM home WHERE deleted_at IS NOT NULL LIMIT 1`
	sqlHomeEntries    = `SELECT namespace, key, revision FROM entry WHERE home = ? LIMIT ?`
	sqlForgetHome     = `DELETE FROM home WHERE id = ?`
	sqlExpiredEntries = `SELECT home, namespace, key, revision, size FROM entry WHERE expires_at <= ? LIMIT ?`
)

func readEntry(r *sqliteconn.Rows) sessile.Entry {
	return sessile.Entry{
		Namespace: r.Text(0), Key: r.Text(1), Value: r.Text(2), Revision: r.Int64(3), UpdatedAt: r.Int64(4), ExpiresAt: r.Int64(5),
	}
}

func (t *readTx) Home(account, sessionKey string) (sessile.Home, bool, error) {
	return one(t.query(sqlHome, account, sessionKey), func(r *sqliteconn.Rows) sessile.Home {
		return sessile.Home{Row: r.Int64(0), Account: r.Int64(1), Entries: r.Int64(2), Bytes: r.Int64(3)}
	})
}

func (t *readTx) HomeKeys(home int64) ([]string, error) {
	return list(t.query(sqlHomeKeys, home), func(r *sqliteconn.Rows) string { return r.Text(0) })
}

func (t *readTx) Entry(home int64, namespace, key string) (sessile.Entry, bool, error) {
	return one(t.query(sqlEntry, home, namespace, key), readEntry)
}

func (t *readTx) Entries(home int64, f sessile.EntryFilter) ([]sessile.Entry, error) {
	limit := f.Limit
	if limit == 0 {
		limit = -1
	}
	first := f.Prefix
	if f.After != nil {
		first = max(first, *f.After+"\x00") // the next text in the order of bytes
	}
	return list(t.query(sqlEntries, home, f.Namespace, first, behindPrefix(f.Prefix), f.Now, limit), readEntry)
}

// behindPrefix is the smallest text behind all that begin with the prefix, nil where there is none. The last byte of
// valid UTF-8 is never the greatest one.
func behindPrefix(prefix string) any {
	if prefix == "" {
		return nil
	}
	end := []byte(prefix)
	end[len(end)-1]++
	return string(end)
}

func (t *readTx) EntryNamespaces(home int64) ([]string, error) {
	return list(t.query(sqlEntryNamespaces, home), func(r *sqliteconn.Rows) string { return r.Text(0) })
}

func (t *tx) AddHome(account, sessionKey string) (sessile.Home, error) {
	row, err := t.account(account)
	if err != nil {
		return sessile.Home{}, err
	}
	if err := t.conn.Exec(sqlAddHome, row); err != nil {
		return sessile.Home{}, err
	}
	h := sessile.Home{Row: t.conn.InsertedRow(), Account: row}
	return h, t.conn.Exec(sqlAddHomeKey, row, sessionKey, h.Row)
}

func (t *tx) ShareHome(account, sessionKey string, home int64) error {
	row, err := t.account(account)
	if err != nil {
		return err
	}
	return t.conn.Exec(sqlAddHomeKey, row, sessionKey, home)
}

func (t *tx) LeaveHome(account, sessionKey string) error {
	h, found, err := t.Home(account, sessionKey)
	if err != nil || !found {
		return err
	}
	if err := t.conn.Exec(sqlLeaveHome, account, sessionKey); err != nil {
		return err
	}
	return t.conn.Exec(sqlDeleteHome, t.now, h.Row)
}

func (t *tx) CopyEntries(from, to int64) error {
	if err := t.conn.Exec(sqlCopyEntries, from, to); err != nil {
		return err
	}
	return t.conn.Exec(sqlCopyCounters, from, to)
}

func (t *tx) PutEntry(home int64, e *sessile.Entry) error {
	t.writer.lastSeq++
	t.writer.bytes += len(e.Value)
	e.Revision, e.UpdatedAt = t.writer.lastSeq, t.now
	replaced, replacedSize := int64(0), int64(0)
	if _, err := t.conn.One(sqlEntryRevision, func(r *sqliteconn.Rows) {
		replaced, replacedSize = r.Int64(0), r.Int64(1)
	}, home, e.Namespace, e.Key); err != nil {
		return err
	}
	if err := t.conn.Exec(sqlPutEntry, home, e.Namespace, e.Key, e.Revision, e.Size(), e.UpdatedAt, orNull(e.ExpiresAt)); err != nil {
		return err
	}
	if err := t.conn.Exec(sqlPutEntryValue, e.Revision, e.Value); err != nil {
		return err
	}
	// The row may be gone by the time somebody asks for the last number, unlike those of the log.
	if err := t.conn.Exec(sqlSaveSeq, e.Revision); err != nil {
		return err
	}
	if replaced == 0 {
		return t.conn.Exec(sqlMoveHome, 1, e.Size(), home)
	}
	if err := t.conn.Exec(sqlDropEntryValue, replaced); err != nil {
		return err
	}
	if e.Size() == replacedSize {
		return nil
	}
	return t.conn.Exec(sqlMoveHome, 0, e.Size()-replacedSize, home)
}

func (t *tx) DeleteEntry(home int64, namespace, key string) (bool, error) {
	revision, size := int64(0), int64(0)
	found, err := t.conn.One(sqlEntryRevision, func(r *sqliteconn.Rows) {
		revision, size = r.Int64(0), r.Int64(1)
	}, home, namespace, key)
	if err != nil || !found {
		return false, err
	}
	return true, t.removeEntry(home, namespace, key, revision, size)
}

func (t *tx) removeEntry(home int64, namespace, key string, revision, size int64) error {
	if err := t.conn.Exec(sqlDeleteEntry, home, namespace, key); err != nil {
		return err
	}
	if err := t.conn.Exec(sqlDropEntryValue, revision); err != nil {
		return err
	}
	return t.conn.Exec(sqlMoveHome, -1, -size, home)
}

func (t *tx) ClearEntries(home int64, namespace string, now int64) (int64, error) {
	live, count, size := int64(0), int64(0), int64(0)
	revisions, err := list(t.query(sqlNamespaceEntries, home, namespace), func(r *sqliteconn.Rows) int64 {
		count, size = count+1, size+r.Int64(1)
		if r.IsNull(2) || r.Int64(2) > now {
			live++
		}
		return r.Int64(0)
	})
	if err != nil || count == 0 {
		return 0, err
	}
	if err := t.conn.Exec(sqlClearEntries, home, namespace); err != nil {
		return 0, err
	}
	for _, revision := range revisions {
		if err := t.conn.Exec(sqlDropEntryValue, revision); err != nil {
			return 0, err
		}
	}
	return live, t.conn.Exec(sqlMoveHome, -count, -size, home)
}

// foundEntry is where an entry stands, for those who remove it.
type foundEntry struct {
	home           int64
	namespace, key string
	revision, size int64
}

func (t *readTx) NextExpiry() (at int64, err error) {
	_, err = t.oneRow(sqlNextExpiry, func(r *sqliteconn.Rows) { at = r.Int64(0) })
	return at, err
}

func (t *tx) PurgeExpired(limit int) error {
	expired, err := list(t.query(sqlExpiredEntries, t.now, limit), func(r *sqliteconn.Rows) foundEntry {
		return foundEntry{r.Int64(0), r.Text(1), r.Text(2), r.Int64(3), r.Int64(4)}
	})
	if err != nil {
		return err
	}
	for _, e := range expired {
		if err := t.removeEntry(e.home, e.namespace, e.key, e.revision, e.size); err != nil {
			return err
		}
	}
	return nil
}

// purgeEntries removes up to limit entries whose home is gone, and tells how many it found.
func (t *tx) purgeEntries(limit int64) (removed int64, err error) {
	for removed < limit {
		home := int64(0)
		found, err := t.conn.One(sqlDeletedHome, func(r *sqliteconn.Rows) { home = r.Int64(0) })
		if err != nil || !found {
			return removed, err
		}
		n, err := t.purgeHome(home, limit-removed)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// purgeHome removes up to limit entries of a home, and with the last of them the home itself, which counts for one.
func (t *tx) purgeHome(home, limit int64) (removed int64, err error) {
	entries, err := list(t.query(sqlHomeEntries, home, limit), func(r *sqliteconn.Rows) foundEntry {
		return foundEntry{home: home, namespace: r.Text(0), key: r.Text(1), revision: r.Int64(2)}
	})
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if err := t.conn.Exec(sqlDeleteEntry, e.home, e.namespace, e.key); err != nil {
			return removed, err
		}
		if err := t.conn.Exec(sqlDropEntryValue, e.revision); err != nil {
			return removed, err
		}
		removed++
	}
	if removed < limit {
		removed++
		err = t.conn.Exec(sqlForgetHome, home)
	}
	return removed, err
}
