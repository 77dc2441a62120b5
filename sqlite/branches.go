package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	branchColumns = `b.id, b.session, b.name, b.source_floor, b.fork_seq, b.based, b.created_at, b.updated_at`

	sqlBranch = `SELECT ` + branchColumns + ` FROM branch b WHERE b.session = ? AND b.name = ? AND b.deleted_at IS NULL`

	sqlSessionBranches = `SELECT ` + branchColumns + ` FROM branch b WHERE b.session = ? AND b.deleted_at IS NULL ORDER BY b.name`

	sqlBranchesNamed = `SELECT ` + branchColumns + `
FROM branch b JOIN session s ON s.id = b.session JOIN account a ON a.id = s.account
WHERE b.name = ? AND a.name = ? AND b.deleted_at IS NULL AND s.deleted_at IS NULL`

	// A branch is listed when it is main, registered, or carries a floor that lists show. The latest floor is the one
	// with the highest number, then the newest.
	sqlBranchSummaryRows = `SELECT b.name AS branch_id, count(f.id) AS floor_count, max(f.floor_no) AS latest_floor_no,
  (SELECT l.id FROM floor l WHERE l.branch = b.id AND ` + listedL + ` ORDER BY l.floor_no DESC, l.id DESC LIMIT 1) AS latest,
  max(b.updated_at, coalesce(max(f.updated_at), 0)) AS updated_at
FROM branch b LEFT JOIN floor f ON f.branch = b.id AND f.superseded_at IS NULL AND f.replaces IS NULL AND f.deleted_at IS NULL
WHERE b.session = ?1 AND b.deleted_at IS NULL
GROUP BY b.id
HAVING b.name = 'main' OR b.source_floor IS NOT NULL OR count(f.id) > 0`
	listedL = `l.superseded_at IS NULL AND l.replaces IS NULL AND l.deleted_at IS NULL`

	sqlBranchSummariesCount = `SELECT count(*) FROM (` + sqlBranchSummaryRows + `)`
	sqlBranchSummaries      = `SELECT x.branch_id, x.floor_count, x.latest_floor_no, f.public_id, f.state, x.updated_at
FROM (` + sqlBranchSummaryRows + `) x LEFT JOIN floor f ON f.id = x.latest`

	sqlAddBranch = `INSERT INTO branch (session, name, source_floor, fork_seq, based, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlRegisterBranch = `UPDATE branch SET source_floor = ?, updated_at = ? WHERE id = ?`

	sqlDeleteBranch         = `UPDATE branch SET deleted_at = ?, source_floor = NULL WHERE id = ?`
	sqlDeleteBranchHeads    = `DELETE FROM visible WHERE branch = ?`
	sqlDeleteBranchFloors   = `UPDATE floor SET deleted_at = ?1 WHERE branch = ?2 AND deleted_at IS NULL`
	sqlCountBranchFloors    = `SELECT count(*) FROM floor f WHERE f.branch = ? AND f.deleted_at IS NULL AND f.replaces IS NULL`
	sqlForgetBranchSources  = `UPDATE branch SET source_floor = NULL WHERE source_floor IN (SELECT id FROM floor WHERE branch = ?)`
	sqlDeleteBranchOverride = `DELETE FROM floor_slot WHERE floor IN (SELECT id FROM floor WHERE branch = ?)`

	// Two steps: what was only inherited goes, own heads lose what they inherited.
	sqlForgetInherited = `DELETE FROM visible WHERE branch = ? AND own = 0`
	sqlForgetBase      = `UPDATE visible SET base = NULL WHERE branch = ? AND base IS NOT NULL`
	sqlSetBased        = `UPDATE branch SET based = 1, fork_seq = ?, updated_at = ? WHERE id = ?`
)

func readBranch(r *sqliteconn.Rows) sessile.Branch {
	return sessile.Branch{
		Row: r.Int64(0), Session: r.Int64(1), Name: r.Text(2), SourceFloor: r.Int64(3), ForkSeq: r.Int64(4),
		Based: r.Bool(5), CreatedAt: r.Int64(6), UpdatedAt: r.Int64(7),
	}
}

func (t *readTx) Branch(session int64, name string) (sessile.Branch, bool, error) {
	return one(t.query(sqlBranch, session, name), readBranch)
}

func (t *readTx) SessionBranches(session int64) ([]sessile.Branch, error) {
	return list(t.query(sqlSessionBranches, session), readBranch)
}

func (t *readTx) BranchesNamed(account, name string) ([]sessile.Branch, error) {
	return list(t.query(sqlBranchesNamed, name, account), readBranch)
}

func (t *readTx) BranchSummaries(session int64, page sessile.Page) ([]sessile.BranchSummary, int, error) {
	total := 0
	if _, err := t.oneRow(sqlBranchSummariesCount, func(r *sqliteconn.Rows) { total = r.Int(0) }, session); err != nil {
		return nil, 0, err
	}
	column := "x.updated_at"
	switch page.SortBy {
	case "branch_id":
		column = "x.branch_id"
	case "floor_count":
		column = "x.floor_count"
	case "latest_floor_no":
		column = "x.latest_floor_no"
	}
	query := sqlBranchSummaries + " ORDER BY " + column + direction(page.Descending) + ", x.branch_id LIMIT ?2 OFFSET ?3"
	summaries, err := list(t.query(query, session, page.Limit, page.Offset), func(r *sqliteconn.Rows) sessile.BranchSummary {
		s := sessile.BranchSummary{
			Name: r.Text(0), FloorCount: r.Int(1), LatestFloorNo: r.Int64OrNil(2), LatestFloorID: r.TextOrNil(3), UpdatedAt: r.Int64(5),
		}
		if !r.IsNull(4) {
			state := sessile.FloorState(r.Text(4))
			s.LatestState = &state
		}
		return s
	})
	return summaries, total, err
}

func (t *tx) AddBranch(b *sessile.Branch) error {
	err := t.conn.Exec(sqlAddBranch, b.Session, b.Name, orNull(b.SourceFloor), b.ForkSeq, b.Based, b.CreatedAt, b.UpdatedAt)
	b.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) RegisterBranch(branch, sourceFloor int64) error {
	return t.conn.Exec(sqlRegisterBranch, orNull(sourceFloor), t.now, branch)
}

func (t *tx) DeleteBranch(session, branch int64) (floors int, err error) {
	t.writer.cells.dropSession(session)
	if _, err := t.conn.One(sqlCountBranchFloors, func(r *sqliteconn.Rows) { floors = r.Int(0) }, branch); err != nil {
		return 0, err
	}
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{sqlForgetBranchSources, []any{branch}},
		{sqlDeleteBranchOverride, []any{branch}},
		{sqlDeleteBranchHeads, []any{branch}},
		{sqlDeleteBranchFloors, []any{t.now, branch}},
		{sqlDeleteBranch, []any{t.now, branch}},
		{sqlDropContent, []any{session}},
	} {
		if err := t.conn.Exec(step.sql, step.args...); err != nil {
			return 0, err
		}
	}
	t.forget = true
	return floors, t.forgetExtensions(branch, true)
}

func (t *tx) LayBase(branch int64, from *sessile.Floor) error {
	if err := t.conn.Exec(sqlForgetInherited, branch); err != nil {
		return err
	}
	if err := t.conn.Exec(sqlForgetBase, branch); err != nil {
		return err
	}
	at := sessile.PointOf(from)
	exceptions, err := t.hasOverrides(from.Row)
	if err != nil {
		return err
	}
	pointers, err := t.exists(sqlHasPointers, branch)
	if err != nil {
		return err
	}
	statement := sqlLayFirstBase
	switch {
	case exceptions:
		statement = sqlLayBase
	case pointers:
		statement = sqlLayPlainBase
	}
	if err := t.conn.Exec(statement, from.Session, at.Branch, at.After, at.At, at.Floor, branch); err != nil {
		return err
	}
	if err := t.layExtensions(branch, from); err != nil {
		return err
	}
	return t.conn.Exec(sqlSetBased, from.CommitSeq, t.now, branch)
}
