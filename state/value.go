package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// null is what an absent value reads as.
var null = jsontext.Value("null")

// Errors of [NormalizeValue]. They are all a caller learns of a value that cannot be stored: its text stays out of them.
var (
	errNotJSON = errors.New("not a valid JSON value")
	errTooDeep = fmt.Errorf("nested deeper than %d levels", MaxValueDepth)
)

// MaxValueDepth bounds how deep the lists and objects of a stored value nest. It stays far below what JSON libraries read,
// because answers put a value some levels deeper.
const MaxValueDepth = 1000

// NormalizeValue makes of a client's value what is stored: the same JSON text without blanks between its tokens, each
// member name once, the last occurrence counting (spec/governed-state.md, 3.2). Numbers and texts keep their spelling.
// It fails on anything that is not one JSON value in valid Unicode, or that nests deeper than [MaxValueDepth]. The result
// shares no memory with v. It takes time in proportion to the length of v.
func NormalizeValue(v jsontext.Value) (jsontext.Value, error) {
	out, err := compact(v, jsontext.AllowDuplicateNames(false))
	unique := err == nil
	if !unique {
		if out, err = compact(v, jsontext.AllowDuplicateNames(true)); err != nil {
			return nil, errNotJSON
		}
	}
	if kind := out.Kind(); (kind == '{' || kind == '[') && depth(out) > MaxValueDepth {
		return nil, errTooDeep
	}
	if unique {
		return out, nil
	}
	return lastMembers(out)
}

// compact copies a value without its blanks, and finds out on the way whether it is one.
func compact(v jsontext.Value, names jsontext.Options) (jsontext.Value, error) {
	return jsontext.AppendFormat(make([]byte, 0, len(v)), v, names, jsontext.AllowInvalidUTF8(false), jsontext.PreserveRawStrings(true))
}

// depth is how deep lists and objects nest in a valid value.
func depth(v jsontext.Value) (deepest int) {
	level, text := 0, false
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			text = !text
		case '\\':
			i++ // whatever is escaped; only texts have these
		case '[', '{':
			if !text {
				level++
				deepest = max(deepest, level)
			}
		case ']', '}':
			if !text {
				level--
			}
		}
	}
	return deepest
}

// lastMembers resolves the repeated members of a valid value without blanks: the last one counts, in the place of the
// first.
func lastMembers(v jsontext.Value) (jsontext.Value, error) {
	r := repeats{text: v, dec: jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))}
	if _, err := r.value(); err != nil {
		return nil, errNotJSON
	}
	slices.SortFunc(r.objects, func(a, b repeating) int { return a.at.from - b.at.from })
	return r.append(make([]byte, 0, len(v)), span{0, len(v)}), nil
}

// repeats finds the objects that repeat a member, and then writes the text anew around them.
type repeats struct {
	text    []byte
	dec     *jsontext.Decoder
	objects []repeating
}

// repeating is an object that repeats a member, with the members that count.
type repeating struct {
	at      span
	members []member
}

type member struct{ name, value span }

// span is a part of the text.
type span struct{ from, to int }

// value reads the next value and tells where it stands.
func (r *repeats) value() (span, error) {
	switch r.dec.PeekKind() {
	case '{':
		return r.object()
	case '[':
		return r.list()
	default:
		raw, err := r.dec.ReadValue()
		return r.last(len(raw)), err
	}
}

// last is where the n bytes stand that were read last.
func (r *repeats) last(n int) span {
	to := int(r.dec.InputOffset())
	return span{to - n, to}
}

func (r *repeats) list() (at span, err error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return at, err
	}
	at.from = r.last(1).from
	for r.dec.PeekKind() != ']' {
		if _, err := r.value(); err != nil {
			return at, err
		}
	}
	_, err = r.dec.ReadToken()
	at.to = r.last(1).to
	return at, err
}

func (r *repeats) object() (at span, err error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return at, err
	}
	at.from = r.last(1).from
	var members []member
	place := map[string]int{} // by the meaning of a name, not its spelling
	repeated := false
	for r.dec.PeekKind() != '}' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return at, err
		}
		name := r.last(len(raw))
		meaning, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return at, err
		}
		value, err := r.value()
		if err != nil {
			return at, err
		}
		if i, seen := place[string(meaning)]; seen {
			members[i].value = value
			repeated = true
			continue
		}
		place[string(meaning)] = len(members)
		members = append(members, member{name, value})
	}
	_, err = r.dec.ReadToken()
	at.to = r.last(1).to
	if repeated {
		r.objects = append(r.objects, repeating{at, members})
	}
	return at, err
}

// append writes a part of the text.
func (r *repeats) append(out []byte, part span) []byte {
	for {
		i, _ := slices.BinarySearchFunc(r.objects, part.from, func(o repeating, from int) int { return o.at.from - from })
		if i == len(r.objects) || r.objects[i].at.from >= part.to {
			return append(out, r.text[part.from:part.to]...)
		}
		object := &r.objects[i]
		out = append(append(out, r.text[part.from:object.at.from]...), '{')
		for i, m := range object.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, r.text[m.name.from:m.name.to]...), ':')
			out = r.append(out, m.value)
		}
		out = append(out, '}')
		part.from = object.at.to
	}
}

// sizeOf is the size of a value as quotas count it: the compact JSON of {"present":…,"value":…}. A nil value is an
// absent one.
func sizeOf(data jsontext.Value) int64 {
	if data == nil {
		return int64(len(`{"present":false,"value":null}`))
	}
	return int64(len(`{"present":true,"value":}`) + len(data))
}
