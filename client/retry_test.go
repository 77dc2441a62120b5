package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// script is a transport that answers what it was told, one after the other.
type script struct {
	answers []func() (*http.Response, error)
	asked   int
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if text, _ := io.ReadAll(r.Body); len(text) == 0 {
			return nil, errors.New("the body is gone")
		}
	}
	answer := s.answers[min(s.asked, len(s.answers)-1)]
	s.asked++
	return answer()
}

func broken() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func says(status int, text string, retryAfter string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		header := http.Header{}
		if retryAfter != "" {
			header.Set("Retry-After", retryAfter)
		}
		return &http.Response{StatusCode: status, Header: header, ContentLength: -1, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
}

// torn is an answer that breaks off.
func torn() (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(`{"data":`), &failing{})
	return &http.Response{StatusCode: 200, ContentLength: -1, Body: io.NopCloser(body)}, nil
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestRetries(t *testing.T) {
	type answers []func() (*http.Response, error)
	read := func(ctx context.Context, c *client.Client) error { _, err := c.Health(ctx); return err }
	write := func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateSession(ctx, client.SessionInput{Title: "x"})
		return err
	}
	stream := func(ctx context.Context, c *client.Client) error {
		_, err := c.RespondStream(ctx, "s", client.RespondRequest{Message: "x"}, ignore)
		return err
	}
	streams := func() (*http.Response, error) {
		response, err := says(200, "event: done\ndata: {}\n\n", "")()
		response.Header.Set("Content-Type", "text/event-stream")
		return response, err
	}
	fine := says(200, `{"data":{}}`, "")
	busy := says(503, `{"error":{"code":"server_busy","message":"m"}}`, "")
	busyFor := func(seconds string) func() (*http.Response, error) {
		return says(503, `{"error":{"code":"server_busy","message":"m"}}`, seconds)
	}
	commitBusy := says(503, `{"error":{"code":"commit_busy","message":"m"}}`, "1")
	missing := says(404, `{"error":{"code":"not_found","message":"m"}}`, "")
	foreign := says(502, "<html>", "1")

	tests := []struct {
		name    string
		call    func(context.Context, *client.Client) error
		retries int
		answers answers
		asked   int
		code    sessile.Code // of the error; internal_error stands for one without a code
		took    time.Duration
	}{
		{"a read that works", read, 0, answers{fine}, 1, "", 0},
		{"a read over a broken connection", read, 0, answers{broken, fine}, 2, "", 75 * time.Millisecond},
		{"a read whose answer breaks off", read, 0, answers{torn, fine}, 2, "", 75 * time.Millisecond},
		{"a read that never works", read, 0, answers{broken}, 3, sessile.CodeInternal, 225 * time.Millisecond},
		{"a read, without retries", read, -1, answers{broken}, 1, sessile.CodeInternal, 0},
		{"a read, with many", read, 6, answers{broken}, 7, sessile.CodeInternal, 75 * 63 * time.Millisecond},
		{"a read of a busy server", read, 0, answers{busy, fine}, 2, "", 75 * time.Millisecond},
		{"a read of a busy server that asks for a second", read, 0, answers{busyFor("1"), fine}, 2, "", 1050 * time.Millisecond},
		{"a read of a busy server that asks for an hour", read, 0, answers{busyFor("3600"), fine}, 2, "", 5 * time.Second},
		{"a read of a busy server that asks for nonsense", read, 0, answers{busyFor("-1"), fine}, 2, "", 75 * time.Millisecond},
		{"a read that is refused", read, 0, answers{missing}, 1, sessile.CodeNotFound, 0},
		{"a read of something else", read, 0, answers{foreign}, 1, sessile.CodeInternal, 0},
		{"a write that works", write, 0, answers{fine}, 1, "", 0},
		{"a write over a broken connection", write, 0, answers{broken, fine}, 1, sessile.CodeInternal, 0},
		{"a write whose answer breaks off", write, 0, answers{torn, fine}, 1, sessile.CodeInternal, 0},
		{"a write to a busy server", write, 0, answers{busy, busy, fine}, 3, "", 225 * time.Millisecond},
		{"a write to a server that stays busy", write, 0, answers{busy}, 3, sessile.CodeServerBusy, 225 * time.Millisecond},
		{"a write whose commit was refused", write, 0, answers{commitBusy, fine}, 1, sessile.CodeCommitBusy, 0},
		{"a stream of a busy server", stream, 0, answers{busyFor("1"), streams}, 2, "", 1050 * time.Millisecond},
		{"a stream over a broken connection", stream, 0, answers{broken, streams}, 1, sessile.CodeInternal, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: test.answers}
				c := newClient(t, client.Options{
					HTTPClient: &http.Client{Transport: s}, Retries: test.retries, Random: func() float64 { return 0.5 },
				})
				start := time.Now()
				err := test.call(t.Context(), c)
				if code := sessile.CodeOf(err); code != test.code {
					t.Errorf("the error is %v", err)
				}
				if s.asked != test.asked {
					t.Errorf("asked %d times, want %d", s.asked, test.asked)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
			})
		})
	}
}

func TestAnEndOfTheContextEndsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, client.Options{HTTPClient: &http.Client{Transport: &script{
			answers: []func() (*http.Response, error){says(503, `{"error":{"code":"server_busy","message":"m"}}`, "4")},
		}}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := c.Health(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}
