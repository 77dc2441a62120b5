package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// kvCommand is sessile kv: the key-value state that agents keep by the tool session_state.
type kvCommand struct {
	connection
	Session string   `placeholder:"KEY" help:"Key of the session, such as agent:main:main; main alone is that one. [SESSILE_SESSION_KEY]"`
	Get     kvGet    `cmd:"" help:"Print a value; exits with 1 if there is none."`
	Set     kvSet    `cmd:"" help:"Keep a value."`
	Delete  kvDelete `cmd:"" help:"Delete an entry; exits with 1 if there is none."`
	List    kvList   `cmd:"" help:"List the entries of a namespace."`
	Clear   kvClear  `cmd:"" help:"Delete all entries of a namespace."`
}

// envSessionKey names the session that kv and mcp work on.
const envSessionKey = "SESSILE_SESSION_KEY"

// sessionKeyOr returns the key that was given, else what the environment names.
func sessionKeyOr(given string) (string, error) {
	if given == "" {
		given = os.Getenv(envSessionKey)
	}
	if given == "" {
		return "", &usageError{"no session is named", "name one with --session KEY or " + envSessionKey + ", such as main"}
	}
	return given, nil
}

// stateCall are the arguments of the tool session_state.
type stateCall struct {
	Operation        string  `json:"operation"`
	Namespace        string  `json:"namespace"`
	Key              *string `json:"key,omitzero"`
	Value            *string `json:"value,omitzero"`
	ExpectedRevision *int64  `json:"expected_revision,omitzero"`
	TTLSeconds       *int64  `json:"ttl_seconds,omitzero"`
	Prefix           string  `json:"prefix,omitzero"`
	Limit            *int64  `json:"limit,omitzero"`
	Cursor           string  `json:"cursor,omitzero"`
	IncludeMeta      bool    `json:"include_meta,omitzero"`
}

// stateResult is what the tool answers, whatever the operation.
type stateResult struct {
	Value      *string        `json:"value"`
	Deleted    jsontext.Value `json:"deleted"`
	Entries    []stateEntry   `json:"entries"`
	NextCursor string         `json:"next_cursor"`
	stateMeta
}

type stateEntry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	stateMeta
}

type stateMeta struct {
	Revision  *int64 `json:"revision"`
	UpdatedAt *int64 `json:"updated_at"`
	ExpiresAt *int64 `json:"expires_at"`
}

// call calls the tool and has show print what it answered.
func (c *kvCommand) call(ctx context.Context, to streams, creates bool, arguments stateCall, show func(s *shell, r *stateResult) error) error {
	key, err := sessionKeyOr(c.Session)
	if err != nil {
		return err
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return &usageError{"a name or a value is not valid UTF-8", ""}
	}
	return c.run(ctx, to, creates, func(ctx context.Context, s *shell) error {
		answer, err := s.CallTool(ctx, "session_state", client.ToolCall{SessionKey: &key, Arguments: text})
		if err != nil {
			return err
		}
		var r stateResult
		if err := json.Unmarshal(answer, &r); err != nil {
			return fmt.Errorf("the answer of the tool does not fit: %w", err)
		}
		return show(s, &r)
	})
}

type kvGet struct {
	Namespace string `arg:"" help:"Namespace."`
	Key       string `arg:"" help:"Key."`
	Meta      bool   `help:"Show the revision and the times too."`
}

// Run prints a value as it was kept.
func (c *kvGet) Run(ctx context.Context, to streams, all *kvCommand) error {
	call := stateCall{Operation: "get", Namespace: c.Namespace, Key: &c.Key, IncludeMeta: c.Meta}
	return all.call(ctx, to, false, call, func(s *shell, r *stateResult) error {
		if s.json {
			if err := s.printJSON(s.data); err != nil {
				return err
			}
		} else if r.Value != nil {
			if err := s.printText(*r.Value); err != nil {
				return err
			}
			if c.Meta {
				fmt.Fprintf(to.err, "revision %d, written %s%s\n", *r.Revision, moment(*r.UpdatedAt).text, expiry(r.ExpiresAt))
			}
		}
		if r.Value == nil {
			return errNoEntry()
		}
		return nil
	})
}

func errNoEntry() error { return sessile.Errorf(sessile.CodeNotFound, "there is no such entry") }

func expiry(at *int64) string {
	if at == nil {
		return ""
	}
	return ", gone " + moment(*at).text
}

type kvSet struct {
	Namespace        string `arg:"" help:"Namespace."`
	Key              string `arg:"" help:"Key."`
	Value            string `arg:"" help:"Text to keep; - reads it from standard input, as it is."`
	ExpectedRevision *int64 `placeholder:"N" help:"Only if the entry has this revision; 0 if it must not exist."`
	TTLSeconds       *int64 `name:"ttl" placeholder:"SECONDS" help:"Forget it after so many seconds."`
}

// Run keeps a value.
func (c *kvSet) Run(ctx context.Context, to streams, all *kvCommand) error {
	value, err := textArgument(to, c.Value)
	if err != nil {
		return err
	}
	call := stateCall{
		Operation: "set", Namespace: c.Namespace, Key: &c.Key, Value: &value, ExpectedRevision: c.ExpectedRevision, TTLSeconds: c.TTLSeconds,
	}
	return all.call(ctx, to, true, call, func(s *shell, _ *stateResult) error {
		if s.json {
			return s.printJSON(s.data)
		}
		return nil
	})
}

type kvDelete struct {
	Namespace        string `arg:"" help:"Namespace."`
	Key              string `arg:"" help:"Key."`
	ExpectedRevision *int64 `placeholder:"N" help:"Only if the entry has this revision."`
}

// Run deletes an entry.
func (c *kvDelete) Run(ctx context.Context, to streams, all *kvCommand) error {
	call := stateCall{Operation: "delete", Namespace: c.Namespace, Key: &c.Key, ExpectedRevision: c.ExpectedRevision}
	return all.call(ctx, to, false, call, func(s *shell, r *stateResult) error {
		if s.json {
			if err := s.printJSON(s.data); err != nil {
				return err
			}
		}
		if string(r.Deleted) != "true" {
			return errNoEntry()
		}
		return nil
	})
}

type kvList struct {
	Namespace string `arg:"" help:"Namespace."`
	Prefix    string `placeholder:"TEXT" help:"Only keys that begin with this."`
	Limit     *int64 `placeholder:"N" help:"At most so many, up to 1000; all of them by default."`
	Cursor    string `placeholder:"CURSOR" help:"Go on where an earlier list ended."`
	Meta      bool   `help:"Show revisions and times too."`
}

// Run lists entries.
func (c *kvList) Run(ctx context.Context, to streams, all *kvCommand) error {
	call := stateCall{Operation: "list", Namespace: c.Namespace, Prefix: c.Prefix, Limit: c.Limit, Cursor: c.Cursor, IncludeMeta: c.Meta}
	return all.call(ctx, to, false, call, func(s *shell, r *stateResult) error {
		err := s.show(func(b *strings.Builder) {
			t := table{head: []string{"KEY", "VALUE"}}
			if c.Meta {
				t.head = []string{"KEY", "REVISION", "WRITTEN", "VALUE"}
			}
			for _, e := range r.Entries {
				if c.Meta {
					t.add(text(e.Key), text(fmt.Sprint(*e.Revision)), moment(*e.UpdatedAt), text(e.Value))
				} else {
					t.add(text(e.Key), text(e.Value))
				}
			}
			t.write(b, s.printer)
		})
		if err == nil && r.NextCursor != "" && !s.json {
			fmt.Fprintf(to.err, "more: --cursor %s\n", r.NextCursor)
		}
		return err
	})
}

type kvClear struct {
	Namespace string `arg:"" help:"Namespace."`
}

// Run deletes a namespace and tells how many entries it had.
func (c *kvClear) Run(ctx context.Context, to streams, all *kvCommand) error {
	return all.call(ctx, to, false, stateCall{Operation: "clear", Namespace: c.Namespace}, func(s *shell, r *stateResult) error {
		return s.show(func(b *strings.Builder) { fmt.Fprintf(b, "%s deleted\n", r.Deleted) })
	})
}
