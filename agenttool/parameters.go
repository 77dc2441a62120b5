package agenttool

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// parameters reads the arguments of the tools around sessions (spec/session-tools.md, section 0): names also in snake case,
// texts trimmed and blank ones absent, integers also as text. The first fault stays.
type parameters struct {
	a   Arguments
	err error
}

func (p *parameters) fail(format string, args ...any) {
	if p.err == nil {
		p.err = throw(format, args...)
	}
}

// find finds a value by its name or the name's form in snake case; null is absent.
func (p *parameters) find(name string) (jsontext.Value, bool) {
	if value, ok := p.a.given(name); ok {
		return value, true
	}
	return p.a.given(snakeCase(name))
}

func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// text is a trimmed text; "" for what is absent, blank or no text.
func (p *parameters) text(name string) string {
	value, ok := p.find(name)
	if !ok {
		return ""
	}
	text, _ := Arguments{name: value}.text(name)
	return strings.TrimSpace(text)
}

func (p *parameters) required(name string) string {
	text := p.text(name)
	if text == "" {
		p.fail("%s is required", name)
	}
	return text
}

// atMost bounds a text, in characters.
func (p *parameters) atMost(name, text string, limit int) {
	if utf8.RuneCountInString(text) > limit {
		p.fail("%s may have at most %d characters", name, limit)
	}
}

// oneOf is one of the values, or "" for anything else.
func (p *parameters) oneOf(name string, values ...string) string {
	if text := p.text(name); slices.Contains(values, text) {
		return text
	}
	return ""
}

// yes is true for the literal true alone.
func (p *parameters) yes(name string) bool {
	value, _ := p.find(name)
	return value.Kind() == 't'
}

// truthy is true for every value that is not false, zero or empty.
func (p *parameters) truthy(name string) bool {
	value, ok := p.find(name)
	if !ok {
		return false
	}
	switch value.Kind() {
	case 'f':
		return false
	case '0':
		n, err := strconv.ParseFloat(string(value), 64)
		return err != nil || n != 0
	case '"':
		return len(value) > len(`""`)
	}
	return true
}

// integer is a whole number of at least least. A blank text is absent, unless the parameter is strict.
func (p *parameters) integer(name string, least int64, strict bool) (int64, bool) {
	value, ok := p.find(name)
	if !ok {
		return 0, false
	}
	expected := "a non-negative integer"
	if least > 0 {
		expected = "a positive integer"
	}
	n, readable := wholeNumber(value)
	if !readable && !strict && value.Kind() == '"' && p.text(name) == "" {
		return 0, false
	}
	if !readable || n < least {
		p.fail("%s must be %s", name, expected)
		return 0, false
	}
	return n, true
}

// wholeNumber reads a number without a fraction, or a text that holds nothing but decimal digits.
func wholeNumber(value jsontext.Value) (int64, bool) {
	switch value.Kind() {
	case '0':
		x, err := strconv.ParseFloat(string(value), 64)
		return int64(x), err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53
	case '"':
		text, _ := Arguments{"": value}.text("")
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		return n, err == nil && n < 1<<53
	}
	return 0, false
}

// texts is a list of texts; one text is a list of one. What is blank or no text is dropped.
func (p *parameters) texts(name string) []string {
	value, ok := p.find(name)
	if !ok {
		return nil
	}
	var texts []string
	add := func(item jsontext.Value) {
		text, _ := Arguments{"": item}.text("")
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	if value.Kind() == '"' {
		add(value)
		return texts
	}
	for _, item := range listItems(value) {
		add(item)
	}
	return texts
}

func listItems(value jsontext.Value) (items []jsontext.Value) {
	if value.Kind() != '[' {
		return nil
	}
	d := jsontext.NewDecoder(strings.NewReader(string(value)), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() != ']' {
		item, err := d.ReadValue()
		if err != nil {
			return nil
		}
		items = append(items, item.Clone())
	}
	return items
}
