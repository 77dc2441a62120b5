package transcript

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of section 3.6, in UTF-16 code units and in bytes.
const (
	MaxText  = 4000
	MaxBytes = 80 << 10
)

// cutMark follows a text that was cut.
const cutMark = "\n…(truncated)…"

// flags are what the result says about the rows in it.
type flags struct{ truncated, redacted bool }

// shaping takes one message through the steps of section 3.4.
type shaping struct {
	redactor     *Redactor
	includeTools bool
	flags
}

// shape is the order of the steps, up to the byte cap. A message without content left gives false.
func (v *View) shape(m message, createdAt int64, includeTools bool) (jsontext.Value, flags, bool) {
	s := &shaping{redactor: v.redactor, includeTools: includeTools}
	if m.role == "assistant" && !m.sanitise() {
		return nil, flags{}, false
	}
	if !s.dropThinking(&m) {
		return nil, flags{}, false
	}
	for _, name := range []string{"details", "usage", "cost"} {
		s.truncated = m.more.remove(name) || s.truncated
	}
	out := object{{"role", Text(m.role)}}
	switch {
	case m.text != nil:
		out.set("content", s.text(*m.text, true))
	case m.blocks != nil:
		list := make([]jsontext.Value, len(m.blocks))
		for i, b := range m.blocks {
			list[i] = s.block(b)
		}
		out.set("content", arrayJSON(list))
	case m.raw != nil:
		out.set("content", s.value(m.raw))
	}
	for _, one := range m.more {
		if !one.value.IsValid(options()...) {
			one.value = Text(string(one.value))
		}
		if text, ok := readText(one.value); ok && cutNames[one.name] {
			out.set(one.name, s.text(text, true))
			continue
		}
		if one.name == "thinkingSignature" || one.name == "openclawReasoningReplay" {
			s.truncated = true
			continue
		}
		out.set(one.name, s.named(one.name, one.value))
	}
	if s.redacted {
		out.set("redacted", jsontext.Value("true"))
	}
	if _, ok := out.get("timestamp"); !ok && createdAt > 0 {
		out.set("timestamp", number(createdAt))
	}
	out.set("__openclaw", m.place())
	return out.json(), s.flags, true
}

// place is the member that says where the row stands.
func (m *message) place() jsontext.Value {
	place := object{}
	if m.seq > 0 {
		place.set("seq", number(m.seq))
	}
	if m.id != "" {
		place.set("id", Text(m.id))
	}
	return place.json()
}

func number(n int64) jsontext.Value { return strconv.AppendInt(nil, n, 10) }

// sanitise is steps 1 and 2 of section 3.4. It tells whether the row still has content.
func (m *message) sanitise() bool {
	if m.text != nil {
		before := *m.text
		*m.text = Sanitise(before)
		changeText(&m.more, Sanitise)
		if (before == "" || blank(*m.text) && !blank(before)) && blank(m.more.text("text")) {
			return false
		}
	} else {
		m.sanitiseBlocks()
		changeText(&m.more, Sanitise)
		if m.blocks != nil && len(m.blocks) == 0 && blank(m.more.text("text")) {
			return false
		}
	}
	if !m.plain() {
		return true
	}
	_, silent := ControlWord(m.joined()) // what was in front of the word may be gone now
	return !silent
}

func (m *message) sanitiseBlocks() {
	if m.blocks == nil {
		return
	}
	kept := make([]object, 0, len(m.blocks))
	for _, b := range m.blocks {
		value, _ := b.get("text")
		before, ok := readText(value)
		if b.text("type") != "text" || !ok {
			kept = append(kept, b)
			continue
		}
		after := Sanitise(before)
		if blank(after) && !blank(before) {
			continue
		}
		if after != before {
			b.set("text", Text(after))
		}
		kept = append(kept, b)
	}
	m.blocks = kept
}

// dropThinking drops structured reasoning unless the caller wants to see how the session works. It tells whether the row
// still has content.
func (s *shaping) dropThinking(m *message) bool {
	if s.includeTools || len(m.blocks) == 0 || m.role != "assistant" {
		return true
	}
	kept := make([]object, 0, len(m.blocks))
	for _, b := range m.blocks {
		if thinkingBlock(b) {
			s.truncated = true
			continue
		}
		kept = append(kept, b)
	}
	m.blocks = kept
	return len(kept) > 0 || !blank(m.more.text("text"))
}

func thinkingBlock(b object) bool {
	switch b.text("type") {
	case "thinking", "redacted_thinking", "redactedThinking", "reasoning":
		return true
	}
	return false
}

// cutNames are the members of messages and blocks whose texts are cut.
var cutNames = map[string]bool{"content": true, "text": true, "thinking": true, "partialJson": true}

// text redacts a text and cuts it, in this order: a credential across the cut must not stay in part.
func (s *shaping) text(text string, mayCut bool) jsontext.Value {
	text, changed := s.redactor.Redact(text)
	s.redacted = s.redacted || changed
	if mayCut {
		if short, cut := cutText(text, MaxText); cut {
			s.truncated = true
			text = short + cutMark
		}
	}
	return Text(text)
}

// cutText is the first n UTF-16 code units of text. It never splits a character.
func cutText(text string, n int) (short string, cut bool) {
	if len(text) <= n {
		return text, false
	}
	for i, r := range text {
		size := 1
		if r >= 0x10000 {
			size = 2
		}
		if n -= size; n < 0 {
			return text[:i], true
		}
	}
	return text, false
}

// block redacts and cuts a content block.
func (s *shaping) block(b object) jsontext.Value {
	if s.omitData(&b) {
		b.set("omitted", jsontext.Value("true"))
	}
	out := object{}
	for _, m := range b {
		text, isText := readText(m.value)
		list, isList := readArray(m.value)
		switch {
		case m.name == "thinkingSignature" || m.name == "openclawReasoningReplay":
			s.truncated = true
		case m.name == "details" || m.name == "usage" || m.name == "cost":
			s.truncated = true
		case isText && cutNames[m.name]:
			out.set(m.name, s.text(text, true))
		case isList && m.name == "content":
			out.set(m.name, s.blocks(list))
		default:
			out.set(m.name, s.named(m.name, m.value))
		}
	}
	return out.json()
}

// blocks are the content of a block, as results of tools have it.
func (s *shaping) blocks(list []jsontext.Value) jsontext.Value {
	for i, one := range list {
		if o, ok := readObject(one); ok {
			list[i] = s.block(o)
			continue
		}
		list[i] = s.value(one)
	}
	return arrayJSON(list)
}

// omitData takes the encoded data out of a block of a picture, a sound or a file. It tells whether it is such a block.
func (s *shaping) omitData(b *object) bool {
	switch b.text("type") {
	case "image", "image_url", "input_image", "audio", "input_audio", "video", "file", "document", "media":
	case "redacted_thinking", "redactedThinking":
		s.truncated = b.remove("data") || s.truncated
		return false
	default:
		return false
	}
	size := -1
	for _, name := range []string{"data", "url", "image_url", "file_data"} {
		size = max(size, s.omit(b, name))
	}
	for _, name := range []string{"source", "image_url", "input_audio", "file"} {
		value, _ := b.get(name)
		inner, ok := readObject(value)
		if !ok {
			continue
		}
		before := size
		for _, member := range []string{"data", "url", "file_data"} {
			size = max(size, s.omit(&inner, member))
		}
		if size != before {
			b.set(name, inner.json())
		}
	}
	if size >= 0 {
		b.set("bytes", number(int64(size)))
	}
	return true
}

// omit takes a member out if it holds data, and gives the size of that in bytes, or -1.
func (s *shaping) omit(o *object, name string) int {
	value, ok := o.get(name)
	if !ok {
		return -1
	}
	text, ok := readText(value)
	switch {
	case name == "data" || name == "file_data":
	case ok && hasPrefixFold(text, "data:"):
	default:
		return -1
	}
	if hasPrefixFold(text, "data:") {
		_, text, _ = strings.Cut(text, ",")
	}
	o.remove(name)
	s.truncated = true
	return decodedSize(text)
}

// decodedSize is how many bytes a text in Base64 stands for.
func decodedSize(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] > ' ' && text[i] != '=' {
			n++
		}
	}
	return n * 3 / 4
}

// named redacts the value of a member; that of one whose name says it is a credential as a whole.
func (s *shaping) named(name string, value jsontext.Value) jsontext.Value {
	key := fieldKey(name)
	if text, ok := readText(value); ok && (jsonFields[key] || headerFields[key]) && text != "" {
		if !isMask(text) {
			s.redacted = true
			text = mask(text)
		}
		return Text(text)
	}
	return s.valid(value)
}

// value redacts every text in a value and writes the value compactly.
func (s *shaping) value(value jsontext.Value) jsontext.Value {
	if !value.IsValid(options()...) { // nothing of ours stores this; it is shown as the text that it is
		return s.text(string(value), true)
	}
	return s.valid(value)
}

func (s *shaping) valid(value jsontext.Value) jsontext.Value {
	switch value.Kind() {
	case '"':
		text, _ := readText(value)
		return s.text(text, false)
	case '{':
		o, _ := readObject(value)
		for i := range o {
			o[i].value = s.named(o[i].name, o[i].value)
		}
		return o.json()
	case '[':
		list, _ := readArray(value)
		for i := range list {
			list[i] = s.valid(list[i])
		}
		return arrayJSON(list)
	}
	return bytes.TrimSpace(value)
}
