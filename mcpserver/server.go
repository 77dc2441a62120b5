package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/state"
)

// Tools are the agents' tools; [agenttool.Runner] is one.
type Tools interface {
	Tools(c agenttool.Caller) []agenttool.Tool
	Call(ctx context.Context, c agenttool.Caller, name string, arguments []byte) (agenttool.Result, error)
}

// Entries tells of key-value state; [state.Entries] is one.
type Entries interface {
	Namespaces(ctx context.Context, account, sessionKey string) ([]string, error)
	Watch(account, sessionKey string) *state.EntryWatch
}

// Options wire a [Server]. Tools and Entries are required.
type Options struct {
	Tools   Tools
	Entries Entries
	// Normalize gives a session key the form in which it is stored; default: as it is.
	Normalize func(key string) string
	// Version is what clients are told of the server's version.
	Version string
	// Logger hears of calls that failed for no fault of their caller; default: nobody.
	Logger *slog.Logger
	// IdleTimeout ends an HTTP connection that sent nothing for so long; default one hour.
	IdleTimeout time.Duration
}

// MaxMessageBytes bounds one message of a client.
const MaxMessageBytes = 8 << 20

// The headers that say for whom a connection acts.
const (
	HeaderSession   = "X-Sessile-Session"
	HeaderChannel   = "X-Sessile-Channel"
	HeaderSandboxed = "X-Sessile-Sandboxed"
)

// Server serves connections. It is safe for concurrent use.
type Server struct {
	options Options
	http    http.Handler
	idle    *mcp.Server // answers for requests of connections that exist already

	mu     sync.Mutex
	closed bool
	open   map[*mcp.ServerSession]struct{}
	work   sync.WaitGroup // one goroutine a connection, and one more while it is subscribed to something
}

// New makes a server. It does no IO.
func New(o Options) *Server {
	if o.Normalize == nil {
		o.Normalize = func(key string) string { return key }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = time.Hour
	}
	s := &Server{options: o, open: map[*mcp.ServerSession]struct{}{}}
	s.idle = mcp.NewServer(s.implementation(), nil)
	streamable := mcp.NewStreamableHTTPHandler(s.serverFor, &mcp.StreamableHTTPOptions{
		SessionTimeout: o.IdleTimeout, MaxRequestBodyBytes: MaxMessageBytes,
		// Hosts and origins have been looked at in front of this.
		DisableLocalhostProtection: true,
	})
	s.http = auth.RequireBearerToken(identify, nil)(streamable)
	return s
}

func (s *Server) implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "sessile", Title: "Sessile", Version: s.options.Version}
}

type callerKey struct{}

// identify ties a connection to its caller: the protocol library refuses requests for it from everybody else.
func identify(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	c, ok := ctx.Value(callerKey{}).(agenttool.Caller)
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	id := c.Account
	if c.SessionKey != nil {
		id += "\x00" + *c.SessionKey
	}
	return &auth.TokenInfo{UserID: id, Expiration: time.Now().Add(time.Hour)}, nil
}

// ServeMCP answers an HTTP request for an account that has been authenticated. The session of the connection is the one
// that the header X-Sessile-Session names; without it the connection has none.
func (s *Server) ServeMCP(w http.ResponseWriter, r *http.Request, account string) {
	c := agenttool.Caller{
		Account: account, Sandboxed: r.Header.Get(HeaderSandboxed) == "true", Channel: r.Header.Get(HeaderChannel),
	}
	if keys := r.Header.Values(HeaderSession); len(keys) > 0 {
		key := s.options.Normalize(keys[0])
		c.SessionKey = &key
	}
	r = r.Clone(context.WithValue(r.Context(), callerKey{}, c))
	r.Header.Set("Authorization", "Bearer authenticated") // the credentials did their work, and go no further
	s.http.ServeHTTP(w, r)
}

// serverFor makes the server of a new connection.
func (s *Server) serverFor(r *http.Request) *mcp.Server {
	c, ok := r.Context().Value(callerKey{}).(agenttool.Caller)
	if !ok {
		return nil
	}
	if r.Header.Get("Mcp-Session-Id") != "" {
		return s.idle
	}
	return s.connect(c)
}

// Serve serves one connection over a transport until its client leaves or the context ends.
func (s *Server) Serve(ctx context.Context, c agenttool.Caller, transport mcp.Transport) error {
	if c.SessionKey != nil {
		key := s.options.Normalize(*c.SessionKey)
		c.SessionKey = &key
	}
	err := s.connect(c).Run(ctx, transport)
	if ctx.Err() != nil || clientLeft(err) {
		return nil //nolint:nilerr // the end of the context is how this ends
	}
	return err
}

// Close ends all connections and waits until nothing of them runs any more. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	open := make([]*mcp.ServerSession, 0, len(s.open))
	for session := range s.open {
		open = append(open, session)
	}
	s.mu.Unlock()
	for _, session := range open {
		_ = session.Close() // what goes wrong with a connection that ends is nobody's business any more
	}
	s.work.Wait()
}

// opened keeps a connection until it ends.
func (s *Server) opened(session *mcp.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go func() { _ = session.Close() }() // not from within its own handler; it ends with the connection
		return
	}
	if _, known := s.open[session]; known {
		return
	}
	s.open[session] = struct{}{}
	s.work.Go(func() {
		_ = session.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, session)
	})
}

// connect makes the server of one connection, with the tools and resources of its caller.
func (s *Server) connect(c agenttool.Caller) *mcp.Server {
	connection := &connection{server: s, caller: c}
	tools := s.options.Tools.Tools(c)
	options := &mcp.ServerOptions{
		Instructions:       "Tools of the session that you work in. session_state keeps texts from one message to the next.",
		Capabilities:       &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		InitializedHandler: func(_ context.Context, r *mcp.InitializedRequest) { s.opened(r.Session) },
	}
	readable := c.SessionKey != nil && has(tools, agenttool.SessionStateName)
	if readable {
		options.Capabilities.Resources = &mcp.ResourceCapabilities{Subscribe: true}
		options.SubscribeHandler, options.UnsubscribeHandler = connection.subscribe, connection.unsubscribe
	}
	connection.mcp = mcp.NewServer(s.implementation(), options)
	for _, t := range tools {
		connection.mcp.AddTool(&mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.Parameters, OutputSchema: t.Result,
		}, connection.call)
	}
	if readable {
		connection.addResources()
	}
	return connection.mcp
}

func has(tools []agenttool.Tool, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// connection is a client and for whom it acts.
type connection struct {
	server *Server
	caller agenttool.Caller
	mcp    *mcp.Server

	mu         sync.Mutex
	subscribed map[string]string // URI by namespace
}

// call runs a tool.
func (c *connection) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	result, err := c.server.options.Tools.Call(ctx, c.caller, r.Params.Name, r.Params.Arguments)
	if err != nil {
		return c.refusal(ctx, r.Params.Name, err), nil
	}
	text := result.Text
	if text == "" {
		text = string(result.Data)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: result.Data,
	}, nil
}

// refusal is an error as the model gets to see it.
func (c *connection) refusal(ctx context.Context, tool string, err error) *mcp.CallToolResult {
	refused, ok := errors.AsType[*sessile.Error](err)
	if !ok || refused.Code == sessile.CodeInternal {
		if ctx.Err() == nil {
			c.server.options.Logger.Error("a tool failed", "tool", tool, "error", err)
		}
		refused = sessile.Errorf(sessile.CodeInternal, "something went wrong inside the server")
	}
	answer := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: refused.Message}}}
	if refused.Details != nil {
		if details, err := json.Marshal(refused.Details); err == nil {
			answer.StructuredContent = jsontext.Value(details)
		}
	}
	return answer
}
