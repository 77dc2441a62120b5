package client_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/auth"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/httpapi"
	"github.com/sessile-dev/sessile/internal/apitest"
	"github.com/sessile-dev/sessile/model/echo"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// newHandler is the real handler over the real services and a store. Runs are queued only.
func newHandler(store sessile.Store) (http.Handler, *agentrun.Service) {
	cells := state.New(store, state.Options{})
	sessions := session.New(store, cells, session.Options{Visibility: session.Visibility{Level: session.ReadLevel("agent")}})
	entries := state.NewEntries(store, state.EntryOptions{})
	tools := agenttool.New([]agenttool.Tool{agenttool.SessionState(entries)}, agenttool.Options{})
	turns := turn.New(store, cells, echo.New(), turn.Options{})
	runs := agentrun.New(store, sessions, turns, agentrun.Options{})
	tools.Add(agenttool.SessionsSend(runs), agenttool.SessionsSpawn(runs))
	return httpapi.New(httpapi.Options{
		Runs: runs, Extensions: state.NewExtensions(store, entries),
		States: cells, Observation: cells, Worldbooks: sessions, Keys: auth.NewKeys(store), Sessions: sessions, Branches: sessions, Floors: sessions, Turns: turns, Tools: tools, Changes: changelog.New(store, changelog.Options{}),
		Version: httpapi.Version{Version: "1.2.3", Commit: "abc", Go: "go1.26", Schema: 1},
	}), runs
}

// server is a real server that remembers which routes were asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	work  func() // executes queued runs until there are none
}

// noted remembers a route as soon as its answer begins, so that it is known before the client goes on.
type noted struct {
	http.ResponseWriter
	note func()
}

func (n *noted) WriteHeader(status int) {
	n.note()
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find what the writer can do.
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// take returns the routes that were asked since the last call.
func (s *server) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func newServer(t *testing.T) *server {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "client.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, runs := newHandler(store)
	handler := apitest.Check(t, served)
	s := &server{work: func() { apitest.Work(t, runs, store) }}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(httpapi.LocalSocket(r.Context())) // as through the socket, so that every route is there
		handler.ServeHTTP(&noted{w, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, r.Pattern)
		}}, r)
	}))
	t.Cleanup(func() {
		s.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newClient(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
