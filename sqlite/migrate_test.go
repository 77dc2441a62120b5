package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/sessile-dev/sessile/sqlite"
)

const applicationID = 0x7365736c

// run executes statements in a database file with a plain connection.
func run(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sqlite3.Open("file:" + filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func readNumber(t *testing.T, path, query string) (n int64) {
	t.Helper()
	db, err := sqlite3.Open("file:" + filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	stmt, _, err := db.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	if stmt.Step() {
		n = stmt.ColumnInt64(0)
	}
	for _, err := range []error{stmt.Close(), db.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// openAndClose opens a store and closes it again.
func openAndClose(path string) error {
	store, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	return store.Close()
}

func makeOwn(t *testing.T, path, statements string) {
	t.Helper()
	if err := openAndClose(path); err != nil {
		t.Fatal(err)
	}
	run(t, path, statements)
}

func TestOpenRefusesFilesOfOthers(t *testing.T) {
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	foreign := func(statements string) func(*testing.T, string) {
		return func(t *testing.T, path string) { t.Helper(); run(t, path, statements) }
	}
	own := func(statements string) func(*testing.T, string) {
		return func(t *testing.T, path string) { t.Helper(); makeOwn(t, path, statements) }
	}
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	makeOwn(t, fresh, "")
	newest := fmt.Sprintf("up to %d only", readNumber(t, fresh, "SELECT max(version_id) FROM schema_version"))
	const another = "x.db is an SQLite database of another program"
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want []string
	}{
		{
			"later schema", own("INSERT INTO schema_version (version_id, is_applied) VALUES (9999, 1)"),
			[]string{"x.db has schema version 9999", newest},
		},
		{
			"later schema without an application id",
			own("PRAGMA application_id = 0; INSERT INTO schema_version (version_id, is_applied) VALUES (9999, 1)"),
			[]string{"x.db has schema version 9999", newest},
		},
		{"own tables under another application id", own("PRAGMA application_id = 77"), []string{another, "77"}},
		{"tables of another program", foreign("CREATE TABLE t (a); INSERT INTO t VALUES (1)"), []string{another}},
		{
			"tables of another program with a write-ahead log",
			foreign("PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1)"),
			[]string{another},
		},
		{"another program's schema_version", foreign("CREATE TABLE schema_version (version)"), []string{another}},
		{"no table but another application id", foreign("PRAGMA application_id = -5"), []string{another, "-5"}},
		{"text", write(strings.Repeat("This is a letter. ", 100)), []string{"x.db is not an SQLite database"}},
		{"short text", write("hello"), []string{"x.db is not an SQLite database"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			test.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			err = openAndClose(path)
			if err == nil {
				t.Fatal("the file was opened")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			for _, suffix := range []string{"-wal", "-shm", "-journal"} {
				if info, err := os.Stat(path + suffix); err == nil {
					t.Errorf("%s is left, %d bytes", suffix, info.Size())
				}
			}
		})
	}
}

func TestOpenTakesOwnAndEmptyFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		id   int64
	}{
		{"no file", func(*testing.T, string) {}, applicationID},
		{"empty file", func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, applicationID},
		{
			"database without tables", func(t *testing.T, path string) { t.Helper(); run(t, path, "PRAGMA journal_mode = wal") },
			applicationID,
		},
		{"own", func(t *testing.T, path string) { t.Helper(); makeOwn(t, path, "") }, applicationID},
		{
			"own without an application id",
			func(t *testing.T, path string) { t.Helper(); makeOwn(t, path, "PRAGMA application_id = 0") }, 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			test.make(t, path)
			if err := openAndClose(path); err != nil {
				t.Fatal(err)
			}
			if id := readNumber(t, path, "PRAGMA application_id"); id != test.id {
				t.Errorf("application id %d, want %d", id, test.id)
			}
			if n := readNumber(t, path, "SELECT count(*) FROM counter"); n == 0 {
				t.Error("the schema is missing")
			}
		})
	}
}

// TestOpenAfterACrash opens a copy of the files as a crash would leave them: the newest rows stand in the log alone.
func TestOpenAfterACrash(t *testing.T) {
	dir, crashed := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "x.db")
	makeOwn(t, path, "")
	db, err := sqlite3.Open("file:" + filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("INSERT INTO account (name, created_at) VALUES ('late', 1)"); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(crashed, "x.db"+suffix), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(crashed, "x.db")
	if err := openAndClose(path); err != nil {
		t.Fatal(err)
	}
	if n := readNumber(t, path, "SELECT count(*) FROM account WHERE name = 'late'"); n != 1 {
		t.Errorf("%d rows came back from the log, want 1", n)
	}
}
