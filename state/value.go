package state

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// null is what an absent value reads as.
var null = jsontext.Value("null")

// errNotJSON is all a caller learns of a value that cannot be stored: the text of the value stays out of errors.
var errNotJSON = errors.New("not a valid JSON value")

// NormalizeValue makes of a client's value what is stored: the same JSON text without blanks between its tokens, each
// member name once, the last occurrence counting (spec/governed-state.md, 3.2). Numbers and texts keep their spelling.
// It fails on anything that is not one JSON value in valid Unicode. The result shares no memory with v.
func NormalizeValue(v jsontext.Value) (jsontext.Value, error) {
	if v.IsValid() {
		out := v.Clone()
		if err := out.Compact(); err != nil {
			return nil, errNotJSON
		}
		return out, nil
	}
	if !v.IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, errNotJSON
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	out, err := appendUnique(nil, dec)
	if err != nil {
		return nil, errNotJSON
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return out, nil
}

// appendUnique appends the next value of the decoder with repeated members resolved.
func appendUnique(out []byte, dec *jsontext.Decoder) ([]byte, error) {
	switch dec.PeekKind() {
	case '{':
		return appendUniqueObject(out, dec)
	case '[':
		return appendUniqueList(out, dec)
	default:
		scalar, err := dec.ReadValue()
		return append(out, scalar...), err
	}
}

func appendUniqueList(out []byte, dec *jsontext.Decoder) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out = append(out, '[')
	for first := true; dec.PeekKind() != ']'; first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = appendUnique(out, dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return append(out, ']'), err
}

func appendUniqueObject(out []byte, dec *jsontext.Decoder) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	type member struct{ name, value []byte }
	var members []member
	place := map[string]int{} // by the meaning of a name, not its spelling
	for dec.PeekKind() != '}' {
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		name := bytes.Clone(raw)
		meaning, err := jsontext.AppendUnquote(nil, name)
		if err != nil {
			return nil, err
		}
		value, err := appendUnique(nil, dec)
		if err != nil {
			return nil, err
		}
		if i, seen := place[string(meaning)]; seen {
			members[i].value = value
			continue
		}
		place[string(meaning)] = len(members)
		members = append(members, member{name, value})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	return append(out, '}'), nil
}

// sizeOf is the size of a value as quotas count it: the compact JSON of {"present":…,"value":…}. A nil value is an
// absent one.
func sizeOf(data jsontext.Value) int64 {
	if data == nil {
		return int64(len(`{"present":false,"value":null}`))
	}
	return int64(len(`{"present":true,"value":}`) + len(data))
}
