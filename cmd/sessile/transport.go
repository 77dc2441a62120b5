package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/sessile-dev/sessile/httpapi"
)

// inProcess carries requests to a handler of this process, without a connection.
type inProcess struct{ handler http.Handler }

var _ http.RoundTripper = inProcess{}

// RoundTrip has the request answered and keeps the answer in memory.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	// What the handler sees is what a server would have read, come through the socket beside the database.
	asked := r.Clone(httpapi.LocalSocket(r.Context()))
	asked.Host, asked.RequestURI = r.URL.Host, r.URL.RequestURI()
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	answer := &kept{header: http.Header{}}
	t.handler.ServeHTTP(answer, asked)
	if err := asked.Body.Close(); err != nil {
		return nil, err
	}
	if answer.status == 0 { // the handler saw that nobody waits any more
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return nil, errors.New("no answer")
	}
	return &http.Response{
		StatusCode:    answer.status,
		Status:        http.StatusText(answer.status),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        answer.header,
		Body:          io.NopCloser(&answer.body),
		ContentLength: int64(answer.body.Len()),
		Request:       r,
	}, nil
}

// kept is an answer in memory.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *kept) Write(text []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(text)
}
