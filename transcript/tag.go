package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tag is a tag as models write it: any case, with white space where it likes to be.
type tag struct {
	name       string // lower case
	start, end int    // end is after ">", or after the name when cut is set
	attributes string
	closing    bool
	selfClosed bool
	cut        bool // the text holds no ">" for it
	inCode     bool
}

// tagsOf lists the tags of text that have one of the names, in order, those in code included.
func tagsOf(text string, names map[string]bool, c *code) []tag {
	var tags []tag
	ends := tagEnds{text: text}
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		i += n
		t, ok := readTag(text, i, names, &ends)
		if !ok {
			i++
			continue
		}
		t.inCode = c.touches(t.start, t.start+1)
		tags = append(tags, t)
		i = t.end
	}
	return tags
}

func readTag(text string, start int, names map[string]bool, ends *tagEnds) (tag, bool) {
	t := tag{start: start}
	i := skipSpace(text, start+1)
	if i < len(text) && text[i] == '/' {
		t.closing = true
		i = skipSpace(text, i+1)
	}
	name, after := readName(text, i)
	if name == "" || !names[name] {
		return t, false
	}
	t.name = name
	end := ends.from(after)
	if end < 0 {
		t.cut, t.end = true, after
		return t, true
	}
	t.end = end + 1
	t.attributes = text[after:end]
	t.selfClosed = !t.closing && strings.HasSuffix(strings.TrimRightFunc(t.attributes, space), "/")
	return t, true
}

// maxName is more than the longest name that any rule knows.
const maxName = 40

// readName reads the name at position i in lower case. A name that goes on with a letter of any script is no name of ours.
func readName(text string, i int) (name string, after int) {
	var buffer [maxName]byte
	n := 0
	for ; i < len(text); i++ {
		b := text[i]
		if b >= utf8.RuneSelf {
			if r, _ := utf8.DecodeRuneInString(text[i:]); unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) {
				return "", i
			}
			break
		}
		if !nameByte(b) {
			break
		}
		if n == maxName {
			return "", i
		}
		buffer[n] = lower(b)
		n++
	}
	return string(buffer[:n]), i
}

func nameByte(b byte) bool {
	return wordByte(b) || b == '-' || b == ':'
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// space tells whether r shows nothing: white space of any kind, what has no width, and control characters, which a
// hostile text would put where a reader sees nothing.
func space(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)
}

func skipSpace(text string, i int) int {
	for i < len(text) {
		if text[i] < utf8.RuneSelf {
			if text[i] > ' ' && text[i] != 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !space(r) {
			return i
		}
		i += size
	}
	return i
}

func blank(text string) bool { return skipSpace(text, 0) == len(text) }

// skipBlanks skips what may stand within a line.
func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// skipBreak skips one line break.
func skipBreak(text string, i int) int {
	if strings.HasPrefix(text[i:], "\r\n") {
		return i + 2
	}
	if i < len(text) && text[i] == '\n' {
		return i + 1
	}
	return i
}

// startsLine tells whether only blanks stand between position i and the start of its line.
func startsLine(text string, i int) bool {
	for i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
		i--
	}
	return i == 0 || text[i-1] == '\n'
}

// endsLine tells whether only blanks stand between position i and the end of its line.
func endsLine(text string, i int) bool {
	i = skipBlanks(text, i)
	return i == len(text) || text[i] == '\n' || text[i] == '\r'
}

// tagEnds finds the ">" of tags. Quoted values may hold ">" and "<". The answers for all positions are worked out at
// once, from the right, as soon as a tag with a quote asks: a search per tag would cost the square of a hostile text.
type tagEnds struct {
	text   string
	plain  []int32 // by position: where the tag ends that is outside of quotes here; -1: nowhere
	next   finder
	quote1 finder
	quote2 finder
	open   finder
}

// from is the position of the ">" of the tag whose name ends at i, or -1.
func (e *tagEnds) from(i int) int {
	end := e.next.find(e.text, ">", i)
	open := e.open.find(e.text, "<", i)
	quote := min(e.quote1.find(e.text, `"`, i), e.quote2.find(e.text, "'", i))
	if quote < end && quote < open {
		if e.plain == nil {
			e.measure()
		}
		if found := e.plain[i]; found >= 0 {
			return int(found)
		}
		// A quote that never closes is a mere character.
	}
	if end == len(e.text) || open < end {
		return -1
	}
	return end
}

func (e *tagEnds) measure() {
	e.plain = make([]int32, len(e.text)+1)
	plain, single, double := int32(-1), int32(-1), int32(-1)
	e.plain[len(e.text)] = -1
	for i := len(e.text) - 1; i >= 0; i-- {
		switch e.text[i] {
		case '>':
			plain = int32(i)
		case '<':
			plain = -1
		case '\'':
			plain, single = single, plain
		case '"':
			plain, double = double, plain
		}
		e.plain[i] = plain
	}
}

// finder looks for a needle at ascending positions and remembers what it saw, so that all searches together cost one pass.
type finder struct {
	at    int
	known bool
}

// find is the position of the first needle at or after i, or the length of text.
func (f *finder) find(text, needle string, i int) int {
	if f.known && f.at >= i {
		return f.at
	}
	f.known, f.at = true, len(text)
	if i < len(text) {
		if n := strings.Index(text[i:], needle); n >= 0 {
			f.at = i + n
		}
	}
	return f.at
}
