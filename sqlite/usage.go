package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// usageDelta is a move of the counters of one namespace or account.
type usageDelta struct {
	row, items, bytes int64
	namespaces        int64 // custom ones of an account
}

// usageDeltas are moves of counters that are not written yet. They are few, so lists do.
type usageDeltas struct {
	namespaces []usageDelta
	accounts   []usageDelta
}

// move finds the move of a row, or begins it.
func move(deltas *[]usageDelta, row int64) *usageDelta {
	for i := range *deltas {
		if (*deltas)[i].row == row {
			return &(*deltas)[i]
		}
	}
	*deltas = append(*deltas, usageDelta{row: row})
	return &(*deltas)[len(*deltas)-1]
}

func (d *usageDelta) add(other usageDelta) {
	d.items += other.items
	d.bytes += other.bytes
	d.namespaces += other.namespaces
}

func (d *usageDelta) isZero() bool { return d.items == 0 && d.bytes == 0 && d.namespaces == 0 }

// carry adds the move of a row, if there is one, to what the row says.
func carry(deltas []usageDelta, row int64, u *sessile.Usage) {
	for _, d := range deltas {
		if d.row == row {
			u.Items += d.items
			u.Bytes += d.bytes
			u.Namespaces += d.namespaces
		}
	}
}

func (u *usageDeltas) none() bool { return len(u.namespaces)+len(u.accounts) == 0 }

func (u *usageDeltas) clear() { u.namespaces, u.accounts = u.namespaces[:0], u.accounts[:0] }

func (u *usageDeltas) merge(other *usageDeltas) {
	for _, d := range other.namespaces {
		move(&u.namespaces, d.row).add(d)
	}
	for _, d := range other.accounts {
		move(&u.accounts, d.row).add(d)
	}
}

const (
	sqlMoveNamespace = "UPDATE namespace SET items = items + ?, bytes = bytes + ? WHERE id = ?"
	sqlMoveAccount   = "UPDATE account SET namespaces = namespaces + ?, items = items + ?, bytes = bytes + ? WHERE id = ?"
)

// write moves the counters. A value that takes the place of one of its size moves none.
func (u *usageDeltas) write(conn *sqliteconn.Conn) error {
	for _, d := range u.namespaces {
		if d.isZero() {
			continue
		}
		if err := conn.Exec(sqlMoveNamespace, d.items, d.bytes, d.row); err != nil {
			return err
		}
	}
	for _, d := range u.accounts {
		if d.isZero() {
			continue
		}
		if err := conn.Exec(sqlMoveAccount, d.namespaces, d.items, d.bytes, d.row); err != nil {
			return err
		}
	}
	return nil
}
