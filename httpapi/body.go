package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/sessile-dev/sessile"
)

// firstBodyBuffer bounds what is reserved for a body before any of it arrived.
const firstBodyBuffer = 64 << 10

// bodyTime is how long a body may take to arrive.
const bodyTime = time.Minute

// limitRead bounds how long the body may take, until the function it returns is called: what comes after the body is the
// client's silence, which may last as long as the turn it waits for. Connections that know no deadlines have none.
func (c *call) limitRead() (restore func()) {
	if c.r.ContentLength == 0 {
		return func() {}
	}
	controller := http.NewResponseController(c.w)
	_ = controller.SetReadDeadline(time.Now().Add(bodyTime))
	return func() { _ = controller.SetReadDeadline(time.Time{}) }
}

// readBody reads the body and checks its size, then its content type, as design.md section 5 orders them. An empty body
// has no content type; where it may be left out, c.body stays nil.
func (h *Handler) readBody(c *call, rule bodyRule, limit int64) error {
	if c.r.ContentLength > limit {
		drain(c, limit)
		return tooLarge(limit)
	}
	restore := c.limitRead()
	defer restore()
	body, err := readAtMost(c.r.Body, c.r.ContentLength, limit)
	if errors.Is(err, errTooLarge) {
		drain(c, limit)
		return tooLarge(limit)
	}
	if err != nil {
		if ctxErr := c.ctx.Err(); ctxErr != nil {
			return ctxErr
		}
		return invalid("", wrongSyntax, "the body broke off")
	}
	if len(body) == 0 {
		if rule == requiredBody {
			return invalid("", wrongMissing, "a JSON object is expected as the body")
		}
		return nil
	}
	if !isJSON(c.r.Header) {
		return sessile.Errorf(sessile.CodeUnsupportedMedia, "the content type must be application/json")
	}
	c.body = body
	return nil
}

func tooLarge(limit int64) error {
	return sessile.Errorf(sessile.CodePayloadTooLarge, "the body is larger than %d bytes", limit)
}

// drain reads on for a while, so that a client that is still sending gets to see the answer instead of a broken
// connection. A client that waits for leave to send is not given it.
func drain(c *call, limit int64) {
	if strings.EqualFold(c.r.Header.Get("Expect"), "100-continue") {
		c.header.Set("Connection", "close")
		return
	}
	n, _ := io.CopyN(io.Discard, c.r.Body, 2*limit)
	if n == 2*limit {
		c.header.Set("Connection", "close")
	}
}

var errTooLarge = errors.New("httpapi: body too large")

// readAtMost reads everything if that is no more than limit bytes. length is what the client announced, -1 for nothing.
func readAtMost(r io.Reader, length, limit int64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	size := int64(512)
	if length > 0 {
		size = min(length+1, firstBodyBuffer) // one more byte, so that the end is seen without growing
	}
	body := make([]byte, 0, size)
	for {
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
}

// isJSON reports whether the headers declare plain JSON: application/json with any parameters, not compressed.
func isJSON(h http.Header) bool {
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return false
	}
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	if types[0] == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(types[0])
	return err == nil && mediaType == "application/json"
}

// invalid is a validation error about one thing.
func invalid(path, code, message string) error {
	return sessile.Invalid(sessile.FieldError{Path: path, Code: code, Message: message})
}
