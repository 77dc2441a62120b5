package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	runColumns = `id, public_id, session, branch, floor, kind, run_type, status, lease_until, started_at, ended_at, error_code`

	sqlRunningRun     = `SELECT ` + runColumns + ` FROM run WHERE branch = ? AND status = 'running'`
	sqlRunningRuns    = `SELECT ` + runColumns + ` FROM run WHERE session = ? AND status = 'running' ORDER BY id`
	sqlAllRunningRuns = `SELECT ` + runColumns + ` FROM run WHERE status = 'running' ORDER BY id`
	sqlRunByRow       = `SELECT ` + runColumns + ` FROM run WHERE id = ?`
	sqlFloorRun       = `SELECT ` + runColumns + ` FROM run WHERE floor = ? ORDER BY id DESC LIMIT 1`

	sqlAddRun = `INSERT INTO run (public_id, session, branch, floor, kind, run_type, status, lease_until, started_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlSetRunFloor = `UPDATE run SET floor = ? WHERE id = ?`
	sqlEndRun      = `UPDATE run SET status = ?, ended_at = ?, error_code = ? WHERE id = ?`
)

func readRun(r *sqliteconn.Rows) sessile.Run {
	return sessile.Run{
		Row: r.Int64(0), ID: r.Text(1), Session: r.Int64(2), Branch: r.Int64(3), Floor: r.Int64(4), Kind: r.Text(5), RunType: r.Text(6),
		Status: sessile.RunStatus(r.Text(7)), LeaseUntil: r.Int64(8), StartedAt: r.Int64(9), EndedAt: r.Int64OrNil(10), ErrorCode: r.Text(11),
	}
}

func (t *readTx) RunningRun(branch int64) (sessile.Run, bool, error) {
	return one(t.query(sqlRunningRun, branch), readRun)
}

func (t *readTx) RunningRuns(session int64) ([]sessile.Run, error) {
	if session == 0 {
		return list(t.query(sqlAllRunningRuns), readRun)
	}
	return list(t.query(sqlRunningRuns, session), readRun)
}

func (t *readTx) RunByRow(row int64) (sessile.Run, bool, error) {
	return one(t.query(sqlRunByRow, row), readRun)
}

func (t *readTx) FloorRun(floor int64) (sessile.Run, bool, error) {
	return one(t.query(sqlFloorRun, floor), readRun)
}

func (t *tx) AddRun(r *sessile.Run) error {
	err := t.conn.Exec(sqlAddRun, r.ID, r.Session, r.Branch, orNull(r.Floor), r.Kind, r.RunType, string(r.Status), r.LeaseUntil, r.StartedAt)
	r.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) SetRunFloor(run, floor int64) error {
	return t.conn.Exec(sqlSetRunFloor, floor, run)
}

func (t *tx) EndRun(r *sessile.Run) error {
	return t.conn.Exec(sqlEndRun, string(r.Status), r.EndedAt, r.ErrorCode, r.Row)
}
