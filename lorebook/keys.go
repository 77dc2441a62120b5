package lorebook

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// keyList reads a list of keys: an array, or one text to be split. complain is told of each member that is dropped.
func keyList(v jsontext.Value, complain func(reason string)) []string {
	if text, ok := textOf(v); ok {
		return splitKeys(text)
	}
	if v.Kind() != '[' {
		if v != nil {
			complain("is no list of keys; there are none")
		}
		return nil
	}
	members, err := readList(v)
	if err != nil { // the text was valid as a whole
		return nil
	}
	var keys []string
	for _, m := range members {
		switch m.Kind() {
		case '"':
			text, _ := textOf(m)
			keys = append(keys, text)
		case '0':
			keys = append(keys, string(m))
		default:
			complain("has a member that is no text; it is dropped")
		}
	}
	return keys
}

// splitKeys takes a list of keys apart that is written as one text: at commas outside /…/, without the blanks around
// the parts and without empty parts.
func splitKeys(text string) []string {
	var keys []string
	for text != "" {
		text = strings.TrimLeftFunc(text, isBlank)
		end := patternEnd(text)
		if end < 0 {
			end = strings.IndexByte(text, ',')
		}
		if end < 0 {
			end = len(text)
		}
		if key := strings.TrimFunc(text[:end], isBlank); key != "" {
			keys = append(keys, key)
		}
		text = strings.TrimPrefix(text[end:], ",")
	}
	return keys
}

// patternEnd is where a pattern that a text begins with ends, flags and blanks included, if a comma or nothing follows
// it; else -1.
func patternEnd(text string) int {
	if !strings.HasPrefix(text, "/") {
		return -1
	}
	slash := unescapedSlash(text, 1)
	if slash < 0 {
		return -1
	}
	rest := strings.TrimLeft(text[slash+1:], patternFlags)
	rest = strings.TrimLeftFunc(rest, isBlank)
	if rest != "" && rest[0] != ',' {
		return -1
	}
	return len(text) - len(rest)
}

// keyRef is one key of one rule. A rule's keys stand side by side, the primary ones first.
type keyRef struct {
	rule      int32
	secondary bool
	text      string
}

// index holds all keys of a book in the forms in which they are looked for.
type index struct {
	keys     []keyRef
	literals [4]*automaton // by folding and whole words, see literalKind; nil where there are none
	patterns []pattern
	bySource map[string]int // patterns by key text; -1 for what is read as a literal
	problems map[string][]string
	size     int // of all patterns
}

func literalKind(caseSensitive, words bool) int {
	kind := 0
	if caseSensitive {
		kind |= exactCase
	}
	if words {
		kind |= wholeWords
	}
	return kind
}

const (
	exactCase  = 1
	wholeWords = 2
)

func newIndex() *index {
	return &index{bySource: map[string]int{}, problems: map[string][]string{}}
}

// check reads a key and returns what is to be said about it.
func (x *index) check(key string) []string {
	if !strings.HasPrefix(key, "/") {
		return nil
	}
	if _, known := x.bySource[key]; known {
		return x.problems[key]
	}
	x.bySource[key] = -1
	source, flags, problem, ok := patternForm(key)
	if !ok {
		if problem != "" {
			x.problems[key] = []string{literalReason(problem)}
		}
		return x.problems[key]
	}
	p, notes, err := compile(source, flags, MaxPatternsSize-x.size-patternOverhead)
	if err != nil {
		x.problems[key] = []string{literalReason(err.Error())}
		return x.problems[key]
	}
	x.size += p.size + patternOverhead
	x.bySource[key] = len(x.patterns)
	x.patterns = append(x.patterns, p)
	x.problems[key] = notes
	return notes
}

func literalReason(problem string) string {
	return "looks like a pattern but is read as a literal: " + problem
}

// add puts a key of a rule in. It has been checked, and is not blank.
func (x *index) add(ref keyRef, r *rule) {
	key := int32(len(x.keys))
	x.keys = append(x.keys, ref)
	if at, found := x.bySource[ref.text]; found && at >= 0 {
		p := &x.patterns[at]
		p.keys = append(p.keys, key)
		p.depth = max(p.depth, r.depth)
		p.recursion = p.recursion || !r.excludeRecursion
		return
	}
	words := r.wholeWords && !severalWords(ref.text)
	kind := literalKind(r.caseSensitive, words)
	if x.literals[kind] == nil {
		x.literals[kind] = newAutomaton(words)
	}
	text := ref.text
	if !r.caseSensitive {
		text = foldText(text).text
	}
	x.literals[kind].add(text, key)
}

// finish is called when all keys are in.
func (x *index) finish() {
	for _, a := range x.literals {
		if a != nil {
			a.link()
		}
	}
	x.bySource, x.problems = nil, nil
}
