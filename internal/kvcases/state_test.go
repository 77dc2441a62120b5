package kvcases_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/internal/kvcases"
	"github.com/sessile-dev/sessile/state"
)

func caller(key string) agenttool.Caller {
	return agenttool.Caller{Account: kvcases.Account, SessionKey: &key}
}

// The cases of the sheet through a runner in the same process; httpapi and mcpserver run the same table over their wires.
func TestSheetCases(t *testing.T) {
	kvcases.Run(t, func(_ *testing.T, s *kvcases.System) kvcases.Call {
		return func(t *testing.T, key string, arguments jsontext.Value) kvcases.Outcome {
			result, err := s.Tools.Call(t.Context(), caller(key), "session_state", arguments)
			return kvcases.OutcomeOf(t, result.Data, err)
		}
	})
}

// talk calls the tool and returns what came, results and errors alike.
type talk func(arguments string) string

func newTalk(t *testing.T, tools *agenttool.Runner, key string) talk {
	return func(arguments string) string {
		t.Helper()
		result, err := tools.Call(context.WithoutCancel(t.Context()), caller(key), "session_state", []byte(arguments))
		if err == nil {
			return string(result.Data)
		}
		refused, ok := err.(*sessile.Error) //nolint:errorlint // nothing may stand around it
		if !ok {
			t.Fatal(err)
		}
		details, err := json.Marshal(refused.Details)
		if err != nil {
			t.Fatal(err)
		}
		return string(refused.Code) + ": " + refused.Message + " " + string(details)
	}
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRevisions(t *testing.T) {
	say := newTalk(t, kvcases.NewSystem(t).Tools, "s")
	expect(t, say(`{"operation":"set","namespace":"n","key":"k","value":"a","expected_revision":0}`), `{"ok":true}`)
	expect(t, say(`{"operation":"set","namespace":"n","key":"k","value":"b","expected_revision":0}`),
		`tool_error: the revision is 1, not 0 {"current_revision":1,"current_value":"a"}`)
	expect(t, say(`{"operation":"set","namespace":"n","key":"k","value":"b","expected_revision":1}`), `{"ok":true}`)
	expect(t, say(`{"operation":"delete","namespace":"n","key":"k","expected_revision":1}`),
		`tool_error: the revision is 2, not 1 {"current_revision":2,"current_value":"b"}`)
	expect(t, say(`{"operation":"delete","namespace":"n","key":"k","expected_revision":2}`), `{"deleted":true}`)
	expect(t, say(`{"operation":"delete","namespace":"n","key":"k","expected_revision":2}`),
		`tool_error: there is no such entry, its revision is 0 {"current_revision":0,"current_value":null}`)
	expect(t, say(`{"operation":"set","namespace":"n","key":"k","value":"c","expected_revision":"1"}`),
		`tool_arguments_invalid: session_state was not run: expected_revision must be of type integer, not string. `+
			`It was called with {"operation":"set","namespace":"n","key":"k","value":"c","expected_revision":"1"}. Do not send the same arguments again; ask the user if you do not know what to send. {"missing":[],"mismatch":[["expected_revision","integer","string"]]}`)
	expect(t, say(`{"operation":"get","namespace":"n","key":"k","include_meta":true}`), `{"value":null,"revision":null,"updated_at":null,"expires_at":null}`)
}

func TestPages(t *testing.T) {
	say := newTalk(t, kvcases.NewSystem(t).Tools, "s")
	for _, key := range []string{"", "a", "ab", "b"} {
		say(`{"operation":"set","namespace":"n","key":"` + key + `","value":"v"}`)
	}
	expect(t, say(`{"operation":"list","namespace":"n","limit":1}`), `{"entries":[{"key":"","value":"v"}],"next_cursor":""}`)
	expect(t, say(`{"operation":"list","namespace":"n","limit":2,"cursor":""}`), `{"entries":[{"key":"a","value":"v"},{"key":"ab","value":"v"}],"next_cursor":"YWI"}`)
	expect(t, say(`{"operation":"list","namespace":"n","limit":2,"cursor":"YWI"}`), `{"entries":[{"key":"b","value":"v"}]}`)
	expect(t, say(`{"operation":"list","namespace":"n","prefix":"a"}`), `{"entries":[{"key":"a","value":"v"},{"key":"ab","value":"v"}]}`)
	expect(t, say(`{"operation":"list","namespace":"n","limit":0}`), `tool_error: 'limit' must be from 1 to 1000 null`)
	expect(t, say(`{"operation":"list","namespace":"n","limit":1001}`), `tool_error: 'limit' must be from 1 to 1000 null`)
	expect(t, say(`{"operation":"list","namespace":"n","cursor":"%"}`), `tool_error: 'cursor' is not one that a list gave null`)
}

func TestReservedNamespaces(t *testing.T) {
	say := newTalk(t, kvcases.NewSystem(t).Tools, "s")
	const reserved = `tool_error: namespaces that begin with two underscores are reserved null`
	for _, operation := range []string{"get", "set", "delete", "list", "clear"} {
		expect(t, say(`{"operation":"`+operation+`","namespace":"__prompt_memory"}`), reserved)
	}
	expect(t, say(`{"operation":"nope","namespace":"__x"}`), `tool_error: unknown operation: nope null`)
	expect(t, say(`{"operation":"list","namespace":"_x"}`), `{"entries":[]}`)
}

func TestLifetime(t *testing.T) {
	s := kvcases.NewSystem(t)
	now := time.Now()
	entries := state.NewEntries(s.Store, state.EntryOptions{Now: func() time.Time { return now }})
	say := newTalk(t, agenttool.New([]agenttool.Tool{agenttool.SessionState(entries)}, agenttool.Options{}), "s")
	expect(t, say(`{"operation":"set","namespace":"n","key":"k","value":"v","ttl_seconds":60}`), `{"ok":true}`)
	expect(t, say(`{"operation":"get","namespace":"n","key":"k"}`), `{"value":"v"}`)
	now = now.Add(2 * time.Minute)
	expect(t, say(`{"operation":"get","namespace":"n","key":"k"}`), `{"value":null}`)
	expect(t, say(`{"operation":"list","namespace":"n"}`), `{"entries":[]}`)
	expect(t, say(`{"operation":"set","namespace":"n","key":"k","value":"v","ttl_seconds":0}`), `tool_error: 'ttl_seconds' must be from 1 to 315360000 null`)
}

func TestLimits(t *testing.T) {
	s := kvcases.NewSystem(t)
	entries := state.NewEntries(s.Store, state.EntryOptions{Limits: sessile.EntryLimits{ValueBytes: 4, NameBytes: 3, Entries: 2, Bytes: 10}})
	say := newTalk(t, agenttool.New([]agenttool.Tool{agenttool.SessionState(entries)}, agenttool.Options{}), "s")
	set := func(namespace, key, value string) string {
		return say(fmt.Sprintf(`{"operation":"set","namespace":%q,"key":%q,"value":%q}`, namespace, key, value))
	}
	expect(t, set("n", "a", "12345"), `tool_error: the value has 5 bytes, the limit is 4 null`)
	expect(t, set("n", "aaaa", "1"), `tool_error: the key has 4 bytes, the limit is 3 null`)
	expect(t, set("nnnn", "a", "1"), `tool_error: the namespace has 4 bytes, the limit is 3 null`)
	expect(t, set("n", "a", "1234"), `{"ok":true}`)
	expect(t, set("n", "b", "1234"), `tool_error: the entries of the session would take 12 bytes, the limit is 10 null`)
	expect(t, set("n", "b", "1"), `{"ok":true}`)
	expect(t, set("n", "c", ""), `tool_error: the session would keep 3 entries, the limit is 2 null`)
	expect(t, set("n", "a", ""), `{"ok":true}`)
	expect(t, set("n", "b", "1234"), `{"ok":true}`)
	expect(t, say(`{"operation":"list","namespace":"n"}`), `{"entries":[{"key":"a","value":""},{"key":"b","value":"1234"}]}`)
}

func TestSessionOfACall(t *testing.T) {
	s := kvcases.NewSystem(t)
	say := newTalk(t, s.Tools, "main")
	say(`{"operation":"set","namespace":"n","key":"k","value":"v","_session_key":"other"}`)
	expect(t, newTalk(t, s.Tools, "agent:main:main")(`{"operation":"get","namespace":"n","key":"k"}`), `{"value":"v"}`)
	expect(t, newTalk(t, s.Tools, "")(`{"operation":"get","namespace":"n","key":"k"}`), `{"value":null}`)
	_, err := s.Tools.Call(t.Context(), agenttool.Caller{Account: kvcases.Account}, "session_state",
		[]byte(`{"operation":"get","namespace":"n","key":"k","_session_key":"agent:main:main"}`))
	if err == nil || !strings.Contains(err.Error(), "missing session context") {
		t.Errorf("a call without a session: %v", err)
	}
}
