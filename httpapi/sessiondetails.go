package httpapi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/session"
)

// detailRule is what names, subjects and parts of routes may be.
var detailRule = textRule{max: 1024, mayEmpty: true}

// details reads the members that only agents' tools show (conformance/WIRE.md, "Sessions").
func (o *object) details(n *session.NewSession) {
	n.DisplayName, _ = o.text("display_name", optional, detailRule)
	n.Subject, _ = o.text("subject", optional, detailRule)
	n.ChatType = o.choice("chat_type", optional, "direct", "group", "channel")
	n.SpawnedBy, _ = o.text("spawned_by", optional, keyRule)
	n.ParentKey, _ = o.text("parent_session_key", optional, keyRule)
	n.OwnerKey, _ = o.text("owner_session_key", optional, keyRule)
	d := &n.Details
	if in, ok := o.child("origin"); ok {
		d.Origin.Provider, _ = in.text("provider", optional, detailRule)
		d.Origin.AccountID, _ = in.text("account_id", optional, detailRule)
		d.Origin.ThreadID = in.threadID("thread_id")
		in.close()
	}
	if in, ok := o.child("delivery_context"); ok {
		d.DeliveryContext = in.route("")
		in.close()
	}
	d.Last = o.route("last_")
	if depth, ok := o.integer("spawn_depth", optional, 0, 1000); ok {
		d.SpawnDepth = &depth
	}
	for name, counter := range map[string]*int64{
		"input_tokens": &d.InputTokens, "output_tokens": &d.OutputTokens, "cache_read": &d.CacheRead, "cache_write": &d.CacheWrite,
		"total_tokens": &d.TotalTokens, "context_tokens": &d.ContextTokens,
	} {
		*counter, _ = o.integer(name, optional, 0, 1<<53)
	}
	if at, ok := o.integer("updated_at", optional, 0, 1<<53); ok {
		n.UpdatedAt = &at
	}
}

// route reads the members of a route, which have names with a prefix in common.
func (o *object) route(prefix string) (r session.Route) {
	r.Channel, _ = o.text(prefix+"channel", optional, detailRule)
	r.To, _ = o.text(prefix+"to", optional, detailRule)
	r.AccountID, _ = o.text(prefix+"account_id", optional, detailRule)
	r.ThreadID = o.threadID(prefix + "thread_id")
	return r
}

// threadID reads a text or a number, which stays as it is.
func (o *object) threadID(name string) jsontext.Value {
	value, ok := o.typed(name, optional, "a text or a number", '"', '0')
	if !ok {
		return nil
	}
	const longest = 1024
	if len(value) > longest {
		o.problem(name, wrongLength, "this is too long")
		return nil
	}
	return value.Clone()
}
