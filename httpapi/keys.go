package httpapi

import (
	"context"
	"net/http"

	"github.com/sessile-dev/sessile"
)

// Keys are the use cases around the keys that let in. They are reached through the socket beside the database alone: who
// can open that file rules over them.
type Keys interface {
	Create(ctx context.Context, account, name string) (key string, kept sessile.APIKey, err error)
	List(ctx context.Context) ([]sessile.APIKey, error)
	Revoke(ctx context.Context, id string) error
}

type keyBody struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	Name      string `json:"name"`
	CreatedAt int64  `json:"created_at"`
	RevokedAt *int64 `json:"revoked_at"`
	Key       string `json:"key,omitzero"` // once, when it is made
}

func showKey(k *sessile.APIKey) keyBody {
	return keyBody{ID: k.ID, AccountID: k.Account, Name: k.Name, CreatedAt: k.CreatedAt, RevokedAt: k.RevokedAt}
}

// createKey answers POST /local/keys.
func (h *Handler) createKey(c *call) (reply, error) {
	o := openBody(c)
	account, _ := o.text("account_id", required, accountRule)
	name, _ := o.text("name", optional, titleRule)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	key, kept, err := h.keys.Create(c.ctx, account, name)
	if err != nil {
		return reply{}, err
	}
	body := showKey(&kept)
	body.Key = key
	return dataReply(http.StatusCreated, body)
}

// listKeys answers GET /local/keys.
func (h *Handler) listKeys(c *call) (reply, error) {
	keys, err := h.keys.List(c.ctx)
	if err != nil {
		return reply{}, err
	}
	out := make([]keyBody, 0, len(keys))
	for i := range keys {
		out = append(out, showKey(&keys[i]))
	}
	return dataReply(http.StatusOK, out)
}

// revokeKey answers DELETE /local/keys/{key}.
func (h *Handler) revokeKey(c *call) (reply, error) {
	id := c.path("key")
	if err := h.keys.Revoke(c.ctx, id); err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		ID      string `json:"id"`
		Revoked bool   `json:"revoked"`
	}{id, true})
}
