package httpapi_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/auth"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/httpapi"
	"github.com/sessile-dev/sessile/internal/apitest"
	"github.com/sessile-dev/sessile/model/echo"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// The services are what the handler was made for.
var (
	_ httpapi.States   = (*state.Service)(nil)
	_ httpapi.Sessions = (*session.Service)(nil)
	_ httpapi.Branches = (*session.Service)(nil)
	_ httpapi.Floors   = (*session.Service)(nil)
	_ httpapi.Turns    = (*turn.Service)(nil)
)

var update = flag.Bool("update", false, "write what the handler answers into testdata")

// server is a handler over the real services. Runs that are queued stay so until [server.work] is called.
type server struct {
	http.Handler
	runs  *agentrun.Service
	store sessile.Store
}

// work executes queued runs until there are none.
func (s *server) work(t testing.TB) {
	t.Helper()
	apitest.Work(t, s.runs, s.store)
}

// newServer is a handler over the real services and a fresh database. Every answer is held against the document.
func newServer(t testing.TB, options httpapi.Options) *server {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "wire.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	cells := state.New(store, state.Options{})
	changes := changelog.New(store, changelog.Options{})
	sessions := session.New(store, cells, session.Options{
		Announce: changes.Announce, Visibility: session.Visibility{Level: session.ReadLevel("agent")},
	})
	options.Changes = changes
	entries := state.NewEntries(store, state.EntryOptions{})
	options.Extensions = state.NewExtensions(store, entries)
	tools := agenttool.New([]agenttool.Tool{agenttool.SessionState(entries)}, agenttool.Options{})
	turns := turn.New(store, cells, echo.New(), turn.Options{StateDisabled: options.DisableClientData, Announce: changes.Announce})
	runs := agentrun.New(store, sessions, turns, agentrun.Options{Announce: changes.Announce})
	tools.Add(agenttool.SessionsSend(runs), agenttool.SessionsSpawn(runs))
	options.Tools, options.Runs = tools, runs
	options.States, options.Observation, options.Turns = cells, cells, turns
	options.Keys = auth.NewKeys(store)
	options.Sessions, options.Branches, options.Floors, options.Worldbooks = sessions, sessions, sessions, sessions
	options.Version = httpapi.Version{Version: "1.2.3", Commit: "abc", Go: "go1.26", Schema: 1}
	return &server{apitest.Check(t, httpapi.New(options)), runs, store}
}

// TestWire replays the conversations of testdata/wire and compares every answer to the byte, after ids and times got
// names: the first session is ses_1, a time is TIME. Requests use the same names. A conversation starts with an empty
// database; its first line may be "# client data: off".
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	covered := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			served := newServer(t, httpapi.Options{DisableClientData: strings.HasPrefix(string(text), "# client data: off")})
			var handler http.Handler = served
			if strings.HasPrefix(string(text), "# through the socket") {
				handler = local(handler)
			}
			got := converse(t, served, handler, string(text), covered)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("the wire has changed (run with -update to accept): %s", diff)
			}
		})
	}
	// The document and its page have tests of their own: a golden copy here would only repeat api/openapi.yaml.
	covered["GET /openapi.json"], covered["GET /docs"] = true, true
	for _, method := range []string{"GET", "POST", "DELETE"} {
		covered[method+" /mcp"] = true // the protocol has conversations of its own: see package mcpserver
	}
	for _, route := range httpapi.Routes() {
		if !covered[route.Pattern()] {
			t.Errorf("no conversation covers %s", route.Pattern())
		}
	}
}

// local marks requests as those that come through the socket beside the database.
func local(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*r = *r.WithContext(httpapi.LocalSocket(r.Context()))
		handler.ServeHTTP(w, r)
	})
}

// converse sends the requests of a conversation one after the other and returns it with the answers that came. Blocks
// are parted by blank lines: a comment, or a request (a line, headers, a body) with its answer after "=>". The comment
// "# runs are executed" is when that happens.
func converse(t *testing.T, served *server, handler http.Handler, text string, covered map[string]bool) string {
	t.Helper()
	n := newNames()
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		block = strings.TrimSpace(block)
		if block == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		if strings.HasPrefix(block, "#") {
			out.WriteString(block + "\n")
			if strings.HasPrefix(block, "# runs are executed") {
				served.work(t)
			}
			continue
		}
		request, _, _ := strings.Cut(block, "\n=>")
		out.WriteString(request + "\n")
		r := parseRequest(t, n.reveal(request))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		covered[r.Pattern] = true
		out.WriteString(n.hide(showAnswer(w)))
	}
	return out.String()
}

var headerLine = regexp.MustCompile(`^([A-Z][A-Za-z-]*): (.*)$`)

func parseRequest(t *testing.T, text string) *http.Request {
	t.Helper()
	lines := strings.Split(text, "\n")
	method, target, found := strings.Cut(lines[0], " ")
	if !found {
		t.Fatalf("no request line: %q", lines[0])
	}
	header := http.Header{}
	lines = lines[1:]
	for len(lines) > 0 {
		m := headerLine.FindStringSubmatch(lines[0])
		if m == nil {
			break
		}
		header.Add(m[1], m[2])
		lines = lines[1:]
	}
	body := strings.Join(lines, "\n")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header = header
	if body != "" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return r
}

// showAnswer prints an answer: its status, the headers that are not the same on each, its body.
func showAnswer(w *httptest.ResponseRecorder) string {
	var b strings.Builder
	fmt.Fprintf(&b, "=> %d\n", w.Code)
	for _, name := range []string{"Allow", "Retry-After", "Location", "ETag"} {
		if value := w.Header().Get(name); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	body, _ := io.ReadAll(w.Body)
	// The blank line behind each event would part blocks; an end of line with nothing before it is written as a dot.
	text := strings.ReplaceAll(strings.TrimRight(string(body), "\n"), "\n\n", "\n.\n")
	return b.String() + text + "\n"
}

// names maps what differs from run to run to names that do not, and back.
type names struct {
	real  map[string]string // by name
	shown map[string]string // by what it stands for
	count map[string]int
}

func newNames() *names {
	return &names{map[string]string{}, map[string]string{}, map[string]int{}}
}

var (
	idPattern   = regexp.MustCompile(`\b(?:(ses|flr|pag|msg|run|mut|req|wbk|dlv)_[0-9a-v]{13,26}|(branch)-[0-9a-v]{8})\b`)
	namePattern = regexp.MustCompile(`\b(?:(?:ses|flr|pag|msg|run|mut|wbk|key|dlv)_|branch-)[0-9]+\b`)
	keyPattern  = regexp.MustCompile(`sessile_[a-z2-7]{8}_[a-z2-7]{52}`)
	keyIDs      = regexp.MustCompile(`"id":"([a-z2-7]{8})"`)
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`\b1[0-9]{12}\b`)
)

func (n *names) hide(text string) string {
	text = keyPattern.ReplaceAllString(text, "KEY")
	text = keyIDs.ReplaceAllStringFunc(text, func(id string) string {
		n.real["key_1"] = keyIDs.FindStringSubmatch(id)[1]
		return `"id":"key_1"`
	})
	text = idPattern.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := n.shown[id]; ok {
			return name
		}
		m := idPattern.FindStringSubmatch(id)
		prefix := m[1] + "_"
		if m[2] != "" {
			prefix = m[2] + "-"
		}
		n.count[prefix]++
		name := prefix + strconv.Itoa(n.count[prefix])
		n.shown[id], n.real[name] = name, id
		return name
	})
	text = uuidPattern.ReplaceAllString(text, "UUID")
	return timePattern.ReplaceAllString(text, "TIME")
}

func (n *names) reveal(text string) string {
	return namePattern.ReplaceAllStringFunc(text, func(name string) string {
		if id, ok := n.real[name]; ok {
			return id
		}
		return name
	})
}
