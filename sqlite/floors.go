package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	floorColumns = `f.id, f.session, f.branch, f.parent, f.public_id, s.public_id, b.name, p.public_id, f.floor_no, f.state,
  f.token_in, f.token_out, f.created_at, f.updated_at, f.superseded_at, y.public_id, f.deleted_at IS NOT NULL,
  f.commit_seq, f.snapshot_seq, f.first_committed_at, f.committed_at, b.fork_seq, f.replaces`
	floorJoins = ` FROM floor f JOIN session s ON s.id = f.session JOIN branch b ON b.id = f.branch
LEFT JOIN floor p ON p.id = f.parent LEFT JOIN floor y ON y.id = f.superseded_by`

	// listed holds for the floors that lists and "latest" searches see.
	listed = `f.superseded_at IS NULL AND f.replaces IS NULL AND f.deleted_at IS NULL`

	sqlFloor = `SELECT ` + floorColumns + floorJoins + ` JOIN account a ON a.id = s.account
WHERE f.public_id = ? AND a.name = ? AND f.deleted_at IS NULL AND s.deleted_at IS NULL`
	sqlFloorByRow = `SELECT ` + floorColumns + floorJoins + ` WHERE f.id = ?`

	// Three shapes of the list: floors of a branch of a session, of one session, and of all sessions of an account.
	floorFilter    = ` AND ` + listed + ` AND (?3 = '' OR b.name = ?3) AND (?4 = '' OR f.state = ?4)`
	floorRelatives = ` LEFT JOIN floor p ON p.id = f.parent LEFT JOIN floor y ON y.id = f.superseded_by WHERE a.name = ?1`
	floorsOf       = ` FROM account a JOIN session s ON s.account = a.id AND s.deleted_at IS NULL
JOIN floor f ON f.session = s.id JOIN branch b ON b.id = f.branch` + floorRelatives
	floorsOfSession = floorsOf + ` AND s.public_id = ?2` + floorFilter
	floorsOfAccount = floorsOf + ` AND ?2 = ''` + floorFilter
	floorsOfBranch  = ` FROM session s JOIN account a ON a.id = s.account
CROSS JOIN branch b ON b.session = s.id AND b.name = ?3 AND b.deleted_at IS NULL CROSS JOIN floor f ON f.branch = b.id` +
		floorRelatives + ` AND s.public_id = ?2 AND s.deleted_at IS NULL` + floorFilter
	sqlBranchFloors = `SELECT count(*)` + floorsOfBranch

	sqlGeneratingFloor = `SELECT 1 FROM floor f WHERE f.branch = ? AND f.state = 'generating' AND ` + listed + ` LIMIT 1`

	sqlLatestFloor = `SELECT ` + floorColumns + floorJoins + ` WHERE f.branch = ? AND ` + listed + `
ORDER BY f.floor_no DESC, f.id DESC LIMIT 1`
	sqlLatestCommittedFloor = `SELECT ` + floorColumns + floorJoins + ` WHERE f.branch = ? AND ` + listed + `
AND (f.state = 'committed' OR f.committed_at IS NOT NULL) ORDER BY f.floor_no DESC, f.id DESC LIMIT 1`

	sqlHasSnapshotFloor = `SELECT 1 FROM floor f WHERE f.branch = ? AND f.commit_seq IS NOT NULL AND f.deleted_at IS NULL LIMIT 1`
	sqlFloorNumberTaken = `SELECT 1 FROM floor f WHERE f.branch = ? AND f.floor_no = ? AND ` + listed

	sqlAddFloor = `INSERT INTO floor (public_id, session, branch, parent, floor_no, state, token_in, token_out, created_at, updated_at, replaces)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlSetFloorState = `UPDATE floor SET state = ?, updated_at = ? WHERE id = ?`
	sqlCommitFloor   = `UPDATE floor SET state = 'committed', token_in = ?, token_out = ?, updated_at = ?, replaces = NULL,
  commit_seq = ?, snapshot_seq = ?, first_committed_at = ?, committed_at = ? WHERE id = ?`
	sqlSupersedeFloor = `UPDATE floor SET superseded_at = ?, superseded_by = ? WHERE id = ?`

	sqlDeleteFloor         = `UPDATE floor SET deleted_at = ? WHERE id = ?`
	sqlDeleteFloorOverride = `DELETE FROM floor_slot WHERE floor = ?`
	sqlForgetFloorSource   = `UPDATE branch SET source_floor = NULL WHERE source_floor = ?`

	// sqlDropContent removes the content of a session's deleted floors from which no live floor descends.
	sqlDropContent = `WITH RECURSIVE kept (id) AS (
  SELECT f.parent FROM floor f WHERE f.session = ?1 AND f.deleted_at IS NULL AND f.parent IS NOT NULL
  UNION
  SELECT f.parent FROM kept k JOIN floor f ON f.id = k.id WHERE f.parent IS NOT NULL)
DELETE FROM message WHERE page IN (SELECT p.id FROM floor f JOIN content_page p ON p.floor = f.id
  WHERE f.session = ?1 AND f.deleted_at IS NOT NULL AND f.id NOT IN (SELECT id FROM kept))`
)

func readFloor(r *sqliteconn.Rows) sessile.Floor {
	return sessile.Floor{
		Row: r.Int64(0), Session: r.Int64(1), Branch: r.Int64(2), Parent: r.Int64(3), ID: r.Text(4), SessionID: r.Text(5),
		BranchName: r.Text(6), ParentID: r.TextOrNil(7), No: r.Int64(8), State: sessile.FloorState(r.Text(9)),
		TokenIn: r.Int64(10), TokenOut: r.Int64(11), CreatedAt: r.Int64(12), UpdatedAt: r.Int64(13),
		SupersededAt: r.Int64OrNil(14), SupersededByID: r.TextOrNil(15), Deleted: r.Bool(16),
		CommitSeq: r.Int64(17), SnapshotSeq: r.Int64(18), FirstCommittedAt: r.Int64(19), CommittedAt: r.Int64(20),
		BranchForkSeq: r.Int64(21), Replaces: r.Int64(22),
	}
}

func (t *readTx) Floor(account, id string) (sessile.Floor, bool, error) {
	return one(t.query(sqlFloor, id, account), readFloor)
}

func (t *readTx) FloorByRow(row int64) (sessile.Floor, bool, error) {
	return one(t.query(sqlFloorByRow, row), readFloor)
}

func (t *readTx) Floors(f sessile.FloorFilter) ([]sessile.Floor, int, error) {
	from := floorsOfAccount
	switch {
	case f.SessionID != "" && f.Branch != "":
		from = floorsOfBranch
	case f.SessionID != "":
		from = floorsOfSession
	}
	args := []any{f.Account, f.SessionID, f.Branch, string(f.State)}
	total := 0
	if _, err := t.oneRow("SELECT count(*)"+from, func(r *sqliteconn.Rows) { total = r.Int(0) }, args...); err != nil {
		return nil, 0, err
	}
	column := "f.created_at"
	switch f.Page.SortBy {
	case "updated_at":
		column = "f.updated_at"
	case "floor_no":
		column = "f.floor_no"
	}
	order := direction(f.Page.Descending)
	query := "SELECT " + floorColumns + from + " ORDER BY " + column + order + ", f.id" + order + " LIMIT ?5 OFFSET ?6"
	floors, err := list(t.query(query, append(args, f.Page.Limit, f.Page.Offset)...), readFloor)
	return floors, total, err
}

func (t *readTx) LatestFloor(branch int64, committed bool) (sessile.Floor, bool, error) {
	if committed {
		return one(t.query(sqlLatestCommittedFloor, branch), readFloor)
	}
	return one(t.query(sqlLatestFloor, branch), readFloor)
}

func (t *readTx) exists(sql string, args ...any) (bool, error) {
	return t.oneRow(sql, func(*sqliteconn.Rows) {}, args...)
}

func (t *readTx) HasSnapshotFloor(branch int64) (bool, error) {
	return t.exists(sqlHasSnapshotFloor, branch)
}

func (t *readTx) HasGeneratingFloor(branch int64) (bool, error) {
	return t.exists(sqlGeneratingFloor, branch)
}

func (t *readTx) FloorNumberTaken(branch, no int64) (bool, error) {
	return t.exists(sqlFloorNumberTaken, branch, no)
}

func (t *tx) AddFloor(f *sessile.Floor) error {
	err := t.conn.Exec(sqlAddFloor, f.ID, f.Session, f.Branch, orNull(f.Parent), f.No, string(f.State), f.TokenIn, f.TokenOut,
		f.CreatedAt, f.UpdatedAt, orNull(f.Replaces))
	f.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) SetFloorState(floor int64, state sessile.FloorState) error {
	return t.conn.Exec(sqlSetFloorState, string(state), t.now, floor)
}

func (t *tx) CommitFloor(f *sessile.Floor) error {
	t.writer.cells.dropSession(f.Session)
	return t.conn.Exec(sqlCommitFloor, f.TokenIn, f.TokenOut, t.now, f.CommitSeq, f.SnapshotSeq, f.FirstCommittedAt, f.CommittedAt, f.Row)
}

func (t *tx) SupersedeFloor(floor, by int64) error {
	return t.conn.Exec(sqlSupersedeFloor, t.now, by, floor)
}

func (t *tx) DeleteFloor(session, floor int64) error {
	t.writer.cells.dropSession(session)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{sqlForgetFloorSource, []any{floor}},
		{sqlDeleteFloorOverride, []any{floor}},
		{sqlDeleteFloor, []any{t.now, floor}},
		{sqlDropContent, []any{session}},
	} {
		if err := t.conn.Exec(step.sql, step.args...); err != nil {
			return err
		}
	}
	return nil
}
