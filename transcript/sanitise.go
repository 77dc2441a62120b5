package transcript

import "strings"

// maxRounds is how often the steps are gone through before a text counts as made to outlast them.
const maxRounds = 8

// Sanitise gives what a reader should see of a text that a model wrote: without reasoning, calls of tools and their
// results, recalled memories, control tokens and traces (spec/session-tools.md, section 3.5, with its field additions).
// What stands in fenced blocks and inline code stays.
//
// The steps are repeated until nothing changes, so that no step brings back what an earlier one took. A text that still
// changes after eight rounds loses every "<", "[", "{" and "◁" instead, and its traces. So Sanitise(Sanitise(text)) is
// Sanitise(text). The result is never longer than the text. The outer white space of the result means nothing. It costs
// time in proportion to the length of text, and never fails, also not on text that is no UTF-8.
func Sanitise(text string) string {
	if !scaffolded(text) {
		return text
	}
	for range maxRounds {
		next := sanitiseOnce(text)
		if next == text {
			return text
		}
		text = next
	}
	return disarm(text)
}

// scaffolded tells whether any step could find something.
func scaffolded(text string) bool {
	if strings.ContainsAny(text, "<[◁") || containsFold(text, "to=") {
		return true
	}
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		if trace(text[start:end]) {
			return true
		}
		start = end
	}
	return false
}

// sanitiseOnce is the order of the steps.
func sanitiseOnce(text string) string {
	text = dropSections(text)      // F1
	text = dropDSML(text)          // F2
	text = dropChannels(text)      // F3
	text = dropMiniMax(text)       // 1
	text = dropTokens(text)        // 2, F6
	text = dropMemories(text)      // 3
	text = dropCalls(text)         // 4, F4
	text = dropTraces(text, false) // 5
	text = dropBrackets(text)      // 6
	text = dropPlainCalls(text)    // 7
	text = dropScaffolds(text)     // 8
	text = dropEndMarks(text)      // F7
	text = dropReasoning(text)     // 9, F5
	return dropEndMarks(text)      // F7
}

// disarm takes the first character of everything that a step could match, wherever it stands, and the traces.
func disarm(text string) string {
	text = strings.NewReplacer("<", "", "[", "", "{", "", "◁", "").Replace(text)
	return dropTraces(text, true)
}
