package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/auth"
	"github.com/sessile-dev/sessile/config"
	"github.com/sessile-dev/sessile/mcpserver"
	"github.com/sessile-dev/sessile/sqlite"
)

// mcpCommand is sessile mcp.
type mcpCommand struct {
	Session   string `placeholder:"KEY" help:"Key of the session that the tools act for, such as main. [SESSILE_SESSION_KEY]"`
	Channel   string `placeholder:"NAME" help:"Live route of the caller."`
	Sandboxed bool   `help:"The caller is sandboxed: it sees less of other sessions."`
	URL       string `name:"url" placeholder:"URL" help:"Server to work on. [SESSILE_URL]"`
	DB        string `name:"db" placeholder:"FILE" help:"Database to work on; the one of the user's data directory by default. A server that owns it is asked instead."`
	APIKey    string `name:"api-key" placeholder:"KEY" help:"API key, if the server asks for one. [SESSILE_API_KEY]"`
	Config    string `placeholder:"FILE" help:"Configuration file, for a database. [SESSILE_CONFIG]"`
}

// Run serves one client over standard input and output until it leaves.
func (c *mcpCommand) Run(ctx context.Context, to streams) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.Session == "" {
		c.Session = os.Getenv(envSessionKey)
	}
	if c.APIKey == "" {
		c.APIKey = os.Getenv(envAPIKey)
	}
	if c.DB != "" && c.URL != "" {
		return &usageError{"--db and --url do not go together", ""}
	}
	if c.URL == "" && c.DB == "" {
		c.URL = os.Getenv(envURL)
	}
	transport := &mcp.IOTransport{Reader: io.NopCloser(to.in), Writer: keepOpen{to.out}}
	if c.URL != "" {
		return c.relay(ctx, c.URL, nil, transport)
	}
	return c.serveFile(ctx, to, transport)
}

// keepOpen is standard output, which is not the protocol's to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// serveFile works on a database: it owns it and lets others share it through the socket beside it, or asks the process
// that owns it.
func (c *mcpCommand) serveFile(ctx context.Context, to streams, transport mcp.Transport) error {
	flags := map[string]string{}
	if c.DB != "" {
		flags["db"] = c.DB
	}
	if c.Config != "" {
		flags["config"] = c.Config
	}
	settings, err := config.Load(config.Inputs{Flags: flags})
	if err != nil {
		return err
	}
	accounts, err := newAuthenticator(settings)
	if err != nil {
		return err
	}
	log := newLogger(to.err, settings.Log)
	store, _, err := openStore(ctx, settings, log)
	if locked, ok := errors.AsType[*sqlite.LockedError](err); ok && locked.Socket != "" {
		socket := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", locked.Socket)
		}}
		return c.relay(ctx, "http://localhost", socket, transport)
	}
	if err != nil {
		return err
	}
	services, err := wire(ctx, store, settings, accounts, log)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	caller := agenttool.Caller{Account: auth.DefaultAccount, Sandboxed: c.Sandboxed, Channel: c.Channel}
	if c.Session != "" {
		caller.SessionKey = &c.Session
	}
	serving, done := context.WithCancel(ctx)
	defer done()
	served := make(chan error, 1)
	err = listenAndServe(serving, server{
		handler: services.handler, socket: store.SocketPath(), log: log, stopping: services.mcp.Close,
		background: services.background(),
		ready: func(net.Addr) {
			go func() {
				served <- services.mcp.Serve(serving, caller, transport)
				done()
			}()
		},
	})
	return errors.Join(<-served, err, store.Close())
}

// relay passes everything on to a server.
func (c *mcpCommand) relay(ctx context.Context, base string, through http.RoundTripper, transport mcp.Transport) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return &usageError{"the URL must be like http://127.0.0.1:7474", ""}
	}
	if through == nil {
		through = http.DefaultTransport
	}
	header := http.Header{}
	for name, value := range map[string]string{
		mcpserver.HeaderSession: c.Session, mcpserver.HeaderChannel: c.Channel, "X-Api-Key": c.APIKey,
	} {
		if value != "" {
			header.Set(name, value)
		}
	}
	if c.Sandboxed {
		header.Set(mcpserver.HeaderSandboxed, "true")
	}
	err = mcpserver.Relay(ctx, mcpserver.RelayOptions{
		Endpoint:   strings.TrimRight(u.String(), "/") + "/mcp",
		HTTPClient: &http.Client{Transport: withHeader{through, header}},
		Version:    buildVersion().version,
	}, transport)
	if err != nil {
		return &reachError{fmt.Errorf("the server does not serve this client: %w", err)}
	}
	return nil
}

// withHeader adds the headers of a caller to every request.
type withHeader struct {
	through http.RoundTripper
	header  http.Header
}

func (t withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range t.header {
		r.Header[name] = values
	}
	return t.through.RoundTrip(r)
}
