package agenttool_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/model/echo"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/transcript"
	"github.com/sessile-dev/sessile/turn"
)

// stage is the tools around sessions over a store.
type stage struct {
	*testing.T
	store    *sqlite.Store
	sessions *session.Service
	turns    *turn.Service
	changes  *changelog.Log
	tools    *agenttool.Runner
}

const account = "default"

func newStage(t *testing.T, o session.Options) *stage {
	t.Helper()
	return stageOn(t, filepath.Join(t.TempDir(), "state.db"), o)
}

func stageOn(t *testing.T, path string, o session.Options) *stage {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	redactor, err := transcript.NewRedactor(transcript.RedactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.View = transcript.NewView(redactor)
	cells := state.New(store, state.Options{})
	s := &stage{T: t, store: store, sessions: session.New(store, cells, o), changes: changelog.New(store, changelog.Options{})}
	s.turns = turn.New(store, cells, echo.New(), turn.Options{})
	s.tools = agenttool.New([]agenttool.Tool{
		agenttool.SessionsList(s.sessions, o.Keys, time.Now), agenttool.SessionsHistory(s.sessions),
		agenttool.SessionStatus(s.sessions, time.Now, "1"),
	}, agenttool.Options{Normalize: o.Keys.Normalize})
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) add(n session.NewSession) session.Session {
	s.Helper()
	made, err := s.sessions.Create(s.Context(), account, n)
	s.must(err)
	return made
}

// say puts rows into the transcript of a session: roles and texts in turn.
func (s *stage) say(id string, rows ...string) {
	s.Helper()
	var r turn.IngestRequest
	for i := 0; i < len(rows); i += 2 {
		m := turn.IngestedMessage{Role: rows[i], Content: rows[i+1]}
		if extra, text, ok := strings.Cut(rows[i+1], "\x00"); ok {
			m.Extra, m.Content = []byte(extra), text
		}
		r.Messages = append(r.Messages, m)
	}
	_, err := s.turns.Ingest(s.Context(), account, id, r)
	s.must(err)
}

// human has a person say something.
func (s *stage) human(id, message string) {
	s.Helper()
	_, err := s.turns.Respond(s.Context(), account, id, turn.RespondRequest{Message: message})
	s.must(err)
}

// answer is what a tool answered, or the error that it threw.
type answer struct {
	t      *stage
	what   string
	data   any
	thrown string
}

// call calls a tool for a session; a key behind "boxed " is that of a sandboxed caller, one behind "slack " has that route.
func (s *stage) call(key, tool, arguments string) answer {
	s.Helper()
	c := caller(key)
	if boxed, ok := strings.CutPrefix(key, "boxed "); ok {
		c = caller(boxed)
		c.Sandboxed = true
	}
	if routed, ok := strings.CutPrefix(key, "slack "); ok {
		c = caller(routed)
		c.Channel = "slack"
	}
	a := answer{t: s, what: tool + " " + arguments}
	r, err := s.tools.Call(s.Context(), c, tool, []byte(arguments))
	if err != nil {
		a.thrown = err.Error()
		return a
	}
	s.must(json.Unmarshal(r.Data, &a.data))
	return a
}

// throws expects an error that says so.
func (a answer) throws(part string) {
	a.t.Helper()
	if a.thrown == "" || !strings.Contains(a.thrown, part) {
		a.t.Errorf("%s: threw %q, want %q in it (%v)", a.what, a.thrown, part, a.data)
	}
}

// is expects values at paths, given in turn; nil is absent.
func (a answer) is(pairs ...any) answer {
	a.t.Helper()
	if a.thrown != "" {
		a.t.Errorf("%s: threw %s", a.what, a.thrown)
		return a
	}
	for i := 0; i < len(pairs); i += 2 {
		path := pairs[i].(string)
		if got, want := fmt.Sprint(a.at(path)), fmt.Sprint(pairs[i+1]); got != want {
			a.t.Errorf("%s: %s is %s, want %s", a.what, path, got, want)
		}
	}
	return a
}

// at finds a value: names and numbers between dots, and # for a length.
func (a answer) at(path string) any {
	at := a.data
	for name := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			if name == "#" {
				return len(v)
			}
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(v) {
				return nil
			}
			at = v[n]
		default:
			return nil
		}
	}
	if n, ok := at.(float64); ok {
		return int64(n)
	}
	return at
}

// keys are the keys of a list, in its order.
func (a answer) keys() string {
	a.t.Helper()
	var keys []string
	rows, _ := a.at("sessions").([]any)
	for i := range rows {
		keys = append(keys, fmt.Sprint(a.at(fmt.Sprintf("sessions.%d.key", i))))
	}
	return strings.Join(keys, " ")
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
