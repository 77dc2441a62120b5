package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	deliveryColumns = `d.id, ifnull((SELECT a.name FROM account a WHERE a.id = d.account), ''), d.session_key, d.route, d.text, d.status, d.attempts,
  d.key, d.run_id, d.error, d.created_at, d.settled_at, d.retry_from, d.due_at, d.sequence`

	deliveriesNarrowed = ` AND (?3 = '' OR d.status = ?3) AND d.sequence > ?4 ORDER BY d.sequence LIMIT ?5`
	sqlDeliveries      = `SELECT ` + deliveryColumns + ` FROM delivery d WHERE d.account = (SELECT id FROM account WHERE name = ?1)
  AND (?2 = '' OR d.session_key = ?2)` + deliveriesNarrowed
	sqlDeliveriesOf = `SELECT ` + deliveryColumns + ` FROM delivery d WHERE d.account = (SELECT id FROM account WHERE name = ?1)
  AND d.session_key = ?2` + deliveriesNarrowed
	sqlDelivery      = `SELECT ` + deliveryColumns + ` FROM delivery d WHERE d.id = ?2 AND d.account = (SELECT id FROM account WHERE name = ?1)`
	sqlDeliveryNamed = `SELECT ` + deliveryColumns + ` FROM delivery d WHERE d.account = (SELECT id FROM account WHERE name = ?1) AND d.key = ?2`
	sqlDueDeliveries = `SELECT ` + deliveryColumns + ` FROM delivery d WHERE d.due_at <= ?1 ORDER BY d.due_at LIMIT ?2`
	sqlNextDelivery  = `SELECT d.due_at FROM delivery d WHERE d.due_at > ?1 ORDER BY d.due_at LIMIT 1`

	sqlCountDelivery = `UPDATE counter SET value = value + 1 WHERE name = 'delivery_sequence' RETURNING value`
	sqlAddDelivery   = `INSERT INTO delivery (account, session_key, route, text, status, attempts, key, run_id, created_at, retry_from, due_at, sequence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, key) DO NOTHING`
	sqlUpdateDelivery = `UPDATE delivery SET status = ?, attempts = ?, error = ?, settled_at = ?, retry_from = ?, due_at = ?, sequence = ? WHERE id = ?`
)

func readDelivery(r *sqliteconn.Rows) sessile.Delivery {
	return sessile.Delivery{
		Row: r.Int64(0), Account: r.Text(1), SessionKey: r.Text(2), Route: r.Bytes(3), Text: r.Text(4), Status: sessile.OutboxStatus(r.Text(5)),
		Attempts: r.Int64(6), Key: r.Text(7), RunID: r.Text(8), Error: r.Text(9), CreatedAt: r.Int64(10), SettledAt: r.Int64(11),
		RetryFrom: r.Int64(12), DueAt: r.Int64(13), Sequence: r.Int64(14),
	}
}

func (t *readTx) Deliveries(f sessile.DeliveryFilter) ([]sessile.Delivery, error) {
	query := sqlDeliveries
	if f.SessionKey != "" {
		query = sqlDeliveriesOf
	}
	return list(t.query(query, f.Account, f.SessionKey, string(f.Status), f.After, f.Limit), readDelivery)
}

func (t *readTx) Delivery(account string, row int64) (sessile.Delivery, bool, error) {
	return one(t.query(sqlDelivery, account, row), readDelivery)
}

func (t *readTx) DeliveryNamed(account, key string) (sessile.Delivery, bool, error) {
	return one(t.query(sqlDeliveryNamed, account, key), readDelivery)
}

func (t *readTx) DueDeliveries(now int64, limit int) ([]sessile.Delivery, error) {
	return list(t.query(sqlDueDeliveries, now, limit), readDelivery)
}

func (t *readTx) NextDelivery(after int64) (at int64, err error) {
	_, err = t.oneRow(sqlNextDelivery, func(r *sqliteconn.Rows) { at = r.Int64(0) }, after)
	return at, err
}

func (t *tx) countDelivery() (sequence int64, err error) {
	_, err = t.conn.One(sqlCountDelivery, func(r *sqliteconn.Rows) { sequence = r.Int64(0) })
	return sequence, err
}

func (t *tx) AddDelivery(d *sessile.Delivery) (bool, error) {
	account, err := t.account(d.Account)
	if err != nil {
		return false, err
	}
	if d.Sequence, err = t.countDelivery(); err != nil {
		return false, err
	}
	d.CreatedAt = t.now
	err = t.conn.Exec(sqlAddDelivery, account, d.SessionKey, d.Route, d.Text, string(d.Status), d.Attempts, d.Key, textOrNull(d.RunID), d.CreatedAt,
		d.RetryFrom, orNull(d.DueAt), d.Sequence)
	if err != nil || t.conn.Changes() == 0 {
		return false, err
	}
	d.Row = t.conn.InsertedRow()
	return true, nil
}

func (t *tx) UpdateDelivery(d *sessile.Delivery) (err error) {
	if d.Sequence, err = t.countDelivery(); err != nil {
		return err
	}
	return t.conn.Exec(sqlUpdateDelivery, string(d.Status), d.Attempts, textOrNull(d.Error), orNull(d.SettledAt), d.RetryFrom, orNull(d.DueAt),
		d.Sequence, d.Row)
}
