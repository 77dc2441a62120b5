// Package sqliteconn is the small connection type over the SQLite driver: it opens a database the way every store of
// this project wants it (busy timeout first, write-ahead log, full synchronisation), keeps statements prepared by their
// text, and reads rows without reflection.
//
//	c, err := sqliteconn.Open(path, sqliteconn.Options{BusyTimeout: 5 * time.Second})
//	rows := c.Query("SELECT id, name FROM t WHERE id > ?", 7)
//	defer rows.Close()
//	for rows.Next() { id, name := rows.Int64(0), rows.Text(1) }
//	err = rows.Err()
//
// A connection belongs to one goroutine at a time.
package sqliteconn

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// Options tell how to open a database.
type Options struct {
	// BusyTimeout is how long a statement waits for another connection's lock; default 5 s.
	BusyTimeout time.Duration
	// ReadOnly refuses writes. The file must exist.
	ReadOnly bool
	// NoCreate refuses to make a file that is not there.
	NoCreate bool
	// CacheKiB is the page cache of the connection; default 2048.
	CacheKiB int
}

// Conn is one connection.
type Conn struct {
	db         *sqlite3.Conn
	statements map[string]*sqlite3.Stmt
}

// Open opens or creates the database file.
func Open(path string, options Options) (*Conn, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if options.NoCreate {
		flags = sqlite3.OPEN_READWRITE
	}
	if options.ReadOnly {
		flags = sqlite3.OPEN_READONLY
	}
	if options.BusyTimeout == 0 {
		options.BusyTimeout = 5 * time.Second
	}
	if options.CacheKiB == 0 {
		options.CacheKiB = 2048
	}
	db, err := sqlite3.OpenFlags(FileURI(path), flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	c := &Conn{db: db, statements: make(map[string]*sqlite3.Stmt)}
	if err := c.configure(options); err != nil {
		return nil, fmt.Errorf("configure %s: %w", path, errors.Join(err, db.Close()))
	}
	return c, nil
}

func (c *Conn) configure(options Options) error {
	// The busy timeout stands first: already the switch to the write-ahead log may find the file locked.
	if err := c.db.BusyTimeout(options.BusyTimeout); err != nil {
		return err
	}
	// Without this SQLite plans some statements anew whenever a bound value changes, which costs many times what they do.
	if _, err := c.db.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		return err
	}
	if err := Extend(c.db); err != nil {
		return err
	}
	pragmas := []string{fmt.Sprintf("PRAGMA cache_size=-%d", options.CacheKiB), "PRAGMA temp_store=memory"}
	if options.ReadOnly {
		pragmas = append(pragmas, "PRAGMA query_only=on")
	} else {
		pragmas = append(pragmas, "PRAGMA journal_mode=wal", "PRAGMA synchronous=full")
	}
	for _, pragma := range pragmas {
		if err := c.db.Exec(pragma); err != nil {
			return fmt.Errorf("%s: %w", pragma, err)
		}
	}
	return nil
}

// Extend adds to a connection of the driver what schemas of this project rely on: full-text search.
func Extend(db *sqlite3.Conn) error { return fts5.Register(db) }

// FileURI names a file so that no character of its path is taken for a parameter.
func FileURI(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// Raw is the driver's own connection, for what this type does not wrap.
func (c *Conn) Raw() *sqlite3.Conn { return c.db }

// Close finishes all statements and closes the connection.
func (c *Conn) Close() error {
	var first error
	for _, s := range c.statements {
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
	}
	c.statements = nil
	return errors.Join(first, c.db.Close())
}

// Interruptible makes statements stop with an error when the context ends, until called with another context.
func (c *Conn) Interruptible(ctx context.Context) { c.db.SetInterrupt(ctx) }

// Code is the primary result code of SQLite (5 is "database is locked") behind an error; ok is false for other errors.
func Code(err error) (code int, ok bool) {
	var sqliteErr *sqlite3.Error
	if errors.As(err, &sqliteErr) {
		return int(sqliteErr.Code()), true
	}
	var bare sqlite3.ErrorCode
	ok = errors.As(err, &bare)
	return int(bare), ok
}

// Prepare prepares a statement for later use, and so finds out whether it fits the tables that are there.
func (c *Conn) Prepare(sql string) error {
	_, _, err := c.prepare(sql)
	return err
}

// Query starts a statement. Arguments are int64, int, bool, string, []byte (text; nil is null), *string, *int64 or
// nil. Errors show up in Rows.Err.
func (c *Conn) Query(sql string, args ...any) Rows {
	s, owned, err := c.prepare(sql)
	if err != nil {
		return Rows{err: err}
	}
	for i, arg := range args {
		if err := bind(s, i+1, arg); err != nil {
			return Rows{stmt: s, owned: owned, err: fmt.Errorf("bind argument %d of %q: %w", i+1, firstLine(sql), err)}
		}
	}
	return Rows{stmt: s, owned: owned}
}

// Exec runs a statement to its end.
func (c *Conn) Exec(sql string, args ...any) error {
	rows := c.Query(sql, args...)
	for rows.Next() { //nolint:revive // rows of a statement that is run for its effect are of no interest
	}
	return rows.Close()
}

// One runs a statement and hands its first row to read. found is false when there is none.
func (c *Conn) One(sql string, read func(*Rows), args ...any) (found bool, err error) {
	rows := c.Query(sql, args...)
	if rows.Next() {
		read(&rows)
		found = true
	}
	return found, rows.Close()
}

// Changes is the number of rows the last statement changed.
func (c *Conn) Changes() int64 { return c.db.Changes() }

// Rollback ends the transaction that is open, if one is, whatever the context of Interruptible says.
func (c *Conn) Rollback() error {
	if c.db.GetAutocommit() {
		return nil
	}
	defer c.db.SetInterrupt(c.db.SetInterrupt(context.Background()))
	return c.Exec("ROLLBACK")
}

// InsertedRow is the row id of the last insert.
func (c *Conn) InsertedRow() int64 { return c.db.LastInsertRowID() }

// prepare finds the statement or prepares it. A statement that is being read already (a query inside the loop over the
// same query) is not disturbed: the caller gets one of its own.
func (c *Conn) prepare(sql string) (s *sqlite3.Stmt, owned bool, err error) {
	s = c.statements[sql]
	if s != nil && !s.Busy() {
		return s, false, nil
	}
	fresh, _, err := c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, false, fmt.Errorf("prepare %q: %w", firstLine(sql), err)
	}
	if s != nil {
		return fresh, true, nil
	}
	c.statements[sql] = fresh
	return fresh, false, nil
}

func bind(s *sqlite3.Stmt, param int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return s.BindNull(param)
	case int64:
		return s.BindInt64(param, v)
	case int:
		return s.BindInt64(param, int64(v))
	case bool:
		return s.BindBool(param, v)
	case string:
		return s.BindText(param, v)
	case []byte:
		if len(v) == 0 {
			return s.BindRawText(param, v)
		}
		return s.BindText(param, unsafe.String(&v[0], len(v))) // copied before it returns
	case *string:
		if v == nil {
			return s.BindNull(param)
		}
		return s.BindText(param, *v)
	case *int64:
		if v == nil {
			return s.BindNull(param)
		}
		return s.BindInt64(param, *v)
	}
	return fmt.Errorf("arguments of type %T are not supported", arg)
}

func firstLine(sql string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(sql), "\n")
	return line
}
