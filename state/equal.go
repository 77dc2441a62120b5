package state

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// equalValues compares two stored values: objects without regard to the order of members, lists in order, numbers by
// their value, texts by their meaning (spec/governed-state.md, 4.7).
func equalValues(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	x, errX := parse(a)
	y, errY := parse(b)
	return errX == nil && errY == nil && equalNodes(x, y)
}

// node is a parsed value.
type node struct {
	kind    jsontext.Kind
	scalar  string // meaning of a text, canonical form of a number
	list    []node
	members map[string]node
}

func parse(v jsontext.Value) (node, error) {
	return parseNext(jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true)))
}

func parseNext(dec *jsontext.Decoder) (node, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return node{}, err
	}
	n := node{kind: token.Kind()}
	switch n.kind {
	case '"':
		n.scalar = token.String()
	case '0':
		n.scalar = canonicalNumber(token.String())
	case '[':
		for dec.PeekKind() != ']' {
			item, err := parseNext(dec)
			if err != nil {
				return node{}, err
			}
			n.list = append(n.list, item)
		}
		_, err = dec.ReadToken()
	case '{':
		n.members = map[string]node{}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return node{}, err
			}
			key := name.String()
			if n.members[key], err = parseNext(dec); err != nil {
				return node{}, err
			}
		}
		_, err = dec.ReadToken()
	}
	return n, err
}

func equalNodes(a, b node) bool {
	if a.kind != b.kind || a.scalar != b.scalar || len(a.list) != len(b.list) || len(a.members) != len(b.members) {
		return false
	}
	for i := range a.list {
		if !equalNodes(a.list[i], b.list[i]) {
			return false
		}
	}
	for name, x := range a.members {
		y, found := b.members[name]
		if !found || !equalNodes(x, y) {
			return false
		}
	}
	return true
}

// canonicalNumber writes a JSON number so that equal numbers are equal texts: sign, significant digits, exponent.
// Nothing is rounded.
func canonicalNumber(text string) string {
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(text), "e")
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	exponent := int64(0)
	if exponentText != "" {
		var err error
		if exponent, err = strconv.ParseInt(exponentText, 10, 62); err != nil {
			return text // beyond any use: equal to its own spelling only
		}
	}
	trimmed := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(trimmed) - len(fraction))
	return sign + trimmed + "e" + strconv.FormatInt(exponent, 10)
}
