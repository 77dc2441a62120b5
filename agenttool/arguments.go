package agenttool

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sessionArgument is where the session of a call stands in its arguments (spec/kv-tool.md, section 3).
const sessionArgument = "_session_key"

// Arguments are what a tool is called with: JSON values by their exact names. Of a name that stood there twice the last
// one counts.
type Arguments map[string]jsontext.Value

// ParseArguments reads the text of arguments. ok is false for everything but a JSON object: other values, broken text,
// invalid UTF-8 and escapes of unpaired surrogates.
func ParseArguments(text []byte) (a Arguments, ok bool) {
	if len(text) == 0 {
		return Arguments{}, true
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	a = Arguments{}
	if d.PeekKind() != '{' {
		return nil, false
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		a[key] = value.Clone()
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	if _, err := d.ReadToken(); err == nil {
		return nil, false // something follows
	}
	return a, true
}

// given finds a value that is there and not null.
func (a Arguments) given(name string) (jsontext.Value, bool) {
	value, ok := a[name]
	return value, ok && value.Kind() != 'n'
}

// text finds a text; values of other types count as absent.
func (a Arguments) text(name string) (string, bool) {
	value, ok := a[name]
	if !ok || value.Kind() != '"' {
		return "", false
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", false
	}
	return text, true
}

// integer finds a whole number; 5.0 is one.
func (a Arguments) integer(name string) (int64, bool) {
	value, ok := a[name]
	if !ok || value.Kind() != '0' {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, false
	}
	return int64(x), true
}

// yes tells whether a value is true.
func (a Arguments) yes(name string) bool { return a[name].Kind() == 't' }

func (a Arguments) set(name, text string) {
	quoted, _ := jsontext.AppendQuote(nil, text) // what is not UTF-8 is repaired
	a[name] = quoted
}

// typeOf names the JSON type of a value, as messages name it.
func typeOf(value jsontext.Value) string {
	switch value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '0':
		return "number"
	case '"':
		return "string"
	case '[':
		return "array"
	}
	return "object"
}

// fits tells whether a value has a type. Every whole number is an integer.
func (a Arguments) fits(name, typ string) bool {
	if typ == "integer" {
		_, ok := a.integer(name)
		return ok
	}
	return typeOf(a[name]) == typ
}
