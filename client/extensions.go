package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Extension names what an extension keeps: for a session as a whole, or for one branch of it.
type Extension struct {
	Plugin   string // one or more of a-z, 0-9, - and .
	BranchID string // "" is the session as a whole
}

// ExtensionValue is what an extension keeps. An inherited one was written on another branch, before this one was forked.
type ExtensionValue struct {
	Value     jsontext.Value `json:"value"`
	Revision  int64          `json:"revision"` // changes with every write
	Scope     string         `json:"scope"`    // session or branch
	BranchID  *string        `json:"branch_id"`
	Inherited bool           `json:"inherited"`
}

// Condition is what must hold of the value that is shown, inherited or not, for a change to be made; the zero value asks for
// nothing. A change whose condition does not hold is precondition_failed.
type Condition struct {
	Revision int64 // it has this revision
	Exists   bool  // there is one
	Missing  bool  // there is none
}

func (k Condition) header() http.Header {
	h := http.Header{}
	switch {
	case k.Revision != 0:
		h.Set("If-Match", `"`+strconv.FormatInt(k.Revision, 10)+`"`)
	case k.Exists:
		h.Set("If-Match", "*")
	}
	if k.Missing {
		h.Set("If-None-Match", "*")
	}
	return h
}

func (e Extension) request(method, sessionID string, k Condition) request {
	r := request{method: method, path: []string{"sessions", sessionID, "extensions", e.Plugin}, header: k.header()}
	if e.BranchID != "" {
		r = r.with("scope", "branch").with("branch_id", e.BranchID)
	}
	return r
}

// GetExtension reads what an extension keeps: GET /sessions/{session}/extensions/{plugin}. Where there is nothing it is
// not_found.
func (c *Client) GetExtension(ctx context.Context, sessionID string, e Extension) (ExtensionValue, error) {
	return call[ExtensionValue](ctx, c, e.request(http.MethodGet, sessionID, Condition{}))
}

// PutExtension writes what an extension keeps: PUT /sessions/{session}/extensions/{plugin}. The value is JSON text; null is a
// value too, and none at all is refused.
func (c *Client) PutExtension(ctx context.Context, sessionID string, e Extension, value jsontext.Value, k Condition) (ExtensionValue, error) {
	r := e.request(http.MethodPut, sessionID, k)
	r.body = struct {
		Value jsontext.Value `json:"value"`
	}{value}
	if value == nil {
		r = r.unless(missing("value"))
	}
	return call[ExtensionValue](ctx, c, r)
}

// DeleteExtension removes what an extension keeps: DELETE /sessions/{session}/extensions/{plugin}. What a branch inherited
// stays, and shows again.
func (c *Client) DeleteExtension(ctx context.Context, sessionID string, e Extension, k Condition) (Removed, error) {
	return call[Removed](ctx, c, e.request(http.MethodDelete, sessionID, k))
}
