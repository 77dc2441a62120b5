package agenttool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// DefaultModelTextBytes is what a model gets to see of one result unless it is set otherwise.
const DefaultModelTextBytes = 50_000

// ForModel runs a tool and writes down what a model gets to see of it (spec/kv-tool.md, section 7): {"result": …} or
// {"error": "…"}, without long runs of Base64 or hex digits, and cut to limit bytes (0 is [DefaultModelTextBytes]). The
// result itself is complete; nothing of this touches what is stored. Errors that are not the caller's business are told
// as such, and returned for the log.
func (r *Runner) ForModel(ctx context.Context, c Caller, name string, arguments []byte, limit int) (text string, result Result, err error) {
	result, err = r.Call(ctx, c, name, arguments)
	if err == nil {
		return modelText(append(append([]byte(`{"result":`), result.Data...), '}'), limit), result, nil
	}
	message := "the tool failed"
	if e, ok := errors.AsType[*sessile.Error](err); ok && e.Code != sessile.CodeInternal {
		message = e.Message
	}
	quoted, _ := jsontext.AppendQuote([]byte(`{"error":`), message)
	return modelText(append(quoted, '}'), limit), result, err
}

var (
	dataURI = regexp.MustCompile(`data:[a-zA-Z0-9.+/-]*(?:;[a-zA-Z0-9=.+-]*)*;base64,[A-Za-z0-9+/]{200,}={0,2}`)
	hexRun  = regexp.MustCompile(`[0-9a-fA-F]{200,}`)
)

// modelText filters and cuts a result that is already wrapped.
func modelText(wrapped []byte, limit int) string {
	if limit <= 0 {
		limit = DefaultModelTextBytes
	}
	text := dataURI.ReplaceAllStringFunc(string(wrapped), func(uri string) string {
		kind, _, _ := strings.Cut(strings.TrimPrefix(uri, "data:"), ";")
		if kind == "" {
			kind = "base64"
		}
		return "[" + kind + " data removed]"
	})
	text = hexRun.ReplaceAllStringFunc(text, func(run string) string {
		return fmt.Sprintf("[hex data removed — %d chars]", len(run))
	})
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n\n[truncated — %d bytes total]", text[:end], len(text))
}
