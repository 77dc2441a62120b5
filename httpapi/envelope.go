package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// reply is a finished answer, or one that comes bit by bit.
type reply struct {
	status      int
	contentType string // "" is application/json
	body        []byte
	stream      func(http.ResponseWriter) error // the error is for the log
}

// write sends the answer. An error of the connection is nobody's business any more.
func (a reply) write(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = typeJSON
	if a.contentType != "" {
		h.Set("Content-Type", a.contentType)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// Headers that every answer carries; nobody changes them.
var (
	typeJSON = []string{"application/json"}
	noStore  = []string{"no-store"}
	noSniff  = []string{"nosniff"}
)

// envelope is {"data": …}, for paged lists with meta.
type envelope struct {
	Data any   `json:"data"`
	Meta *meta `json:"meta,omitzero"`
}

// meta describes a page of a list (spec/governed-state.md, section 6).
type meta struct {
	Total     int    `json:"total"`
	Limit     int    `json:"limit"`
	Offset    int    `json:"offset"`
	HasMore   bool   `json:"has_more"`
	SortBy    string `json:"sort_by"`
	SortOrder string `json:"sort_order"`
}

func metaOf(p sessile.Page, total int) *meta {
	order := "asc"
	if p.Descending {
		order = "desc"
	}
	return &meta{
		Total: total, Limit: p.Limit, Offset: p.Offset, HasMore: p.Offset+p.Limit < total,
		SortBy: p.SortBy, SortOrder: order,
	}
}

// encode writes JSON. A text that is not valid UTF-8, as a model may have written, is repaired.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

// dataReply answers with one object.
func dataReply(status int, data any) (reply, error) {
	body, err := encode(envelope{Data: data})
	return reply{status: status, body: body}, err
}

// pageReply answers with a page of a list.
func pageReply(items any, p sessile.Page, total int) (reply, error) {
	body, err := encode(envelope{Data: items, Meta: metaOf(p, total)})
	return reply{status: http.StatusOK, body: body}, err
}

// rawPageReply answers with a page of a list that was appended by hand.
func rawPageReply(items []byte, p sessile.Page, total int) (reply, error) {
	paging, err := encode(metaOf(p, total))
	body := make([]byte, 0, len(items)+len(paging)+17)
	body = append(body, `{"data":`...)
	body = append(body, items...)
	body = append(body, `,"meta":`...)
	body = append(body, paging...)
	return reply{status: http.StatusOK, body: append(body, '}')}, err
}

// rawReply answers with JSON text that was appended by hand.
func rawReply(status int, data []byte) (reply, error) {
	return closeData(status, append(openData(len(data)), data...))
}

// openData begins a body to which about so many bytes of data will be appended, and closeData ends it: large values are
// copied once.
func openData(size int) []byte { return append(make([]byte, 0, size+16), `{"data":`...) }

func closeData(status int, body []byte) (reply, error) {
	return reply{status: status, body: append(body, '}')}, nil
}

type errorEnvelope struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    sessile.Code `json:"code"`
	Message string       `json:"message"`
	Details any          `json:"details,omitzero"`
}

// publicError is what the outside learns of an error. What carries no code, or none that the table of statuses knows,
// tells nothing.
func publicError(err error) errorBody {
	if e, ok := errors.AsType[*sessile.Error](err); ok && e.Code != sessile.CodeInternal && statuses[e.Code] != 0 {
		return errorBody{Code: e.Code, Message: e.Message, Details: e.Details}
	}
	return errorBody{Code: sessile.CodeInternal, Message: "something went wrong inside the server"}
}

// statusError is an error whose status is not the one of its code.
type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

// errorReply renders an error.
func (h *Handler) errorReply(c *call, err error) reply {
	body := publicError(err)
	status := statuses[body.Code]
	if s, ok := errors.AsType[*statusError](err); ok {
		status = s.status
	}
	if body.Code == sessile.CodeServerBusy {
		c.header.Set("Retry-After", "1")
	}
	text, encodeErr := encode(errorEnvelope{body})
	if encodeErr != nil {
		h.log.LogAttrs(c.ctx, slog.LevelError, "details of an error cannot be encoded",
			slog.String("request_id", c.requestID), slog.String("code", string(body.Code)), slog.Any("error", encodeErr))
		body.Details = nil
		text, _ = encode(errorEnvelope{body})
	}
	return reply{status: status, body: text}
}
