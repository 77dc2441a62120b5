package lorebook

import (
	"strings"
)

// needle collects a text that every match of a pattern holds: the longest run of characters outside groups that nothing
// makes optional. A text without it need not be searched with the pattern, which is far slower.
type needle struct {
	run, best []rune // folded
	character bool   // the last part was a character
	none      bool
}

// add takes the next part of the pattern, if it is one character.
func (n *needle) add(r rune) {
	n.run = append(n.run, foldRune(r))
	n.character = true
}

// end takes any other part.
func (n *needle) end() {
	if len(n.run) > len(n.best) {
		n.best = n.run
	}
	n.run, n.character = nil, false
}

// repeat takes a quantifier.
func (n *needle) repeat(least int) {
	if n.character && least == 0 {
		n.run = n.run[:len(n.run)-1]
	}
	n.end()
}

// text is the needle, in folded form; empty if there is none.
func (n *needle) text() string {
	n.end()
	if n.none {
		return ""
	}
	return string(n.best)
}

// scanText is a text in the forms in which keys look at it. Each is made when it is first asked for.
type scanText struct {
	raw    string
	lines  string
	cases  folded
	folded bool
}

// withoutCases is the text with its cases folded.
func (t *scanText) withoutCases() folded {
	if !t.folded {
		t.cases, t.folded = foldText(t.raw), true
	}
	return t.cases
}

// withLines is the text as patterns with the flag m read it: with LF line ends.
func (t *scanText) withLines() string {
	if t.lines == "" && t.raw != "" {
		t.lines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(t.raw)
	}
	return t.lines
}
