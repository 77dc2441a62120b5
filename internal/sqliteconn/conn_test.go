package sqliteconn_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

func open(t *testing.T, path string) *sqliteconn.Conn {
	t.Helper()
	c, err := sqliteconn.Open(path, sqliteconn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestValuesComeBack(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "odd ?#%&=name.db"))
	must(t, c.Exec("CREATE TABLE t (a, b)"))
	number, text := int64(5), "x"
	var noNumber *int64
	var noText *string
	for _, v := range []any{int64(1) << 62, 7, true, "a\x00b", []byte("raw"), &number, &text, noNumber, noText, []byte(nil), nil} {
		must(t, c.Exec("DELETE FROM t"))
		must(t, c.Exec("INSERT INTO t VALUES (?, 'next')", v))
		found, err := c.One("SELECT a, b FROM t", func(r *sqliteconn.Rows) {
			switch v := v.(type) {
			case int64:
				if r.Int64(0) != v {
					t.Errorf("%v became %d", v, r.Int64(0))
				}
			case int:
				if r.Int(0) != v || *r.Int64OrNil(0) != int64(v) {
					t.Errorf("%v became %d", v, r.Int(0))
				}
			case bool:
				if r.Bool(0) != v {
					t.Errorf("%v became %v", v, r.Bool(0))
				}
			case string:
				if r.Text(0) != v || !r.Is(0, v) || *r.TextOrNil(0) != v {
					t.Errorf("%q became %q", v, r.Text(0))
				}
			case []byte:
				if string(r.Bytes(0)) != string(v) || (r.Bytes(0) == nil) != (v == nil) {
					t.Errorf("%q became %q", v, r.Bytes(0))
				}
			case *int64:
				if (v == nil) != r.IsNull(0) {
					t.Errorf("%v became %d", v, r.Int64(0))
				}
			case *string:
				if (v == nil) != (r.TextOrNil(0) == nil) {
					t.Errorf("%v became %q", v, r.Text(0))
				}
			case nil:
				if !r.IsNull(0) || r.Int64OrNil(0) != nil {
					t.Error("nil became something")
				}
			}
		})
		if err != nil || !found {
			t.Errorf("%v: %v, %v", v, found, err)
		}
	}
	if err := c.Exec("INSERT INTO t VALUES (?, ?)", 1.5, 1); err == nil || !strings.Contains(err.Error(), "float64") {
		t.Errorf("an argument of a type that is not supported: %v", err)
	}
}

func TestSameStatementInsideItsOwnLoop(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "t.db"))
	must(t, c.Exec("CREATE TABLE t (a)"))
	for i := range 3 {
		must(t, c.Exec("INSERT INTO t VALUES (?)", i))
	}
	const sql = "SELECT a FROM t ORDER BY a"
	pairs := 0
	outer := c.Query(sql)
	for outer.Next() {
		inner := c.Query(sql)
		for inner.Next() {
			pairs++
		}
		must(t, inner.Close())
	}
	must(t, outer.Close())
	if pairs != 9 {
		t.Errorf("%d pairs of 3 rows", pairs)
	}
}

func TestErrorsNameTheStatement(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "t.db"))
	if err := c.Exec("SELECT nothing FROM nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
	if rows := sqliteconn.Failed(sqlite3.BUSY); rows.Next() || rows.Err() == nil || rows.Close() == nil {
		t.Error("rows that failed do not say so")
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	c := open(t, path)
	must(t, c.Exec("CREATE TABLE t (a)"))
	reader, err := sqliteconn.Open(path, sqliteconn.Options{ReadOnly: true})
	must(t, err)
	defer reader.Close()
	if err := reader.Exec("INSERT INTO t VALUES (1)"); err == nil {
		t.Error("a read-only connection writes")
	}
	if _, err := sqliteconn.Open(path+".none", sqliteconn.Options{ReadOnly: true}); err == nil {
		t.Error("a file that does not exist was opened for reading")
	}
}

// A statement is planned once, whatever values it runs with.
func TestStatementsStayPrepared(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "t.db"))
	must(t, c.Exec("CREATE TABLE t (a INTEGER, b INTEGER)"))
	must(t, c.Exec("CREATE INDEX t_a ON t (a) WHERE b IS NOT NULL"))
	const sql = "SELECT count(*) FROM t WHERE a > ? AND b IS NOT NULL AND (? = 0 OR a = ?)"
	for i := range 50 {
		_, err := c.One(sql, func(*sqliteconn.Rows) {}, i, i%2, i)
		must(t, err)
	}
	for s := range c.Raw().Stmts() {
		if n := s.Status(sqlite3.STMTSTATUS_REPREPARE, false); s.SQL() == sql && n > 0 {
			t.Errorf("the statement was planned again %d times", n)
		}
	}
}
