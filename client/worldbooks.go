package client

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// WorldbookInput is a worldbook to keep (spec/governed-state.md, ruling 24).
type WorldbookInput struct {
	Name string         `json:"name"`
	Book jsontext.Value `json:"book"` // an object
}

// Worldbook is a worldbook that is kept. Book is there when one was asked for, Warnings when one was given.
type Worldbook struct {
	ID         string             `json:"id"`
	Name       string             `json:"name"`
	Version    int64              `json:"version"` // rises with each change, from 1
	EntryCount int64              `json:"entry_count"`
	CreatedAt  int64              `json:"created_at"`
	UpdatedAt  int64              `json:"updated_at"`
	Warnings   []WorldbookWarning `json:"warnings,omitzero"`
	Book       jsontext.Value     `json:"book,omitzero"`
}

// WorldbookWarning is one place where a book is read differently from what its author may have meant.
type WorldbookWarning struct {
	UID    *int64 `json:"uid"` // the entry's
	Key    string `json:"key,omitzero"`
	Reason string `json:"reason"`
}

// CreateWorldbook keeps a worldbook: POST /worldbooks. A session binds it by its worldbook_profile_id.
func (c *Client) CreateWorldbook(ctx context.Context, w WorldbookInput) (Worldbook, error) {
	return call[Worldbook](ctx, c, post(w, "worldbooks").unless(w.problem()))
}

// ListWorldbooks lists the worldbooks of the account without their books: GET /worldbooks. It sorts by created_at or
// updated_at.
func (c *Client) ListWorldbooks(ctx context.Context, p Paging) (Page[Worldbook], error) {
	return callPage[Worldbook](ctx, c, get("worldbooks").page(p))
}

// GetWorldbook reads a worldbook with its book: GET /worldbooks/{worldbook}.
func (c *Client) GetWorldbook(ctx context.Context, worldbookID string) (Worldbook, error) {
	return call[Worldbook](ctx, c, get("worldbooks", worldbookID))
}

// ReplaceWorldbook changes a worldbook and raises its version: PUT /worldbooks/{worldbook}.
func (c *Client) ReplaceWorldbook(ctx context.Context, worldbookID string, w WorldbookInput) (Worldbook, error) {
	r := request{method: http.MethodPut, path: []string{"worldbooks", worldbookID}, body: w}
	return call[Worldbook](ctx, c, r.unless(w.problem()))
}

// DeleteWorldbook deletes a worldbook: DELETE /worldbooks/{worldbook}. Sessions that had it go on without.
func (c *Client) DeleteWorldbook(ctx context.Context, worldbookID string) (Deleted, error) {
	return call[Deleted](ctx, c, request{method: http.MethodDelete, path: []string{"worldbooks", worldbookID}})
}

func (w WorldbookInput) problem() error {
	if w.Book == nil {
		return missing("book")
	}
	return nil
}
