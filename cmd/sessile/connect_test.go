package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/sqlite"
)

func quiet() streams { return streams{out: io.Discard, err: &bytes.Buffer{}} }

func openStoreAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// Somebody owns the file and has no socket: the command waits, and in the end says who it is.
func TestAnOwnerWithoutASocketIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	store := openStoreAt(t, path)
	c := &connection{DB: path}
	_, _, err := c.openFile(t.Context(), quiet(), client.Options{}, false, time.Millisecond)
	if _, ok := errors.AsType[*sqlite.LockedError](err); !ok || exitCode(err) != exitReach {
		t.Fatalf("the error is %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.openFile(ctx, quiet(), client.Options{}, false, time.Hour); err == nil {
		t.Error("a command that was interrupted goes on")
	}

	// It lets go while the command waits.
	released := make(chan error, 1)
	go func() { released <- store.Close() }()
	asked, closeAll, err := c.openFile(t.Context(), quiet(), client.Options{}, false, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if _, err := asked.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if err := closeAll(); err != nil {
		t.Error(err)
	}
}

// Somebody owns the file and listens beside it, if only a while later.
func TestAnOwnerWithASocketIsAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	store := openStoreAt(t, path)
	listener, err := net.Listen("unix", store.SocketPath())
	if err != nil {
		t.Skip(err)
	}
	owner := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":{"status":"the owner"}}`)
	})}
	ended := make(chan error, 1)
	go func() { ended <- owner.Serve(listener) }()
	defer func() { owner.Close(); <-ended }()

	c := &connection{DB: path}
	asked, closeAll, err := c.openFile(t.Context(), quiet(), client.Options{}, false, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if health, err := asked.Health(t.Context()); err != nil || health.Status != "the owner" {
		t.Errorf("got %v, %v", health, err)
	}
	if err := closeAll(); err != nil {
		t.Error(err)
	}
}

func TestInProcess(t *testing.T) {
	var host, uri string
	var body []byte
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, uri = r.Host, r.RequestURI
		body, _ = io.ReadAll(r.Body)
		if err := r.Context().Err(); err != nil {
			return
		}
		w.Header().Set("X-Request-Id", "r1")
		w.WriteHeader(http.StatusNotFound)
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"m"}}`)
	})
	asked, err := client.New(client.Options{HTTPClient: &http.Client{Transport: inProcess{handler}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = asked.CreateSession(t.Context(), client.SessionInput{Title: "x"})
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status != http.StatusNotFound || refused.RequestID != "r1" {
		t.Errorf("the error is %v", err)
	}
	if host != "127.0.0.1:7474" || uri != "/sessions" || string(body) != `{"title":"x"}` {
		t.Errorf("the handler saw %s, %s, %s", host, uri, body)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := asked.Health(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	silent := inProcess{http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := silent.RoundTrip(request); err == nil {
		response.Body.Close()
		t.Error("no answer is an answer")
	}
}

func TestInterruptedIsSaid(t *testing.T) {
	var out bytes.Buffer
	if code := fail(&out, context.Canceled); code != exitRefused || out.String() != "sessile: interrupted\n" {
		t.Errorf("%d, %q", code, out.String())
	}
}
