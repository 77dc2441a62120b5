package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// The scopes of what extensions keep.
const (
	scopeSession = "session"
	scopeBranch  = "branch"
)

// extensionAddress reads the path and the query of a route of extensions (conformance/WIRE.md, "Sessions").
func (q *query) extensionAddress(c *call) state.ExtensionAddress {
	a := state.ExtensionAddress{SessionID: c.path("session"), Plugin: c.path("plugin")}
	if !sessile.ValidPlugin(a.Plugin) {
		q.problems.add("plugin", wrongPattern, "this must be made of one or more of a-z, 0-9, - and .")
	}
	branch := q.text("branch_id", optional, anyText)
	if q.choice("scope", scopeSession, scopeBranch) == scopeBranch {
		if a.Branch = branch; branch == "" {
			a.Branch = sessile.MainBranch
		}
	}
	return a
}

// precondition reads If-Match and If-None-Match.
func (q *query) precondition(c *call) (p state.Precondition) {
	if tags := c.r.Header.Values("If-Match"); tags != nil {
		all, revisions, ok := revisionsOf(strings.Join(tags, ","))
		if !ok {
			q.problems.add("If-Match", wrongSyntax, "this must be * or a list of quoted tags")
		}
		if p.Exists = all; !all {
			p.Revisions = revisions
		}
	}
	if tags := c.r.Header.Values("If-None-Match"); tags != nil {
		if p.Missing = strings.TrimSpace(strings.Join(tags, ",")) == "*"; !p.Missing {
			q.problems.add("If-None-Match", wrongSyntax, "this must be *")
		}
	}
	return p
}

// revisionsOf reads a list of entity tags. Those that are none of ours match nothing, and weak ones no change.
func revisionsOf(tags string) (all bool, revisions []int64, ok bool) {
	tags = strings.TrimSpace(tags)
	if tags == "*" {
		return true, nil, true
	}
	revisions = []int64{}
	for {
		strong, weak := strings.CutPrefix(tags, "W/")
		opened, quoted := strings.CutPrefix(strong, `"`)
		tag, rest, closed := strings.Cut(opened, `"`)
		if !quoted || !closed {
			return false, nil, false
		}
		if revision, err := strconv.ParseInt(tag, 10, 64); err == nil && !weak && revision > 0 {
			revisions = append(revisions, revision)
		}
		if rest = strings.TrimSpace(rest); rest == "" {
			return false, revisions, true
		}
		next, comma := strings.CutPrefix(rest, ",")
		if !comma {
			return false, nil, false
		}
		tags = strings.TrimSpace(next)
	}
}

// getExtension answers GET /sessions/{session}/extensions/{plugin}.
func (h *Handler) getExtension(c *call) (reply, error) {
	q := openQuery(c)
	address := q.extensionAddress(c)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	value, err := h.extensions.Get(c.ctx, c.account, address)
	if err != nil {
		return reply{}, err
	}
	return showExtension(c, address, &value)
}

// putExtension answers PUT /sessions/{session}/extensions/{plugin}.
func (h *Handler) putExtension(c *call) (reply, error) {
	q := openQuery(c)
	address, condition := q.extensionAddress(c), q.precondition(c)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	o := openBody(c)
	data, _ := o.value("value", required)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	value, err := h.extensions.Put(c.ctx, c.account, address, data, condition)
	if sessile.CodeOf(err) == sessile.CodePayloadTooLarge {
		return reply{}, &statusError{err, http.StatusConflict}
	}
	if err != nil {
		return reply{}, err
	}
	return showExtension(c, address, &value)
}

// deleteExtension answers DELETE /sessions/{session}/extensions/{plugin}.
func (h *Handler) deleteExtension(c *call) (reply, error) {
	q := openQuery(c)
	address, condition := q.extensionAddress(c), q.precondition(c)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	deleted, err := h.extensions.Delete(c.ctx, c.account, address, condition)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		Deleted bool `json:"deleted"`
	}{deleted})
}

func showExtension(c *call, a state.ExtensionAddress, v *state.ExtensionValue) (reply, error) {
	c.header.Set("ETag", `"`+strconv.FormatInt(v.Revision, 10)+`"`)
	scope := scopeSession
	if a.Branch != "" {
		scope = scopeBranch
	}
	b := append(openData(sizeOfValue+len(v.Value)), '{')
	b = appendValue(appendMember(b, "value"), v.Value)
	b = strconv.AppendInt(appendMember(b, "revision"), v.Revision, 10)
	b = appendText(appendMember(b, "scope"), scope)
	b = appendOptional(appendMember(b, "branch_id"), a.Branch)
	b = strconv.AppendBool(appendMember(b, "inherited"), v.Inherited)
	return closeData(http.StatusOK, append(b, '}'))
}
