package lorebook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// translation is a JavaScript pattern in Go's syntax.
type translation struct {
	expression string
	size       int
	needle     string // see needle
	lines      bool
	notes      []string
}

// White space and line ends are JavaScript's.
const (
	spaces    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpaces = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	notLineEnd = `[^\n\r\x{2028}\x{2029}]`
	anything   = `[\x{0}-\x{10ffff}]`
	nothing    = `[^\x{0}-\x{10ffff}]`
)

// maxSourceBytes keeps the work on a source that will turn out too large small.
const maxSourceBytes = 64 << 10

// translator reads JavaScript source once, from left to right, and writes the same pattern in Go's syntax. Groups need
// no recursion: a stack of sizes is all there is to remember.
type translator struct {
	src     string
	at      int
	out     strings.Builder
	unicode bool  // flag u
	dotAll  bool  // flag s
	lines   bool  // flag m
	size    int   // of what has been read of the innermost group
	outer   []int // of what has been read of the groups around it
	atom    int   // size of what a quantifier would repeat; 0 if nothing
	needle  needle
	notes   []string
}

// translate fails with a reason for people when the source is no JavaScript pattern, or has no meaning that is the same
// in Go's syntax.
func translate(source, flags string) (translation, error) {
	if len(source) > maxSourceBytes {
		return translation{}, errTooLarge
	}
	t := &translator{
		src:     source,
		unicode: strings.Contains(flags, "u"),
		dotAll:  strings.Contains(flags, "s"),
		lines:   strings.Contains(flags, "m"),
	}
	if strings.Contains(flags, "i") {
		t.out.WriteString("(?i)")
	}
	if t.lines {
		t.out.WriteString("(?m)")
	}
	if strings.Contains(flags, "y") {
		t.note("the flag y is ignored")
	}
	for t.at < len(t.src) {
		if err := t.next(); err != nil {
			return translation{}, err
		}
		if t.size > MaxPatternSize {
			return translation{}, errTooLarge
		}
	}
	if len(t.outer) > 0 {
		return translation{}, errors.New("a group is not closed")
	}
	return translation{t.out.String(), t.size, t.needle.text(), t.lines, t.notes}, nil
}

func (t *translator) note(text string) {
	if !slices.Contains(t.notes, text) {
		t.notes = append(t.notes, text)
	}
}

// take reads one rune.
func (t *translator) take() rune {
	r, size := utf8.DecodeRuneInString(t.src[t.at:])
	t.at += size
	return r
}

// skip reads a given text, if it comes next.
func (t *translator) skip(text string) bool {
	if !strings.HasPrefix(t.src[t.at:], text) {
		return false
	}
	t.at += len(text)
	return true
}

// next translates one part of the pattern.
func (t *translator) next() error {
	switch c := t.take(); c {
	case '|':
		t.out.WriteByte('|')
		t.atom = 0
		t.needle.none = t.needle.none || len(t.outer) == 0
	case '^', '$':
		t.assertion(string(c))
	case '(':
		return t.open()
	case ')':
		return t.close()
	case '[':
		return t.class()
	case '.':
		if t.dotAll {
			t.emit(anything, 1)
		} else {
			t.emit(notLineEnd, 1)
		}
	case '*', '+', '?':
		return t.quantifier(string(c), leastOf(c), 1)
	case '{':
		return t.braces()
	case '}', ']':
		if t.unicode {
			return errors.New("a bracket stands alone")
		}
		t.literal(c)
	case '\\':
		return t.escape()
	default:
		t.literal(c)
	}
	return nil
}

// emit writes something that may be repeated.
func (t *translator) emit(text string, size int) {
	t.out.WriteString(text)
	t.atom = size
	t.size += size
	t.needle.end()
}

// assertion writes something that may not be repeated.
func (t *translator) assertion(text string) {
	t.out.WriteString(text)
	t.atom = 0
	t.size++
	t.needle.end()
}

func (t *translator) literal(r rune) {
	if t.lines && lineEnd(r) {
		if r == '\r' {
			t.joinLineFeed()
		}
		r = '\n'
	}
	if len(t.outer) == 0 && (!t.lines || r != '\n') {
		t.out.WriteString(quoteRune(r))
		t.atom = 1
		t.size++
		t.needle.add(r)
		return
	}
	t.emit(quoteRune(r), 1)
}

// joinLineFeed passes over a line feed behind a carriage return, since the text has one LF for both.
func (t *translator) joinLineFeed() {
	rest := t.src[t.at:]
	after, escaped := strings.CutPrefix(rest, `\n`)
	if !escaped {
		var raw bool
		if after, raw = strings.CutPrefix(rest, "\n"); !raw {
			return
		}
	}
	if after != "" && strings.ContainsRune("*+?{", rune(after[0])) {
		return
	}
	t.at += len(rest) - len(after)
}

func lineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'
}

// quoteRune spells a rune so that it means itself, inside a class and outside.
func quoteRune(r rune) string {
	if asciiAlnum(r) {
		return string(r)
	}
	return `\x{` + strconv.FormatInt(int64(r), 16) + `}`
}

// open reads the head of a group. No group needs to be captured.
func (t *translator) open() error {
	switch {
	case !strings.HasPrefix(t.src[t.at:], "?"), t.skip("?:"):
	case t.skip("?="), t.skip("?!"):
		return errors.New("look-ahead is not supported")
	case t.skip("?<="), t.skip("?<!"):
		return errors.New("look-behind is not supported")
	case t.skip("?<"):
		name, rest, closed := strings.Cut(t.src[t.at:], ">")
		if !closed || !groupName(name) {
			return errors.New("the name of a group is not valid")
		}
		t.at = len(t.src) - len(rest)
	default:
		return errors.New("modifiers and other groups that begin with (? are not supported")
	}
	t.out.WriteString("(?:")
	t.outer = append(t.outer, t.size)
	t.size, t.atom = 0, 0
	t.needle.end()
	return nil
}

func groupName(name string) bool {
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r < utf8.RuneSelf && !asciiAlnum(r) && r != '_' && r != '$'
	})
}

func (t *translator) close() error {
	if len(t.outer) == 0 {
		return errors.New("a group is closed that was not opened")
	}
	inner := max(1, t.size)
	t.size = t.outer[len(t.outer)-1]
	t.outer = t.outer[:len(t.outer)-1]
	t.emit(")", inner)
	return nil
}

// braces reads {n}, {n,} and {n,m}; anything else in braces is itself, unless the flag u forbids it.
func (t *translator) braces() error {
	inside, rest, closed := strings.Cut(t.src[t.at:], "}")
	low, high, ranged := strings.Cut(inside, ",")
	if !closed || !digits(low) || ranged && high != "" && !digits(high) {
		if t.unicode {
			return errors.New("a brace stands alone")
		}
		t.literal('{')
		return nil
	}
	t.at = len(t.src) - len(rest)
	least, most := repeatCount(low), repeatCount(high)
	if !ranged || high == "" {
		most = least
	}
	if least > maxRepeats || most > maxRepeats {
		return errTooManyRepeats
	}
	if least > most {
		return errors.New("the numbers of a repeat are out of order")
	}
	text := fmt.Sprintf("{%d", least)
	if ranged {
		text += ","
		if high != "" {
			text += strconv.Itoa(most)
		}
	}
	return t.quantifier(text+"}", least, max(1, most))
}

const maxRepeats = 1000

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// repeatCount is a number of repeats; whatever is too large is one above the limit.
func repeatCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > maxRepeats {
		return maxRepeats + 1
	}
	return n
}

// leastOf is how often a quantifier asks for something at least.
func leastOf(quantifier rune) int {
	if quantifier == '+' {
		return 1
	}
	return 0
}

func (t *translator) quantifier(text string, least, most int) error {
	if t.atom == 0 {
		return errors.New("there is nothing to repeat")
	}
	t.out.WriteString(text)
	if t.skip("?") {
		t.out.WriteByte('?')
	}
	t.size += t.atom * (most - 1)
	t.atom = 0
	t.needle.repeat(least)
	return nil
}
