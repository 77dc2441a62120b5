package lorebook

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// propertySize is what a Unicode property counts, since it is a long list of ranges.
const propertySize = 32

var errPairs = errors.New("unpaired surrogates are not supported")

// escape reads what stands behind a backslash, outside a class.
func (t *translator) escape() error {
	if t.skip("b") {
		t.assertion(`\b`)
		return nil
	}
	if t.skip("B") {
		t.assertion(`\B`)
		return nil
	}
	set, size, found, err := t.setEscape()
	if err != nil {
		return err
	}
	if found {
		t.emit("["+set+"]", size)
		return nil
	}
	r, err := t.runeEscape()
	if err != nil {
		return err
	}
	t.literal(r)
	return nil
}

// setEscape reads an escape that stands for many characters, as what to write between the brackets of a class.
func (t *translator) setEscape() (set string, size int, found bool, err error) {
	if t.at == len(t.src) {
		return "", 0, false, errors.New("it ends with a backslash")
	}
	c := t.src[t.at]
	switch c {
	case 'd', 'D', 'w', 'W':
		set = `\` + string(rune(c))
	case 's':
		set = spaces
	case 'S':
		set = notSpaces
	case 'p', 'P':
		return t.property()
	default:
		return "", 0, false, nil
	}
	t.at++
	return set, 1, true, nil
}

// property reads \p{…}.
func (t *translator) property() (set string, size int, found bool, err error) {
	inside, rest, closed := strings.Cut(t.src[t.at+1:], "}")
	name, braced := strings.CutPrefix(inside, "{")
	if !closed || !braced {
		if t.unicode {
			return "", 0, false, errors.New("a property has no name")
		}
		return "", 0, false, nil
	}
	resolved, ok := propertyName(name)
	if !ok {
		return "", 0, false, errors.New("this Unicode property is not supported")
	}
	if !t.unicode {
		t.note(`\p{…} is read as with the flag u`)
	}
	set = `\` + t.src[t.at:t.at+1] + "{" + resolved + "}"
	t.at = len(t.src) - len(rest)
	return set, propertySize, true, nil
}

// propertyName is Go's name of a property.
func propertyName(name string) (resolved string, ok bool) {
	kind, value, hasKind := strings.Cut(name, "=")
	switch {
	case !hasKind && (name == "Any" || name == "ASCII" || name == "Assigned"):
		return name, true
	case hasKind && (kind == "Script" || kind == "sc"):
		_, ok = unicode.Scripts[value]
		return value, ok
	case hasKind && kind != "General_Category" && kind != "gc":
		return "", false
	case !hasKind:
		value = name
	}
	if _, ok = unicode.Categories[value]; ok {
		return value, true
	}
	resolved, ok = unicode.CategoryAliases[value]
	return resolved, ok
}

// runeEscape reads an escape that stands for one character.
func (t *translator) runeEscape() (rune, error) {
	switch c := t.take(); c {
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'v':
		return '\v', nil
	case 'f':
		return '\f', nil
	case 'r':
		return '\r', nil
	case '0':
		if t.at < len(t.src) && digits(t.src[t.at:t.at+1]) {
			return 0, errors.New("octal escapes are not supported")
		}
		return 0, nil
	case '1', '2', '3', '4', '5', '6', '7', '8', '9', 'k':
		return 0, errors.New("back references are not supported")
	case 'c':
		return t.control()
	case 'x':
		return t.hexEscape(c, 2)
	case 'u':
		return t.unicodeEscape()
	default:
		if t.unicode && !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) {
			return 0, errors.New("an escape is unknown")
		}
		return c, nil
	}
}

func (t *translator) control() (rune, error) {
	if t.at < len(t.src) {
		if c := t.src[t.at] | 0x20; 'a' <= c && c <= 'z' {
			t.at++
			return rune(c - 'a' + 1), nil
		}
	}
	return 0, errors.New(`\c needs a letter`)
}

// hexEscape reads a given number of hexadecimal digits; without them the letter is itself, unless the flag u forbids it.
func (t *translator) hexEscape(letter rune, count int) (rune, error) {
	if value, ok := t.hex(count); ok {
		return value, nil
	}
	if t.unicode {
		return 0, errors.New("an escape has too few digits")
	}
	return letter, nil
}

func (t *translator) hex(count int) (rune, bool) {
	if len(t.src)-t.at < count {
		return 0, false
	}
	value, ok := hexValue(t.src[t.at : t.at+count])
	if ok {
		t.at += count
	}
	return value, ok
}

func hexValue(s string) (rune, bool) {
	if s == "" || strings.Trim(s, "0123456789abcdefABCDEF") != "" {
		return 0, false
	}
	value, err := strconv.ParseUint(s, 16, 32)
	if err != nil || value > utf8.MaxRune {
		return 0, false
	}
	return rune(value), true
}

// unicodeEscape reads \u{…}, \uXXXX and a pair of the latter.
func (t *translator) unicodeEscape() (rune, error) {
	if strings.HasPrefix(t.src[t.at:], "{") {
		return t.codePoint()
	}
	r, err := t.hexEscape('u', 4)
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if t.skip(`\u`) {
		if low, ok := t.hex(4); ok {
			if pair := utf16.DecodeRune(r, low); pair != unicode.ReplacementChar {
				return pair, nil
			}
		}
	}
	return 0, errPairs
}

func (t *translator) codePoint() (rune, error) {
	inside, rest, closed := strings.Cut(t.src[t.at+1:], "}")
	value, ok := hexValue(inside)
	switch {
	case !closed || !ok:
		return 0, errors.New("a code point is not valid")
	case utf16.IsSurrogate(value):
		return 0, errPairs
	case !t.unicode:
		t.note(`\u{…} is read as with the flag u`)
	}
	t.at = len(t.src) - len(rest)
	return value, nil
}
