package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date and returns its version. It uses a connection of its own through database/sql,
// which the migration library wants; nothing else in this package does.
func migrate(ctx context.Context, path string) (version int, err error) {
	db, err := driver.Open(sqliteconn.FileURI(path) +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
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
