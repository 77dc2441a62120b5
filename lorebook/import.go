package lorebook

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// Why nothing can be imported.
var (
	// ErrNotJSON says that a file is not JSON, in UTF-8 or with a byte-order mark.
	ErrNotJSON = errors.New("the file is no JSON text")
	// ErrNoBook says that a file is JSON, but holds no worldbook, as a character card may.
	ErrNoBook = errors.New("the file holds no worldbook")
)

// Import makes a book for [Parse] of a file that another program wrote (spec/governed-state.md, section 9, last rule): a
// character card with a book in it, a `lorebook_v3` wrapper, a book of Risu, NovelAI or Agnai, a bare list of entries, a
// file with a byte-order mark. dropped says what the book has no more of the file: a member by its path, with the number
// of entries that had it; or a sentence.
//
// What is a book already comes back byte for byte, so importing twice changes nothing. It fails with [ErrNotJSON] or
// [ErrNoBook].
func Import(text []byte) (book []byte, dropped []string, err error) {
	i := importer{}
	text, err = i.decode(text)
	if err != nil {
		return nil, nil, err
	}
	list, settings, err := i.find(text)
	if err != nil {
		return nil, nil, err
	}
	entries, changed, err := i.entries(list, settings)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case changed:
		text = i.assemble(settings, entries)
	case settings == nil:
		text = assembleList(list)
	default:
		text = settings.text
	}
	return bytes.Clone(text), i.list(), nil
}

// importer remembers what has been dropped.
type importer struct {
	order  []string
	counts map[string]int
}

func (i *importer) drop(what string) {
	if i.counts == nil {
		i.counts = map[string]int{}
	}
	if i.counts[what] == 0 {
		i.order = append(i.order, what)
	}
	i.counts[what]++
}

func (i *importer) list() []string {
	var list []string
	for _, what := range i.order {
		if n := i.counts[what]; n > 1 {
			what = fmt.Sprintf("%s (%d times)", what, n)
		}
		list = append(list, what)
	}
	return list
}

// decode makes valid JSON in UTF-8 of a file, if it can.
func (i *importer) decode(text []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		text = text[3:]
		i.drop("the byte-order mark")
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		text = fromUTF16(text[2:], binary.LittleEndian)
		i.drop("the byte-order mark")
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		text = fromUTF16(text[2:], binary.BigEndian)
		i.drop("the byte-order mark")
	}
	if jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return text, nil
	}
	text, err := repairUnicode(text)
	if err != nil {
		return nil, ErrNotJSON
	}
	i.drop("characters that are not valid Unicode")
	return text, nil
}

func fromUTF16(text []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(text)/2)
	for ; len(text) >= 2; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}

// repairUnicode writes a JSON text again with U+FFFD for everything that is not valid Unicode.
func repairUnicode(text []byte) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for done := false; ; done = dec.StackDepth() == 0 {
		token, err := dec.ReadToken()
		switch {
		case done && errors.Is(err, io.EOF):
			return bytes.TrimSpace(out.Bytes()), nil
		case done || err != nil:
			return nil, ErrNotJSON
		}
		switch token.Kind() {
		case '"':
			err = enc.WriteToken(jsontext.String(string([]rune(token.String()))))
		case '0':
			err = enc.WriteValue(jsontext.Value(token.String()))
		default:
			err = enc.WriteToken(token)
		}
		if err != nil {
			return nil, ErrNotJSON
		}
	}
}

// source is the object that holds the entries.
type source struct {
	text    jsontext.Value
	members []member
}

func (s *source) member(name string) jsontext.Value {
	if s == nil {
		return nil
	}
	return memberOf(s.members, name)
}

func memberOf(members []member, name string) jsontext.Value {
	for _, m := range members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// maxWrappers is how deep a book may lie: card, data, book, and one to spare.
const maxWrappers = 4

// find looks for the list of entries and the object around it; there is none around a bare list.
func (i *importer) find(text jsontext.Value) (list jsontext.Value, book *source, err error) {
	path := ""
	for range maxWrappers {
		if text.Kind() == '[' {
			return bytes.TrimSpace(text), nil, nil
		}
		if text.Kind() != '{' {
			return nil, nil, ErrNoBook
		}
		members, _, err := readObject(text)
		if err != nil {
			return nil, nil, ErrNotJSON
		}
		if entries := memberOf(members, "entries"); entries.Kind() == '[' || entries.Kind() == '{' {
			return entries, &source{text, members}, nil
		}
		inside := wrapped(members)
		if inside == "" {
			return nil, nil, ErrNoBook
		}
		for _, m := range members {
			switch {
			case m.name != inside:
				i.drop(path + m.name)
			default:
				text = m.value
			}
		}
		path += inside + "."
	}
	return nil, nil, ErrNoBook
}

// wrapped is the name of the member in which a file holds its book.
func wrapped(members []member) string {
	for _, name := range []string{"character_book", "data", "lorebook", "book"} {
		if kind := memberOf(members, name).Kind(); kind == '{' || kind == '[' && name == "data" {
			return name
		}
	}
	return ""
}

func assembleList(list jsontext.Value) []byte {
	return append(append([]byte(`{"entries":`), list...), '}')
}

// assemble writes a book around entries that had to be converted. It keeps what books have, in Sessile's names.
func (i *importer) assemble(book *source, entries []byte) []byte {
	if book == nil {
		return assembleList(entries)
	}
	out := objectWriter{}
	for _, m := range book.members {
		switch {
		case m.name == "entries":
			out.add(m.name, entries)
		case m.name == "recursiveScanning" && book.member("recursive_scanning") == nil:
			out.add("recursive_scanning", m.value)
		case bookMembers[m.name]:
			out.add(m.name, m.value)
		default:
			i.drop(m.name)
		}
	}
	return out.end()
}

// bookMembers are what a book keeps when it has to be written anew.
var bookMembers = map[string]bool{
	"name": true, "description": true, "extensions": true,
	"scanDepth": true, "scan_depth": true,
	"caseSensitive": true, "case_sensitive": true,
	"matchWholeWords": true, "match_whole_words": true,
	"recursive": true, "recursive_scanning": true,
	"maxRecursionSteps": true, "max_recursion_steps": true,
	"tokenBudget": true, "token_budget": true,
}

// objectWriter writes a JSON object member by member.
type objectWriter struct{ out []byte }

func (w *objectWriter) add(name string, value []byte) {
	if len(w.out) == 0 {
		w.out = append(w.out, '{')
	} else {
		w.out = append(w.out, ',')
	}
	w.out, _ = jsontext.AppendQuote(w.out, name) // it fails on invalid Unicode only, and all of it comes from valid JSON
	w.out = append(append(w.out, ':'), value...)
}

func (w *objectWriter) addTexts(name string, texts []string) {
	list := []byte{'['}
	for n, text := range texts {
		if n > 0 {
			list = append(list, ',')
		}
		list, _ = jsontext.AppendQuote(list, text)
	}
	w.add(name, append(list, ']'))
}

func (w *objectWriter) end() []byte {
	if len(w.out) == 0 {
		return []byte("{}")
	}
	return append(w.out, '}')
}
