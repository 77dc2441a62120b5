package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

// running is a server under test that was started by listenFor.
type running struct {
	address net.Addr
	stop    context.CancelFunc
	ended   chan error
}

func listenFor(t *testing.T, s server) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	ready := make(chan net.Addr, 1)
	s.address = "127.0.0.1:0"
	s.log = slog.New(slog.DiscardHandler)
	s.ready = func(address net.Addr) { ready <- address }
	r := running{stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- listenAndServe(ctx, s) }()
	select {
	case r.address = <-ready:
	case err := <-r.ended:
		t.Fatalf("the server ended: %v", err)
	}
	return r
}

func TestWhatWasAcceptedIsFinished(t *testing.T) {
	defer goleak.VerifyNone(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	background := make(chan struct{})
	r := listenFor(t, server{
		handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(arrived)
			<-release
			_, _ = io.WriteString(w, "done")
		}),
		background: []func(context.Context) error{func(ctx context.Context) error {
			<-ctx.Done()
			close(background)
			return ctx.Err()
		}},
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer := make(chan string, 1)
	go func() {
		response, err := client.Get("http://" + r.address.String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-arrived
	r.stop()
	close(release)
	if got := <-answer; got != "done" {
		t.Errorf("the answer is %q", got)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	<-background
}

func TestSocket(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "s.sock")
	if err := os.WriteFile(path, nil, 0o600); err != nil { // left by a crash
		t.Fatal(err)
	}
	r := listenFor(t, server{socket: path, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !ok {
			t.Error("no local address")
			return
		}
		_, _ = io.WriteString(w, local.Network())
	})})
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
	response, err := client.Get("http://anything/")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || string(body) != "unix" {
		t.Errorf("the answer is %q, %v", body, err)
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestAFailureBehindEndsTheServer(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := listenFor(t, server{
		handler:    http.NotFoundHandler(),
		background: []func(context.Context) error{func(context.Context) error { return io.ErrUnexpectedEOF }},
	})
	if err := <-r.ended; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the server ended with %v", err)
	}
}

func TestAddresses(t *testing.T) {
	tests := []struct {
		address            string
		loopback, wildcard bool
	}{
		{"127.0.0.1:7474", true, false},
		{"127.9.9.9:7474", true, false},
		{"[::1]:7474", true, false},
		{"[::ffff:127.0.0.1]:7474", true, false},
		{"localhost:7474", true, false},
		{":7474", false, true},
		{"0.0.0.0:7474", false, true},
		{"[::]:7474", false, true},
		{"192.0.2.1:7474", false, false},
		{"sessile.example:7474", false, false},
	}
	for _, test := range tests {
		if got := isLoopback(test.address); got != test.loopback {
			t.Errorf("isLoopback(%s) is %v", test.address, got)
		}
		if got := isWildcard(test.address); got != test.wildcard {
			t.Errorf("isWildcard(%s) is %v", test.address, got)
		}
	}
}
