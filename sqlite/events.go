package sqlite

import (
	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	eventColumns = `e.sequence, a.name, e.session_key, e.session_id, e.agent, e.kind, e.actor_type, e.actor_id, e.run_id, e.occurred_at,
  e.summary, e.payload, e.dedupe`

	sqlEvents = `SELECT ` + eventColumns + `
FROM account a CROSS JOIN event e ON e.account = a.id AND e.session_key = ?2 AND e.sequence > ?3
WHERE a.name = ?1 ORDER BY e.sequence LIMIT ?4`
	sqlEventNamed = `SELECT ` + eventColumns + `
FROM account a JOIN event e ON e.account = a.id AND e.dedupe = ?2 WHERE a.name = ?1`
	sqlEventHead = `SELECT h.head, h.pruned,
  (SELECT e.sequence FROM event e WHERE e.account = h.account AND e.session_key = h.session_key ORDER BY e.sequence LIMIT 1)
FROM account a JOIN event_head h ON h.account = a.id AND h.session_key = ?2 WHERE a.name = ?1`

	sqlStateVersions = `SELECT h.session_key, h.head
FROM account a CROSS JOIN json_each(?2) k CROSS JOIN event_head h ON h.account = a.id AND h.session_key = k.value WHERE a.name = ?1`

	sqlAddEvent = `INSERT INTO event (account, session_key, session_id, agent, kind, actor_type, actor_id, run_id, occurred_at, summary, payload, dedupe)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlMoveEventHead = `INSERT INTO event_head (account, session_key, head) VALUES (?, ?, ?)
ON CONFLICT (account, session_key) DO UPDATE SET head = excluded.head`

	watchColumns = `w.watcher, w.target, w.last_seen, w.notified, w.material`
	sqlWatch     = `SELECT ` + watchColumns + `
FROM account a JOIN watch w ON w.account = a.id AND w.watcher = ?2 AND w.target = ?3 WHERE a.name = ?1`
	sqlWatches = `SELECT ` + watchColumns + `
FROM account a CROSS JOIN watch w ON w.account = a.id AND w.watcher = ?2 WHERE a.name = ?1 ORDER BY w.target`
	sqlWatchersOf = `SELECT ` + watchColumns + `
FROM account a CROSS JOIN watch w ON w.account = a.id AND w.target = ?2 WHERE a.name = ?1 ORDER BY w.watcher`
	sqlPutWatch = `INSERT INTO watch (account, watcher, target, last_seen, notified, material, touched_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (account, watcher, target) DO UPDATE SET last_seen = excluded.last_seen, notified = excluded.notified,
  material = excluded.material, touched_at = excluded.touched_at`
	sqlDeleteWatch = `DELETE FROM watch WHERE account = ? AND watcher = ? AND target = ?`

	sqlNotices = `SELECT n.id, n.watcher, n.target, n.since, n.created_at
FROM account a CROSS JOIN notice n ON n.account = a.id AND n.watcher = ?2 WHERE a.name = ?1 ORDER BY n.id`
	sqlAddNotice = `INSERT INTO notice (account, watcher, target, since, created_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (account, watcher, target) DO NOTHING`
	sqlDeleteNotice = `DELETE FROM notice WHERE account = ? AND watcher = ? AND target = ?`

	sqlUnheardNotices = `SELECT n.id, (SELECT a.name FROM account a WHERE a.id = n.account), n.watcher FROM notice n WHERE n.woken = 0 ORDER BY n.id LIMIT ?`
	sqlHearNotice     = `UPDATE notice SET woken = 1 WHERE id = ?`

	sqlPrunable = `SELECT sequence, account, session_key FROM event
WHERE sequence <= (SELECT max(sequence) FROM (SELECT sequence FROM event ORDER BY sequence DESC LIMIT 1 OFFSET ?1))
ORDER BY sequence LIMIT ?2`
	sqlOutdated   = `SELECT sequence, account, session_key FROM event WHERE occurred_at < ?1 ORDER BY occurred_at LIMIT ?2`
	sqlMarkPruned = `UPDATE event_head SET pruned = max(pruned, ?3) WHERE account = ?1 AND session_key = ?2`
	sqlDropEvent  = `DELETE FROM event WHERE sequence = ?`

	sqlPruneNotices = `DELETE FROM notice WHERE (account, watcher, target) IN (SELECT account, watcher, target FROM watch WHERE touched_at < ?1)`
	sqlPruneWatches = `DELETE FROM watch WHERE touched_at < ?`
)

// sqlForgetWatcher and sqlForgetEvents take an account and a session key.
var (
	sqlForgetWatcher = []string{
		`DELETE FROM notice WHERE account = ? AND watcher = ?`,
		`DELETE FROM watch WHERE account = ? AND watcher = ?`,
	}
	sqlForgetEvents = []string{
		`DELETE FROM notice WHERE account = ? AND watcher = ?`,
		`DELETE FROM notice WHERE account = ? AND target = ?`,
		`DELETE FROM watch WHERE account = ? AND watcher = ?`,
		`DELETE FROM watch WHERE account = ? AND target = ?`,
		`DELETE FROM event WHERE account = ? AND session_key = ?`,
		`DELETE FROM event_head WHERE account = ? AND session_key = ?`,
	}
)

func readEvent(r *sqliteconn.Rows) sessile.Event {
	return sessile.Event{
		Sequence: r.Int64(0), Account: r.Text(1), SessionKey: r.Text(2), SessionID: r.Text(3), AgentID: r.Text(4),
		Kind: sessile.EventKind(r.Text(5)), ActorType: sessile.ActorType(r.Text(6)), ActorID: r.Text(7), RunID: r.Text(8),
		OccurredAt: r.Int64(9), Summary: r.Text(10), Payload: r.Bytes(11), Dedupe: r.Text(12),
	}
}

func readWatch(r *sqliteconn.Rows) sessile.Watch {
	return sessile.Watch{Watcher: r.Text(0), Target: r.Text(1), LastSeen: r.Int64(2), Notified: r.Int64(3), Material: r.Int64(4)}
}

func (t *readTx) Events(account, sessionKey string, since int64, limit int) ([]sessile.Event, error) {
	return list(t.query(sqlEvents, account, sessionKey, since, limit), readEvent)
}

func (t *readTx) EventNamed(account, dedupe string) (sessile.Event, bool, error) {
	return one(t.query(sqlEventNamed, account, dedupe), readEvent)
}

func (t *readTx) EventHead(account, sessionKey string) (sessile.EventHead, error) {
	head, _, err := one(t.query(sqlEventHead, account, sessionKey), func(r *sqliteconn.Rows) sessile.EventHead {
		return sessile.EventHead{Head: r.Int64(0), Pruned: r.Int64(1), Earliest: r.Int64(2)}
	})
	return head, err
}

func (t *readTx) StateVersions(account string, sessionKeys []string) (map[string]int64, error) {
	keys, err := json.Marshal(sessionKeys)
	if err != nil {
		return nil, err
	}
	versions := map[string]int64{}
	rows := t.query(sqlStateVersions, account, keys)
	for rows.Next() {
		versions[rows.Text(0)] = rows.Int64(1)
	}
	return versions, rows.Close()
}

func (t *readTx) Watch(account, watcher, target string) (sessile.Watch, bool, error) {
	return one(t.query(sqlWatch, account, watcher, target), readWatch)
}

func (t *readTx) Watches(account, watcher string) ([]sessile.Watch, error) {
	return list(t.query(sqlWatches, account, watcher), readWatch)
}

func (t *readTx) WatchersOf(account, target string) ([]sessile.Watch, error) {
	return list(t.query(sqlWatchersOf, account, target), readWatch)
}

func (t *readTx) Notices(account, watcher string) ([]sessile.Notice, error) {
	return list(t.query(sqlNotices, account, watcher), func(r *sqliteconn.Rows) sessile.Notice {
		return sessile.Notice{Row: r.Int64(0), Watcher: r.Text(1), Target: r.Text(2), Since: r.Int64(3), CreatedAt: r.Int64(4)}
	})
}

func (t *tx) AddEvent(e *sessile.Event) error {
	account, err := t.account(e.Account)
	if err != nil {
		return err
	}
	err = t.conn.Exec(sqlAddEvent, account, e.SessionKey, textOrNull(e.SessionID), e.AgentID, string(e.Kind), string(e.ActorType),
		textOrNull(e.ActorID), textOrNull(e.RunID), e.OccurredAt, e.Summary, e.Payload, textOrNull(e.Dedupe))
	if err != nil {
		return err
	}
	e.Sequence = t.conn.InsertedRow()
	return t.conn.Exec(sqlMoveEventHead, account, e.SessionKey, e.Sequence)
}

func (t *tx) PutWatch(name string, w sessile.Watch) error {
	account, err := t.account(name)
	if err != nil {
		return err
	}
	return t.conn.Exec(sqlPutWatch, account, w.Watcher, w.Target, w.LastSeen, w.Notified, w.Material, t.now)
}

func (t *tx) DeleteWatch(name, watcher, target string) (bool, error) {
	account, err := t.account(name)
	if err != nil {
		return false, err
	}
	if err := t.conn.Exec(sqlDeleteNotice, account, watcher, target); err != nil {
		return false, err
	}
	err = t.conn.Exec(sqlDeleteWatch, account, watcher, target)
	return t.conn.Changes() > 0, err
}

func (t *tx) ForgetWatcher(name, watcher string) error {
	return t.forgetKey(sqlForgetWatcher, name, watcher)
}

func (t *tx) ForgetEvents(name, sessionKey string) error {
	return t.forgetKey(sqlForgetEvents, name, sessionKey)
}

func (t *tx) forgetKey(statements []string, name, key string) error {
	account, err := t.account(name)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if err := t.conn.Exec(statement, account, key); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) AddNotice(name string, n *sessile.Notice) error {
	account, err := t.account(name)
	if err != nil {
		return err
	}
	n.CreatedAt = t.now
	err = t.conn.Exec(sqlAddNotice, account, n.Watcher, n.Target, n.Since, n.CreatedAt)
	n.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) DeleteNotice(name, watcher, target string) error {
	account, err := t.account(name)
	if err != nil {
		return err
	}
	return t.conn.Exec(sqlDeleteNotice, account, watcher, target)
}

func (t *readTx) UnheardNotices(limit int) ([]sessile.UnheardNotice, error) {
	return list(t.query(sqlUnheardNotices, limit), func(r *sqliteconn.Rows) sessile.UnheardNotice {
		return sessile.UnheardNotice{Row: r.Int64(0), Account: r.Text(1), Watcher: r.Text(2)}
	})
}

func (t *tx) HearNotice(row int64) error { return t.conn.Exec(sqlHearNotice, row) }

func (t *tx) PruneEvents(before int64, keep, limit int) (bool, error) {
	type row struct {
		sequence, account int64
		key               string
	}
	read := func(r *sqliteconn.Rows) row { return row{r.Int64(0), r.Int64(1), r.Text(2)} }
	rows, err := list(t.query(sqlPrunable, keep, limit), read)
	if err != nil {
		return false, err
	}
	if len(rows) < limit {
		outdated, err := list(t.query(sqlOutdated, before, limit-len(rows)), read)
		if err != nil {
			return false, err
		}
		rows = append(rows, outdated...)
	}
	for _, r := range rows {
		if err := t.conn.Exec(sqlMarkPruned, r.account, r.key, r.sequence); err != nil {
			return false, err
		}
		if err := t.conn.Exec(sqlDropEvent, r.sequence); err != nil {
			return false, err
		}
	}
	return len(rows) == limit, nil
}

func (t *tx) PruneWatches(before int64) error {
	if err := t.conn.Exec(sqlPruneNotices, before); err != nil {
		return err
	}
	return t.conn.Exec(sqlPruneWatches, before)
}
