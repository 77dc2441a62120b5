// Package apitest holds what tests see of the HTTP interface against its OpenAPI document.
package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile/api"
)

// Document is the parsed document. Callers must not change it.
var Document = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := api.JSON()
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

// Check passes requests on to a handler and fails the test when an answer is not as the document says: another status, an
// error code that the operation does not list, a body or an event that its schema does not allow. A request that was
// answered with 2xx must be one that the document allows, too. The handler sees the same *http.Request, so that its
// Pattern can be read afterwards. It is safe for concurrent use, and must not be asked once the test has ended.
func Check(t testing.TB, handler http.Handler) http.Handler {
	t.Helper()
	doc, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := exchange{doc: doc, method: r.Method, path: r.URL.EscapedPath(), request: r.Clone(r.Context())}
		if r.Body != nil {
			r.Body = &readCopy{r.Body, &seen.asked}
		}
		handler.ServeHTTP(&writeCopy{ResponseWriter: w, seen: &seen}, r)
		seen.header = w.Header().Clone()
		for _, problem := range seen.problems() {
			t.Errorf("%s (%s)", problem, r.URL)
		}
	})
}

// exchange is one request with its answer.
type exchange struct {
	doc          *openapi3.T
	method, path string
	request      *http.Request
	asked        bytes.Buffer
	status       int
	header       http.Header
	answered     bytes.Buffer
}

type readCopy struct {
	io.ReadCloser
	copy *bytes.Buffer
}

func (c *readCopy) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.copy.Write(b[:n])
	return n, err
}

type writeCopy struct {
	http.ResponseWriter
	seen *exchange
}

// Unwrap lets http.ResponseController find what the writer can do.
func (c *writeCopy) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *writeCopy) WriteHeader(status int) {
	if c.seen.status == 0 {
		c.seen.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *writeCopy) Write(b []byte) (int, error) {
	if c.seen.status == 0 {
		c.seen.status = http.StatusOK
	}
	c.seen.answered.Write(b)
	return c.ResponseWriter.Write(b)
}

// problems tells what the document does not allow.
func (x *exchange) problems() []string {
	path, item, params := find(x.doc, x.path)
	method := x.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if item == nil || item.GetOperation(method) == nil {
		return x.outside()
	}
	route := &routers.Route{Spec: x.doc, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)}
	request := x.request.Clone(x.request.Context())
	request.Body = io.NopCloser(bytes.NewReader(x.asked.Bytes()))
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			MultiError: true, SkipSettingDefaults: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	}
	name := method + " " + path
	var found []string
	if x.status < 300 {
		if err := openapi3filter.ValidateRequest(request.Context(), input); err != nil {
			found = append(found, explain(name+": the request was accepted, but", err)...)
		}
	}
	found = append(found, x.answer(name, input)...)
	if x.status >= 400 && x.method != http.MethodHead {
		if code := x.code(); !slices.Contains(Codes(route.Operation, x.status), code) {
			found = append(found, fmt.Sprintf("%s: the document does not list the code %q for the status %d", name, code, x.status))
		}
	}
	return found
}

// answer holds the answer against the operation.
func (x *exchange) answer(name string, request *openapi3filter.RequestValidationInput) []string {
	name += ": the answer " + strconv.Itoa(x.status)
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request, Status: x.status, Header: x.header,
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true},
	}
	contentType := x.header.Get("Content-Type")
	if strings.HasPrefix(contentType, "application/json") {
		input.SetBodyBytes(x.answered.Bytes())
		return explain(name, openapi3filter.ValidateResponse(x.request.Context(), input))
	}
	input.Options.ExcludeResponseBody = true
	if err := openapi3filter.ValidateResponse(x.request.Context(), input); err != nil {
		return explain(name, err)
	}
	media := request.Route.Operation.Responses.Status(x.status).Value.Content.Get(contentType)
	if media == nil {
		return []string{name + ": the document does not know the content type " + contentType}
	}
	if events, ok := media.Extensions["x-events"]; ok {
		return x.events(name, events)
	}
	return nil
}

// events holds the events of a stream against their schemas.
func (x *exchange) events(name string, described any) []string {
	schemas, _ := described.(map[string]any)
	var found []string
	for event := range strings.SplitSeq(strings.TrimSuffix(x.answered.String(), "\n\n"), "\n\n") {
		first, rest, _ := strings.Cut(event, "\n")
		kind, isEvent := strings.CutPrefix(first, "event: ")
		data, isData := strings.CutPrefix(rest, "data: ")
		reference, _ := schemas[kind].(map[string]any)
		target, _ := reference["$ref"].(string)
		schema := x.doc.Components.Schemas[strings.TrimPrefix(target, "#/components/schemas/")]
		if !isEvent || !isData || strings.Contains(data, "\n") || schema == nil {
			found = append(found, fmt.Sprintf("%s: this is no event of the document: %q", name, event))
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(data), &value); err != nil {
			found = append(found, fmt.Sprintf("%s: event %s: %v", name, kind, err))
			continue
		}
		found = append(found, explain(name+": event "+kind, schema.Value.VisitJSON(value, openapi3.MultiErrors()))...)
	}
	return found
}

// outside checks the answer to a request for which there is no operation: an unknown path, another method, or a route
// that a switch has taken away.
func (x *exchange) outside() []string {
	allowed := map[int][]string{
		http.StatusNotFound:         {"not_found"},
		http.StatusMethodNotAllowed: {"method_not_allowed"},
		http.StatusForbidden:        {"host_not_allowed", "origin_not_allowed"},
	}
	name := x.method + " outside the document"
	if x.method == http.MethodHead {
		return nil
	}
	if code := x.code(); !slices.Contains(allowed[x.status], code) {
		return []string{fmt.Sprintf("%s: the answer %d with the code %q", name, x.status, code)}
	}
	var value any
	if err := json.Unmarshal(x.answered.Bytes(), &value); err != nil {
		return []string{name + ": " + err.Error()}
	}
	return explain(name, x.doc.Components.Schemas["ErrorAnswer"].Value.VisitJSON(value, openapi3.MultiErrors()))
}

// code is the error code of the answer.
func (x *exchange) code() string {
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(x.answered.Bytes(), &answer)
	return answer.Error.Code
}

// explain lists what is wrong, with the JSON pointer of each finding.
func explain(name string, err error) []string {
	if err == nil {
		return nil
	}
	var many openapi3.MultiError
	if errors.As(err, &many) {
		var found []string
		for _, one := range many {
			found = append(found, explain(name, one)...)
		}
		return found
	}
	if one, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		return []string{fmt.Sprintf("%s: at /%s: %s", name, strings.Join(one.JSONPointer(), "/"), one.Reason)}
	}
	return []string{name + ": " + err.Error()}
}
