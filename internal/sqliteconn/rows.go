package sqliteconn

import (
	"github.com/ncruces/go-sqlite3"
)

// Rows walks over the result of a statement. Close it, or read it to the end; closing twice is fine.
type Rows struct {
	stmt  *sqlite3.Stmt
	owned bool
	done  bool
	err   error
}

// Failed is the result of a statement that could not be started.
func Failed(err error) Rows { return Rows{err: err} }

// Next steps to the next row.
func (r *Rows) Next() bool {
	if r.err != nil || r.done || r.stmt == nil {
		return false
	}
	if r.stmt.Step() {
		return true
	}
	r.err = r.stmt.Err()
	r.finish()
	return false
}

// Err is the error that ended the walk.
func (r *Rows) Err() error { return r.err }

// Close frees the statement for its next use and returns what Err returns.
func (r *Rows) Close() error {
	r.finish()
	return r.err
}

func (r *Rows) finish() {
	if r.done || r.stmt == nil {
		return
	}
	r.done = true
	// Reset repeats the error of the last step, which Next has already kept.
	err := r.stmt.Reset()
	if r.owned {
		err = r.stmt.Close()
	}
	if r.err == nil {
		r.err = err
	}
}

// Int64 reads a column; null is 0.
func (r *Rows) Int64(col int) int64 { return r.stmt.ColumnInt64(col) }

// Int reads a column; null is 0.
func (r *Rows) Int(col int) int { return r.stmt.ColumnInt(col) }

// Bool reads a column; null is false.
func (r *Rows) Bool(col int) bool { return r.stmt.ColumnBool(col) }

// Text reads a column; null is "".
func (r *Rows) Text(col int) string { return r.stmt.ColumnText(col) }

// Is reports whether a column holds the text, without reading it into memory.
func (r *Rows) Is(col int, text string) bool { return string(r.stmt.ColumnRawText(col)) == text }

// Bytes reads a text column into memory of its own; null is nil.
func (r *Rows) Bytes(col int) []byte {
	raw := r.stmt.ColumnRawText(col)
	if raw == nil {
		return nil
	}
	return append(make([]byte, 0, len(raw)), raw...)
}

// TextOrNil reads a column that may be null.
func (r *Rows) TextOrNil(col int) *string {
	if r.IsNull(col) {
		return nil
	}
	v := r.Text(col)
	return &v
}

// Int64OrNil reads a column that may be null.
func (r *Rows) Int64OrNil(col int) *int64 {
	if r.IsNull(col) {
		return nil
	}
	v := r.Int64(col)
	return &v
}

// IsNull reports whether a column is null.
func (r *Rows) IsNull(col int) bool { return r.stmt.ColumnType(col) == sqlite3.NULL }
