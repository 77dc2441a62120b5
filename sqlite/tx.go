package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// readTx reads over one connection. Inside an update it is part of tx and sees what the batch carries in memory.
type readTx struct {
	conn *sqliteconn.Conn

	batch   *usageDeltas // nil in a view
	request *usageDeltas
}

var _ sessile.ReadTx = (*readTx)(nil)

// tx is one update inside a batch.
type tx struct {
	readTx
	writer *writer
	now    int64
	usage  usageDeltas // of this update alone: merged into the batch when it succeeds
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
