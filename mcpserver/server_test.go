package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/internal/kvcases"
	"github.com/sessile-dev/sessile/mcpserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newServer(s *kvcases.System) *mcpserver.Server {
	return mcpserver.New(mcpserver.Options{Tools: s.Tools, Entries: s.Entries, Normalize: s.Keys.Normalize, Version: "1.2.3"})
}

// wire serves a system over HTTP; the account is what the header X-Account says.
func wire(t *testing.T, s *kvcases.System) *httptest.Server {
	t.Helper()
	server := newServer(s)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account := r.Header.Get("X-Account")
		if account == "" {
			account = kvcases.Account
		}
		server.ServeMCP(w, r, account)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(server.Close)
	return web
}

// headers adds headers to every request.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, web *httptest.Server, h headers, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: web.URL, HTTPClient: &http.Client{Transport: h},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func outcome(t *testing.T, session *mcp.ClientSession, arguments jsontext.Value) kvcases.Outcome {
	t.Helper()
	result, err := session.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: "session_state", Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if !result.IsError {
		whole, compact := jsontext.Value(structured), jsontext.Value(text)
		if whole.Canonicalize() != nil || compact.Canonicalize() != nil || string(whole) != string(compact) {
			t.Errorf("the text %.200s is not the structured content %.200s", text, structured)
		}
		return kvcases.Outcome{Result: jsontext.Value(text)}
	}
	var faults agenttool.Faults
	if strings.Contains(text, "was not run") {
		if err := json.Unmarshal(structured, &faults); err != nil {
			t.Fatal(err)
		}
		return kvcases.Outcome{Faults: &faults}
	}
	return kvcases.Outcome{Err: text}
}

// The cases of the sheet over streamable HTTP.
func TestSheetCases(t *testing.T) {
	kvcases.Run(t, func(t *testing.T, s *kvcases.System) kvcases.Call {
		web := wire(t, s)
		sessions := map[string]*mcp.ClientSession{}
		return func(t *testing.T, key string, arguments jsontext.Value) kvcases.Outcome {
			if sessions[key] == nil {
				sessions[key] = dial(t, web, headers{"X-Sessile-Session": key}, nil)
			}
			return outcome(t, sessions[key], arguments)
		}
	})
}

// relayed is a client of a relay to a system.
func relayed(t *testing.T, web *httptest.Server, key string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.Relay(context.WithoutCancel(t.Context()), mcpserver.RelayOptions{
			Endpoint: web.URL, HTTPClient: &http.Client{Transport: headers{"X-Sessile-Session": key}}, Version: "1.2.3",
		}, far)
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-ended; err != nil {
			t.Errorf("the relay ended with %v", err)
		}
	})
	return session
}

// And through a relay.
func TestSheetCasesRelayed(t *testing.T) {
	kvcases.Run(t, func(t *testing.T, s *kvcases.System) kvcases.Call {
		web := wire(t, s)
		sessions := map[string]*mcp.ClientSession{}
		return func(t *testing.T, key string, arguments jsontext.Value) kvcases.Outcome {
			if sessions[key] == nil {
				sessions[key] = relayed(t, web, key, nil)
			}
			return outcome(t, sessions[key], arguments)
		}
	})
}

const uri = "sessile://session/agent%3Amain%3Amain/my%20notes%2F1"

func set(t *testing.T, session *mcp.ClientSession, namespace, value string) {
	t.Helper()
	arguments, _ := json.Marshal(map[string]string{"operation": "set", "namespace": namespace, "key": "k", "value": value})
	if got := outcome(t, session, arguments); string(got.Result) != `{"ok":true}` {
		t.Fatalf("%+v", got)
	}
}

// State is listed, read and watched as resources, directly and through a relay.
func TestResources(t *testing.T) {
	connect := map[string]func(*testing.T, *httptest.Server, *mcp.ClientOptions) *mcp.ClientSession{
		"http": func(t *testing.T, web *httptest.Server, o *mcp.ClientOptions) *mcp.ClientSession {
			return dial(t, web, headers{"X-Sessile-Session": "main"}, o)
		},
		"relay": func(t *testing.T, web *httptest.Server, o *mcp.ClientOptions) *mcp.ClientSession {
			return relayed(t, web, "main", o)
		},
	}
	for name, connect := range connect {
		t.Run(name, func(t *testing.T) {
			s := kvcases.NewSystem(t)
			web := wire(t, s)
			told := make(chan string, 10)
			session := connect(t, web, &mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
				told <- r.Params.URI
			}})
			set(t, session, "my notes/1", "a")
			set(t, session, "", "b")

			listed, err := session.ListResources(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var uris []string
			for _, r := range listed.Resources {
				uris = append(uris, r.URI)
			}
			if want := []string{"sessile://session/agent%3Amain%3Amain/", uri}; !slices.Equal(uris, want) {
				t.Errorf("listed %q, want %q", uris, want)
			}
			for _, one := range uris {
				read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: one})
				if err != nil {
					t.Fatal(err)
				}
				if text := read.Contents[0].Text; !strings.HasPrefix(text, `{"entries":[{"key":"k","value":"`) || !strings.Contains(text, `"revision":`) {
					t.Errorf("%s reads %s", one, text)
				}
			}
			for _, foreign := range []string{
				"sessile://session/agent%3Amain%3Aother/n", "sessile://session/agent%3Amain%3Amain/__x", "sessile://session/agent%3Amain%3Amain",
				"file:///etc/passwd", "sessile://session/agent%3Amain%3Amain/a/b",
			} {
				if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: foreign}); err == nil {
					t.Errorf("%s can be read", foreign)
				}
				if name == "relay" {
					continue // in its version of the protocol a refusal comes later than the call ends
				}
				if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: foreign}); err == nil {
					t.Errorf("%s can be subscribed to", foreign)
				}
			}

			if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			set(t, session, "other", "c") // nobody asked for that one
			for heard := false; !heard; {
				set(t, session, "my notes/1", "d") // until the subscription, which may come later than its call ends, is there
				select {
				case got := <-told:
					heard = true
					if got != uri {
						t.Errorf("told of %s", got)
					}
				default:
				}
			}
			if err := session.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What another key does to shared state is told too.
func TestSharedStateIsTold(t *testing.T) {
	s := kvcases.NewSystem(t)
	web := wire(t, s)
	told := make(chan string, 1)
	session := dial(t, web, headers{"X-Sessile-Session": "a"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
	})
	set(t, session, "n", "1")
	if err := s.Store.Update(t.Context(), func(tx sessile.Tx) error {
		home, _, err := tx.Home(kvcases.Account, "a")
		if err != nil {
			return err
		}
		return tx.ShareHome(kvcases.Account, "b", home.Row)
	}); err != nil {
		t.Fatal(err)
	}
	if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "sessile://session/a/n"}); err != nil {
		t.Fatal(err)
	}
	set(t, dial(t, web, headers{"X-Sessile-Session": "b"}, nil), "n", "2")
	if got := <-told; got != "sessile://session/a/n" {
		t.Errorf("told of %s", got)
	}
}

// A connection belongs to the account and the session that opened it.
func TestConnectionsAreNotShared(t *testing.T) {
	s := kvcases.NewSystem(t)
	web := wire(t, s)
	session := dial(t, web, headers{"X-Sessile-Session": "a"}, nil)
	for name, h := range map[string]headers{
		"another account": {"X-Account": "other", "X-Sessile-Session": "a"},
		"another session": {"X-Sessile-Session": "b"},
		"no session":      {},
	} {
		h["Mcp-Session-Id"] = session.ID()
		h["Content-Type"], h["Accept"] = "application/json", "application/json, text/event-stream"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := h.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
}

// Without a session there is nothing to read, and the tool says so.
func TestWithoutSession(t *testing.T) {
	session := dial(t, wire(t, kvcases.NewSystem(t)), headers{}, nil)
	if session.InitializeResult().Capabilities.Resources != nil {
		t.Error("resources are offered")
	}
	got := outcome(t, session, jsontext.Value(`{"operation":"list","namespace":"n"}`))
	if got.Err != "missing session context" {
		t.Errorf("%+v", got)
	}
}

// Lists come without parameters from some clients; a relay passes them on all the same.
func TestListsWithoutParameters(t *testing.T) {
	web := wire(t, kvcases.NewSystem(t))
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.Relay(context.WithoutCancel(t.Context()), mcpserver.RelayOptions{
			Endpoint: web.URL, HTTPClient: &http.Client{Transport: headers{"X-Sessile-Session": "main"}},
		}, &mcp.IOTransport{Reader: in, Writer: out})
	}()
	answers := bufio.NewScanner(read)
	say := func(message string, answered bool) {
		if _, err := io.WriteString(write, message+"\n"); err != nil {
			t.Fatal(err)
		}
		if answered && (!answers.Scan() || !strings.Contains(answers.Text(), `"result"`)) {
			t.Errorf("%s: %s", message, answers.Text())
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, true)
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, false)
	for i, method := range []string{"tools/list", "resources/list", "resources/templates/list", "ping"} {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, i+2, method), true)
	}
	_ = write.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
