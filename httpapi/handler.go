package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessile-dev/sessile"
)

// DefaultMaxBodyBytes is well above the default budget of one value, so that the budget's own error is what a client
// meets (spec/governed-state.md, ruling 16).
const DefaultMaxBodyBytes = 4 << 20

// Options wire a [Handler]. The use cases are required.
type Options struct {
	States States
	// Observation is the state package's too; the service is one.
	Observation Observation
	Worldbooks  Worldbooks
	Keys        Keys
	Sessions    Sessions
	Branches    Branches
	Floors      Floors
	Turns       Turns
	Tools       Tools
	Changes     Changes
	Runs        Runs
	Extensions  Extensions

	// MCP serves the tools over the Model Context Protocol; default: nobody does, and its path does not exist.
	MCP MCP
	// Accounts tells who asks; default: everybody is the account "default".
	Accounts Accounts
	// DisableClientData takes the state and observation surface away (spec/governed-state.md, 3.6); default: it is there.
	DisableClientData bool
	// CheckHost refuses hosts other than loopback names and AllowedHosts (ruling 26), and changes that a browser makes
	// for a page of another origin; default: any host will do. A server that asks for no credentials needs it.
	CheckHost bool
	// AllowedHosts are further host names or addresses; ports do not matter. Default: none.
	AllowedHosts []string
	// MaxBodyBytes bounds a request body; default [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// Version is what GET /version tells.
	Version Version
	// Logger gets a line for every answer of status 500 and above; default: nothing is logged.
	Logger *slog.Logger
	// AccessLog adds a line for every other answer; default off.
	AccessLog bool
	// IDs makes request ids; the zero value is ready to use.
	IDs sessile.IDs
	// Now tells the time, for durations in the log; default time.Now.
	Now func() time.Time
}

// Handler serves the routes of [Routes]. It is safe for concurrent use.
type Handler struct {
	states      States
	observation Observation
	worldbooks  Worldbooks
	keys        Keys
	sessions    Sessions
	branches    Branches
	floors      Floors
	turns       Turns
	tools       Tools
	changes     Changes
	runs        Runs
	extensions  Extensions
	mcp         MCP
	accounts    Accounts

	clientData bool
	checksHost bool
	hosts      map[string]bool
	origins    *http.CrossOriginProtection
	maxBody    int64
	version    Version
	log        *slog.Logger
	accessLog  bool
	ids        sessile.IDs
	now        func() time.Time

	mux *http.ServeMux
}

var _ http.Handler = (*Handler)(nil)

// New makes a handler. It does no IO.
func New(o Options) *Handler {
	h := &Handler{
		states: o.States, observation: o.Observation, worldbooks: o.Worldbooks, keys: o.Keys, sessions: o.Sessions, branches: o.Branches, floors: o.Floors, turns: o.Turns, tools: o.Tools, changes: o.Changes, runs: o.Runs, extensions: o.Extensions, mcp: o.MCP,
		accounts:   o.Accounts,
		clientData: !o.DisableClientData,
		checksHost: o.CheckHost,
		hosts:      map[string]bool{},
		origins:    http.NewCrossOriginProtection(),
		maxBody:    o.MaxBodyBytes,
		version:    o.Version,
		log:        o.Logger,
		accessLog:  o.AccessLog,
		ids:        o.IDs,
		now:        o.Now,
		mux:        http.NewServeMux(),
	}
	if h.accounts == nil {
		h.accounts = everybody{}
	}
	for _, name := range o.AllowedHosts {
		h.hosts[hostName(name)] = true
	}
	if h.maxBody <= 0 {
		h.maxBody = DefaultMaxBodyBytes
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	h.register()
	return h
}

// everybody is the one account of a server without authentication (spec/governed-state.md, section 8).
type everybody struct{}

func (everybody) Account(*http.Request) (string, error) { return "default", nil }

// register fills the mux: every route, every path without its other methods, and everything else.
func (h *Handler) register() {
	methods := map[string][]string{}
	for _, route := range Routes() {
		if route.Feature && !h.clientData || route.Path == pathMCP && h.mcp == nil {
			continue
		}
		methods[route.Path] = append(methods[route.Path], route.Method)
		if route.Method == http.MethodGet {
			methods[route.Path] = append(methods[route.Path], http.MethodHead)
		}
		pattern, perform := route.Pattern(), func(c *call) (reply, error) { return h.perform(c, &route) }
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.run(w, r, pattern, perform) })
	}
	for path, allowed := range methods {
		if strings.HasPrefix(path, "/local/") {
			continue // elsewhere these do not exist, whatever the method
		}
		slices.Sort(allowed)
		allow := strings.Join(allowed, ", ")
		refuse := func(w http.ResponseWriter, r *http.Request) {
			h.run(w, r, path, func(c *call) (reply, error) {
				c.header.Set("Allow", allow)
				return reply{}, sessile.Errorf(sessile.CodeMethodNotAllowed, "this path answers to %s only", allow)
			})
		}
		if path != "/sessions/clear-all" {
			h.mux.HandleFunc(path, refuse)
			continue
		}
		// A pattern for all methods would be neither more nor less special than GET /sessions/{session}.
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			h.mux.HandleFunc(method+" "+path, refuse)
		}
	}
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { h.run(w, r, "", noRoute) })
}

func noRoute(*call) (reply, error) { return reply{}, sessile.NotFound() }

// ServeHTTP answers one request. Nothing is ever redirected: a path that is not in its plain form does not exist, and
// nothing has a name that is not UTF-8.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.checkHost(r); err != nil {
		h.run(w, r, "", func(*call) (reply, error) { return reply{}, err })
		return
	}
	path := r.URL.EscapedPath()
	if !isPlain(path) || !utf8.ValidString(r.URL.Path) {
		h.run(w, r, "", noRoute)
		return
	}
	h.mux.ServeHTTP(w, markSlashes(r, path))
}

// call is one request on its way.
type call struct {
	ctx       context.Context
	w         http.ResponseWriter
	r         *http.Request
	header    http.Header // of the answer
	requestID string
	account   string // set when the route is not open
	body      []byte // nil when there is none
}

// path is the decoded text of a wildcard of the route.
func (c *call) path(name string) string { return unmarkSlash(c.r.PathValue(name)) }

// perform does what stands before a route's own work, in the order of design.md section 5.
func (h *Handler) perform(c *call, route *Route) (reply, error) {
	if route.Local && c.ctx.Value(localSocketKey{}) == nil {
		return reply{}, sessile.NotFound()
	}
	if !route.Open {
		account, err := h.accounts.Account(c.r)
		if err != nil {
			return reply{}, err
		}
		c.account = account
	}
	if route.body != noBody {
		if err := h.readBody(c, route.body, max(h.maxBody, route.maxBody)); err != nil {
			return reply{}, err
		}
	}
	return route.handle(h, c)
}

// run answers one request by fn and is the only place that writes an answer and the log.
func (h *Handler) run(w http.ResponseWriter, r *http.Request, pattern string, fn func(*call) (reply, error)) {
	start := h.now()
	c := &call{ctx: r.Context(), w: w, r: r, header: w.Header(), requestID: h.requestID(r)}
	c.header["X-Request-Id"] = []string{c.requestID}

	answer, err := protect(c, fn)
	if err != nil && cancelled(c.ctx, err) {
		// Either nobody is there to read the answer, or the server is going down and the client should come back.
		h.errorReply(c, sessile.Errorf(sessile.CodeServerBusy, "the request was cut short, try again in a moment")).write(w)
		h.logCall(c, pattern, start, statusClientClosed, err)
		return
	}
	if err != nil {
		answer = h.errorReply(c, err)
	}
	status := answer.status
	if answer.stream != nil {
		if err = answer.stream(w); err != nil { // its client was told in the stream, under status 200
			status = h.errorReply(c, err).status
			if c.ctx.Err() != nil && sessile.CodeOf(err) == sessile.CodeInternal {
				status = statusClientClosed
			}
		}
	} else {
		answer.write(w)
	}
	h.logCall(c, pattern, start, status, err)
}

// protect runs fn and turns a panic into an error.
func protect(c *call, fn func(*call) (reply, error)) (answer reply, err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			panic(v)
		default:
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return fn(c)
}

// cancelled reports whether the request's context ended and err says nothing else.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled) && sessile.CodeOf(err) == sessile.CodeInternal
}

// requestID is the caller's request id if it is a plain word of up to 128 characters, else a new one.
func (h *Handler) requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); isRequestID(id) {
		return id
	}
	return h.ids.New(sessile.PrefixRequest)
}

func isRequestID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// logCall writes the line of a request: never a path, a query, a body or a value.
func (h *Handler) logCall(c *call, pattern string, start time.Time, status int, err error) {
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	} else if !h.accessLog {
		return
	}
	if !h.log.Enabled(c.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", c.requestID),
		slog.String("account", c.account),
		slog.String("route", pattern),
		slog.Int("status", status),
		slog.Duration("duration", h.now().Sub(start)),
	}
	if err != nil {
		attrs = append(attrs, slog.String("code", string(sessile.CodeOf(err))))
	}
	if level == slog.LevelError {
		attrs = append(attrs, causeAttrs(err)...)
	}
	h.log.LogAttrs(context.WithoutCancel(c.ctx), level, "request", attrs...)
}

// causeAttrs is what the log learns about an error and the client does not.
func causeAttrs(err error) []slog.Attr {
	if p, ok := errors.AsType[*panicked](err); ok {
		return []slog.Attr{slog.Any("panic", p.value), slog.String("stack", string(p.stack))}
	}
	return []slog.Attr{slog.Any("error", err)}
}
