package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/apitest"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// refuser is every use case at once; each of them fails with err, unless it is nil.
type refuser struct {
	States
	err  error
	seen []string // the ids that the use cases were asked for
}

func (f *refuser) saw(id string) { f.seen = append(f.seen, id) }

func (f *refuser) Write(_ context.Context, _, id string, _ state.Address, _ jsontext.Value, _ string) (state.Value, error) {
	f.saw(id)
	return state.Value{}, f.err
}

func (f *refuser) Namespaces(_ context.Context, account, id string) ([]state.Namespace, error) {
	f.saw(account + " " + id)
	return nil, f.err
}

func (f *refuser) Respond(_ context.Context, _, id string, _ turn.RespondRequest) (turn.Result, error) {
	f.saw(id)
	return turn.Result{}, f.err
}

func (f *refuser) Regenerate(_ context.Context, _, id string, _ turn.Request) (turn.Result, error) {
	f.saw(id)
	return turn.Result{}, f.err
}

func (f *refuser) Retry(_ context.Context, _, id string, _ turn.Request) (turn.Result, error) {
	f.saw(id)
	return turn.Result{}, f.err
}

func (f *refuser) Blockers(_ context.Context, _, id string, _ []string) ([]turn.Blocker, error) {
	f.saw(id)
	return nil, f.err
}

func (f *refuser) Edit(_ context.Context, _, id string, _ turn.EditRequest) (turn.Result, error) {
	f.saw(id)
	return turn.Result{}, f.err
}

func (f *refuser) DryRun(_ context.Context, _, id string, _ turn.DryRunRequest) (turn.DryRun, error) {
	f.saw(id)
	return turn.DryRun{}, f.err
}

func (f *refuser) Ingest(_ context.Context, _, id string, _ turn.IngestRequest) (turn.Ingested, error) {
	f.saw(id)
	return turn.Ingested{}, f.err
}

func (f *refuser) ForkBranch(_ context.Context, _, id, _ string) (session.Fork, error) {
	f.saw(id)
	return session.Fork{}, f.err
}

func (f *refuser) Branches(context.Context, string, string, sessile.Page) ([]sessile.BranchSummary, int, error) {
	return nil, 0, f.err
}

func (f *refuser) DeleteBranch(_ context.Context, _, _, id string) (session.DeletedBranch, error) {
	f.saw(id)
	return session.DeletedBranch{BranchID: id}, f.err
}

// keyed lets requests with a key in.
type keyed struct{}

func (keyed) Account(r *http.Request) (string, error) {
	switch r.Header.Get("X-Api-Key") {
	case "good":
		return "acct", nil
	case "":
		return "", sessile.Errorf(sessile.CodeAuthRequired, "credentials are required")
	}
	return "", sessile.Errorf(sessile.CodeAuthInvalidCredentials, "these credentials are not known")
}

func newTestHandler(f *refuser, change func(*Options)) *Handler {
	o := Options{States: f, Branches: f, Turns: f, Accounts: keyed{}}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// do sends a request to a handler and returns the answer with its code.
func do(h http.Handler, method, target, body string, headers ...string) (*httptest.ResponseRecorder, string) {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost:7474"
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(w.Body.Bytes(), &answer)
	return w, answer.Error.Code
}

const (
	goodWrite = `{"branch_id":"main","namespace":"a","slot":"b","value":1}`
	turnWrite = `{"message":"go","session_state_writes":[{"namespace":"a","slot":"b","value":1}]}`
	writePath = "/sessions/nope/state/values/write"
)

// TestOrderOfChecks takes away one fault after the other: each request fails at the first check that it does not pass.
func TestOrderOfChecks(t *testing.T) {
	small := func(o *Options) { o.CheckHost, o.MaxBodyBytes = true, 200 }
	off := func(o *Options) { small(o); o.DisableClientData = true }
	big := strings.Repeat(" ", 201)
	tests := []struct {
		name         string
		options      func(*Options)
		method, path string
		body         string
		headers      []string
		status       int
		code         string
	}{
		{"host before route", small, "GET", "/nowhere", "", []string{"Host", "evil.example"}, 403, "host_not_allowed"},
		{"host on open routes", small, "GET", "/health", "", []string{"Host", "evil.example"}, 403, "host_not_allowed"},
		{"route before authentication", small, "GET", "/nowhere", "", nil, 404, "not_found"},
		{"method before authentication", small, "PUT", writePath, "", nil, 405, "method_not_allowed"},
		{"feature before method", off, "PUT", writePath, "", nil, 404, "not_found"},
		{"feature before authentication", off, "POST", writePath, big, nil, 404, "not_found"},
		{"authentication before size", small, "POST", writePath, big, nil, 401, "auth_required"},
		{"wrong key", small, "POST", writePath, big, []string{"X-Api-Key", "bad"}, 403, "auth_invalid_credentials"},
		{"size before content type", small, "POST", writePath, big, []string{"X-Api-Key", "good"}, 413, "payload_too_large"},
		{"content type before JSON", small, "POST", writePath, "{", []string{"X-Api-Key", "good", "Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{"no content type", small, "POST", writePath, "{", []string{"X-Api-Key", "good"}, 415, "unsupported_media_type"},
		{"JSON before validation", small, "POST", writePath, "{", []string{"X-Api-Key", "good", "Content-Type", "application/json"}, 400, "validation_error"},
		{"validation before the session", small, "POST", writePath, "{}", []string{"X-Api-Key", "good", "Content-Type", "application/json"}, 400, "validation_error"},
		{"the session", small, "POST", writePath, goodWrite, []string{"X-Api-Key", "good", "Content-Type", "application/json; charset=utf-8"}, 404, "not_found"},
		{"empty body has no type", small, "POST", writePath, "", []string{"X-Api-Key", "good"}, 400, "validation_error"},
		{"empty optional body", small, "POST", "/sessions/nope/regenerate", "", []string{"X-Api-Key", "good"}, 404, "not_found"},
		{"turn with writes, feature on", small, "POST", "/sessions/nope/respond", turnWrite, []string{"X-Api-Key", "good", "Content-Type", "application/json"}, 404, "not_found"},
		{"validation before the feature of a turn", off, "POST", "/sessions/nope/respond", strings.Replace(turnWrite, "go", "", 1), []string{"X-Api-Key", "good", "Content-Type", "application/json"}, 400, "validation_error"},
		{"feature of a turn before the session", off, "POST", "/sessions/nope/respond", turnWrite, []string{"X-Api-Key", "good", "Content-Type", "application/json"}, 503, "feature_unavailable"},
		{"no writes, no feature", off, "POST", "/sessions/nope/respond", `{"message":"go","session_state_writes":[]}`, []string{"X-Api-Key", "good", "Content-Type", "application/json"}, 404, "not_found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := apitest.Check(t, newTestHandler(&refuser{err: sessile.NotFound()}, tt.options))
			w, code := do(h, tt.method, tt.path, tt.body, tt.headers...)
			if w.Code != tt.status || code != tt.code {
				t.Fatalf("%d %s, want %d %s: %s", w.Code, code, tt.status, tt.code, w.Body)
			}
			checkHeaders(t, w)
		})
	}
}

// checkHeaders checks what every answer carries.
func checkHeaders(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !isRequestID(w.Header().Get("X-Request-Id")) || w.Header().Get("Content-Length") == "" {
		t.Errorf("headers: %v", w.Header())
	}
}

func TestHosts(t *testing.T) {
	h := apitest.Check(t, newTestHandler(&refuser{}, func(o *Options) {
		o.CheckHost, o.AllowedHosts = true, []string{"Box.example:80", "10.0.0.5"}
	}))
	for host, want := range map[string]int{
		"localhost": 200, "LocalHost:1": 200, "127.0.0.1:7474": 200, "127.8.9.1": 200, "[::1]": 200, "[::1]:7474": 200,
		"box.example": 200, "BOX.example:9": 200, "10.0.0.5:7474": 200,
		"": 403, "evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "128.0.0.1": 403,
		"10.0.0.6": 403, "[::2]": 403, "0.0.0.0": 403, "[::ffff:127.0.0.1]": 403, "[::1%25lo]": 403, ":7474": 403,
	} {
		if w, _ := do(h, "GET", "/health", "", "Host", host); w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
	}

	r := httptest.NewRequest("GET", "/health", nil)
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(LocalSocket(r.Context())))
	if w.Code != 200 {
		t.Errorf("through the local socket: %d", w.Code)
	}
}

func TestOrigins(t *testing.T) {
	h := apitest.Check(t, newTestHandler(&refuser{}, func(o *Options) { o.CheckHost = true }))
	for name, c := range map[string]struct {
		method, header, value string
		refused               bool
	}{
		"a program":                      {"POST", "", "", false},
		"a page of this server":          {"POST", "Sec-Fetch-Site", "same-origin", false},
		"a page of this origin, older":   {"POST", "Origin", "http://localhost", false},
		"a foreign page":                 {"POST", "Sec-Fetch-Site", "cross-site", true},
		"a page of a neighbouring port":  {"DELETE", "Sec-Fetch-Site", "same-site", true},
		"a foreign page, older browser":  {"POST", "Origin", "https://evil.example", true},
		"a foreign page that only reads": {"GET", "Sec-Fetch-Site", "cross-site", false},
	} {
		headers := []string{"Host", "localhost"}
		if c.header != "" {
			headers = append(headers, c.header, c.value)
		}
		w, _ := do(h, c.method, "/sessions", "", headers...)
		if refused := w.Code == 403 && strings.Contains(w.Body.String(), "origin_not_allowed"); refused != c.refused {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestPaths(t *testing.T) {
	f := &refuser{}
	h := apitest.Check(t, newTestHandler(f, nil))
	for _, tt := range []struct {
		method, path string
		status       int
		id           string // what the use case was asked for
	}{
		{"DELETE", "/branches/alt", 200, "alt"},
		{"DELETE", "/branches/x%2Fy", 200, "x/y"},
		{"DELETE", "/branches/%2F", 200, "/"},
		{"DELETE", "/branches/..%2F..", 200, "../.."},
		{"DELETE", "/branches/%2E%2E", 200, ".."},
		{"DELETE", "/branches/x%20y%3F%23%25%C3%BC", 200, "x y?#%ü"},
		{"DELETE", "/branches/a+b", 200, "a+b"},
		{"DELETE", "/branches/", 404, ""},
		{"DELETE", "/branches/a/", 404, ""},
		{"DELETE", "/branches/a/b", 404, ""},
		{"DELETE", "/branches/..", 404, ""},
		{"DELETE", "/branches/.", 404, ""},
		{"DELETE", "/branches//a", 404, ""},
		{"DELETE", "//branches/a", 404, ""},
		{"DELETE", "/branches/a/../b", 404, ""},
		{"DELETE", "/branches/%ff", 404, ""},
		{"GET", "/health", 200, ""},
		{"HEAD", "/health", 200, ""},
		{"GET", "/health/", 404, ""},
		{"GET", "/Health", 404, ""},
		{"GET", "/", 404, ""},
		{"GET", "/sessions/", 404, ""},
		{"GET", "/sessions/s/respond/stream", 405, ""},
		{"GET", "/sessions/s/respond/nothing", 404, ""},
		{"OPTIONS", "/health", 405, ""},
		{"GET", "/local/keys", 404, ""},
		{"PUT", "/local/keys", 404, ""},
		{"PUT", "/local/keys/k", 404, ""},
	} {
		f.seen = nil
		w, _ := do(h, tt.method, tt.path, "", "X-Api-Key", "good")
		if w.Code != tt.status || strings.Join(f.seen, "|") != tt.id {
			t.Errorf("%s %s: %d %q, want %d %q", tt.method, tt.path, w.Code, f.seen, tt.status, tt.id)
		}
		if location := w.Header().Get("Location"); location != "" {
			t.Errorf("%s %s: redirected to %s", tt.method, tt.path, location)
		}
	}
}

func TestAllow(t *testing.T) {
	h := apitest.Check(t, newTestHandler(&refuser{}, nil))
	for path, want := range map[string]string{
		"/health":                      "GET, HEAD",
		"/sessions":                    "DELETE, GET, HEAD, POST",
		"/sessions/clear-all":          "POST",
		"/tools/x":                     "POST",
		"/sessions/s":                  "DELETE, GET, HEAD, PATCH",
		"/sessions/batch/status":       "PATCH",
		"/sessions/s/state/values":     "DELETE",
		"/sessions/s/state/namespaces": "GET, HEAD, POST",
		"/floors/f":                    "DELETE, GET, HEAD",
		"/branches/a%2Fb":              "DELETE",
		"/floors/f/branch":             "POST",
	} {
		w, code := do(h, "PUT", path, "")
		if w.Code != 405 || code != "method_not_allowed" || w.Header().Get("Allow") != want {
			t.Errorf("%s: %d %s, Allow %q, want %q", path, w.Code, code, w.Header().Get("Allow"), want)
		}
	}
}

func TestRoutes(t *testing.T) {
	var patterns []string
	for _, route := range Routes() {
		patterns = append(patterns, route.Pattern())
		surface := strings.Contains(route.Path, "/state/") || strings.Contains(route.Path, "/session-state/")
		if route.Feature != surface {
			t.Errorf("%s: feature %v", route.Pattern(), route.Feature)
		}
		open := slices.Contains([]string{"/health", "/version", "/openapi.json", "/docs"}, route.Path) || route.Local
		if route.Open != open {
			t.Errorf("%s: open %v", route.Pattern(), route.Open)
		}
		if takesBody := route.Method == "POST" || route.Method == "PUT" || route.Method == "PATCH" || route.Path == "/sessions/{session}/state/values"; route.Path != pathMCP && takesBody != (route.body != noBody) {
			t.Errorf("%s: body rule %v", route.Pattern(), route.body)
		}
	}
	slices.Sort(patterns)
	if len(slices.Compact(patterns)) != len(Routes()) {
		t.Error("a route stands there twice")
	}
}

func TestBodies(t *testing.T) {
	h := newTestHandler(&refuser{}, func(o *Options) { o.MaxBodyBytes = int64(len(goodWrite)) })
	send := func(body io.Reader, length int64, headers ...string) (*httptest.ResponseRecorder, string) {
		r := httptest.NewRequest("POST", writePath, body)
		r.ContentLength = length
		r.Header.Set("X-Api-Key", "good")
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w, w.Body.String()
	}
	long := goodWrite + " "
	for _, tt := range []struct {
		name    string
		body    io.Reader
		length  int64
		headers []string
		status  int
	}{
		{"fits", strings.NewReader(goodWrite), int64(len(goodWrite)), nil, 200},
		{"fits, unknown length", strings.NewReader(goodWrite), -1, nil, 200},
		{"too long", strings.NewReader(long), int64(len(long)), nil, 413},
		{"too long, unknown length", strings.NewReader(long), -1, nil, 413},
		{"announced too long", strings.NewReader("{}"), 1 << 40, nil, 413},
		{"broken off", io.MultiReader(strings.NewReader("{"), brokenReader{}), 50, nil, 400},
		{"no type", strings.NewReader(goodWrite), -1, []string{"Content-Type", ""}, 415},
		{"another type", strings.NewReader(goodWrite), -1, []string{"Content-Type", "application/jsonx"}, 415},
		{"upper case and parameters", strings.NewReader(goodWrite), -1, []string{"Content-Type", "Application/JSON; charset=utf-8"}, 200},
		{"broken parameters", strings.NewReader(goodWrite), -1, []string{"Content-Type", "application/json; charset"}, 415},
		{"form", strings.NewReader(goodWrite), -1, []string{"Content-Type", "text/plain;application/json"}, 415},
		{"compressed", strings.NewReader(goodWrite), -1, []string{"Content-Encoding", "gzip"}, 415},
	} {
		if w, body := send(tt.body, tt.length, tt.headers...); w.Code != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, w.Code, tt.status, body)
		}
	}
	if w, _ := send(strings.NewReader(long), 1<<40, "Expect", "100-continue"); w.Code != 413 || w.Header().Get("Connection") != "close" {
		t.Errorf("a client that waits: %d %v", w.Code, w.Header())
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestRequestID(t *testing.T) {
	h := newTestHandler(&refuser{}, nil)
	for id, kept := range map[string]bool{
		"a.B-9_z": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "a b": false, "a\nb": false, "é": false,
	} {
		w, _ := do(h, "GET", "/health", "", "X-Request-Id", id)
		if got := w.Header().Get("X-Request-Id"); (got == id) != kept || !isRequestID(got) {
			t.Errorf("%q became %q", id, got)
		}
	}
}

func TestErrors(t *testing.T) {
	secret := errors.New("the secret cause")
	for _, tt := range []struct {
		name   string
		err    error
		status int
		code   string
		logged bool
	}{
		{"coded", &sessile.Error{Code: sessile.CodeHostArchived, Message: "m", Cause: secret}, 409, "session_state_host_archived", false},
		{"wrapped", errors.Join(errors.New("x"), sessile.Errorf(sessile.CodeNotFound, "m")), 404, "not_found", false},
		{"unknown", secret, 500, "internal_error", true},
		{"internal with a message", &sessile.Error{Code: sessile.CodeInternal, Message: "the secret cause"}, 500, "internal_error", true},
		{"a code without status", sessile.Errorf("made_up", "the secret cause"), 500, "internal_error", true},
		{"busy", &sessile.Error{Code: sessile.CodeServerBusy, Message: "m", Cause: secret}, 503, "server_busy", true},
		{"cancelled by the server", sessile.Errorf(sessile.CodeGenerationCancelled, "m"), 499, "generation_cancelled", false},
		{"details that are no JSON", &sessile.Error{Code: sessile.CodeInvalidState, Message: "m", Details: func() {}}, 409, "invalid_state", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			h := newTestHandler(&refuser{err: tt.err}, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			w, code := do(h, "GET", "/sessions/s3cret/state/namespaces", "", "X-Api-Key", "good")
			if w.Code != tt.status || code != tt.code {
				t.Fatalf("%d %s: %s", w.Code, code, w.Body)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the cause leaves: %s", w.Body)
			}
			if (w.Header().Get("Retry-After") == "1") != (tt.code == "server_busy") {
				t.Errorf("Retry-After: %q", w.Header().Get("Retry-After"))
			}
			if (log.Len() > 0) != tt.logged {
				t.Errorf("log: %s", &log)
			}
			if strings.Contains(log.String(), "s3cret") {
				t.Errorf("the path is in the log: %s", &log)
			}
		})
	}
}

func TestCancelledRequest(t *testing.T) {
	h := newTestHandler(&refuser{err: context.Canceled}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "/sessions/s/state/namespaces", nil)
	r.Header.Set("X-Api-Key", "good")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Fatalf("a request that was cut short: %d %s", w.Code, w.Body)
	}
	if w, code := do(h, "GET", "/sessions/s/state/namespaces", "", "X-Api-Key", "good"); w.Code != 500 || code != "internal_error" {
		t.Fatalf("a cancellation that is not the client's: %d %s", w.Code, code)
	}
}

type panicking struct{ States }

func (panicking) Namespaces(context.Context, string, string) ([]state.Namespace, error) {
	panic("the secret")
}

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	h := newTestHandler(&refuser{}, func(o *Options) {
		o.States = panicking{}
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	w, code := do(apitest.Check(t, h), "GET", "/sessions/s/state/namespaces", "", "X-Api-Key", "good")
	if w.Code != 500 || code != "internal_error" || strings.Contains(w.Body.String(), "secret") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "the secret") || !strings.Contains(log.String(), "stack=") {
		t.Fatalf("log: %s", &log)
	}
}

// The status of a stream is 200 whatever becomes of it; the log knows better.
func TestLogOfAFailedStream(t *testing.T) {
	var log bytes.Buffer
	h := newTestHandler(&refuser{err: errors.New("the disk is gone")}, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	w, _ := do(h, "POST", "/sessions/s/respond/stream", `{"message":"go"}`, "X-Api-Key", "good", "Content-Type", "application/json")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "event: error") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for _, want := range []string{"level=ERROR", "status=500", "the disk is gone"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, &log)
		}
	}
}

func TestAccessLog(t *testing.T) {
	var log bytes.Buffer
	h := newTestHandler(&refuser{}, func(o *Options) {
		o.Logger, o.AccessLog = slog.New(slog.NewTextHandler(&log, nil)), true
	})
	do(h, "GET", "/sessions/s3cret/state/namespaces?q=s3cret", "", "X-Api-Key", "good", "X-Request-Id", "r1")
	for _, want := range []string{"request_id=r1", "account=acct", `route="GET /sessions/{session}/state/namespaces"`, "status=200", "duration="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, &log)
		}
	}
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("the path is in the log: %s", &log)
	}
}
