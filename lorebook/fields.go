package lorebook

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// spelling is a member's name in its two forms.
type spelling struct{ camel, snake string }

// The members of an entry that its extensions may overrule (spec/governed-state.md, section 9, field list). The last two
// are not in that list, but cards have them there.
var (
	memberPosition          = spelling{"position", "position"}
	memberDepth             = spelling{"depth", "depth"}
	memberRole              = spelling{"role", "role"}
	memberScanDepth         = spelling{"scanDepth", "scan_depth"}
	memberCaseSensitive     = spelling{"caseSensitive", "case_sensitive"}
	memberMatchWholeWords   = spelling{"matchWholeWords", "match_whole_words"}
	memberSelectiveLogic    = spelling{"selectiveLogic", "selective_logic"}
	memberExcludeRecursion  = spelling{"excludeRecursion", "exclude_recursion"}
	memberPreventRecursion  = spelling{"preventRecursion", "prevent_recursion"}
	memberDelay             = spelling{"delayUntilRecursion", "delay_until_recursion"}
	memberProbability       = spelling{"probability", "probability"}
	memberUseProbability    = spelling{"useProbability", "use_probability"}
	memberRecursive         = spelling{"recursive", "recursive_scanning"}
	memberMaxRecursionSteps = spelling{"maxRecursionSteps", "max_recursion_steps"}
)

// fields are the members of an entry or of the book. null is not there.
type fields struct {
	root, extensions map[string]jsontext.Value
	snakeFirst       bool // in the root too: so it is in the book
	complain         func(key, reason string)
}

// newFields reads an object's members. complain may be nil until the first question.
func newFields(members []member) *fields {
	f := &fields{root: present(members)}
	if ext := f.root["extensions"]; ext.Kind() == '{' {
		if inner, _, err := readObject(ext); err == nil {
			f.extensions = present(inner)
		}
	}
	return f
}

func present(members []member) map[string]jsontext.Value {
	set := make(map[string]jsontext.Value, len(members))
	for _, m := range members {
		if m.value.Kind() != 'n' {
			set[m.name] = m.value
		}
	}
	return set
}

// pick finds the value that counts among the spellings of a member, and the name under which it stands; nil if it is
// nowhere. Extensions come before the root and, for entries, there camel case comes before snake case.
func (f *fields) pick(s spelling) (value jsontext.Value, name string) {
	places := [4]place{{f.extensions, s.snake, true}, {f.extensions, s.camel, true}, {f.root, s.camel, false}, {f.root, s.snake, false}}
	if f.snakeFirst {
		places[2], places[3] = places[3], places[2]
	}
	for _, p := range places {
		v := p.members[p.name]
		switch {
		case v == nil:
		case value == nil:
			value, name = v, p.title()
		case !bytes.Equal(v, value) && s != memberPosition: // cards say the position in words beside
			f.complain("", fmt.Sprintf("%s and %s differ; the former counts", name, p.title()))
		}
	}
	return value, name
}

// place is where a member may stand.
type place struct {
	members map[string]jsontext.Value
	name    string
	inside  bool // of the extensions
}

func (p place) title() string {
	if p.inside {
		return "extensions." + p.name
	}
	return p.name
}

// boolean reads a member that is true or false; ok is false when it is not there.
func (f *fields) boolean(s spelling) (value, ok bool) {
	v, name := f.pick(s)
	if v == nil {
		return false, false
	}
	if value, ok = booleanOf(v); !ok {
		f.complain("", name+" is neither true nor false; the default counts")
	}
	return value, ok
}

// number reads a member that is a number; ok is false when it is not there.
func (f *fields) number(s spelling) (value float64, ok bool) {
	v, name := f.pick(s)
	if v == nil {
		return 0, false
	}
	if value, ok = numberOf(v); !ok {
		f.complain("", name+" is no number; the default counts")
	}
	return value, ok
}

// whole reads a member that is a whole number; a fraction is cut off.
func (f *fields) whole(s spelling, def int) int {
	value, ok := f.number(s)
	if !ok {
		return def
	}
	return clampInt(value)
}

// atLeastZero reads a depth.
func (f *fields) atLeastZero(s spelling, def int) int {
	value := f.whole(s, def)
	if value < 0 {
		f.complain("", fmt.Sprintf("%s is below 0 and counts as 0", s.camel))
	}
	return max(0, value)
}

func (f *fields) flag(s spelling, def bool) bool {
	if value, ok := f.boolean(s); ok {
		return value
	}
	return def
}

// text reads a member of the root that is a text.
func (f *fields) text(name string) string {
	v := f.root[name]
	if v == nil {
		return ""
	}
	text, ok := textOf(v)
	if !ok {
		f.complain("", name+" is no text; it counts as empty")
	}
	return text
}

// plain is a member that stands in the root only.
func plain(name string) spelling { return spelling{name, name} }

// rootOnly answers for the root alone.
func (f *fields) rootOnly() *fields {
	return &fields{root: f.root, complain: f.complain}
}

// order reads insertion_order, else order.
func (f *fields) order() float64 {
	const def = 100
	root := f.rootOnly()
	name := "insertion_order"
	if f.root[name] == nil {
		name = "order"
	} else if other := f.root["order"]; other != nil && !bytes.Equal(other, f.root[name]) {
		f.complain("", "insertion_order and order differ; the former counts")
	}
	if value, ok := root.number(plain(name)); ok {
		return value
	}
	return def
}

// disabled reads enabled, else disable.
func (f *fields) disabled() bool {
	root := f.rootOnly()
	if f.root["enabled"] == nil {
		return root.flag(plain("disable"), false)
	}
	enabled := root.flag(plain("enabled"), true)
	if disable, ok := booleanOf(f.root["disable"]); ok && disable == enabled {
		f.complain("", "enabled and disable contradict each other; the former counts")
	}
	return !enabled
}

// keys reads the first of two lists that has a key other than blanks.
func (f *fields) keys(first, second string) []string {
	list := func(name string) []string {
		return keyList(f.root[name], func(reason string) { f.complain("", name+" "+reason) })
	}
	a, b := list(first), list(second)
	if !anyKey(a) && anyKey(b) {
		return b
	}
	if anyKey(a) && anyKey(b) && !slices.Equal(a, b) {
		f.complain("", first+" and "+second+" differ; the former counts")
	}
	return a
}

func anyKey(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return !blank(key) })
}

// position reads a number, or the words that cards have for the first two.
func (f *fields) position() int {
	v, _ := f.pick(memberPosition)
	switch word, _ := textOf(v); word {
	case "before_char":
		return 0
	case "after_char":
		return 1
	}
	return f.whole(memberPosition, 0)
}

// delay reads delayUntilRecursion: the first round in which an entry takes part. A round between two is the later one.
func (f *fields) delay() int {
	v, name := f.pick(memberDelay)
	if v == nil {
		return 0
	}
	if waits, ok := booleanOf(v); ok {
		if waits {
			return 1
		}
		return 0
	}
	value, ok := numberOf(v)
	if !ok {
		f.complain("", name+" is neither a number nor true or false; the default counts")
		return 0
	}
	return max(0, roundUp(value))
}

// logic reads selectiveLogic; what is none of the four known ones passes.
func (f *fields) logic() int {
	value, ok := f.number(memberSelectiveLogic)
	if !ok {
		return logicAny
	}
	if value != float64(clampInt(value)) || value < logicAny || value > logicAll {
		f.complain("", "selectiveLogic "+strconv.FormatFloat(value, 'g', -1, 64)+
			" is unknown: the secondary keys count for nothing")
		return logicPass
	}
	return int(value)
}
