package pisession

import (
	"bytes"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// bufferSize is how much of a file is held at a time.
const bufferSize = 64 << 10

// scanner reads JSON texts, one a line, and holds none of them: texts that nobody asked for pass through its buffer, and
// of the others at most a given number of bytes is kept. It accepts what JSON.parse of JavaScript accepts: repeated
// members (the last one counts), lone surrogates and invalid UTF-8 (both become U+FFFD), and any depth, at one bit a level.
//
// Its functions report whether the line is good so far. After false the rest of the line has to be passed over by
// [scanner.next].
type scanner struct {
	r        io.Reader
	buf      []byte
	pos, end int
	err      error // why there is nothing after buf[:end]: io.EOF, or a fault of r
	line     int   // number of the current line, from 1

	open levels
	name capture
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, bufferSize), line: 1, name: capture{limit: 32}}
}

// fill reads on once the buffer is used up, and reports whether there is more.
func (s *scanner) fill() bool {
	for tries := 0; s.err == nil; tries++ {
		if tries == 100 {
			s.err = io.ErrNoProgress
			break
		}
		n, err := s.r.Read(s.buf)
		s.pos, s.end, s.err = 0, n, err
		if n > 0 {
			return true
		}
	}
	return false
}

// peek returns the next byte of the line; its end, which is also the end of the file, is '\n' and never passed.
func (s *scanner) peek() byte {
	if s.pos == s.end && !s.fill() {
		return '\n'
	}
	return s.buf[s.pos]
}

// next goes to the begin of the next line and reports whether there is one.
func (s *scanner) next() bool {
	for s.pos < s.end || s.fill() {
		if i := bytes.IndexByte(s.buf[s.pos:s.end], '\n'); i >= 0 {
			s.pos += i + 1
			s.line++
			return true
		}
		s.pos = s.end
	}
	return false
}

// blank passes over white space and returns the byte behind it.
func (s *scanner) blank() byte {
	for {
		switch c := s.peek(); c {
		case ' ', '\t', '\r':
			s.pos++
		default:
			return c
		}
	}
}

// kind is what a value is.
type kind byte

const (
	missing kind = iota
	null
	boolean
	number
	text
	object
	array
)

// value is a value of which the text or the number was asked for.
type value struct {
	kind kind
	capture
}

// whole returns the text, if it is one and all of it was kept.
func (v *value) whole() (string, bool) {
	if v.kind != text || v.cut {
		return "", false
	}
	return string(v.kept), true
}

func (v *value) reset() {
	v.kind = missing
	v.start()
}

// read reads a value and keeps it if it is a text, a number or a word.
func (s *scanner) read(v *value) bool {
	v.start()
	switch c := s.blank(); {
	case c == '"':
		v.kind = text
		return s.text(&v.capture)
	case c == '{':
		v.kind = object
		return s.skip()
	case c == '[':
		v.kind = array
		return s.skip()
	case c == '-' || '0' <= c && c <= '9':
		v.kind = number
		return s.number(&v.capture)
	case c == 'n':
		v.kind = null
		return s.word("null")
	case c == 't':
		v.kind = boolean
		v.add('t')
		return s.word("true")
	default:
		v.kind = boolean
		return s.word("false")
	}
}

// members reads an object, whose brace is next, and has member read the value of each name. Of a name that is longer
// than any that is asked for only the beginning is told.
func (s *scanner) members(member func(name []byte) bool) bool {
	s.pos++
	if s.blank() == '}' {
		s.pos++
		return true
	}
	for {
		if !s.memberName(&s.name) || !member(s.name.kept) {
			return false
		}
		switch s.blank() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return true
		default:
			return false
		}
	}
}

// elements reads an array, whose bracket is next, and has element read each.
func (s *scanner) elements(element func() bool) bool {
	s.pos++
	if s.blank() == ']' {
		s.pos++
		return true
	}
	for {
		if !element() {
			return false
		}
		switch s.blank() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return true
		default:
			return false
		}
	}
}

func (s *scanner) memberName(c *capture) bool {
	if s.blank() != '"' || !s.text(c) || s.blank() != ':' {
		return false
	}
	s.pos++
	return true
}

// skip passes over a value of any depth without recursion.
func (s *scanner) skip() bool {
	s.open.reset()
	for {
		switch c := s.blank(); {
		case c == '{':
			s.pos++
			if s.blank() != '}' {
				s.open.push(true)
				if !s.memberName(nil) {
					return false
				}
				continue
			}
			s.pos++
		case c == '[':
			s.pos++
			if s.blank() != ']' {
				s.open.push(false)
				continue
			}
			s.pos++
		case c == '"':
			if !s.text(nil) {
				return false
			}
		case c == '-' || '0' <= c && c <= '9':
			if !s.number(nil) {
				return false
			}
		case c == 't':
			if !s.word("true") {
				return false
			}
		case c == 'f':
			if !s.word("false") {
				return false
			}
		case !s.word("null"):
			return false
		}
		if more, ok := s.closes(); !ok || !more {
			return ok
		}
	}
}

// closes ends the objects and arrays that end behind a value, and reports whether another value follows.
func (s *scanner) closes() (more, ok bool) {
	for s.open.depth > 0 {
		inObject := s.open.top()
		switch c := s.blank(); {
		case c == ',':
			s.pos++
			return true, !inObject || s.memberName(nil)
		case c == '}' && inObject, c == ']' && !inObject:
			s.pos++
			s.open.pop()
		default:
			return false, false
		}
	}
	return false, true
}

func (s *scanner) word(word string) bool {
	for i := range len(word) {
		if s.peek() != word[i] {
			return false
		}
		s.pos++
	}
	return true
}

func (s *scanner) number(into *capture) bool {
	into.start()
	if s.peek() == '-' {
		s.take(into)
	}
	if s.peek() == '0' {
		s.take(into)
	} else if !s.digits(into) {
		return false
	}
	if s.peek() == '.' {
		s.take(into)
		if !s.digits(into) {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.take(into)
		if c := s.peek(); c == '+' || c == '-' {
			s.take(into)
		}
		return s.digits(into)
	}
	return true
}

// digits reads one digit or more.
func (s *scanner) digits(into *capture) bool {
	some := false
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.take(into)
		some = true
	}
	return some
}

func (s *scanner) take(into *capture) {
	into.add(s.buf[s.pos])
	s.pos++
}

// text reads a text, whose quotation mark is next.
func (s *scanner) text(into *capture) bool {
	into.start()
	return s.appendText(into)
}

// appendText is text that adds to what was kept before.
func (s *scanner) appendText(into *capture) bool {
	s.pos++
	for {
		c := s.peek() // fills the buffer
		i := s.pos
		for i < s.end && s.buf[i] >= ' ' && s.buf[i] != '"' && s.buf[i] != '\\' {
			i++
		}
		switch {
		case i > s.pos:
			into.add(s.buf[s.pos:i]...)
			s.pos = i
		case c == '"':
			s.pos++
			into.finish()
			return true
		case c != '\\':
			return false // a control character, or the end of the line
		default:
			s.pos++
			if !s.escape(into) {
				return false
			}
		}
	}
}

// escape reads what stands behind a backslash.
func (s *scanner) escape(into *capture) bool {
	c := s.peek()
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		s.pos++
		r, ok := s.hex()
		if ok {
			into.addRune(r)
		}
		return ok
	default:
		return false
	}
	s.pos++
	into.add(c)
	return true
}

func (s *scanner) hex() (rune, bool) {
	var r rune
	for range 4 {
		c := s.peek()
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
		s.pos++
	}
	return r, true
}

// capture keeps the first bytes of a text. A nil capture keeps nothing.
type capture struct {
	limit int // bytes; 0 is all
	kept  []byte
	cut   bool // there was more
	high  rune // first half of a surrogate pair, of which the second may follow
}

func (c *capture) start() {
	if c != nil {
		c.kept, c.cut, c.high = c.kept[:0], false, 0
	}
}

func (c *capture) add(text ...byte) {
	if c == nil || len(text) == 0 {
		return
	}
	c.endRune()
	c.append(text)
}

func (c *capture) append(text []byte) {
	limit := c.limit
	if limit == 0 {
		limit = math.MaxInt
	}
	if room := limit - len(c.kept); len(text) > room {
		text, c.cut = text[:room], true
	}
	c.kept = append(c.kept, text...)
}

// addRune adds an escaped UTF-16 code unit.
func (c *capture) addRune(r rune) {
	if c == nil {
		return
	}
	if c.high != 0 {
		if both := utf16.DecodeRune(c.high, r); both != utf8.RuneError {
			c.high = 0
			c.append(utf8.AppendRune(nil, both))
			return
		}
		c.endRune()
	}
	if 0xd800 <= r && r < 0xdc00 {
		c.high = r
		return
	}
	c.append(utf8.AppendRune(nil, r))
}

// endRune replaces half a surrogate pair.
func (c *capture) endRune() {
	if c != nil && c.high != 0 {
		c.high = 0
		c.append(utf8.AppendRune(nil, utf8.RuneError))
	}
}

// finish makes what was kept valid UTF-8: a last character that was torn goes, and what is invalid becomes U+FFFD.
func (c *capture) finish() {
	if c == nil {
		return
	}
	c.endRune()
	if c.cut {
		for torn := 1; torn < utf8.UTFMax && torn <= len(c.kept); torn++ {
			if last := c.kept[len(c.kept)-torn:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					c.kept = c.kept[:len(c.kept)-torn]
				}
				break
			}
		}
	}
	if !utf8.Valid(c.kept) {
		c.kept = []byte(string([]rune(string(c.kept))))
	}
}

// levels are open objects (true) and arrays, a bit each.
type levels struct {
	bits  []uint64
	depth int
}

func (l *levels) reset() { l.depth = 0 }

func (l *levels) push(isObject bool) {
	word, bit := l.depth/64, uint64(1)<<(l.depth%64)
	if word == len(l.bits) {
		l.bits = append(l.bits, 0)
	}
	if isObject {
		l.bits[word] |= bit
	} else {
		l.bits[word] &^= bit
	}
	l.depth++
}

func (l *levels) pop() { l.depth-- }

func (l *levels) top() bool {
	at := l.depth - 1
	return l.bits[at/64]&(uint64(1)<<(at%64)) != 0
}
