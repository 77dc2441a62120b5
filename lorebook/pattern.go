package lorebook

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Limits of patterns, in steps: about one for each character, character class and assertion, times the repeats around it.
const (
	// MaxPatternSize is the largest pattern. A larger one is read as a literal, with a warning.
	MaxPatternSize = 10_000
	// MaxPatternsSize is what all different patterns of a book may have together; the first ones count.
	MaxPatternsSize = 500_000
	// patternOverhead is what a pattern costs beside its steps.
	patternOverhead = 16
)

// patternFlags are those a pattern key may have.
const patternFlags = "gimsuy"

// patternForm takes a key apart that has the form /source/flags (spec/governed-state.md, section 9, step 3). problem
// says why a key that looks like a pattern is none; it is empty for plain literals.
func patternForm(key string) (source, flags, problem string, ok bool) {
	if !strings.HasPrefix(key, "/") {
		return "", "", "", false
	}
	end := unescapedSlash(key, 1)
	if end < 0 {
		return "", "", "", false
	}
	source, flags = key[1:end], key[end+1:]
	switch last := strings.LastIndexByte(key, '/'); {
	case !onlyOf(flags, patternFlags):
		switch {
		case last > end && onlyOf(key[last+1:], patternFlags):
			problem = "a slash inside a pattern must be written \\/"
		case onlyOf(flags, patternFlags+"dv"):
			problem = "the flags d and v are not supported"
		}
	case repeats(flags):
		problem = "a flag stands there twice"
	case source == "":
		problem = "the pattern is empty"
	default:
		return source, flags, "", true
	}
	return "", "", problem, false
}

// unescapedSlash is the offset of the first slash from an offset on that no backslash escapes, or -1.
func unescapedSlash(s string, from int) int {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '/':
			return i
		}
	}
	return -1
}

func onlyOf(s, allowed string) bool {
	return strings.Trim(s, allowed) == ""
}

func repeats(flags string) bool {
	letters := []byte(flags)
	slices.Sort(letters)
	return len(slices.Compact(letters)) < len(flags)
}

// pattern is a compiled pattern and the keys that are it.
type pattern struct {
	re        *regexp.Regexp
	size      int
	needle    string
	lines     bool // the texts are read with LF line ends
	depth     int  // the greatest scan depth of its keys
	recursion bool // some key of it is looked for in contents too
	keys      []int32
}

// compile makes a pattern of JavaScript source, if it has at most the given number of steps. The notes say where it is
// read differently; the error is a reason for people.
func compile(source, flags string, room int) (p pattern, notes []string, err error) {
	t, err := translate(source, flags)
	if err != nil {
		return pattern{}, nil, err
	}
	if t.size > room {
		return pattern{}, nil, errTooMany
	}
	re, err := regexp.Compile(t.expression)
	if err != nil {
		return pattern{}, nil, compileProblem(err)
	}
	return pattern{re: re, size: t.size, needle: t.needle, lines: t.lines}, t.notes, nil
}

var (
	errTooManyRepeats = errors.New("it repeats something more than 1,000 times")
	errTooLarge       = errors.New("the pattern is too large")
	errTooMany        = errors.New("the patterns of the book are too large together")
)

func compileProblem(err error) error {
	var detail *syntax.Error
	if !errors.As(err, &detail) {
		return errors.New("it does not compile")
	}
	switch detail.Code {
	case syntax.ErrInvalidRepeatSize:
		return errTooManyRepeats
	case syntax.ErrNestingDepth:
		return errors.New("its groups nest too deeply")
	case syntax.ErrLarge:
		return errTooLarge
	default:
		return errors.New("it does not compile")
	}
}

// mayMatch is a quick test: where it says no, there is no match.
func (p *pattern) mayMatch(text *scanText) bool {
	return p.needle == "" || strings.Contains(text.withoutCases().text, p.needle)
}

// matches reports whether the pattern is found anywhere in a text.
func (p *pattern) matches(text *scanText) bool {
	if p.lines {
		return p.re.MatchString(text.withLines())
	}
	return p.re.MatchString(text.raw)
}
