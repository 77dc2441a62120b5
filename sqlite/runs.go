package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	runColumns = `r.id, r.public_id, ifnull((SELECT a.name FROM account a WHERE a.id = r.account), ''), r.session_key, r.session, r.branch,
  r.floor, r.kind, r.run_type, r.status, r.attempt, r.lease_until, r.created_at, r.started_at, r.ended_at, r.error_code, r.error, r.version,
  r.parent, r.requester, r.waits_on, r.is_open, r.delivery, r.due_at, r.work, r.result`

	sqlRunningRun     = `SELECT ` + runColumns + ` FROM run r WHERE r.branch = ? AND r.status = 'running'`
	sqlRunningRuns    = `SELECT ` + runColumns + ` FROM run r INDEXED BY run_running WHERE r.session = ? AND r.status = 'running' ORDER BY r.id`
	sqlAllRunningRuns = `SELECT ` + runColumns + ` FROM run r INDEXED BY run_lease WHERE r.status = 'running' ORDER BY r.id`
	sqlRunByRow       = `SELECT ` + runColumns + ` FROM run r WHERE r.id = ?`
	sqlRun            = `SELECT ` + runColumns + ` FROM run r WHERE r.public_id = ?2 AND r.account = (SELECT id FROM account WHERE name = ?1)`
	sqlFloorRun       = `SELECT ` + runColumns + ` FROM run r WHERE r.floor = ? ORDER BY r.id DESC LIMIT 1`

	// Of a list that names a session or a requester, only rows of these are visited.
	runsNarrowed = ` AND (?4 = '' OR r.kind = ?4) AND (?5 = '' OR r.status = ?5) AND (?6 = 0 OR r.id < ?6) ORDER BY r.id DESC LIMIT ?7`
	sqlRuns      = `SELECT ` + runColumns + ` FROM run r WHERE r.account = (SELECT id FROM account WHERE name = ?1)
  AND (?2 = '' OR r.session_key = ?2) AND (?3 = '' OR r.requester = ?3)` + runsNarrowed
	sqlRunsOf = `SELECT ` + runColumns + ` FROM run r INDEXED BY run_keyed WHERE r.account = (SELECT id FROM account WHERE name = ?1)
  AND r.session_key = ?2 AND (?3 = '' OR r.requester = ?3)` + runsNarrowed
	sqlRunsFor = `SELECT ` + runColumns + ` FROM run r INDEXED BY run_requested WHERE r.account = (SELECT id FROM account WHERE name = ?1)
  AND (?2 = '' OR r.session_key = ?2) AND r.requester = ?3` + runsNarrowed

	sqlStartableRuns = `SELECT ` + runColumns + ` FROM run r WHERE r.id IN (
  SELECT min(q.id) FROM run q WHERE q.status = 'queued' AND ifnull(q.due_at, 0) <= ?1 AND (?2 OR q.kind <> 'spawn')
    AND NOT EXISTS (SELECT 1 FROM run h WHERE h.branch = q.branch AND h.status = 'running')
  GROUP BY q.branch) ORDER BY r.id LIMIT ?3`
	sqlQueuedRuns = `SELECT ` + runColumns + ` FROM run r WHERE r.branch = ? AND r.status = 'queued' ORDER BY r.id`
	sqlRunsInLane = `SELECT count(*) FROM run r WHERE r.status = 'running' AND r.kind = ?`
	sqlDueRuns    = `SELECT ` + runColumns + ` FROM run r WHERE r.due_at <= ?1 AND r.status <> 'queued' ORDER BY r.due_at LIMIT ?2`
	sqlNextDue    = `SELECT r.due_at FROM run r WHERE r.due_at > ?1 ORDER BY r.due_at LIMIT 1`
	sqlFirstLease = `SELECT min(r.lease_until) FROM run r INDEXED BY run_running WHERE r.status = 'running'`
	sqlOpenRuns   = `SELECT ` + runColumns + ` FROM run r WHERE r.account = (SELECT id FROM account WHERE name = ?1)
  AND r.requester = ?2 AND r.is_open = 1 ORDER BY r.id`
	sqlOpenRun = `SELECT ` + runColumns + ` FROM run r INDEXED BY run_open_child WHERE r.account = (SELECT id FROM account WHERE name = ?1)
  AND r.session_key = ?2 AND r.is_open = 1 ORDER BY r.id DESC LIMIT 1`
	sqlUndeliveredRuns = `SELECT ` + runColumns + ` FROM run r WHERE r.account = (SELECT id FROM account WHERE name = ?1)
  AND r.requester = ?2 AND r.delivery IN ('pending', 'in_progress', 'suspended') ORDER BY r.id`

	sqlAddRun = `INSERT INTO run (public_id, account, session_key, session, branch, floor, kind, run_type, status, attempt, lease_until, created_at,
  started_at, ended_at, error_code, error, parent, requester, waits_on, is_open, delivery, due_at, work, result)
VALUES (?, ifnull((SELECT id FROM account WHERE name = ?), 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	// What an update does not name it does not look up in the indexes: that is most of what a step of a run would cost.
	sqlRunPlace     = `SELECT session_key, session, branch, floor, waits_on, is_open, delivery, due_at FROM run WHERE id = ?`
	runSteps        = ` run_type = ?, status = ?, attempt = ?, lease_until = ?, started_at = ?, ended_at = ?, error_code = ?, error = ?, work = ?, result = ?, version = version + 1 WHERE id = ?`
	sqlStepRun      = `UPDATE run SET` + runSteps
	sqlStepRunFloor = `UPDATE run SET floor = ?,` + runSteps
	sqlUpdateRun    = `UPDATE run SET session_key = ?, session = ?, branch = ?, floor = ?, waits_on = ?, is_open = ?, delivery = ?, due_at = ?,` + runSteps
	sqlRenewRun     = `UPDATE run SET lease_until = ? WHERE id = ? AND attempt = ? AND status = 'running'`
	sqlDeleteRun    = `DELETE FROM run WHERE id = ?`
)

func readRun(r *sqliteconn.Rows) sessile.Run {
	return sessile.Run{
		Row: r.Int64(0), ID: r.Text(1), Account: r.Text(2), SessionKey: r.Text(3), Session: r.Int64(4), Branch: r.Int64(5), Floor: r.Int64(6),
		Kind: r.Text(7), RunType: r.Text(8), Status: sessile.RunStatus(r.Text(9)), Attempt: r.Int64(10), LeaseUntil: r.Int64(11),
		CreatedAt: r.Int64(12), StartedAt: r.Int64(13), EndedAt: r.Int64OrNil(14), ErrorCode: r.Text(15), Error: r.Text(16), Version: r.Int64(17),
		Parent: r.Text(18), Requester: r.Text(19), WaitsOn: r.Int64(20), Open: r.Bool(21), Delivery: sessile.DeliveryState(r.Text(22)),
		DueAt: r.Int64(23), Work: r.Bytes(24), Result: r.Text(25),
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

func (t *readTx) Run(account, id string) (sessile.Run, bool, error) {
	return one(t.query(sqlRun, account, id), readRun)
}

func (t *readTx) FloorRun(floor int64) (sessile.Run, bool, error) {
	return one(t.query(sqlFloorRun, floor), readRun)
}

func (t *readTx) Runs(f sessile.RunFilter) ([]sessile.Run, error) {
	query := sqlRuns
	switch {
	case f.SessionKey != "":
		query = sqlRunsOf
	case f.Requester != "":
		query = sqlRunsFor
	}
	return list(t.query(query, f.Account, f.SessionKey, f.Requester, f.Kind, string(f.Status), f.Before, f.Limit), readRun)
}

func (t *readTx) StartableRuns(now int64, spawns bool, limit int) ([]sessile.Run, error) {
	return list(t.query(sqlStartableRuns, now, spawns, limit), readRun)
}

func (t *readTx) QueuedRuns(branch int64) ([]sessile.Run, error) {
	return list(t.query(sqlQueuedRuns, branch), readRun)
}

func (t *readTx) RunsInLane(kind string) (n int, err error) {
	_, err = t.oneRow(sqlRunsInLane, func(r *sqliteconn.Rows) { n = r.Int(0) }, kind)
	return n, err
}

func (t *readTx) DueRuns(now int64, limit int) ([]sessile.Run, error) {
	return list(t.query(sqlDueRuns, now, limit), readRun)
}

func (t *readTx) NextDue(after int64) (at int64, err error) {
	_, err = t.oneRow(sqlNextDue, func(r *sqliteconn.Rows) { at = r.Int64(0) }, after)
	return at, err
}

func (t *readTx) FirstLease() (at int64, err error) {
	_, err = t.oneRow(sqlFirstLease, func(r *sqliteconn.Rows) { at = r.Int64(0) })
	return at, err
}

func (t *readTx) OpenRuns(account, requester string) ([]sessile.Run, error) {
	return list(t.query(sqlOpenRuns, account, requester), readRun)
}

func (t *readTx) OpenRun(account, sessionKey string) (sessile.Run, bool, error) {
	return one(t.query(sqlOpenRun, account, sessionKey), readRun)
}

func (t *readTx) UndeliveredRuns(account, requester string) ([]sessile.Run, error) {
	return list(t.query(sqlUndeliveredRuns, account, requester), readRun)
}

func (t *tx) AddRun(r *sessile.Run) error {
	if r.CreatedAt == 0 {
		r.CreatedAt = t.Now()
	}
	err := t.conn.Exec(sqlAddRun, r.ID, r.Account, r.SessionKey, r.Session, r.Branch, orNull(r.Floor), r.Kind, r.RunType, string(r.Status), r.Attempt,
		r.LeaseUntil, r.CreatedAt, r.StartedAt, r.EndedAt, r.ErrorCode, textOrNull(r.Error), textOrNull(r.Parent), textOrNull(r.Requester),
		orNull(r.WaitsOn), r.Open, string(r.Delivery), orNull(r.DueAt), textOrNull(string(r.Work)), textOrNull(r.Result))
	r.Row, r.Version = t.conn.InsertedRow(), 1
	return err
}

// runPlace is what indexes hold of a run, but for its status.
type runPlace struct {
	sessionKey      string
	session, branch int64
	floor, waitsOn  int64
	open            bool
	delivery        string
	dueAt           int64
}

func (t *tx) UpdateRun(r *sessile.Run) error {
	var was runPlace
	_, err := t.oneRow(sqlRunPlace, func(row *sqliteconn.Rows) {
		was = runPlace{
			row.Text(0), row.Int64(1), row.Int64(2), row.Int64(3), row.Int64(4), row.Bool(5), row.Text(6), row.Int64(7),
		}
	}, r.Row)
	if err != nil {
		return err
	}
	r.Version++
	is := runPlace{r.SessionKey, r.Session, r.Branch, r.Floor, r.WaitsOn, r.Open, string(r.Delivery), r.DueAt}
	steps := []any{
		r.RunType, string(r.Status), r.Attempt, r.LeaseUntil, r.StartedAt, r.EndedAt, r.ErrorCode, textOrNull(r.Error),
		textOrNull(string(r.Work)), textOrNull(r.Result), r.Row,
	}
	if is == was {
		return t.conn.Exec(sqlStepRun, steps...)
	}
	if was.floor = is.floor; is == was {
		return t.conn.Exec(sqlStepRunFloor, append([]any{orNull(r.Floor)}, steps...)...)
	}
	return t.conn.Exec(sqlUpdateRun, append([]any{
		r.SessionKey, r.Session, r.Branch, orNull(r.Floor), orNull(r.WaitsOn), r.Open, string(r.Delivery), orNull(r.DueAt),
	}, steps...)...)
}

func (t *tx) RenewRun(row, attempt, leaseUntil int64) (bool, error) {
	err := t.conn.Exec(sqlRenewRun, leaseUntil, row, attempt)
	return t.conn.Changes() > 0, err
}

func (t *tx) DeleteRun(row int64) error { return t.conn.Exec(sqlDeleteRun, row) }
