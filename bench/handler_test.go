package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answer takes an answer and keeps its status.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }
func (a *answer) WriteHeader(status int)      { a.status = status }

// benchmarkHandler measures the handler alone, without sockets.
func benchmarkHandler(b *testing.B, newRequest func(bench *bench, i int) *http.Request) {
	ground, err := newBench(b.Context(), b.TempDir(), time.Second)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(ground.close)
	handler := ground.server.Handler
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		a := &answer{header: http.Header{}}
		request := newRequest(ground, i)
		request.Host = "localhost"
		handler.ServeHTTP(a, request)
		if a.status != http.StatusOK {
			b.Fatalf("status %d", a.status)
		}
		i++
	}
}

func BenchmarkReadHead(b *testing.B) {
	benchmarkHandler(b, func(ground *bench, i int) *http.Request {
		return httptest.NewRequest(http.MethodGet, ground.headPath(i%256), nil)
	})
}

func BenchmarkWriteValue(b *testing.B) {
	benchmarkHandler(b, func(ground *bench, i int) *http.Request {
		body := fmt.Sprintf(`{"branch_id":"main","namespace":"bench","slot":"slot-%d","value":%s}`, i%slots, value(int64(i)))
		request := httptest.NewRequest(http.MethodPost, "/sessions/"+ground.load+"/state/values/write", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		return request
	})
}

// BenchmarkNothing is what the request itself costs in the others.
func BenchmarkNothing(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = httptest.NewRequest(http.MethodGet, "/sessions/ses_06h2t7c02dvd76vhelo13f5ohs/state/resolve?branch_id=main&namespace=bench&slot=slot-1", nil)
	}
}
