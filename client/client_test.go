package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

func TestOptions(t *testing.T) {
	for _, o := range []client.Options{
		{URL: "127.0.0.1:7474"},
		{URL: "ftp://host"},
		{URL: "http://"},
		{URL: "http:host"},
		{URL: "http://user:secret@host"},
		{URL: "http://host?a=b"},
		{URL: "http://host?"},
		{URL: "http://host#f"},
		{URL: "http://host/%zz"},
		{URL: "http://host", SocketPath: "s.sock"},
		{HTTPClient: http.DefaultClient, SocketPath: "s.sock"},
		{APIKey: "secret\r\nx: y"},
		{AccountID: "secret\n"},
	} {
		_, err := client.New(o)
		if err == nil {
			t.Errorf("%+v is accepted", o)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
}

func TestHeaders(t *testing.T) {
	var last http.Header
	var target string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last, target = r.Header, r.RequestURI
		_, _ = io.WriteString(w, `{"data":{}}`)
	}))
	defer s.Close()
	c := newClient(t, client.Options{URL: s.URL + "/below/a%2Fb/", APIKey: "key", AccountID: "ann", UserAgent: "test/1"})
	if _, err := c.GetSession(t.Context(), "../x"); err != nil {
		t.Fatal(err)
	}
	if target != "/below/a%2Fb/sessions/..%2Fx" {
		t.Errorf("the target is %s", target)
	}
	want := map[string]string{"X-Api-Key": "key", "X-Account-Id": "ann", "User-Agent": "test/1", "Content-Type": ""}
	for name, text := range want {
		if got := last.Get(name); got != text {
			t.Errorf("%s is %q, want %q", name, got, text)
		}
	}

	other, err := c.ForAccount("bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.CreateSession(t.Context(), client.SessionInput{}); err != nil {
		t.Fatal(err)
	}
	if last.Get("X-Account-Id") != "bob" || last.Get("X-Api-Key") != "key" || last.Get("Content-Type") != "application/json" {
		t.Errorf("the headers are %v", last)
	}
	if _, err := c.ForAccount("a\nb"); err == nil {
		t.Error("an account with a line end is accepted")
	}
}

func TestErrors(t *testing.T) {
	s := newServer(t)
	c := newClient(t, client.Options{URL: s.URL})

	_, err := c.GetSession(t.Context(), "nope")
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status != http.StatusNotFound || !strings.HasPrefix(refused.RequestID, "req_") {
		t.Errorf("the error is %#v", err)
	}
	if sessile.CodeOf(err) != sessile.CodeNotFound || err.Error() != "not_found: no such resource" {
		t.Errorf("the error is %v", err)
	}

	_, err = c.UpdateSession(t.Context(), "nope", client.SessionInput{Status: "gone"})
	inner, ok := errors.AsType[*sessile.Error](err)
	if !ok {
		t.Fatalf("the error is %#v", err)
	}
	want := []sessile.FieldError{{Path: "status", Message: "this must be one of active, archived", Code: "not_a_choice"}}
	if diff := cmp.Diff(any(want), inner.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestOtherDetails(t *testing.T) {
	const details = `{"blocking_session_state_mutations":[]}`
	c := answering(t, http.StatusConflict, `{"error":{"code":"session_state_replay_blocked","message":"m","details":`+details+`}}`)
	_, err := c.Retry(t.Context(), "f", client.RerunRequest{})
	inner, ok := errors.AsType[*sessile.Error](err)
	if !ok || inner.Code != sessile.CodeReplayBlocked {
		t.Fatalf("the error is %v", err)
	}
	if got, ok := inner.Details.(jsontext.Value); !ok || string(got) != details {
		t.Errorf("the details are %v", inner.Details)
	}
}

// answering is a client of a server that says one thing only.
func answering(t *testing.T, status int, text string) *client.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return newClient(t, client.Options{URL: s.URL, MaxAnswerBytes: 1000})
}

func TestWhatIsRefusedHere(t *testing.T) {
	c := answering(t, http.StatusOK, `{"data":"nobody should have asked"}`)
	ctx := t.Context()
	slot := client.Filter{Slot: "trust"}
	calls := map[string]func() error{
		"resolve": func() error {
			_, err := c.Resolve(ctx, "s", client.ResolveQuery{BranchID: "b", Filter: slot})
			return err
		},
		"snapshot": func() error { _, err := c.Snapshot(ctx, "s", "f", slot); return err },
		"diff": func() error {
			_, err := c.Diff(ctx, "s", client.DiffQuery{FloorID: "f", Against: client.FloorOf("g"), Filter: slot})
			return err
		},
		"no value":      func() error { _, err := c.WriteValue(ctx, "s", client.Address{}, nil); return err },
		"no id":         func() error { _, err := c.DeleteSession(ctx, ""); return err },
		"no branch":     func() error { _, err := c.DeleteBranch(ctx, "s", ""); return err },
		"empty in path": func() error { _, err := c.GetMutation(ctx, "s", ""); return err },
	}
	for name, call := range calls {
		if err := call(); sessile.CodeOf(err) != sessile.CodeValidation {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if _, err := c.WriteValue(ctx, "s", client.Address{}, jsontext.Value(`{"a":`)); err == nil {
		t.Error("a value that is no JSON is sent")
	}
}

func TestUnreachable(t *testing.T) {
	tests := map[string]struct {
		status int
		text   string
	}{
		"a page":           {http.StatusBadGateway, "<html>bad gateway</html>"},
		"nothing":          {http.StatusOK, ""},
		"other JSON":       {http.StatusOK, `{"hello":"world"}`},
		"other data":       {http.StatusOK, `{"data":[1]}`},
		"more than one":    {http.StatusOK, `{"data":{}} {}`},
		"a redirect":       {http.StatusFound, ""},
		"somebody's error": {http.StatusNotFound, `{"error":null}`},
	}
	for name, test := range tests {
		c := answering(t, test.status, test.text)
		_, err := c.GetSession(t.Context(), "s")
		if _, ok := errors.AsType[*client.UnreachableError](err); !ok {
			t.Errorf("%s: the error is %v", name, err)
		}
	}

	closed := httptest.NewServer(nil)
	closed.Close()
	c := newClient(t, client.Options{URL: closed.URL, Retries: -1})
	_, err := c.Health(t.Context())
	unreachable, ok := errors.AsType[*client.UnreachableError](err)
	if !ok || unreachable.Where != closed.URL {
		t.Fatalf("the error is %v", err)
	}
	if strings.Contains(err.Error(), "/health") {
		t.Errorf("the error is too long: %v", err)
	}
	if _, ok := errors.AsType[*net.OpError](err); !ok {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	fits := answering(t, http.StatusOK, `{"data":{"status":"`+strings.Repeat("a", 1000-22)+`"}}`)
	if _, err := fits.Health(t.Context()); err != nil {
		t.Error(err)
	}
	large := answering(t, http.StatusOK, `{"data":{"status":"`+strings.Repeat("a", 1000-21)+`"}}`)
	_, err := large.Health(t.Context())
	if e, ok := errors.AsType[*client.LargeAnswerError](err); !ok || e.Limit != 1000 {
		t.Errorf("the error is %v", err)
	}
}

func TestContext(t *testing.T) {
	arrived := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	}))
	defer s.Close()
	c := newClient(t, client.Options{URL: s.URL})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := c.Respond(ctx, "s", client.RespondRequest{Message: "x"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		t.Error("the server is blamed")
	}
}

func TestSocket(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "s.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"data":{"status":%q}}`, r.Host)
	})}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	c, err := client.New(client.Options{SocketPath: path, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	health, err := c.Health(t.Context())
	if err != nil || health.Status != "localhost" {
		t.Errorf("got %v, %v", health, err)
	}
	c.Close()
	c.Close()
	s.Close()
	<-ended
	_, err = c.Health(t.Context())
	if e, ok := errors.AsType[*client.UnreachableError](err); !ok || e.Where != path {
		t.Errorf("the error is %v", err)
	}
}
