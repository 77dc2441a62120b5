package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// request is one call of a route.
type request struct {
	method string
	path   []string // its parts, not escaped
	query  url.Values
	header http.Header // further ones
	body   any         // nil for none

	problem error // why it is not worth sending
}

func get(path ...string) request { return request{method: http.MethodGet, path: path} }

func post(body any, path ...string) request {
	return request{method: http.MethodPost, path: path, body: body}
}

// with adds a query parameter unless it is empty.
func (r request) with(name, text string) request {
	if text == "" {
		return r
	}
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set(name, text)
	return r
}

// unless refuses the request here when there is a problem.
func (r request) unless(problem error) request {
	if r.problem == nil {
		r.problem = problem
	}
	return r
}

// call sends a request and decodes the data of its answer.
func call[T any](ctx context.Context, c *Client, r request) (result T, err error) {
	answer, err := c.send(ctx, r)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(answer.Data, &result, lenient()); err != nil {
		return result, c.strange(fmt.Errorf("its answer does not fit: %w", err))
	}
	return result, nil
}

// callPage sends a request for a page of a list.
func callPage[T any](ctx context.Context, c *Client, r request) (page Page[T], err error) {
	answer, err := c.send(ctx, r)
	if err != nil {
		return page, err
	}
	if err := json.Unmarshal(answer.Data, &page.Items, lenient()); err != nil {
		return page, c.strange(fmt.Errorf("its answer does not fit: %w", err))
	}
	if answer.Meta != nil {
		page.Meta = *answer.Meta
	}
	return page, nil
}

// lenient accepts what a stored value may be: it was judged by the server when it was written.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// encode writes a body. Values in it stay as they are, but for blanks.
func encode(body any) ([]byte, error) {
	return json.Marshal(body, jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
}

// send sends a request, again where that is safe, and returns an answer that holds data.
func (c *Client) send(ctx context.Context, r request) (*envelope, error) {
	target, body, err := c.prepare(r)
	if err != nil {
		return nil, err
	}
	return again(ctx, c, r.method, func() (*envelope, time.Duration, error) {
		return c.try(ctx, r, target, body)
	})
}

// prepare writes the URL and the body of a request that is worth sending.
func (c *Client) prepare(r request) (target string, body []byte, err error) {
	if r.problem != nil {
		return "", nil, r.problem
	}
	path, err := targetOf(r.path)
	if err != nil {
		return "", nil, err
	}
	target = c.base + path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	if r.body != nil {
		if body, err = encode(r.body); err != nil {
			return "", nil, fmt.Errorf("client: the request cannot be written as JSON: %w", err)
		}
	}
	return target, body, nil
}

// again calls once until it works, as often as is safe. What once returns beside the result is how long the server asks to
// wait before the next time.
func again[T any](ctx context.Context, c *Client, method string, once func() (T, time.Duration, error)) (T, error) {
	for try := 0; ; try++ {
		result, pause, err := once()
		if err == nil || try >= c.options.Retries || !worthRetrying(method, err) {
			return result, err
		}
		if err := sleep(ctx, c.delay(try, pause)); err != nil {
			return result, err
		}
	}
}

// worthRetrying reports whether a request may be sent again without doing anything twice.
func worthRetrying(method string, err error) bool {
	if busy(err) {
		return true
	}
	if _, large := errors.AsType[*LargeAnswerError](err); large || method != http.MethodGet {
		return false
	}
	unreachable, ok := errors.AsType[*UnreachableError](err)
	if !ok {
		return false
	}
	_, foreign := errors.AsType[*foreignError](unreachable.Err)
	return !foreign
}

// delay is how long to wait before a further try: what the server asked for, else between half of and all of a time
// that doubles with each.
func (c *Client) delay(try int, pause time.Duration) time.Duration {
	if pause == 0 {
		pause = defaultFirstRetryDelay << min(try, 10)
		pause = pause/2 + time.Duration(c.options.Random()*float64(pause/2))
	} else {
		pause += time.Duration(c.options.Random() * float64(defaultFirstRetryDelay))
	}
	return min(pause, c.options.MaxRetryWait)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// try sends a request once. pause is how long the server asks to wait before the next.
func (c *Client) try(ctx context.Context, r request, target string, body []byte) (answer *envelope, pause time.Duration, err error) {
	response, err := c.do(ctx, r, target, body, "application/json")
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	answer, err = c.read(ctx, response)
	return answer, retryAfter(response), err
}

// do sends a request and returns an answer whose body is still to be read.
func (c *Client) do(ctx context.Context, asked request, target string, body []byte, accept string) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, asked.method, target, content)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	maps.Copy(r.Header, c.header)
	maps.Copy(r.Header, asked.header)
	r.Header.Set("Accept", accept)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	return response, nil
}

// read reads the body of an answer.
func (c *Client) read(ctx context.Context, response *http.Response) (*envelope, error) {
	text, err := readAtMost(response, c.options.MaxAnswerBytes)
	if _, large := errors.AsType[*LargeAnswerError](err); large {
		return nil, err
	}
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	return c.open(response, text)
}

func readAtMost(response *http.Response, limit int64) ([]byte, error) {
	if response.ContentLength > limit {
		return nil, &LargeAnswerError{limit}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, &LargeAnswerError{limit}
	}
	return text, err
}

// open tells results from errors, and both from what is no answer of ours.
func (c *Client) open(response *http.Response, text []byte) (*envelope, error) {
	var answer envelope
	if err := json.Unmarshal(text, &answer, lenient()); err != nil || answer.Data == nil && answer.Error == nil {
		return nil, c.strange(fmt.Errorf("what answers there is something else (status %d, content type %q)",
			response.StatusCode, response.Header.Get("Content-Type")))
	}
	if answer.Error != nil {
		return nil, &Error{
			Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id"), refusal: answer.Error.decode(),
		}
	}
	if c.options.OnData != nil {
		c.options.OnData(answer.Data)
	}
	return &answer, nil
}

// foreignError is an answer that is none of Sessile's.
type foreignError struct{ error }

func (c *Client) strange(err error) error {
	return &UnreachableError{Where: c.where(), Err: &foreignError{err}}
}

// broken is a connection that could not be made or broke, unless that was the caller's wish.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // it repeats the URL
	}
	return &UnreachableError{Where: c.where(), Err: err}
}

func (c *Client) where() string {
	if c.options.SocketPath != "" {
		return c.options.SocketPath
	}
	return c.base
}

// retryAfter reads a number of seconds; 0 when there is none.
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
