package httpapi

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/sessile-dev/sessile"
)

// query reads the query of a request. Parameters that nobody asks for are ignored; one that is asked for and stands
// there twice, or is empty, is a problem (spec/governed-state.md, 3.2). The values count only when [query.done] finds no
// problem.
type query struct {
	parameters []parameter
	unread     bool // it cannot be read, which is noted; nothing is missed in it
	problems   problems
}

type parameter struct{ name, value string }

// maxParameters bounds the parameters of a query, and so the time it takes to find them.
const maxParameters = 1024

func openQuery(c *call) *query {
	q := &query{}
	var ok bool
	if q.parameters, ok = parseQuery(c.r.URL.RawQuery); !ok {
		q.unread = true
		q.problems.add("", wrongSyntax, "the query is not properly escaped")
	}
	return q
}

// parseQuery does what url.ParseQuery does, without a map and a list for every name.
func parseQuery(raw string) (parameters []parameter, ok bool) {
	if raw == "" {
		return nil, true
	}
	parameters = make([]parameter, 0, 4)
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		if strings.Contains(part, ";") || len(parameters) == maxParameters {
			return nil, false
		}
		name, value, _ := strings.Cut(part, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if nameErr != nil || valueErr != nil {
			return nil, false
		}
		parameters = append(parameters, parameter{name, value})
	}
	return parameters, true
}

// find counts the parameters of a name and returns the value of the first.
func (q *query) find(name string) (value string, n int) {
	for _, p := range q.parameters {
		if p.name != name {
			continue
		}
		if n == 0 {
			value = p.value
		}
		n++
	}
	return value, n
}

// done returns the validation error for all that was found.
func (q *query) done() error { return q.problems.err() }

// text asks for a parameter; "" when it is not there.
func (q *query) text(name string, p presence, rule textRule) string {
	value, n := q.find(name)
	switch {
	case q.unread:
		return ""
	case n == 0:
		if p == required {
			q.problems.add(name, wrongMissing, "this parameter is required")
		}
		return ""
	case n > 1:
		q.problems.add(name, wrongRepeated, "this parameter stands there more than once")
		return ""
	case value == "":
		q.problems.add(name, wrongEmpty, "this must not be empty")
		return ""
	case !utf8.ValidString(value):
		q.problems.add(name, wrongSyntax, "this is not valid UTF-8")
		return ""
	}
	if code, message := rule.check(value); code != "" {
		q.problems.add(name, code, message)
		return ""
	}
	return value
}

// choice asks for one of several words; "" when it is not there.
func (q *query) choice(name string, choices ...string) string {
	return q.text(name, optional, textRule{choices: choices})
}

// integer asks for a whole number within bounds; nil when it is not there.
func (q *query) integer(name string, low, high int64) *int64 {
	text := q.text(name, optional, anyText)
	if text == "" {
		return nil
	}
	if !isDecimal(text) {
		q.problems.add(name, wrongType, "a whole number is expected")
		return nil
	}
	n, code := parseInteger(text, low, high)
	if code != "" {
		q.problems.add(name, code, integerMessage(code, low, high))
		return nil
	}
	return &n
}

// isDecimal reports whether a text is digits with an optional minus sign.
func isDecimal(text string) bool {
	if text[0] == '-' {
		text = text[1:]
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// page asks for limit, offset, sort_by and sort_order. The first name of sortBy is the default.
func (q *query) page(defaultLimit int, sortBy ...string) sessile.Page {
	p := q.stretch(defaultLimit, sessile.MaxPageSize)
	p.SortBy = sortBy[0]
	if len(sortBy) > 1 {
		if by := q.choice("sort_by", sortBy...); by != "" {
			p.SortBy = by
		}
	}
	p.Descending = q.choice("sort_order", "asc", "desc") != "asc"
	return p
}

// stretch asks for limit and offset only.
func (q *query) stretch(defaultLimit, maxLimit int) sessile.Page {
	p := sessile.Page{Limit: defaultLimit}
	if n := q.integer("limit", 1, int64(maxLimit)); n != nil {
		p.Limit = int(*n)
	}
	if n := q.integer("offset", 0, maxOffset); n != nil {
		p.Offset = int(*n)
	}
	return p
}

// maxOffset keeps sums of offset and limit far from overflowing.
const maxOffset = 1 << 30

// namespace asks for the name of a namespace.
func (q *query) namespace(name string) string { return q.text(name, optional, namespaceRule) }

// slotFilter asks for namespace and slot; a slot needs its namespace.
func (q *query) slotFilter() sessile.SlotFilter {
	f := sessile.SlotFilter{
		Namespace: q.namespace("namespace"),
		Slot:      q.text("slot", optional, anyText),
	}
	_, slots := q.find("slot")
	if _, namespaces := q.find("namespace"); slots > 0 && namespaces == 0 {
		q.problems.add("slot", wrongPair, "this needs a namespace")
	}
	return f
}
