package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/sessile-dev/sessile/httpapi"
)

// Limits of a connection. There is none on the time of an answer: a turn takes as long as its model.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 64 << 10
)

// Requests that were accepted have drainTime to end by themselves, then abortTime to end because they were told to.
// Together they stay below the ten seconds that supervisors commonly wait before they kill.
const (
	drainTime = 8 * time.Second
	abortTime = time.Second
)

// server is what [listenAndServe] runs.
type server struct {
	handler    http.Handler
	address    string // "" for none
	socket     string // path of the Unix socket, "" for none
	background []func(context.Context) error
	log        *slog.Logger
	ready      func(net.Addr) // called once, when connections are accepted, with the first address
	stopping   func()         // ends streams that last as long as their clients listen; nil for none
}

// listenAndServe serves until the context ends or serving fails. When it returns nothing of it runs any more, except
// handlers that did not heed the end of their context.
func listenAndServe(ctx context.Context, s server) error {
	listeners, err := s.listen(ctx)
	if err != nil {
		return err
	}

	// The work behind outlives ctx: what was accepted is finished first.
	working, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	web := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return working },
		ConnContext:       markLocal,
		// OPTIONS * is answered like every other request, after the same checks.
		DisableGeneralOptionsHandler: true,
	}

	failures := make(chan error, len(listeners)+len(s.background))
	var running sync.WaitGroup
	for _, listener := range listeners {
		running.Go(func() {
			if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				failures <- fmt.Errorf("serving %s: %w", listener.Addr(), err)
			}
		})
	}
	background, stop := context.WithCancel(working)
	defer stop()
	for _, work := range s.background {
		running.Go(func() {
			if err := work(background); err != nil && background.Err() == nil {
				failures <- err
			}
		})
	}
	var first net.Addr
	if len(listeners) > 0 {
		first = listeners[0].Addr()
	}
	s.ready(first)

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-failures:
	}
	if s.stopping != nil {
		running.Go(s.stopping)
	}
	s.drain(web, abort)
	stop()
	running.Wait()
	return failure
}

// drain ends the server: new connections are refused, and what was accepted is finished or, when it takes too long,
// cancelled.
func (s server) drain(web *http.Server, abort func()) {
	patient, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if web.Shutdown(patient) == nil {
		return
	}
	s.log.Warn("requests still run; they are cancelled", "after", drainTime)
	abort()
	hasty, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	if web.Shutdown(hasty) == nil {
		return
	}
	if err := web.Close(); err != nil {
		s.log.Warn("closing connections", "error", err)
	}
}

// listen opens the TCP address and, if there is one, the socket beside the database. Without the socket other programs
// of this machine cannot share the database, which is no reason not to serve.
func (s server) listen(ctx context.Context) ([]net.Listener, error) {
	var open net.ListenConfig
	var listeners []net.Listener
	if s.address != "" {
		tcp, err := open.Listen(ctx, "tcp", s.address)
		if err != nil {
			return nil, fmt.Errorf("listening: %w", err)
		}
		listeners = append(listeners, tcp)
	}
	if s.socket == "" {
		return listeners, nil
	}
	socket, err := listenUnix(ctx, open, s.socket)
	if err != nil {
		s.log.Warn("no socket beside the database", "path", s.socket, "error", err)
		return listeners, nil
	}
	return append(listeners, socket), nil
}

// listenUnix listens on a socket that only this user may use. What a crash left there is removed: whoever owns the
// database owns the path.
func listenUnix(ctx context.Context, open net.ListenConfig, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := open.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// markLocal lets the handler tell connections of the Unix socket from those of the network.
func markLocal(ctx context.Context, connection net.Conn) context.Context {
	if _, ok := connection.(*net.UnixConn); ok {
		return httpapi.LocalSocket(ctx)
	}
	return ctx
}
