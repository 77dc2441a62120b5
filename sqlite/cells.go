package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	namespaceColumns = `id, session, name, built_in, owner_type, owner_id, items, bytes, created_at`

	sqlNamespaces = `SELECT ` + namespaceColumns + ` FROM namespace WHERE session = ? ORDER BY name`
	sqlNamespace  = `SELECT ` + namespaceColumns + ` FROM namespace WHERE session = ? AND name = ?`
	sqlSlots      = `SELECT s.id, s.namespace, s.name, s.first_seq FROM namespace n JOIN slot s ON s.namespace = n.id
WHERE n.session = ? AND s.first_seq IS NOT NULL ORDER BY n.name, s.name`

	// sqlLocate finds a cell on its way from the session's id to the head, in one walk over unique keys.
	sqlLocate = `SELECT s.id, s.status, s.account, b.id,
  (SELECT max(f.commit_seq) FROM floor f WHERE f.branch = b.id AND f.commit_seq IS NOT NULL),
  n.id, n.built_in, n.items, n.bytes, a.namespaces, a.items, a.bytes,
  x.id, x.first_seq IS NOT NULL, m.seq, m.size, m.floor, h.commit_seq < m.seq
FROM session s JOIN account a ON a.id = s.account
LEFT JOIN branch b ON b.session = s.id AND b.name = ?3 AND b.deleted_at IS NULL
LEFT JOIN namespace n ON n.session = s.id AND n.name = ?4
LEFT JOIN slot x ON x.namespace = n.id AND x.name = ?5
LEFT JOIN visible v ON v.branch = b.id AND v.slot = x.id AND v.own = 1
LEFT JOIN mutation m ON m.seq = v.seq
LEFT JOIN floor h ON h.id = m.floor
WHERE s.public_id = ?1 AND a.name = ?2 AND s.deleted_at IS NULL`

	// sqlHead finds the own head of a cell by its names.
	sqlHead = `SELECT n.name, x.name, n.id, x.id, x.first_seq, m.seq, m.branch, m.floor, o.public_id, m.present, m.size, m.created_at, m.value
FROM session s JOIN account a ON a.id = s.account
JOIN branch b ON b.session = s.id AND b.name = ?3 AND b.deleted_at IS NULL
JOIN namespace n ON n.session = s.id AND n.name = ?4
JOIN slot x ON x.namespace = n.id AND x.name = ?5
JOIN visible v ON v.branch = b.id AND v.slot = x.id AND v.own = 1
JOIN mutation m ON m.seq = v.seq
LEFT JOIN floor o ON o.id = m.floor
WHERE s.public_id = ?1 AND a.name = ?2 AND s.deleted_at IS NULL`

	// pointSeq is the version a slot shows at a sessile.Point: ?2 branch, ?3 after, ?4 at, ?5 floor. Most often the
	// head itself is old enough, and nothing has to be searched.
	pointSeq   = `CASE WHEN e.slot IS NOT NULL THEN e.seq ` + plainSeq
	plainPoint = `CASE ` + plainSeq
	plainSeq   = `
  WHEN v.seq IS NULL THEN NULL
  WHEN v.own = 0 THEN v.base
  WHEN v.seq <= ?4 AND v.seq > ?3 THEN v.seq
  ELSE coalesce((SELECT x.seq FROM mutation x WHERE x.branch = ?2 AND x.slot = v.slot AND x.on_line = 1
    AND x.seq <= ?4 AND x.seq > ?3 ORDER BY x.seq DESC LIMIT 1), v.base) END`
	slotsOf   = ` FROM namespace n CROSS JOIN slot s INDEXED BY slot_listed ON s.namespace = n.id AND s.first_seq IS NOT NULL`
	visibleOf = ` LEFT JOIN visible v ON v.branch = ?2 AND v.slot = s.id`
	pointFrom = slotsOf + ` LEFT JOIN floor_slot e ON e.floor = ?5 AND e.slot = s.id` + visibleOf

	versionColumns = `SELECT n.name, s.name, n.id, s.id, s.first_seq, m.seq, m.branch, m.floor, o.public_id, m.present, m.size, m.created_at`
	// Reads of many values fetch no more than they tell: every column costs, a thousand times.
	valueColumns = `SELECT n.name, s.name, s.first_seq, m.seq, m.value`
	headColumns  = `SELECT n.name, s.name, s.first_seq, m.seq, m.value, m.branch, m.created_at, o.public_id`
	versionEnd   = ` LEFT JOIN floor o ON o.id = m.floor WHERE n.session = ?1`
	versionOrder = ` ORDER BY n.name, s.name`

	sqlVersionRefs = versionColumns + pointFrom + ` LEFT JOIN mutation m ON m.seq = ` + pointSeq + versionEnd + versionOrder
	// Floors without exceptions, which is nearly all, are spared the look for them.
	sqlPlainVersions = valueColumns + slotsOf + visibleOf + ` LEFT JOIN mutation m ON m.seq = ` + plainPoint + ` WHERE n.session = ?1` + ` AND ?5 >= 0` // it takes what the other takes
	sqlHasOverrides  = `SELECT 1 FROM floor_slot WHERE floor = ? LIMIT 1`
	sqlVersions      = valueColumns + pointFrom + ` LEFT JOIN mutation m ON m.seq = ` + pointSeq + ` WHERE n.session = ?1`

	// headSeq is the version a branch shows now: ?2 branch, ?3 whether it inherits, ?5 its latest floor.
	headSeq       = `CASE WHEN v.own = 1 THEN v.seq WHEN ?3 = 0 THEN NULL WHEN e.slot IS NOT NULL THEN e.seq ELSE v.base END`
	plainHead     = `CASE WHEN v.own = 1 THEN v.seq WHEN ?3 = 0 THEN NULL ELSE v.base END`
	sqlPlainHeads = headColumns + slotsOf + visibleOf + ` LEFT JOIN mutation m ON m.seq = ` + plainHead + versionEnd + ` AND ?5 >= 0`
	sqlHeads      = headColumns + pointFrom + ` LEFT JOIN mutation m ON m.seq = ` + headSeq + versionEnd

	// The limit keeps the inner query one of its own: merged into the outer one, the search for the version would run once
	// per column that names it.
	sqlLayBase = `INSERT INTO visible (branch, slot, seq, own, base) SELECT ?6, slot, seq, 0, seq FROM (
  SELECT s.id AS slot, ` + pointSeq + ` AS seq` + pointFrom + ` WHERE n.session = ?1 LIMIT -1) shown
WHERE seq IS NOT NULL
ON CONFLICT (branch, slot) DO UPDATE SET base = excluded.base`

	// Without exceptions everything a floor can show stands in the pointers of its branch, in the order in which the new
	// ones are written. On a branch without pointers, as nearly all are at their first commit, nothing can be in the way.
	sqlLayFirstBase = `INSERT INTO visible (branch, slot, seq, own, base) SELECT ?6, slot, seq, 0, seq FROM (
  SELECT v.slot, ` + plainPoint + ` AS seq FROM visible v WHERE v.branch = ?2 LIMIT -1) shown
WHERE seq IS NOT NULL AND ?1 = ?1 AND ?5 = ?5` // it takes what the others take
	sqlLayPlainBase = sqlLayFirstBase + `
ON CONFLICT (branch, slot) DO UPDATE SET base = excluded.base`
	sqlHasPointers = `SELECT 1 FROM visible WHERE branch = ? LIMIT 1`

	sqlOverrides = `SELECT slot, seq FROM floor_slot WHERE floor = ?`

	sqlBranchVersions = `SELECT s.namespace, s.id, m.seq, m.branch, m.size FROM (
  SELECT seq FROM mutation WHERE branch = ?1 AND on_line = 1
  UNION SELECT e.seq FROM floor f JOIN floor_slot e ON e.floor = f.id WHERE f.branch = ?1 AND e.seq IS NOT NULL
  UNION SELECT base FROM visible WHERE branch = ?1 AND base IS NOT NULL) c
JOIN mutation m ON m.seq = c.seq JOIN slot s ON s.id = m.slot`

	// sqlShown looks for a live floor that shows the version: by an exception; on the version's own branch, between it
	// and its successor; on a branch that inherited it, before that branch's first own version.
	sqlShown = `SELECT EXISTS (
  SELECT 1 FROM floor_slot e JOIN floor f ON f.id = e.floor WHERE e.seq = ?1 AND f.deleted_at IS NULL)
OR EXISTS (
  SELECT 1 FROM mutation m JOIN branch b ON b.id = m.branch JOIN floor f ON f.branch = m.branch AND f.commit_seq >= m.seq
  WHERE m.seq = ?1 AND m.on_line = 1 AND m.seq > b.fork_seq AND f.deleted_at IS NULL
  AND f.commit_seq < coalesce((SELECT min(x.seq) FROM mutation x
    WHERE x.branch = m.branch AND x.slot = m.slot AND x.on_line = 1 AND x.seq > m.seq), 9223372036854775807)
  AND NOT EXISTS (SELECT 1 FROM floor_slot e WHERE e.floor = f.id AND e.slot = m.slot))
OR EXISTS (
  SELECT 1 FROM mutation m JOIN branch b ON b.id = m.branch JOIN branch c ON c.session = b.session AND c.deleted_at IS NULL
  JOIN visible v ON v.branch = c.id AND v.slot = m.slot AND v.base = m.seq
  JOIN floor f ON f.branch = c.id AND f.commit_seq IS NOT NULL AND f.deleted_at IS NULL
  WHERE m.seq = ?1
  AND f.commit_seq < coalesce((SELECT min(x.seq) FROM mutation x
    WHERE x.branch = c.id AND x.slot = m.slot AND x.on_line = 1 AND x.seq > c.fork_seq), 9223372036854775807)
  AND NOT EXISTS (SELECT 1 FROM floor_slot e WHERE e.floor = f.id AND e.slot = m.slot))`
	sqlIsHead = `SELECT EXISTS (SELECT 1 FROM mutation m JOIN visible v ON v.branch = m.branch AND v.slot = m.slot AND v.seq = m.seq AND v.own = 1 WHERE m.seq = ?)`

	sqlUsage          = `SELECT namespaces, items, bytes FROM account WHERE id = ?`
	sqlNamespaceUsage = `SELECT items, bytes FROM namespace WHERE id = ?`

	sqlAddNamespace = `INSERT INTO namespace (session, name, built_in, owner_type, owner_id, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	sqlAddSlot      = `INSERT INTO slot (namespace, name, first_seq) VALUES (?, ?, ?)`

	sqlClearOverrides = `DELETE FROM floor_slot WHERE floor = ?`
	sqlAddOverride    = `INSERT INTO floor_slot (floor, slot, seq) VALUES (?, ?, ?)`
)

func (t *readTx) Namespaces(session int64) ([]sessile.Namespace, error) {
	return list(t.query(sqlNamespaces, session), t.readNamespace)
}

func (t *readTx) Namespace(session int64, name string) (sessile.Namespace, bool, error) {
	return one(t.query(sqlNamespace, session, name), t.readNamespace)
}

func (t *readTx) readNamespace(r *sqliteconn.Rows) sessile.Namespace {
	n := sessile.Namespace{
		Row: r.Int64(0), Session: r.Int64(1), Name: r.Text(2), BuiltIn: r.Bool(3), OwnerType: r.Text(4), OwnerID: r.Text(5),
		Items: r.Int64(6), Bytes: r.Int64(7), CreatedAt: r.Int64(8),
	}
	u := sessile.Usage{Items: n.Items, Bytes: n.Bytes}
	t.carryNamespace(n.Row, &u)
	n.Items, n.Bytes = u.Items, u.Bytes
	return n
}

// carryNamespace and carryAccount add what the running batch has not written yet.
func (t *readTx) carryNamespace(namespace int64, u *sessile.Usage) {
	for _, d := range []*usageDeltas{t.batch, t.request} {
		if d != nil {
			carry(d.namespaces, namespace, u)
		}
	}
}

func (t *readTx) carryAccount(account int64, u *sessile.Usage) {
	for _, d := range []*usageDeltas{t.batch, t.request} {
		if d != nil {
			carry(d.accounts, account, u)
		}
	}
}

func (t *readTx) Slots(session int64) ([]sessile.Slot, error) {
	return list(t.query(sqlSlots, session), func(r *sqliteconn.Rows) sessile.Slot {
		return sessile.Slot{Row: r.Int64(0), Namespace: r.Int64(1), Name: r.Text(2), FirstSeq: r.Int64(3)}
	})
}

func (t *readTx) Locate(a sessile.CellAddress) (sessile.Cell, error) {
	cell, _, err := one(t.query(sqlLocate, a.SessionID, a.Account, a.Branch, a.Namespace, a.Slot), func(r *sqliteconn.Rows) sessile.Cell {
		c := sessile.Cell{
			Session: r.Int64(0), SessionStatus: sessile.SessionStatus(r.Text(1)), Account: r.Int64(2), Branch: r.Int64(3),
			LastCommitSeq: r.Int64(4), Namespace: r.Int64(5), BuiltIn: r.Bool(6),
			NamespaceUsage: sessile.Usage{Items: r.Int64(7), Bytes: r.Int64(8)},
			AccountUsage:   sessile.Usage{Namespaces: r.Int64(9), Items: r.Int64(10), Bytes: r.Int64(11)},
			Slot:           r.Int64(12), Materialised: r.Bool(13), HeadSeq: r.Int64(14), HeadSize: r.Int64(15), HeadFloor: r.Int64(16),
			HeadFromRetry: r.Bool(17),
		}
		t.carryNamespace(c.Namespace, &c.NamespaceUsage)
		t.carryAccount(c.Account, &c.AccountUsage)
		return c
	})
	return cell, err
}

func (t *readTx) Head(a sessile.CellAddress) (sessile.Version, bool, error) {
	if t.heads == nil || t.conn != nil { // what a started transaction sees may be older than the cache
		return one(t.query(sqlHead, a.SessionID, a.Account, a.Branch, a.Namespace, a.Slot), readVersionValue)
	}
	v, found, version := t.heads.get(a)
	if found {
		return v, true, nil
	}
	v, found, err := one(t.query(sqlHead, a.SessionID, a.Account, a.Branch, a.Namespace, a.Slot), readVersionValue)
	if err == nil && found {
		t.heads.fill(a, v, version)
	}
	return v, found, err
}

func readVersion(r *sqliteconn.Rows) sessile.Version {
	return sessile.Version{
		Namespace: r.Text(0), Slot: r.Text(1), NamespaceRow: r.Int64(2), SlotRow: r.Int64(3), FirstSeq: r.Int64(4), Seq: r.Int64(5),
		Branch: r.Int64(6), Floor: r.Int64(7), FloorID: r.Text(8), Present: r.Bool(9), Size: r.Int64(10), CreatedAt: r.Int64(11),
	}
}

// readValues reads valueColumns. Rows come by namespace, so its name is read into memory once.
func readValues() func(*sqliteconn.Rows) sessile.Version {
	namespace := ""
	return func(r *sqliteconn.Rows) sessile.Version {
		if !r.Is(0, namespace) {
			namespace = r.Text(0)
		}
		v := sessile.Version{Namespace: namespace, Slot: r.Text(1), FirstSeq: r.Int64(2), Seq: r.Int64(3), Value: r.Bytes(4)}
		v.Present = v.Value != nil
		return v
	}
}

func readVersionValue(r *sqliteconn.Rows) sessile.Version {
	v := readVersion(r)
	v.Value = r.Bytes(12)
	return v
}

// filtered narrows a statement to the names a caller asks for; the arguments it adds are ?6 and ?7.
func filtered(sql string, f sessile.SlotFilter, args []any) (string, []any) {
	if f.Namespace != "" {
		sql, args = sql+" AND n.name = ?6", append(args, f.Namespace)
		if f.Slot != "" {
			sql, args = sql+" AND s.name = ?7", append(args, f.Slot)
		}
	}
	return sql + versionOrder, args
}

func (t *readTx) Heads(session, branch, latest int64, inherit bool, f sessile.SlotFilter) ([]sessile.Version, error) {
	statement := sqlPlainHeads
	if has, err := t.hasOverrides(latest); err != nil {
		return nil, err
	} else if has {
		statement = sqlHeads
	}
	sql, args := filtered(statement, f, []any{session, branch, inherit, nil, latest})
	read := readValues()
	return list(t.query(sql, args...), func(r *sqliteconn.Rows) sessile.Version {
		v := read(r)
		if v.Seq != 0 {
			v.Branch, v.CreatedAt, v.FloorID = r.Int64(5), r.Int64(6), r.Text(7)
		}
		return v
	})
}

func (t *readTx) Versions(session int64, at sessile.Point, f sessile.SlotFilter, values bool) ([]sessile.Version, error) {
	args := []any{session, at.Branch, at.After, at.At, at.Floor}
	if !values {
		return list(t.query(sqlVersionRefs, args...), readVersion)
	}
	statement := sqlPlainVersions
	if has, err := t.hasOverrides(at.Floor); err != nil {
		return nil, err
	} else if has {
		statement = sqlVersions
	}
	sql, args := filtered(statement, f, args)
	return list(t.query(sql, args...), readValues())
}

func (t *readTx) hasOverrides(floor int64) (bool, error) {
	if floor == 0 {
		return false, nil
	}
	return t.exists(sqlHasOverrides, floor)
}

func (t *readTx) Overrides(floor int64) ([]sessile.Override, error) {
	return list(t.query(sqlOverrides, floor), func(r *sqliteconn.Rows) sessile.Override {
		return sessile.Override{Slot: r.Int64(0), Seq: r.Int64(1)}
	})
}

func (t *readTx) BranchVersions(branch int64) ([]sessile.Version, error) {
	return list(t.query(sqlBranchVersions, branch), func(r *sqliteconn.Rows) sessile.Version {
		return sessile.Version{NamespaceRow: r.Int64(0), SlotRow: r.Int64(1), Seq: r.Int64(2), Branch: r.Int64(3), Size: r.Int64(4)}
	})
}

func (t *readTx) flag(sql string, args ...any) (set bool, err error) {
	_, err = t.oneRow(sql, func(r *sqliteconn.Rows) { set = r.Bool(0) }, args...)
	return set, err
}

func (t *readTx) Shown(seq int64) (bool, error) { return t.flag(sqlShown, seq) }

func (t *readTx) IsHead(seq int64) (bool, error) { return t.flag(sqlIsHead, seq) }

func (t *readTx) Usage(account int64) (u sessile.Usage, err error) {
	_, err = t.oneRow(sqlUsage, func(r *sqliteconn.Rows) {
		u = sessile.Usage{Namespaces: r.Int64(0), Items: r.Int64(1), Bytes: r.Int64(2)}
	}, account)
	t.carryAccount(account, &u)
	return u, err
}

func (t *readTx) NamespaceUsage(namespace int64) (u sessile.Usage, err error) {
	_, err = t.oneRow(sqlNamespaceUsage, func(r *sqliteconn.Rows) {
		u = sessile.Usage{Items: r.Int64(0), Bytes: r.Int64(1)}
	}, namespace)
	t.carryNamespace(namespace, &u)
	return u, err
}

func (t *tx) AddNamespace(n *sessile.Namespace) error {
	err := t.conn.Exec(sqlAddNamespace, n.Session, n.Name, n.BuiltIn, n.OwnerType, n.OwnerID, n.CreatedAt)
	n.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) AddSlot(s *sessile.Slot) error {
	err := t.conn.Exec(sqlAddSlot, s.Namespace, s.Name, orNull(s.FirstSeq))
	s.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) SetOverrides(floor int64, overrides []sessile.Override) error {
	if err := t.conn.Exec(sqlClearOverrides, floor); err != nil {
		return err
	}
	for _, o := range overrides {
		if err := t.conn.Exec(sqlAddOverride, floor, o.Slot, orNull(o.Seq)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) AddUsage(account, namespace, items, bytes int64) error {
	move(&t.usage.namespaces, namespace).add(usageDelta{items: items, bytes: bytes})
	move(&t.usage.accounts, account).add(usageDelta{items: items, bytes: bytes})
	return nil
}

func (t *tx) AddNamespaceCount(account, n int64) error {
	move(&t.usage.accounts, account).namespaces += n
	return nil
}
