package apitest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// recorder collects what would fail a test.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// TestWhatIsFound shows answers that are wrong, each in one way, and what is said about them.
func TestWhatIsFound(t *testing.T) {
	const (
		health  = `{"data":{"status":"ok"}}`
		deleted = `{"data":{"branch_id":"b","session_id":"s","deleted_floor_count":0}}`
		written = `{"data":{"namespace":"a","slot":"b","source":"live_head","visibility_mode":"fork_on_branch","schema_version":1,` +
			`"present":true,"value":null,"session_id":"s","branch_id":"main","floor_id":null,"source_mutation_ids":["m"],"updated_at":1}}`
		write = `{"branch_id":"main","namespace":"a","slot":"b","value":null}`
		path  = "/sessions/s/state/values/write"
	)
	failure := func(code string) string { return `{"error":{"code":"` + code + `","message":"m"}}` }
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		contentType, answer      string
		want                     string // "" is nothing
	}{
		{"good", "GET", "/health", "", 200, "", health, ""},
		{"HEAD", "HEAD", "/health", "", 200, "", health, ""},
		{"escaped", "DELETE", "/branches/a%2Fb", "", 200, "", deleted, ""},
		{"another member", "GET", "/health", "", 200, "", `{"data":{"status":"ok","more":1}}`, "GET /health: the answer 200: at /data"},
		{"a missing member", "GET", "/health", "", 200, "", `{"data":{}}`, "at /data"},
		{"another word", "GET", "/health", "", 200, "", `{"data":{"status":"so so"}}`, "at /data/status"},
		{"no JSON", "GET", "/health", "", 200, "", `{`, "failed to decode"},
		{"another type", "GET", "/health", "", 200, "text/plain", health, "does not know the content type text/plain"},
		{"another status", "GET", "/health", "", 202, "", health, "status is not supported"},
		{"a code of another route", "GET", "/health", "", 500, "", failure("commit_busy"), `does not list the code "commit_busy"`},
		{"a code of another status", "GET", "/sessions/s", "", 404, "", failure("internal_error"), `does not list the code "internal_error"`},
		{"no code", "GET", "/sessions/s", "", 404, "", failure("unheard_of"), "at /error/code"},
		{"other details", "GET", "/sessions/s", "", 404, "", `{"error":{"code":"not_found","message":"m","details":7}}`, "at /error/details"},
		{"a good write", "POST", path, write, 200, "", written, ""},
		{"a write that should be refused", "POST", path, `{"branch_id":"","namespace":"a","slot":"b","value":1}`, 200, "", written, "the request was accepted, but: at /branch_id"},
		{"a query that should be refused", "GET", "/sessions?limit=101", "", 200, "", `{"data":[],"meta":{"total":0,"limit":50,"offset":0,"has_more":false,"sort_by":"x","sort_order":"asc"}}`, "the request was accepted, but"},
		{"no such path", "GET", "/nowhere", "", 404, "", failure("not_found"), ""},
		{"another method", "PUT", "/health", "", 405, "", failure("method_not_allowed"), ""},
		{"a path that should not be", "GET", "/nowhere", "", 200, "", health, "outside the document"},
		{"good events", "POST", "/sessions/s/respond/stream", `{"message":"x"}`, 200, "text/event-stream; charset=utf-8", "event: chunk\ndata: {\"chunk\":\"a\"}\n\n", ""},
		{"an event that is not known", "POST", "/sessions/s/respond/stream", `{"message":"x"}`, 200, "text/event-stream; charset=utf-8", "event: cake\ndata: {}\n\n", "no event of the document"},
		{"an event with other data", "POST", "/sessions/s/respond/stream", `{"message":"x"}`, 200, "text/event-stream; charset=utf-8", "event: chunk\ndata: {\"chunk\":1}\n\n", "event chunk: at /chunk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := &recorder{TB: t}
			handler := Check(found, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				contentType := tt.contentType
				if contentType == "" {
					contentType = "application/json"
				}
				w.Header().Set("Content-Type", contentType)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			}))
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			handler.ServeHTTP(httptest.NewRecorder(), r)
			got := strings.Join(found.errors, "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
