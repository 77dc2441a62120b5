package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a database as one of this project: "sesl" in ASCII. The first migration writes it; databases
// made before it did so carry none.
const applicationID = 0x7365736c

// migrate brings the schema up to date and returns its version. It uses a connection of its own through database/sql,
// which the migration library wants; nothing else in this package does.
func migrate(ctx context.Context, path string) (version int, err error) {
	fresh := emptyFile(path+"-wal") && emptyFile(path+"-shm")
	if err := checkOwn(ctx, path); err != nil {
		// Log files that held nothing before go again: an empty log beside a database of others would change how it is
		// opened. A locked database is in use, and its files stay.
		if fresh && emptyFile(path+"-wal") && !errors.Is(err, sqlite3.BUSY) {
			err = errors.Join(err, os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		}
		return 0, err
	}
	if err := createPrivate(path); err != nil { // closing the connection of the check may have taken the log files
		return 0, err
	}
	db, err := driver.Open(sqliteconn.FileURI(path)+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)", sqliteconn.Extend)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	return migrateDB(ctx, db)
}

func migrateDB(ctx context.Context, db *sql.DB) (int, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithTableName("schema_version"))
	if err != nil {
		return 0, err
	}
	if _, err := provider.Up(ctx); err != nil {
		return 0, err
	}
	version, err := provider.GetDBVersion(ctx)
	return int(version), err
}

func emptyFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0
}

// newestMigration is the version of the last embedded migration.
func newestMigration() (int64, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}

// checkOwn refuses a file that this version must not write to: one that is no database, a database of another program,
// and one of a later schema. It changes nothing in the database. An empty file passes.
func checkOwn(ctx context.Context, path string) error {
	err := checkOwnBy(ctx, path, sqlite3.OPEN_READONLY)
	if errors.Is(err, sqlite3.READONLY_ROLLBACK) {
		// A write was cut off, and no reader gets in before it is undone. That can happen while the file is being made.
		err = checkOwnBy(ctx, path, sqlite3.OPEN_READWRITE)
	}
	if errors.Is(err, sqlite3.NOTADB) {
		return fmt.Errorf("%s is not an SQLite database", filepath.Base(path))
	}
	return err
}

func checkOwnBy(ctx context.Context, path string, flags sqlite3.OpenFlag) (err error) {
	db, err := sqlite3.OpenFlags(sqliteconn.FileURI(path), flags|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.BusyTimeout(5 * time.Second); err != nil {
		return err
	}
	db.SetInterrupt(ctx)

	foreign := fmt.Errorf("%s is an SQLite database of another program", filepath.Base(path))
	id, err := number(db, "PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != 0 && id != applicationID {
		return fmt.Errorf("%w (application id %d)", foreign, id)
	}
	objects, err := number(db, "SELECT count(*) FROM sqlite_master")
	if err != nil {
		return err
	}
	if objects == 0 {
		return nil
	}
	versioned, err := number(db, "SELECT count(*) FROM pragma_table_info('schema_version') WHERE name = 'version_id'")
	if err != nil {
		return err
	}
	if versioned == 0 {
		return foreign
	}
	version, err := number(db, "SELECT coalesce(max(version_id), 0) FROM schema_version")
	if err != nil {
		return err
	}
	newest, err := newestMigration()
	if err != nil {
		return err
	}
	if version > newest {
		return fmt.Errorf("%s has schema version %d, but this program knows versions up to %d only: a later version "+
			"wrote it, and there is no way back", filepath.Base(path), version, newest)
	}
	return nil
}

// number reads the first column of the first row.
func number(db *sqlite3.Conn, query string) (n int64, err error) {
	stmt, _, err := db.Prepare(query)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	if stmt.Step() {
		n = stmt.ColumnInt64(0)
	}
	return n, stmt.Err()
}
