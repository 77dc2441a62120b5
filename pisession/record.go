package pisession

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	maxWord = 64      // bytes of types, roles, times and numbers; none that means anything is longer
	maxPath = 1 << 20 // bytes of a path
)

// record is what one line said, as far as anybody asks. It is used again for every line.
type record struct {
	scanner *scanner
	value   value // the line as a whole: what kind of value it is

	kind, id, parent, time                   value
	version, workingDirectory, parentSession value
	name                                     value
	message                                  message

	// The functions that read members, made once.
	onMember, onMessage, onBlock func(name []byte) bool
	onContent                    func() bool
}

// message is the member message of an entry.
type message struct {
	kind       kind
	role, time value
	content    bool    // there is a content, of whatever kind
	text       capture // of the content: its texts, joined by blanks
	texts      int

	blockKind, blockText value
}

func newRecord(s *scanner) *record {
	r := &record{scanner: s}
	for _, v := range []*value{&r.kind, &r.time, &r.version, &r.value, &r.message.role, &r.message.time, &r.message.blockKind} {
		v.limit = maxWord
	}
	r.workingDirectory.limit, r.parentSession.limit = maxPath, maxPath
	r.name.limit, r.message.text.limit, r.message.blockText.limit = MaxText, MaxText, MaxText
	r.onMember, r.onMessage, r.onBlock, r.onContent = r.readMember, r.readMessage, r.readBlock, r.readContent
	return r
}

// outcome is what a line is.
type outcome int

const (
	lineBlank outcome = iota
	lineBad           // no JSON
	lineGood
)

// read reads the current line, but not what ends it.
func (r *record) read() outcome {
	s := r.scanner
	for _, v := range []*value{&r.kind, &r.id, &r.parent, &r.time, &r.version, &r.workingDirectory, &r.parentSession, &r.name} {
		v.reset()
	}
	r.message.reset()
	r.value.reset()
	good := false
	switch s.blank() {
	case '\n':
		return lineBlank
	case '{':
		r.value.kind = object
		good = s.members(r.onMember)
	default:
		good = s.read(&r.value)
	}
	if !good || s.blank() != '\n' {
		return lineBad
	}
	return lineGood
}

// is reports the type of an entry.
func (r *record) is(kind string) bool { return r.kind.kind == text && string(r.kind.kept) == kind }

// nothing reports a value that counts as false in JavaScript: Pi passes over such a line as over one that is no JSON.
func (r *record) nothing() bool {
	switch v := &r.value; v.kind {
	case null:
		return true
	case boolean, text:
		return len(v.kept) == 0
	case number:
		n, ok := v.number()
		return ok && n == 0
	default:
		return false
	}
}

func (r *record) readMember(name []byte) bool {
	s := r.scanner
	switch string(name) {
	case "type":
		return s.read(&r.kind)
	case "id":
		return s.read(&r.id)
	case "parentId":
		return s.read(&r.parent)
	case "timestamp":
		return s.read(&r.time)
	case "version":
		return s.read(&r.version)
	case "cwd":
		return s.read(&r.workingDirectory)
	case "parentSession":
		return s.read(&r.parentSession)
	case "name":
		return s.read(&r.name)
	case "message":
		r.message.reset()
		if s.blank() != '{' {
			return s.skip()
		}
		r.message.kind = object
		return s.members(r.onMessage)
	default:
		return s.skip()
	}
}

func (m *message) reset() {
	m.kind, m.content, m.texts = missing, false, 0
	m.role.reset()
	m.time.reset()
	m.text.start()
}

func (r *record) readMessage(name []byte) bool {
	s, m := r.scanner, &r.message
	switch string(name) {
	case "role":
		return s.read(&m.role)
	case "timestamp":
		return s.read(&m.time)
	case "content":
		m.content, m.texts = true, 0
		m.text.start()
		switch s.blank() {
		case '"':
			return s.text(&m.text)
		case '[':
			return s.elements(r.onContent)
		default:
			return s.skip()
		}
	default:
		return s.skip()
	}
}

// readContent reads one block of a content.
func (r *record) readContent() bool {
	s, m := r.scanner, &r.message
	if s.blank() != '{' {
		return s.skip()
	}
	m.blockKind.reset()
	m.blockText.reset()
	if !s.members(r.onBlock) {
		return false
	}
	if string(m.blockKind.kept) == "text" && m.blockText.kind == text {
		if m.texts++; m.texts > 1 {
			m.text.add(' ')
		}
		m.text.add(m.blockText.kept...)
		m.text.finish()
	}
	return true
}

func (r *record) readBlock(name []byte) bool {
	switch string(name) {
	case "type":
		return r.scanner.read(&r.message.blockKind)
	case "text":
		return r.scanner.read(&r.message.blockText)
	default:
		return r.scanner.skip()
	}
}

// said reports a message of the two who talk.
func (m *message) said() bool {
	if m.kind != object || !m.content || m.role.kind != text {
		return false
	}
	role := string(m.role.kept)
	return role == "user" || role == "assistant"
}

func (v *value) number() (float64, bool) {
	if v.kind != number || v.cut {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v.kept), 64)
	return n, err == nil
}

// moment is a time as entries have it, in text. Anything else is the zero time.
func (v *value) moment() time.Time {
	if v.kind != text {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, string(v.kept))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// maxMilliseconds is as far from 1970 as times go in JavaScript.
const maxMilliseconds = 8.64e15

// spokenAt is when a message was said: its own time in milliseconds, else that of its entry, else the zero time.
func (r *record) spokenAt() time.Time {
	if ms, ok := r.message.time.number(); ok {
		if ms < -maxMilliseconds || ms > maxMilliseconds {
			return time.Time{}
		}
		return time.UnixMilli(int64(ms)).UTC()
	}
	return r.time.moment()
}

// trim takes off what JavaScript takes off.
func trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r) })
}
