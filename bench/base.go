package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
	"github.com/sessile-dev/sessile/sqlite"
)

// value makes the n-th distinct JSON text of 1 KB.
func value(n int64) string {
	head := fmt.Sprintf(`"%d `, n)
	return head + strings.Repeat("x", 1023-len(head)) + `"`
}

// The statements of the raw baselines: what a put costs on the product's own tables, and nothing else.
const (
	sqlRawAppend = `INSERT INTO mutation (seq, branch, slot, on_line, present, kind, status, safety, size, created_at, value) VALUES (?, 1, ?, 1, 1, 1, 1, 0, 1050, 0, ?)`
	sqlRawHead   = `INSERT INTO visible (branch, slot, seq, own) VALUES (1, ?, ?, 1) ON CONFLICT (branch, slot) DO UPDATE SET seq = excluded.seq`
	sqlRawJoin   = `SELECT v.slot, m.seq, m.value FROM visible v JOIN mutation m ON m.seq = v.seq WHERE v.branch = 1 AND v.slot < 1000`
)

// raw is a database with the product's schema that is written to without the product.
type raw struct {
	conn *sqliteconn.Conn
	seq  int64
}

func openRaw(ctx context.Context, dir string) (*raw, error) {
	path := filepath.Join(dir, "raw.db")
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	conn, err := sqliteconn.Open(path, sqliteconn.Options{CacheKiB: 64 << 10})
	if err != nil {
		return nil, err
	}
	level := int64(0)
	if _, err := conn.One("PRAGMA synchronous", func(r *sqliteconn.Rows) { level = r.Int64(0) }); err != nil || level != 2 {
		return nil, fmt.Errorf("PRAGMA synchronous is %d, want 2: %w", level, err)
	}
	r := &raw{conn: conn}
	return r, r.batch(1000) // the slots that the join reads
}

// batch puts n values in one transaction.
func (r *raw) batch(n int) error {
	if err := r.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for range n {
		r.seq++
		slot := r.seq % slots
		if err := r.conn.Exec(sqlRawAppend, r.seq, slot, value(r.seq)); err != nil {
			return err
		}
		if err := r.conn.Exec(sqlRawHead, slot, r.seq); err != nil {
			return err
		}
	}
	return r.conn.Exec("COMMIT")
}

// groupCommit is B1: puts a second in batches of 64.
func (r *raw) groupCommit(ctx context.Context, span time.Duration) (float64, error) {
	l, err := repeat(ctx, 1, span, func(int) (func(int) error, func(), error) {
		return func(int) error { return r.batch(64) }, func() {}, nil
	})
	return 64 * l.perSecond, err
}

// single is B4: how long one put takes.
func (r *raw) single(ctx context.Context, span time.Duration) (time.Duration, error) {
	l, err := repeat(ctx, 1, span, func(int) (func(int) error, func(), error) {
		return func(int) error { return r.batch(1) }, func() {}, nil
	})
	return l.p50, err
}

// join is how long it takes to read 1,000 heads.
func (r *raw) join(ctx context.Context, span time.Duration) (time.Duration, error) {
	l, err := repeat(ctx, 1, span, func(int) (func(int) error, func(), error) {
		return func(int) error {
			n := 0
			rows := r.conn.Query(sqlRawJoin)
			for rows.Next() {
				n += len(rows.Bytes(2))
			}
			if n < 1000*1000 {
				return fmt.Errorf("the join read %d bytes", n)
			}
			return rows.Close()
		}, func() {}, nil
	})
	return l.p50, err
}

// bare is B2: a handler that answers the bytes it is given.
type bare struct {
	server *http.Server
	addr   string
}

func serve(handler http.Handler) (*http.Server, string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return server, listener.Addr().String(), nil
}

func startBare(body []byte) (*bare, error) {
	server, addr, err := serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
	return &bare{server, addr}, err
}
