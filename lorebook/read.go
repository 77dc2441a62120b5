package lorebook

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errNotJSON = errors.New("not a valid JSON text")

// member is one member of a JSON object. The value is part of the text it was read from.
type member struct {
	name  string
	value jsontext.Value
}

// readObject lists the members of an object in the order of the text. Of a repeated name the last value counts, at the
// place of the first; repeated names are listed too.
func readObject(text jsontext.Value) (members []member, repeated []string, err error) {
	dec := newDecoder(text)
	token, err := dec.ReadToken()
	if err != nil || token.Kind() != '{' {
		return nil, nil, errNotJSON
	}
	place := map[string]int{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, nil, errNotJSON
		}
		m := member{name: name.String()}
		if m.value, err = readValue(dec, text); err != nil {
			return nil, nil, err
		}
		if i, found := place[m.name]; found {
			members[i].value = m.value
			repeated = append(repeated, m.name)
			continue
		}
		place[m.name] = len(members)
		members = append(members, m)
	}
	return members, repeated, readEnd(dec)
}

// readList lists the elements of an array.
func readList(text jsontext.Value) ([]jsontext.Value, error) {
	dec := newDecoder(text)
	token, err := dec.ReadToken()
	if err != nil || token.Kind() != '[' {
		return nil, errNotJSON
	}
	var list []jsontext.Value
	for dec.PeekKind() != ']' {
		value, err := readValue(dec, text)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, readEnd(dec)
}

func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
}

// readValue takes the next value as a part of the text, not of the decoder's memory, which it may use again.
func readValue(dec *jsontext.Decoder, text []byte) (jsontext.Value, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return nil, errNotJSON
	}
	end := int(dec.InputOffset())
	return jsontext.Value(text[end-len(value) : end : end]), nil
}

// readEnd takes the closing bracket and makes sure that nothing follows.
func readEnd(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return errNotJSON
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errNotJSON
	}
	return nil
}

// textOf is a text's meaning; ok is false for values of other kinds.
func textOf(v jsontext.Value) (text string, ok bool) {
	if v.Kind() != '"' {
		return "", false
	}
	out, err := jsontext.AppendUnquote(nil, v)
	return string(out), err == nil
}

// numberOf reads a number or the text of one. What is too large for a float64 is the largest one.
func numberOf(v jsontext.Value) (number float64, ok bool) {
	literal, ok := numeral(v)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseFloat(literal, 64)
	if err != nil && math.IsInf(number, 0) {
		number = math.Copysign(math.MaxFloat64, number)
	}
	return number, true
}

// integerOf reads an integer or the text of one, however it is spelt: 4, 4.0, "4".
func integerOf(v jsontext.Value) (integer int64, ok bool) {
	literal, ok := numeral(v)
	if !ok {
		return 0, false
	}
	if integer, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return integer, true
	}
	const exact = 1 << 53
	number, err := strconv.ParseFloat(literal, 64)
	if err != nil || number != math.Trunc(number) || math.Abs(number) > exact {
		return 0, false
	}
	return int64(number), true
}

// numeral is the spelling of a number that stands there as it is or as a text.
func numeral(v jsontext.Value) (literal string, ok bool) {
	switch v.Kind() {
	case '0':
		return string(v), true
	case '"':
		text, _ := textOf(v)
		literal = strings.TrimSpace(text)
		candidate := jsontext.Value(literal)
		return literal, candidate.Kind() == '0' && candidate.IsValid()
	default:
		return "", false
	}
}

// booleanOf reads true, false, or the text of one in any case.
func booleanOf(v jsontext.Value) (value, ok bool) {
	switch v.Kind() {
	case 't':
		return true, true
	case 'f':
		return false, true
	case '"':
		text, _ := textOf(v)
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			return true, true
		case "false":
			return false, true
		}
	}
	return false, false
}

// clampInt makes an int of a number without overflow: its whole part, at most the largest int32 either way.
func clampInt(number float64) int {
	return int(max(math.MinInt32, min(math.MaxInt32, math.Trunc(number))))
}
