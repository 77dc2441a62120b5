package sqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	sessionColumns = `s.id, s.account, s.public_id, a.name, s.title, s.status, s.settings, s.created_at, s.updated_at,
  s.worldbook, (SELECT w.public_id FROM worldbook w WHERE w.id = s.worldbook), s.key, s.agent, s.label, s.channel, s.pinned_at, s.archived_at,
  s.display_name, s.subject, s.chat_type, s.spawned_by, s.parent_key, s.owner_key, s.details, s.lane, s.name`

	sqlSession = `SELECT ` + sessionColumns + `
FROM session s JOIN account a ON a.id = s.account
WHERE s.public_id = ? AND a.name = ? AND s.deleted_at IS NULL`

	sqlSessionByRow = `SELECT ` + sessionColumns + `
FROM session s JOIN account a ON a.id = s.account WHERE s.id = ? AND s.deleted_at IS NULL`

	sqlSessionByKey = `SELECT ` + sessionColumns + `
FROM account a JOIN session s ON s.account = a.id AND s.key = ?2 AND s.deleted_at IS NULL WHERE a.name = ?1`

	sqlSessionsFrom = ` FROM account a JOIN session s ON s.account = a.id
WHERE a.name = ?1 AND s.deleted_at IS NULL AND (?2 = '' OR s.status = ?2) AND (?3 = '' OR instr(s.title_fold, ?3) > 0)
  AND (?4 = '' OR s.key = ?4)`
	sqlSessionsCount = `SELECT count(*)` + sqlSessionsFrom
	sqlSessions      = `SELECT ` + sessionColumns + sqlSessionsFrom

	sqlAccount    = `SELECT id FROM account WHERE name = ?`
	sqlAddAccount = `INSERT INTO account (name, created_at) VALUES (?, ?)`

	sqlAddSession = `INSERT INTO session (public_id, account, title, title_fold, status, settings, created_at, updated_at, worldbook,
  key, agent, label, channel, pinned_at, archived_at, display_name, subject, chat_type, spawned_by, parent_key, owner_key, details, lane, name)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateSession = `UPDATE session SET title = ?, title_fold = ?, status = ?, settings = ?, updated_at = ?, worldbook = ?,
  label = ?, pinned_at = ?, archived_at = ?, channel = ?, display_name = ?, subject = ?, chat_type = ?, spawned_by = ?,
  parent_key = ?, owner_key = ?, details = ? WHERE id = ?`
	sqlTouchSession  = `UPDATE session SET updated_at = ?, details = ? WHERE id = ?`
	sqlDeleteSession = `UPDATE session SET deleted_at = ?, purge = 'all', ` + emptied + ` WHERE id = ?`
	sqlDeleteRetired = `UPDATE session SET purge = 'all', ` + emptied + `
WHERE account = ? AND key = ? AND deleted_at IS NOT NULL`
	// emptied takes away what was written in a session's own row.
	emptied = `title = NULL, title_fold = NULL, label = NULL, settings = '{}', display_name = NULL, subject = NULL, details = NULL`

	sqlRetiredSession = `SELECT ` + sessionColumns + `
FROM account a JOIN session s ON s.account = a.id AND s.key = ?2 AND s.deleted_at IS NOT NULL AND ifnull(s.purge, 'state') <> 'all'
WHERE a.name = ?1 AND s.public_id = ?3`

	sqlRetireSession = `UPDATE session SET deleted_at = ?, purge = 'state' WHERE id = ?`
	sqlRetired       = `UPDATE session SET purge = NULL WHERE id = ?`

	sqlDeletedSession = `SELECT id, purge = 'all' FROM session WHERE purge IS NOT NULL LIMIT 1`
)

// sqlPurgeState removes the state of a session, from the leaves on; every statement takes the session and a limit. A step
// that found nothing left goes on to the next.
var sqlPurgeState = []string{
	`DELETE FROM floor_slot WHERE (floor, slot) IN (SELECT x.floor, x.slot FROM floor f JOIN floor_slot x ON x.floor = f.id WHERE f.session = ?1 LIMIT ?2)`,
	`DELETE FROM visible WHERE (branch, slot) IN (SELECT v.branch, v.slot FROM branch b JOIN visible v ON v.branch = b.id WHERE b.session = ?1 LIMIT ?2)`,
	`DELETE FROM mutation WHERE seq IN (SELECT m.seq FROM branch b JOIN mutation m ON m.branch = b.id AND m.on_line = 1 WHERE b.session = ?1 LIMIT ?2)`,
	`DELETE FROM mutation WHERE seq IN (SELECT m.seq FROM branch b JOIN mutation m ON m.branch = b.id AND m.on_line = 0 WHERE b.session = ?1 LIMIT ?2)`,
	`DELETE FROM slot WHERE id IN (SELECT x.id FROM namespace n JOIN slot x ON x.namespace = n.id WHERE n.session = ?1 LIMIT ?2)`,
	`DELETE FROM namespace WHERE id IN (SELECT id FROM namespace WHERE session = ?1 LIMIT ?2)`,
}

// sqlPurgeRest removes what is left of a session without state.
var sqlPurgeRest = []string{
	`DELETE FROM message WHERE id IN (SELECT m.id FROM floor f JOIN content_page p ON p.floor = f.id JOIN message m ON m.page = p.id WHERE f.session = ?1 LIMIT ?2)`,
	`DELETE FROM content_page WHERE id IN (SELECT p.id FROM floor f JOIN content_page p ON p.floor = f.id WHERE f.session = ?1 LIMIT ?2)`,
	// What a child said is its requester's to see for a while yet, and whoever queued a run is to hear that it came to nothing.
	`UPDATE run SET session = 0, branch = 0, floor = NULL
WHERE id IN (SELECT id FROM run WHERE session = ?1 AND (kind = 'spawn' OR status = 'queued') LIMIT ?2)`,
	`DELETE FROM run WHERE id IN (SELECT id FROM run WHERE session = ?1 LIMIT ?2)`,
	`DELETE FROM floor WHERE id IN (SELECT id FROM floor WHERE session = ?1 LIMIT ?2)`,
	`DELETE FROM branch WHERE id IN (SELECT id FROM branch WHERE session = ?1 LIMIT ?2)`,
	`DELETE FROM session WHERE id IN (SELECT id FROM session WHERE id = ?1 LIMIT ?2)`,
}

func readSession(r *sqliteconn.Rows) sessile.Session {
	return sessile.Session{
		Row: r.Int64(0), AccountRow: r.Int64(1), ID: r.Text(2), Account: r.Text(3), Title: r.TextOrNil(4),
		Status: sessile.SessionStatus(r.Text(5)), Settings: r.Bytes(6), CreatedAt: r.Int64(7), UpdatedAt: r.Int64(8),
		Worldbook: r.Int64(9), WorldbookID: r.Text(10), Key: r.Text(11), AgentID: r.Text(12), Label: r.TextOrNil(13), Channel: r.Text(14),
		PinnedAt: r.Int64(15), ArchivedAt: r.Int64(16), DisplayName: r.Text(17), Subject: r.Text(18), ChatType: r.Text(19),
		SpawnedBy: r.Text(20), ParentKey: r.Text(21), OwnerKey: r.Text(22), Details: r.Bytes(23),
		Lane: sessile.Lane(r.Text(24)), Name: r.Text(25),
	}
}

func (t *readTx) Session(account, id string) (sessile.Session, bool, error) {
	return one(t.query(sqlSession, id, account), readSession)
}

func (t *readTx) SessionByRow(row int64) (sessile.Session, bool, error) {
	return one(t.query(sqlSessionByRow, row), readSession)
}

func (t *readTx) SessionByKey(account, key string) (sessile.Session, bool, error) {
	return one(t.query(sqlSessionByKey, account, key), readSession)
}

func (t *readTx) Sessions(account string, f sessile.SessionFilter) ([]sessile.Session, int, error) {
	args := []any{account, string(f.Status), strings.ToLower(f.Keyword), f.Key}
	total := 0
	if _, err := t.oneRow(sqlSessionsCount, func(r *sqliteconn.Rows) { total = r.Int(0) }, args...); err != nil {
		return nil, 0, err
	}
	column := "s.created_at"
	if f.Page.SortBy == "updated_at" {
		column = "s.updated_at"
	}
	order := direction(f.Page.Descending)
	query := sqlSessions + " ORDER BY " + column + order + ", s.id" + order + " LIMIT ?5 OFFSET ?6"
	sessions, err := list(t.query(query, append(args, f.Page.Limit, f.Page.Offset)...), readSession)
	return sessions, total, err
}

func (t *readTx) RetiredSession(account, key, id string) (sessile.Session, bool, error) {
	return one(t.query(sqlRetiredSession, account, key, id), readSession)
}

func folded(title *string) *string {
	if title == nil {
		return nil
	}
	lower := strings.ToLower(*title)
	return &lower
}

func (t *tx) AddSession(s *sessile.Session) error {
	account, err := t.account(s.Account)
	if err != nil {
		return err
	}
	s.AccountRow, s.Lane = account, cmp.Or(s.Lane, sessile.LaneOther)
	err = t.conn.Exec(sqlAddSession, s.ID, account, s.Title, folded(s.Title), string(s.Status), s.Settings, s.CreatedAt, s.UpdatedAt,
		orNull(s.Worldbook), s.Key, s.AgentID, s.Label, textOrNull(s.Channel), orNull(s.PinnedAt), orNull(s.ArchivedAt),
		textOrNull(s.DisplayName), textOrNull(s.Subject), textOrNull(s.ChatType), textOrNull(s.SpawnedBy), textOrNull(s.ParentKey),
		textOrNull(s.OwnerKey), s.Details, string(s.Lane), textOrNull(s.Name))
	if err != nil {
		return err
	}
	s.Row = t.conn.InsertedRow()
	main := sessile.Branch{Session: s.Row, Name: sessile.MainBranch, CreatedAt: s.CreatedAt, UpdatedAt: s.CreatedAt}
	if err := t.AddBranch(&main); err != nil {
		return err
	}
	builtIn := sessile.Namespace{Session: s.Row, Name: sessile.GameState, BuiltIn: true, CreatedAt: s.CreatedAt}
	if err := t.AddNamespace(&builtIn); err != nil {
		return err
	}
	for _, name := range []string{sessile.SlotScene, sessile.SlotWorld} {
		if err := t.conn.Exec(sqlAddSlot, builtIn.Row, name, 0); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) account(name string) (row int64, err error) {
	found, err := t.conn.One(sqlAccount, func(r *sqliteconn.Rows) { row = r.Int64(0) }, name)
	if err != nil || found {
		return row, err
	}
	err = t.conn.Exec(sqlAddAccount, name, t.now)
	return t.conn.InsertedRow(), err
}

func (t *tx) UpdateSession(s *sessile.Session) error {
	t.writer.cells.dropSession(s.Row)
	return t.conn.Exec(sqlUpdateSession, s.Title, folded(s.Title), string(s.Status), s.Settings, s.UpdatedAt, orNull(s.Worldbook),
		s.Label, orNull(s.PinnedAt), orNull(s.ArchivedAt), textOrNull(s.Channel), textOrNull(s.DisplayName), textOrNull(s.Subject),
		textOrNull(s.ChatType), textOrNull(s.SpawnedBy), textOrNull(s.ParentKey), textOrNull(s.OwnerKey), s.Details, s.Row)
}

func (t *tx) TouchSession(s *sessile.Session) error {
	return t.conn.Exec(sqlTouchSession, s.UpdatedAt, s.Details, s.Row)
}

func (t *tx) DeleteSession(s *sessile.Session) error {
	if err := t.freeSession(s); err != nil {
		return err
	}
	if err := t.conn.Exec(sqlDeleteSession, t.now, s.Row); err != nil {
		return err
	}
	return t.conn.Exec(sqlDeleteRetired, s.AccountRow, s.Key)
}

func (t *tx) RetireSession(s *sessile.Session) error {
	if err := t.freeSession(s); err != nil {
		return err
	}
	return t.conn.Exec(sqlRetireSession, t.now, s.Row)
}

// freeSession gives back what a session counts for.
func (t *tx) freeSession(s *sessile.Session) error {
	t.writer.cells.dropSession(s.Row)
	namespaces, err := t.Namespaces(s.Row)
	if err != nil {
		return err
	}
	for _, n := range namespaces {
		if err := t.AddUsage(s.AccountRow, n.Row, -n.Items, -n.Bytes); err != nil {
			return err
		}
		if n.BuiltIn {
			continue
		}
		if err := t.AddNamespaceCount(s.AccountRow, -1); err != nil {
			return err
		}
	}
	t.forget = true
	return nil
}

func (t *tx) PurgeDeleted(limit int) (bool, error) {
	removed, err := t.purgeEntries(int64(limit))
	if err != nil {
		return false, err
	}
	left := int64(limit) - removed
	for left > 0 {
		found, n, err := t.purgeSession(left)
		if err != nil || !found {
			return false, err
		}
		left -= n
	}
	return true, nil
}

// purgeSession removes up to limit rows of one session, if there is one to clean up.
func (t *tx) purgeSession(limit int64) (found bool, removed int64, err error) {
	session, all := int64(0), false
	found, err = t.conn.One(sqlDeletedSession, func(r *sqliteconn.Rows) { session, all = r.Int64(0), r.Bool(1) })
	if err != nil || !found {
		return false, 0, err
	}
	t.writer.cells.clear() // row numbers that become free may be given again
	if err := t.conn.Exec(sqlSaveSeq, t.writer.lastSeq); err != nil {
		return true, 0, err
	}
	steps := slices.Concat(sqlPurgeState, sqlPurgeExtensions)
	if all {
		steps = append(steps, sqlPurgeRest...)
	}
	for _, step := range steps {
		if err := t.conn.Exec(step, session, limit-removed); err != nil {
			return true, removed, err
		}
		if removed += t.conn.Changes(); removed >= limit {
			return true, removed, nil
		}
	}
	if all {
		return true, removed, nil
	}
	return true, removed + 1, t.conn.Exec(sqlRetired, session)
}
