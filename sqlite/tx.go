package sqlite

import (
	"context"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// readTx reads over one connection. In a view it takes one from the pool when the first statement needs it: what the
// cache of heads answers needs none. Inside an update it is part of tx and sees what the batch carries in memory.
type readTx struct {
	ctx   context.Context
	pool  *readerPool // nil in an update
	heads *headCache  // nil in an update
	conn  *sqliteconn.Conn

	batch   *usageDeltas // nil in a view
	request *usageDeltas
}

// begin starts the view's transaction, if it has not started.
func (t *readTx) begin() error {
	if t.conn != nil {
		return nil
	}
	conn, err := t.pool.acquire(t.ctx)
	if err != nil {
		return err
	}
	if err := conn.Exec(sqlBeginRead); err != nil {
		t.pool.release(conn)
		return err
	}
	t.conn = conn
	return nil
}

// end gives the connection of a view back.
func (t *readTx) end() {
	if t.conn == nil {
		return
	}
	_ = t.conn.Exec(sqlCommit) // ends a read: there is nothing to lose
	t.pool.release(t.conn)
}

func (t *readTx) query(sql string, args ...any) sqliteconn.Rows {
	if err := t.begin(); err != nil {
		return sqliteconn.Failed(err)
	}
	return t.conn.Query(sql, args...)
}

func (t *readTx) oneRow(sql string, read func(*sqliteconn.Rows), args ...any) (bool, error) {
	if err := t.begin(); err != nil {
		return false, err
	}
	return t.conn.One(sql, read, args...)
}

var _ sessile.ReadTx = (*readTx)(nil)

// tx is one update inside a batch.
type tx struct {
	readTx
	writer *writer
	now    int64
	usage  usageDeltas // of this update alone: merged into the batch when it succeeds
	heads  []committedHead
	forget bool // a branch or a session was deleted: no head may be trusted any more

	touched []sessile.CellAddress // cells of the writer's cache that this update put there or moved
}

var _ sessile.Tx = (*tx)(nil)

func (t *tx) Now() int64 { return t.now }

// list collects rows.
func list[T any](rows sqliteconn.Rows, read func(*sqliteconn.Rows) T) ([]T, error) {
	var out []T
	for rows.Next() {
		out = append(out, read(&rows))
	}
	return out, rows.Close()
}

// one reads the first row, if any.
func one[T any](rows sqliteconn.Rows, read func(*sqliteconn.Rows) T) (v T, found bool, err error) {
	if rows.Next() {
		v, found = read(&rows), true
	}
	return v, found, rows.Close()
}

// orNull stores the zero row as null.
func orNull(row int64) any {
	if row == 0 {
		return nil
	}
	return row
}

// textOrNull stores the empty text as null.
func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func direction(descending bool) string {
	if descending {
		return " DESC"
	}
	return ""
}
