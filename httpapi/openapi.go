package httpapi

import (
	"net/http"
	"sync"

	"github.com/sessile-dev/sessile/api"
)

// openAPI answers GET /openapi.json: the contract of all routes.
func (h *Handler) openAPI(*call) (reply, error) {
	body, err := api.JSON()
	return reply{status: http.StatusOK, body: body}, err
}

// docsPolicy lets the page be shown and nothing else: it loads nothing and runs nothing.
const docsPolicy = "default-src 'none'; style-src 'unsafe-inline'"

// docsPage is the page of GET /docs, made at its first use. It depends on what is embedded alone.
var docsPage = sync.OnceValues(func() ([]byte, error) {
	text, err := api.JSON()
	if err != nil {
		return nil, err
	}
	return renderDocs(text)
})

// showDocs answers GET /docs: the same contract as a page for people.
func (h *Handler) showDocs(c *call) (reply, error) {
	page, err := docsPage()
	if err != nil {
		return reply{}, err
	}
	c.header.Set("Content-Security-Policy", docsPolicy)
	return reply{status: http.StatusOK, contentType: "text/html; charset=utf-8", body: page}, nil
}
