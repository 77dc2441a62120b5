package httpapi

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
)

// object reads a JSON object of a request. It is strict about the object itself: a member is asked for by its exact
// name, and what nobody asked for, what stands there twice and what has another type is a problem. What lies inside a
// stored value is none of its business. All methods add to the problems instead of failing; the values they return count
// only when [object.done] finds none.
type object struct {
	path     string // "" at the top, else with a dot at the end
	members  []member
	unread   bool // it is no object, which is noted; nothing is missed in it
	problems *problems
}

type member struct {
	name  string
	value jsontext.Value // a part of the body, not a copy
	asked bool
}

// maxMembers bounds the members of one object of a request, and so the time it takes to find them.
const maxMembers = 1024

// shownName bounds how much of an unknown member's name an answer repeats.
const shownName = 64

// openBody reads the body of a call; none at all is {}.
func openBody(c *call) *object {
	o := &object{problems: &problems{}}
	if c.body != nil {
		o.read(c.body)
	}
	return o
}

// read splits the text of an object into its members.
func (o *object) read(text []byte) {
	in := newReader(text)
	o.unread = true
	if in.d.PeekKind() != '{' {
		if _, err := in.value(); err != nil || !in.atEnd() {
			o.problem("", wrongSyntax, "this is not valid JSON")
			return
		}
		o.problem("", wrongType, "an object is expected")
		return
	}
	members, ok := in.members(o)
	if !ok || !in.atEnd() {
		o.problem("", wrongSyntax, "this is not valid JSON")
		return
	}
	o.members, o.unread = members, false
}

// reader walks through JSON text and hands out parts of it.
type reader struct {
	text []byte
	d    *jsontext.Decoder
}

func newReader(text []byte) reader {
	return reader{text, jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))}
}

// value reads one value and returns its text, uncopied.
func (in reader) value() (jsontext.Value, error) {
	v, err := in.d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := in.d.InputOffset()
	return jsontext.Value(in.text[end-int64(len(v)) : end : end]), nil
}

// members reads an object. ok is false when the text is not JSON.
func (in reader) members(o *object) (members []member, ok bool) {
	if _, err := in.d.ReadToken(); err != nil {
		return nil, false
	}
	members = make([]member, 0, 4)
	tooMany := false
	for in.d.PeekKind() == '"' {
		token, err := in.d.ReadToken()
		if err != nil {
			return nil, false
		}
		name := token.String()
		value, err := in.value()
		if err != nil {
			return nil, false
		}
		switch {
		case len(members) == maxMembers:
			tooMany = true
		case find(members, name) != nil:
			o.problem(name, wrongRepeated, "this member stands there more than once")
		default:
			members = append(members, member{name: name, value: value})
		}
	}
	if tooMany {
		o.problem("", wrongUnknown, "there are far too many members")
	}
	_, err := in.d.ReadToken() // the closing brace, or what is wrong instead of it
	return members, err == nil
}

// atEnd reports whether nothing follows.
func (in reader) atEnd() bool {
	_, err := in.d.ReadToken()
	return errors.Is(err, io.EOF)
}

func find(members []member, name string) *member {
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	return nil
}

// problem notes what is wrong with a member, or with the object itself for "".
func (o *object) problem(name, code, message string) {
	path := o.path + name
	if name == "" {
		path = strings.TrimSuffix(o.path, ".")
	}
	o.problems.add(path, code, message)
}

// close notes the members that nobody asked for.
func (o *object) close() {
	for _, m := range o.members {
		if m.asked {
			continue
		}
		name := m.name
		if len(name) > shownName {
			name = strings.ToValidUTF8(name[:shownName], "") + "…"
		}
		o.problem(name, wrongUnknown, "this member is not known here")
	}
}

// done closes the object and returns the validation error for all that was found.
func (o *object) done() error {
	o.close()
	return o.problems.err()
}

// presence tells whether a member may be left out.
type presence bool

const (
	optional presence = false
	required presence = true
)

// has tells whether a member is there, without asking for it.
func (o *object) has(name string) bool { return find(o.members, name) != nil }

// take asks for a member; ok is false when it is not there.
func (o *object) take(name string, p presence) (value jsontext.Value, ok bool) {
	m := find(o.members, name)
	if m == nil {
		if p == required && !o.unread {
			o.problem(name, wrongMissing, "this member is required")
		}
		return nil, false
	}
	m.asked = true
	return m.value, true
}

// typed asks for a member of one of the kinds.
func (o *object) typed(name string, p presence, expected string, kinds ...jsontext.Kind) (value jsontext.Value, ok bool) {
	value, ok = o.take(name, p)
	if !ok {
		return nil, false
	}
	for _, kind := range kinds {
		if value.Kind() == kind {
			return value, true
		}
	}
	o.problem(name, wrongType, expected+" is expected")
	return nil, false
}

// null asks whether a member is there and null, and only then counts it as asked for.
func (o *object) null(name string) bool {
	m := find(o.members, name)
	if m == nil || m.value.Kind() != 'n' {
		return false
	}
	m.asked = true
	return true
}

// text asks for a text that follows a rule.
func (o *object) text(name string, p presence, rule textRule) (string, bool) {
	value, ok := o.typed(name, p, "a text", '"')
	if !ok {
		return "", false
	}
	text := unquote(value)
	if code, message := rule.check(text); code != "" {
		o.problem(name, code, message)
		return "", false
	}
	return text, true
}

// choice asks for one of several words.
func (o *object) choice(name string, p presence, choices ...string) string {
	text, _ := o.text(name, p, textRule{choices: choices})
	return text
}

// flag asks for true or false.
func (o *object) flag(name string) (value, ok bool) {
	v, ok := o.typed(name, optional, "true or false", 't', 'f')
	return ok && v.Kind() == 't', ok
}

// integer asks for a whole number within bounds. 5.0 is one.
func (o *object) integer(name string, p presence, low, high int64) (int64, bool) {
	value, ok := o.typed(name, p, "a whole number", '0')
	if !ok {
		return 0, false
	}
	n, code := parseInteger(string(value), low, high)
	if code != "" {
		o.problem(name, code, integerMessage(code, low, high))
		return 0, false
	}
	return n, true
}

// number asks for a number within bounds.
func (o *object) number(name string, low, high float64) (float64, bool) {
	value, ok := o.typed(name, optional, "a number", '0')
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil || x < low || x > high {
		o.problem(name, wrongRange, "this number is out of range")
		return 0, false
	}
	return x, true
}

// child asks for an object and opens it. The parent's problems are its problems; the caller closes it.
func (o *object) child(name string) (*object, bool) {
	value, ok := o.typed(name, optional, "an object", '{')
	if !ok {
		return nil, false
	}
	return o.open(name, value), true
}

// open reads a value that stands at name as an object.
func (o *object) open(name string, value jsontext.Value) *object {
	child := &object{path: o.path + name + ".", problems: o.problems}
	child.read(value)
	return child
}

// list asks for an array and returns the texts of its elements.
func (o *object) list(name string, p presence) ([]jsontext.Value, bool) {
	value, ok := o.typed(name, p, "a list", '[')
	if !ok {
		return nil, false
	}
	in := newReader(value)
	var items []jsontext.Value
	_, _ = in.d.ReadToken() // the whole body was read once without error
	for in.d.PeekKind() > 0 && in.d.PeekKind() != ']' {
		item, err := in.value()
		if err != nil {
			break
		}
		items = append(items, item)
	}
	return items, true
}

// texts asks for a list of texts that are not empty.
func (o *object) texts(name string, p presence) ([]string, bool) {
	items, ok := o.list(name, p)
	if !ok {
		return nil, false
	}
	texts := make([]string, 0, len(items))
	for i, item := range items {
		path := name + "." + strconv.Itoa(i)
		if item.Kind() != '"' {
			o.problem(path, wrongType, "a text is expected")
			continue
		}
		if len(item) == len(`""`) {
			o.problem(path, wrongEmpty, "this must not be empty")
			continue
		}
		texts = append(texts, unquote(item))
	}
	return texts, len(texts) == len(items)
}

// value asks for a value to store, in the form in which it is stored; any JSON will do, also null.
func (o *object) value(name string, p presence) (jsontext.Value, bool) {
	value, ok := o.take(name, p)
	if !ok {
		return nil, false
	}
	stored, err := state.NormalizeValue(value)
	if err != nil {
		o.problem(name, wrongSyntax, "this value cannot be stored: "+err.Error())
		return nil, false
	}
	return stored, true
}

// storedObject asks for an object that is kept and returned as it is.
func (o *object) storedObject(name string) (jsontext.Value, bool) {
	if _, ok := o.typed(name, optional, "an object", '{'); !ok {
		return nil, false
	}
	return o.value(name, optional)
}

// unquote decodes a JSON text that was read without error.
func unquote(value jsontext.Value) string {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

// maxInteger is the largest whole number that every JSON implementation keeps.
const maxInteger = 1<<53 - 1

// parseInteger reads a whole number; code tells what is wrong with it, "" for nothing.
func parseInteger(text string, low, high int64) (n int64, code string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || x > maxInteger || x < -maxInteger:
			return 0, wrongRange
		case x != float64(int64(x)):
			return 0, wrongType
		}
		n = int64(x)
	}
	if n < low || n > high {
		return 0, wrongRange
	}
	return n, ""
}

func integerMessage(code string, low, high int64) string {
	if code == wrongType {
		return "a whole number is expected"
	}
	if high == maxInteger {
		return "this must be a whole number from " + strconv.FormatInt(low, 10)
	}
	return "this must be a whole number from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
}

// textRule is what a text must be. Lengths are in UTF-16 code units (spec/governed-state.md, 3.2).
type textRule struct {
	max      int               // 0 is no bound
	mayEmpty bool              // else at least one character
	valid    func(string) bool // nil is anything
	hint     string            // what valid asks for
	choices  []string          // nil is anything
}

// The rules of names.
var (
	anyText       = textRule{}
	slotRule      = textRule{max: sessile.MaxSlotLength}
	titleRule     = textRule{max: sessile.MaxTitleLength}
	labelRule     = textRule{max: sessile.MaxLabelLength}
	keyRule       = textRule{max: sessile.MaxSessionKeyLength}
	channelRule   = textRule{max: sessile.MaxChannelLength}
	agentRule     = textRule{valid: session.ValidAgent, hint: "1 to 64 characters of a-z, 0-9, - and _, starting with a letter or a digit"}
	accountRule   = textRule{max: sessile.MaxAccountLength}
	namespaceRule = textRule{
		max: sessile.MaxNamespaceLength, valid: state.ValidNamespace,
		hint: "words of a-z, 0-9 and _, each starting with a letter, joined by dots",
	}
	ownerTypeRule = textRule{max: sessile.MaxOwnerTypeLength, valid: state.ValidNamespace, hint: namespaceRule.hint}
	ownerIDRule   = textRule{
		max: sessile.MaxOwnerIDLength, valid: state.ValidOwnerID,
		hint: "characters of a-z, 0-9 and . _ : @ / -, starting with a letter, a digit or @",
	}
)

// check returns what is wrong, "" for nothing.
func (rule textRule) check(text string) (code, message string) {
	switch {
	case text == "" && !rule.mayEmpty && rule.choices == nil:
		return wrongEmpty, "this must not be empty"
	case rule.max > 0 && state.UTF16Length(text) > rule.max:
		return wrongLength, "this must have at most " + strconv.Itoa(rule.max) + " characters"
	case rule.valid != nil && !rule.valid(text):
		return wrongPattern, "this must be made of " + rule.hint
	}
	if rule.choices == nil {
		return "", ""
	}
	for _, choice := range rule.choices {
		if text == choice {
			return "", ""
		}
	}
	return wrongChoice, "this must be one of " + strings.Join(rule.choices, ", ")
}
