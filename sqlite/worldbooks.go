package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	worldbookColumns = `w.id, w.public_id, a.name, w.name, w.version, w.entry_count, w.created_at, w.updated_at`

	sqlWorldbook = `SELECT ` + worldbookColumns + `, w.book FROM worldbook w JOIN account a ON a.id = w.account
WHERE w.public_id = ? AND a.name = ?`
	sqlWorldbookByRow = `SELECT ` + worldbookColumns + `, w.book FROM worldbook w JOIN account a ON a.id = w.account WHERE w.id = ?`

	worldbooksOf       = ` FROM account a JOIN worldbook w ON w.account = a.id WHERE a.name = ?1`
	sqlWorldbooks      = `SELECT ` + worldbookColumns + worldbooksOf
	sqlWorldbooksCount = `SELECT count(*)` + worldbooksOf

	sqlAddWorldbook = `INSERT INTO worldbook (public_id, account, name, version, entry_count, created_at, updated_at, book)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateWorldbook = `UPDATE worldbook SET name = ?, version = ?, entry_count = ?, updated_at = ?, book = ? WHERE id = ?`
	sqlUnbindWorldbook = `UPDATE session SET worldbook = NULL WHERE worldbook = ?`
	sqlDeleteWorldbook = `DELETE FROM worldbook WHERE id = ?`
)

func readWorldbook(r *sqliteconn.Rows) sessile.Worldbook {
	return sessile.Worldbook{
		Row: r.Int64(0), ID: r.Text(1), Account: r.Text(2), Name: r.Text(3), Version: r.Int64(4), EntryCount: r.Int64(5),
		CreatedAt: r.Int64(6), UpdatedAt: r.Int64(7),
	}
}

func readWholeWorldbook(r *sqliteconn.Rows) sessile.Worldbook {
	w := readWorldbook(r)
	w.Book = r.Bytes(8)
	return w
}

func (t *readTx) Worldbook(account, id string) (sessile.Worldbook, bool, error) {
	return one(t.query(sqlWorldbook, id, account), readWholeWorldbook)
}

func (t *readTx) WorldbookByRow(row int64) (sessile.Worldbook, bool, error) {
	return one(t.query(sqlWorldbookByRow, row), readWholeWorldbook)
}

func (t *readTx) Worldbooks(account string, page sessile.Page) ([]sessile.Worldbook, int, error) {
	total := 0
	if _, err := t.oneRow(sqlWorldbooksCount, func(r *sqliteconn.Rows) { total = r.Int(0) }, account); err != nil {
		return nil, 0, err
	}
	column := "w.created_at"
	if page.SortBy == "updated_at" {
		column = "w.updated_at"
	}
	order := direction(page.Descending)
	query := sqlWorldbooks + " ORDER BY " + column + order + ", w.id" + order + " LIMIT ?2 OFFSET ?3"
	worldbooks, err := list(t.query(query, account, page.Limit, page.Offset), readWorldbook)
	return worldbooks, total, err
}

func (t *tx) AddWorldbook(w *sessile.Worldbook) error {
	account, err := t.account(w.Account)
	if err != nil {
		return err
	}
	err = t.conn.Exec(sqlAddWorldbook, w.ID, account, w.Name, w.Version, w.EntryCount, w.CreatedAt, w.UpdatedAt, w.Book)
	w.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) UpdateWorldbook(w *sessile.Worldbook) error {
	return t.conn.Exec(sqlUpdateWorldbook, w.Name, w.Version, w.EntryCount, w.UpdatedAt, w.Book, w.Row)
}

func (t *tx) DeleteWorldbook(row int64) error {
	if err := t.conn.Exec(sqlUnbindWorldbook, row); err != nil {
		return err
	}
	return t.conn.Exec(sqlDeleteWorldbook, row)
}
