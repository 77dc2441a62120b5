package agenttool

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// SessionStateName is the name of the key-value tool.
const SessionStateName = "session_state"

// Entries is the key-value state that the tool works on; [state.Entries] is one.
type Entries interface {
	Get(ctx context.Context, account string, name state.EntryName) (sessile.Entry, bool, error)
	Set(ctx context.Context, account string, name state.EntryName, w state.EntryWrite) (sessile.Entry, error)
	Delete(ctx context.Context, account string, name state.EntryName, expected *int64) (bool, error)
	Clear(ctx context.Context, account, sessionKey, namespace string) (int64, error)
	List(ctx context.Context, account, sessionKey string, p state.EntryPage) ([]sessile.Entry, bool, error)
}

var _ Entries = (*state.Entries)(nil)

// Bounds of what the tool is asked for.
const (
	maxEntryPage = 1000
	maxTTL       = 10 * 365 * 24 * time.Hour
)

const sessionStateParameters = `{
  "type": "object",
  "properties": {
    "operation": {"type": "string", "enum": ["get", "set", "delete", "list", "clear"],
      "description": "get, set and delete work on one key; list shows all entries of the namespace, clear removes them."},
    "namespace": {"type": "string", "description": "Group of keys, such as the name of a skill. Names that begin with two underscores are reserved."},
    "key": {"type": "string", "description": "Name of the entry, for get, set and delete."},
    "value": {"type": "string", "description": "Text to keep, for set. Serialise structured data yourself."},
    "expected_revision": {"type": "integer", "description": "For set and delete: do it only if the entry has this revision; 0 if it must not exist. Revisions are shown with include_meta."},
    "ttl_seconds": {"type": "integer", "description": "For set: the entry is gone after so many seconds."},
    "prefix": {"type": "string", "description": "For list: only keys that begin with this text."},
    "limit": {"type": "integer", "description": "For list: at most so many entries, up to 1000; the answer then has next_cursor if there are more."},
    "cursor": {"type": "string", "description": "For list: next_cursor of the answer before."},
    "include_meta": {"type": "boolean", "description": "For get, set and list: also show revision, updated_at and expires_at (milliseconds since 1970)."}
  },
  "required": ["operation", "namespace"]
}`

const sessionStateResult = `{
  "type": "object",
  "properties": {
    "value": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "What get found; null when there is nothing."},
    "ok": {"type": "boolean", "description": "set kept the value."},
    "deleted": {"anyOf": [{"type": "boolean"}, {"type": "integer"}], "description": "Whether delete removed an entry; how many entries clear removed."},
    "entries": {"type": "array", "description": "What list found, in the order of the keys' bytes.", "items": {
      "type": "object",
      "properties": {
        "key": {"type": "string"},
        "value": {"type": "string"},
        "revision": {"type": "integer"},
        "updated_at": {"type": "integer"},
        "expires_at": {"anyOf": [{"type": "integer"}, {"type": "null"}]}
      },
      "required": ["key", "value"]
    }},
    "next_cursor": {"type": "string", "description": "There are more entries; hand it over as cursor."},
    "revision": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "updated_at": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "expires_at": {"anyOf": [{"type": "integer"}, {"type": "null"}]}
  }
}`

// SessionState is the key-value tool (spec/kv-tool.md). Beyond its sheet it refuses namespaces that begin with two
// underscores, and knows optional inputs (expected_revision, ttl_seconds, prefix, limit, cursor, include_meta) without which
// its answers are exactly those of the sheet.
func SessionState(entries Entries) Tool {
	return Tool{
		Name: SessionStateName,
		Description: "Keeps texts for the current session, by namespace and key, from one message to the next: " +
			"get, set, delete, list and clear. Other sessions do not see them.",
		Parameters: jsontext.Value(sessionStateParameters),
		Result:     jsontext.Value(sessionStateResult),
		Required:   []string{"operation", "namespace"},
		Types: map[string]string{
			"operation": "string", "namespace": "string", "key": "string", "value": "string",
			"expected_revision": "integer", "ttl_seconds": "integer", "prefix": "string", "limit": "integer", "cursor": "string",
			"include_meta": "boolean",
		},
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			data, err := runSessionState(ctx, entries, c.Account, a)
			return Result{Data: data}, err
		},
	}
}

func throw(format string, args ...any) error {
	return sessile.Errorf(sessile.CodeToolError, format, args...)
}

// runSessionState stops at the first fault, in the order of the sheet's section 5.
func runSessionState(ctx context.Context, entries Entries, account string, a Arguments) (jsontext.Value, error) {
	operation, ok := a.text("operation")
	if !ok {
		return nil, throw("missing 'operation' parameter")
	}
	namespace, ok := a.text("namespace")
	if !ok {
		return nil, throw("missing 'namespace' parameter")
	}
	session, ok := a.text(sessionArgument)
	if !ok {
		return nil, throw("missing session context")
	}
	call := &stateCall{ctx: ctx, entries: entries, account: account, session: session, namespace: namespace, a: a}
	operations := map[string]func() (jsontext.Value, error){
		"get": call.get, "set": call.set, "delete": call.delete, "list": call.list, "clear": call.clear,
	}
	run, ok := operations[operation]
	if !ok {
		return nil, throw("unknown operation: %s", operation)
	}
	if strings.HasPrefix(namespace, "__") {
		return nil, throw("namespaces that begin with two underscores are reserved")
	}
	return run()
}

// stateCall is one call of the tool.
type stateCall struct {
	ctx       context.Context
	entries   Entries
	account   string
	session   string
	namespace string
	a         Arguments
}

// name is the entry that an operation works on.
func (c *stateCall) name(operation string) (state.EntryName, error) {
	key, ok := c.a.text("key")
	if !ok {
		return state.EntryName{}, throw("'%s' requires 'key'", operation)
	}
	return state.EntryName{SessionKey: c.session, Namespace: c.namespace, Key: key}, nil
}

func (c *stateCall) get() (jsontext.Value, error) {
	name, err := c.name("get")
	if err != nil {
		return nil, err
	}
	entry, found, err := c.entries.Get(c.ctx, c.account, name)
	if err != nil {
		return nil, err
	}
	b := []byte(`{"value":`)
	if found {
		b, err = jsontext.AppendQuote(b, entry.Value)
	} else {
		b = append(b, "null"...)
	}
	return append(c.appendMeta(b, &entry), '}'), err
}

func (c *stateCall) set() (jsontext.Value, error) {
	name, err := c.name("set")
	if err != nil {
		return nil, err
	}
	value, ok := c.a.text("value")
	if !ok {
		return nil, throw("'set' requires 'value'")
	}
	w := state.EntryWrite{Value: value, Expected: c.expected()}
	if seconds, ok := c.a.integer("ttl_seconds"); ok {
		if seconds < 1 || seconds > int64(maxTTL/time.Second) {
			return nil, throw("'ttl_seconds' must be from 1 to %d", int64(maxTTL/time.Second))
		}
		w.TTL = time.Duration(seconds) * time.Second
	}
	entry, err := c.entries.Set(c.ctx, c.account, name, w)
	if err != nil {
		return nil, err
	}
	return append(c.appendMeta([]byte(`{"ok":true`), &entry), '}'), nil
}

func (c *stateCall) delete() (jsontext.Value, error) {
	name, err := c.name("delete")
	if err != nil {
		return nil, err
	}
	deleted, err := c.entries.Delete(c.ctx, c.account, name, c.expected())
	return append(strconv.AppendBool([]byte(`{"deleted":`), deleted), '}'), err
}

func (c *stateCall) expected() *int64 {
	if revision, ok := c.a.integer("expected_revision"); ok {
		return &revision
	}
	return nil
}

func (c *stateCall) clear() (jsontext.Value, error) {
	deleted, err := c.entries.Clear(c.ctx, c.account, c.session, c.namespace)
	return append(strconv.AppendInt([]byte(`{"deleted":`), deleted, 10), '}'), err
}

func (c *stateCall) list() (jsontext.Value, error) {
	page := state.EntryPage{Namespace: c.namespace}
	page.Prefix, _ = c.a.text("prefix")
	limit, limited := c.a.integer("limit")
	if limited && (limit < 1 || limit > maxEntryPage) {
		return nil, throw("'limit' must be from 1 to %d", maxEntryPage)
	}
	page.Limit = int(limit)
	if cursor, ok := c.a.text("cursor"); ok {
		after, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || !utf8.Valid(after) {
			return nil, throw("'cursor' is not one that a list gave")
		}
		text := string(after)
		page.After = &text
	}
	entries, more, err := c.entries.List(c.ctx, c.account, c.session, page)
	if err != nil {
		return nil, err
	}
	b := []byte(`{"entries":[`)
	for i := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(append(b, `{"key":`...), entries[i].Key)
		b, _ = jsontext.AppendQuote(append(b, `,"value":`...), entries[i].Value)
		b = append(c.appendMeta(b, &entries[i]), '}')
	}
	b = append(b, ']')
	if more {
		b = append(b, `,"next_cursor":"`...)
		b = base64.RawURLEncoding.AppendEncode(b, []byte(entries[len(entries)-1].Key))
		b = append(b, '"')
	}
	return append(b, '}'), nil
}

// appendMeta appends what the caller asked for beside the sheet's members; null for what is not there.
func (c *stateCall) appendMeta(b []byte, e *sessile.Entry) []byte {
	if !c.a.yes("include_meta") {
		return b
	}
	for _, m := range []struct {
		name  string
		value int64
	}{{"revision", e.Revision}, {"updated_at", e.UpdatedAt}, {"expires_at", e.ExpiresAt}} {
		b = append(append(append(b, `,"`...), m.name...), `":`...)
		if m.value == 0 {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, m.value, 10)
		}
	}
	return b
}
