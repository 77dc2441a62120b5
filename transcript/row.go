package transcript

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Row is one stored row of a transcript, as it was put in or said.
type Row struct {
	Seq     int64  // its place in the stored transcript, from 1
	ID      string // "" for none
	Role    string // user, assistant, system, tool, toolResult
	Content jsontext.Value
	// Provenance and Usage are JSON objects, or nil.
	Provenance, Usage jsontext.Value
	// Extra is a JSON object of the further members that the row was put in with, or nil. Provenance and usage may stand
	// here as well.
	Extra jsontext.Value
	// CreatedAt is in milliseconds since the Unix epoch; 0 for unknown.
	CreatedAt int64
	// Hidden rows are flagged not for display.
	Hidden bool
}

// Text is the content of a row that is one text.
func Text(text string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, text) // the error tells of what is no UTF-8, which is replaced
	return quoted
}

// object is a JSON object whose members stay in their order.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

// options read what is stored: it was checked when it came in, and a later duplicate counts.
func options() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
}

// readObject reads a JSON object; anything else is none.
func readObject(value jsontext.Value) (object, bool) {
	if value.Kind() != '{' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(value), options()...)
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	o := object{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		one, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		o.set(key, one.Clone())
	}
	return o, true
}

// readArray reads a JSON array; anything else is none.
func readArray(value jsontext.Value) ([]jsontext.Value, bool) {
	if value.Kind() != '[' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(value), options()...)
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	list := []jsontext.Value{}
	for d.PeekKind() != ']' {
		one, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		list = append(list, one.Clone())
	}
	return list, true
}

// readText reads a JSON string; anything else is none.
func readText(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, bytes.TrimSpace(value))
	if err != nil && len(text) == 0 {
		return "", false
	}
	return strings.ToValidUTF8(string(text), "�"), true
}

func (o object) get(name string) (jsontext.Value, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// text is the member of the name if it is a text, else "".
func (o object) text(name string) string {
	value, _ := o.get(name)
	text, _ := readText(value)
	return text
}

func (o *object) set(name string, value jsontext.Value) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name: name, value: value})
}

// remove takes the member out and tells whether it was there.
func (o *object) remove(name string) bool {
	for i := range *o {
		if (*o)[i].name == name {
			*o = append((*o)[:i:i], (*o)[i+1:]...)
			return true
		}
	}
	return false
}

func (o object) json() jsontext.Value {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.name)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

func arrayJSON(list []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, one := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	return append(out, ']')
}
