package sqlite

import (
	"encoding/hex"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	apiKeyColumns = `k.id, a.name, k.name, hex(k.digest), k.created_at, k.revoked_at`

	sqlAPIKey       = `SELECT ` + apiKeyColumns + ` FROM api_key k JOIN account a ON a.id = k.account WHERE k.id = ?`
	sqlAPIKeys      = `SELECT ` + apiKeyColumns + ` FROM api_key k JOIN account a ON a.id = k.account ORDER BY k.created_at, k.id`
	sqlAddAPIKey    = `INSERT INTO api_key (id, account, name, digest, created_at) VALUES (?, ?, ?, unhex(?), ?)`
	sqlRevokeAPIKey = `UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`
)

func readAPIKey(r *sqliteconn.Rows) sessile.APIKey {
	digest, err := hex.DecodeString(r.Text(3))
	if err != nil {
		digest = nil // fits no key
	}
	return sessile.APIKey{
		ID: r.Text(0), Account: r.Text(1), Name: r.Text(2), Digest: digest, CreatedAt: r.Int64(4), RevokedAt: r.Int64OrNil(5),
	}
}

func (t *readTx) APIKey(id string) (sessile.APIKey, bool, error) {
	return one(t.query(sqlAPIKey, id), readAPIKey)
}

func (t *readTx) APIKeys() ([]sessile.APIKey, error) {
	return list(t.query(sqlAPIKeys), readAPIKey)
}

func (t *tx) AddAPIKey(k *sessile.APIKey) error {
	account, err := t.account(k.Account)
	if err != nil {
		return err
	}
	return t.conn.Exec(sqlAddAPIKey, k.ID, account, k.Name, hex.EncodeToString(k.Digest), k.CreatedAt)
}

func (t *tx) RevokeAPIKey(id string) (bool, error) {
	err := t.conn.Exec(sqlRevokeAPIKey, t.now, id)
	return t.conn.Changes() > 0, err
}
