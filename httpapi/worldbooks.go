package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/lorebook"
	"github.com/sessile-dev/sessile/session"
)

// Worldbooks are the use cases around worldbooks (spec/governed-state.md, ruling 24).
type Worldbooks interface {
	CreateWorldbook(ctx context.Context, account string, n session.NewWorldbook) (sessile.Worldbook, error)
	Worldbook(ctx context.Context, account, id string) (sessile.Worldbook, error)
	Worldbooks(ctx context.Context, account string, page sessile.Page) ([]sessile.Worldbook, int, error)
	ReplaceWorldbook(ctx context.Context, account, id string, n session.NewWorldbook) (sessile.Worldbook, error)
	DeleteWorldbook(ctx context.Context, account, id string) error
}

type worldbookBody struct {
	ID         string             `json:"id"`
	Name       string             `json:"name"`
	Version    int64              `json:"version"`
	EntryCount int64              `json:"entry_count"`
	CreatedAt  int64              `json:"created_at"`
	UpdatedAt  int64              `json:"updated_at"`
	Warnings   []lorebook.Warning `json:"warnings,omitzero"`
	Book       jsontext.Value     `json:"book,omitzero"`
}

func showWorldbook(w *sessile.Worldbook) worldbookBody {
	return worldbookBody{ID: w.ID, Name: w.Name, Version: w.Version, EntryCount: w.EntryCount, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt}
}

// worldbookInput reads name and book, and reads the book itself: what cannot be one is refused here.
func (c *call) worldbookInput() (session.NewWorldbook, []lorebook.Warning, error) {
	o := openBody(c)
	n := session.NewWorldbook{}
	n.Name, _ = o.text("name", required, titleRule)
	text, given := o.typed("book", required, "an object", '{')
	var warnings []lorebook.Warning
	if given {
		book, found, err := lorebook.Parse(text)
		switch {
		case errors.Is(err, lorebook.ErrEntries):
			o.problem("book.entries", wrongType, "a list or an object is expected")
		case err != nil:
			o.problem("book", wrongSyntax, "this cannot be read as a worldbook")
		default:
			n.Book, n.EntryCount, warnings = text, int64(book.Count()), found
		}
	}
	if warnings == nil {
		warnings = []lorebook.Warning{}
	}
	return n, warnings, o.done()
}

// createWorldbook answers POST /worldbooks.
func (h *Handler) createWorldbook(c *call) (reply, error) {
	n, warnings, err := c.worldbookInput()
	if err != nil {
		return reply{}, err
	}
	w, err := h.worldbooks.CreateWorldbook(c.ctx, c.account, n)
	if err != nil {
		return reply{}, err
	}
	body := showWorldbook(&w)
	body.Warnings = warnings
	return dataReply(http.StatusCreated, body)
}

// listWorldbooks answers GET /worldbooks.
func (h *Handler) listWorldbooks(c *call) (reply, error) {
	q := openQuery(c)
	page := q.page(sessile.DefaultPageSize, "created_at", "updated_at")
	if err := q.done(); err != nil {
		return reply{}, err
	}
	worldbooks, total, err := h.worldbooks.Worldbooks(c.ctx, c.account, page)
	if err != nil {
		return reply{}, err
	}
	items := make([]worldbookBody, 0, len(worldbooks))
	for i := range worldbooks {
		items = append(items, showWorldbook(&worldbooks[i]))
	}
	return pageReply(items, page, total)
}

// getWorldbook answers GET /worldbooks/{worldbook}: the book stands in it as it was given, to the byte.
func (h *Handler) getWorldbook(c *call) (reply, error) {
	w, err := h.worldbooks.Worldbook(c.ctx, c.account, c.path("worldbook"))
	if err != nil {
		return reply{}, err
	}
	body, err := encode(showWorldbook(&w))
	if err != nil {
		return reply{}, err
	}
	body = append(append(body[:len(body)-1], `,"book":`...), w.Book...)
	return rawReply(http.StatusOK, append(body, '}'))
}

// replaceWorldbook answers PUT /worldbooks/{worldbook}.
func (h *Handler) replaceWorldbook(c *call) (reply, error) {
	n, warnings, err := c.worldbookInput()
	if err != nil {
		return reply{}, err
	}
	w, err := h.worldbooks.ReplaceWorldbook(c.ctx, c.account, c.path("worldbook"), n)
	if err != nil {
		return reply{}, err
	}
	body := showWorldbook(&w)
	body.Warnings = warnings
	return dataReply(http.StatusOK, body)
}

// deleteWorldbook answers DELETE /worldbooks/{worldbook}.
func (h *Handler) deleteWorldbook(c *call) (reply, error) {
	id := c.path("worldbook")
	if err := h.worldbooks.DeleteWorldbook(c.ctx, c.account, id); err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, deletedBody{ID: id, Deleted: true})
}
