// Package kvcases holds the cases of spec/kv-tool.md, section 16, and runs them against every way in which the tool
// session_state is called: by a runner in the same process, over HTTP and over MCP. It is for tests only.
package kvcases

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
)

//go:embed testdata/cases.jsonl
var cases []byte

// Account owns everything in a system.
const Account = "default"

// System is a fresh database with the services over it.
type System struct {
	Store    sessile.Store
	Cells    *state.Service
	Entries  *state.Entries
	Sessions *session.Service
	Tools    *agenttool.Runner
	Keys     session.Keys
}

// NewSystem makes a system that the test closes.
func NewSystem(t testing.TB) *System {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "kv.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &System{Store: store, Cells: state.New(store, state.Options{}), Entries: state.NewEntries(store, state.EntryOptions{})}
	s.Sessions = session.New(store, s.Cells, session.Options{Keys: s.Keys})
	s.Tools = agenttool.New([]agenttool.Tool{agenttool.SessionState(s.Entries)}, agenttool.Options{Normalize: s.Keys.Normalize})
	return s
}

// Outcome is what a call came to: one of the three.
type Outcome struct {
	Result jsontext.Value
	Err    string
	Faults *agenttool.Faults
}

// Call calls session_state for a session with the text of its arguments.
type Call func(t *testing.T, sessionKey string, arguments jsontext.Value) Outcome

// Run runs all cases. Each has a system of its own, to which connect makes the way that is tested. Steps that go past
// the runner, which no wire can, call the tool itself.
func Run(t *testing.T, connect func(t *testing.T, s *System) Call) {
	t.Helper()
	ran := 0
	for lines := bufio.NewScanner(bytes.NewReader(cases)); lines.Scan(); {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			s := NewSystem(t)
			call := connect(t, s)
			child := ""
			for i, step := range c.Steps {
				if step.Admin != "" {
					child = s.admin(t, step, child)
					continue
				}
				step.check(t, i+1, s.run(t, call, step, child))
			}
		})
	}
	if ran != 40 {
		t.Errorf("%d cases, want 40", ran)
	}
}

type testCase struct {
	ID    string `json:"id"`
	Steps []step `json:"steps"`
}

type step struct {
	As       string         `json:"as"`
	Layer    string         `json:"layer"`
	Args     jsontext.Value `json:"args"`
	Repeat   []any          `json:"repeat"`
	Admin    string         `json:"admin"`
	Want     jsontext.Value `json:"want"`
	Err      *string        `json:"err"`
	Rejected *struct {
		Missing  []string    `json:"missing"`
		Mismatch [][3]string `json:"mismatch"`
	} `json:"rejected"`
	WantLen *int `json:"wantLen"`
}

func (s *System) run(t *testing.T, call Call, step step, child string) Outcome {
	t.Helper()
	arguments := step.Args
	if len(step.Repeat) == 2 {
		fill := strings.Repeat(step.Repeat[0].(string), int(step.Repeat[1].(float64)))
		arguments = jsontext.Value(strings.ReplaceAll(string(arguments), "$FILL", fill))
	}
	if step.Layer == "tool" {
		return s.past(t, arguments)
	}
	key := step.As
	if key == "$child" {
		key = child
	}
	return call(t, key, arguments)
}

// past calls the tool without its runner.
func (s *System) past(t *testing.T, arguments jsontext.Value) Outcome {
	t.Helper()
	a, ok := agenttool.ParseArguments(arguments)
	if !ok {
		t.Fatal("the arguments are no object")
	}
	result, err := agenttool.SessionState(s.Entries).Run(t.Context(), agenttool.Caller{Account: Account}, a)
	return OutcomeOf(t, result.Data, err)
}

// OutcomeOf reads what a runner or a tool returned.
func OutcomeOf(t *testing.T, result jsontext.Value, err error) Outcome {
	t.Helper()
	if err == nil {
		return Outcome{Result: result}
	}
	refused, ok := err.(*sessile.Error) //nolint:errorlint // nothing may stand around it
	switch {
	case ok && refused.Code == sessile.CodeToolArgumentsInvalid:
		return Outcome{Faults: refused.Details.(*agenttool.Faults)}
	case ok && refused.Code == sessile.CodeToolError:
		return Outcome{Err: refused.Message}
	}
	t.Fatalf("unexpected: %v", err)
	return Outcome{}
}

func (s *System) admin(t *testing.T, step step, child string) string {
	t.Helper()
	var args struct {
		Key string `json:"key"`
	}
	must(t, json.Unmarshal(step.Args, &args))
	ctx := context.WithoutCancel(t.Context())
	if step.Admin == "sessions.delete" {
		must(t, s.Sessions.DeleteKey(ctx, Account, args.Key))
		return child
	}
	found, err := s.Sessions.ByKey(ctx, Account, args.Key)
	if sessile.CodeOf(err) == sessile.CodeNotFound {
		found, err = s.Sessions.Create(ctx, Account, session.NewSession{Key: args.Key})
	}
	must(t, err)
	switch step.Admin {
	case "sessions.reset", "chat.clear":
		_, err = s.Sessions.Reset(ctx, Account, found.ID)
	case "sessions.fork":
		var fork session.Session
		fork, err = s.Sessions.Fork(ctx, Account, found.ID, session.ForkOptions{})
		child = fork.Key
	default:
		t.Fatalf("unknown event %s", step.Admin)
	}
	must(t, err)
	return child
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s step) check(t *testing.T, n int, got Outcome) {
	t.Helper()
	switch {
	case s.Rejected != nil:
		if got.Faults == nil {
			t.Fatalf("step %d was not refused: %+v", n, got)
		}
		slices.Sort(s.Rejected.Missing)
		slices.Sort(got.Faults.Missing)
		if diff := cmp.Diff(s.Rejected.Missing, got.Faults.Missing); diff != "" {
			t.Errorf("step %d, missing: %s", n, diff)
		}
		if diff := cmp.Diff(s.Rejected.Mismatch, got.Faults.Mismatch); diff != "" {
			t.Errorf("step %d, mismatch: %s", n, diff)
		}
	case s.Err != nil:
		if got.Err != *s.Err {
			t.Errorf("step %d: the error is %q, want %q (%s)", n, got.Err, *s.Err, got.Result)
		}
	case s.WantLen != nil:
		var result struct {
			Value string `json:"value"`
		}
		must(t, json.Unmarshal(got.Result, &result))
		if len(result.Value) != *s.WantLen {
			t.Errorf("step %d: the value has %d bytes, want %d", n, len(result.Value), *s.WantLen)
		}
	default:
		if got.Err != "" || got.Faults != nil || canonical(t, got.Result) != canonical(t, s.Want) {
			t.Errorf("step %d: %s %q %+v, want %s", n, got.Result, got.Err, got.Faults, s.Want)
		}
	}
}

func canonical(t *testing.T, v jsontext.Value) string {
	t.Helper()
	v = v.Clone()
	must(t, v.Canonicalize())
	return string(v)
}
