package apitest

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Codes are the error codes that an operation lists for a status: its own, and those of the answer it shares with others.
func Codes(op *openapi3.Operation, status int) []string {
	own, _ := op.Extensions["x-error-codes"].(map[string]any)
	codes := texts(own[strconv.Itoa(status)])
	if response := op.Responses.Status(status); response != nil && response.Value != nil {
		codes = append(codes, texts(response.Value.Extensions["x-error-codes"])...)
	}
	return codes
}

func texts(list any) []string {
	items, _ := list.([]any)
	var out []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// find looks for the template of an escaped path. Of several the one with the most literal segments is meant, as it is
// for http.ServeMux.
func find(doc *openapi3.T, path string) (template string, item *openapi3.PathItem, params map[string]string) {
	best := -1
	for candidate, it := range doc.Paths.Map() {
		values, literals, ok := match(candidate, path)
		if ok && literals > best {
			best, template, item, params = literals, candidate, it, values
		}
	}
	return template, item, params
}

func match(template, path string) (params map[string]string, literals int, ok bool) {
	wanted, given := strings.Split(template, "/"), strings.Split(path, "/")
	if len(wanted) != len(given) {
		return nil, 0, false
	}
	params = map[string]string{}
	for i, segment := range wanted {
		name, isParam := strings.CutPrefix(segment, "{")
		if !isParam {
			if segment != given[i] {
				return nil, 0, false
			}
			literals++
			continue
		}
		value, err := url.PathUnescape(given[i])
		if err != nil || value == "" {
			return nil, 0, false
		}
		params[strings.TrimSuffix(name, "}")] = value
	}
	return params, literals, true
}
