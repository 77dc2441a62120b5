package client

import (
	"context"
	"net/http"
)

// Key is a key that lets in for an account. The key itself is told once, when it is made.
type Key struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	Name      string `json:"name"`
	CreatedAt int64  `json:"created_at"`
	RevokedAt *int64 `json:"revoked_at"`
	Key       string `json:"key,omitzero"`
}

// NewKey says for whom a key is made.
type NewKey struct {
	AccountID string `json:"account_id"`
	Name      string `json:"name,omitzero"` // for people
}

// RevokedKey tells which key no longer lets in.
type RevokedKey struct {
	ID      string `json:"id"`
	Revoked bool   `json:"revoked"`
}

// CreateKey makes a key: POST /local/keys. Keys are made, listed and revoked through the socket beside the database alone;
// elsewhere these routes are not found.
func (c *Client) CreateKey(ctx context.Context, k NewKey) (Key, error) {
	return call[Key](ctx, c, post(k, "local", "keys"))
}

// ListKeys lists all keys: GET /local/keys.
func (c *Client) ListKeys(ctx context.Context) ([]Key, error) {
	return call[[]Key](ctx, c, get("local", "keys"))
}

// RevokeKey makes a key useless: DELETE /local/keys/{key}.
func (c *Client) RevokeKey(ctx context.Context, id string) (RevokedKey, error) {
	return call[RevokedKey](ctx, c, request{method: http.MethodDelete, path: []string{"local", "keys", id}})
}
