package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// DefaultURL is where a server listens that was told nothing else.
const DefaultURL = "http://127.0.0.1:7474"

// Defaults of [Options].
const (
	DefaultRetries         = 2
	DefaultMaxAnswerBytes  = 64 << 20
	DefaultMaxRetryWait    = 5 * time.Second
	defaultFirstRetryDelay = 100 * time.Millisecond
)

// Options tell a client where its server is and how to talk to it. The zero value asks the server at [DefaultURL].
type Options struct {
	// URL is where the server listens, http or https; a path in it stands before every route. Default [DefaultURL].
	URL string
	// SocketPath is the Unix socket of a server on this machine, in place of a URL; default none.
	SocketPath string
	// APIKey is sent as x-api-key; default none.
	APIKey string
	// AccountID is sent as x-account-id. A server does not choose the account by it (spec/governed-state.md, section 8);
	// something on the way may. Default none.
	AccountID string
	// UserAgent is sent as such; default sessile-client.
	UserAgent string

	// HTTPClient sends the requests; default one of its own without a time limit, since a turn takes as long as its
	// model. Redirects are never followed: they would carry the key elsewhere. It does not go together with SocketPath.
	HTTPClient *http.Client

	// Retries is how often a request is tried again where that is safe; default [DefaultRetries], negative for never.
	Retries int
	// MaxRetryWait bounds one wait before a further try, whatever the server asks for; default [DefaultMaxRetryWait].
	MaxRetryWait time.Duration
	// MaxAnswerBytes bounds the body of an answer; default [DefaultMaxAnswerBytes].
	MaxAnswerBytes int64
	// Random gives numbers from 0 to 1, exclusive, that spread further tries; default math/rand. It must be safe for
	// concurrent use.
	Random func() float64

	// OnData hears the data member of every successful answer, byte for byte, before it is decoded; default nobody. It
	// must be safe for concurrent use, may keep the text and must not change it.
	OnData func(data jsontext.Value)
}

// Client talks to one server. It is safe for concurrent use.
type Client struct {
	options Options
	base    string // without a slash at its end
	header  http.Header
	http    *http.Client
	owned   bool // the HTTP client is ours
}

// New makes a client. It does no IO: a server that is not there is noticed by the first request.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	base, err := baseOf(o)
	if err != nil {
		return nil, err
	}
	c := &Client{options: o, base: base, header: http.Header{"User-Agent": {o.UserAgent}, "Accept": {"application/json"}}}
	if err := c.setHeader("X-Api-Key", o.APIKey); err != nil {
		return nil, err
	}
	if err := c.setHeader("X-Account-Id", o.AccountID); err != nil {
		return nil, err
	}
	switch {
	case o.HTTPClient == nil:
		c.http, c.owned = &http.Client{Transport: newTransport(o.SocketPath)}, true
	case o.SocketPath != "":
		return nil, errors.New("client: a socket path and an HTTP client do not go together")
	default:
		own := *o.HTTPClient
		c.http = &own
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

func (o Options) withDefaults() Options {
	if o.UserAgent == "" {
		o.UserAgent = "sessile-client"
	}
	if o.Retries == 0 {
		o.Retries = DefaultRetries
	}
	if o.MaxRetryWait <= 0 {
		o.MaxRetryWait = DefaultMaxRetryWait
	}
	if o.MaxAnswerBytes <= 0 {
		o.MaxAnswerBytes = DefaultMaxAnswerBytes
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return o
}

// baseOf checks the URL and returns what stands before every path.
func baseOf(o Options) (string, error) {
	if o.SocketPath != "" {
		if o.URL != "" {
			return "", errors.New("client: a URL and a socket path do not go together")
		}
		return "http://localhost", nil
	}
	if o.URL == "" {
		return DefaultURL, nil
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Opaque != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("client: the URL must be like %s", DefaultURL)
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", errors.New("client: the URL cannot have a user, a query or a fragment; a key goes into APIKey")
	}
	return strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/"), nil
}

// setHeader keeps a header for all requests. The error does not repeat the text, which may be a key.
func (c *Client) setHeader(name, text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("client: the text for the header %s holds a line end or another control character", strings.ToLower(name))
	}
	if text != "" {
		c.header.Set(name, text)
	}
	return nil
}

func newTransport(socket string) *http.Transport {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       60 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	if socket != "" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	}
	return transport
}

// ForAccount is the same client with another account id; "" is none. Both use the same connections.
func (c *Client) ForAccount(accountID string) (*Client, error) {
	other := *c
	other.header = c.header.Clone()
	other.header.Del("X-Account-Id")
	return &other, other.setHeader("X-Account-Id", accountID)
}

// Close gives idle connections back, unless the HTTP client is the caller's. It may be called more than once.
func (c *Client) Close() {
	if c.owned {
		c.http.CloseIdleConnections()
	}
}
