package transcript

import "strings"

// dropScaffolds is step 8: calls, results and context that were written down as text for a model without tools. Code is
// protected.
func dropScaffolds(text string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	return dropHistoricalContext(dropWrittenResults(dropWrittenCalls(text)))
}

func dropWrittenCalls(text string) string {
	const opener = "[tool call:"
	at := indexFold(text, opener, 0)
	if at < 0 {
		return text
	}
	c := codeOf(text)
	var closing finder
	var cuts []span
	for at >= 0 {
		next := at + len(opener)
		end := closing.find(text, "]", next)
		if end < len(text) && !c.holds(at) {
			cuts = append(cuts, writtenCall(text, at, end+1))
			next = cuts[len(cuts)-1].end
		}
		at = indexFold(text, opener, next)
	}
	return cutOut(text, cuts)
}

// writtenCall is the span of the call from start to end, with its arguments and the line break or the blanks around it.
func writtenCall(text string, start, end int) span {
	if at := skipBlanks(text, skipBreak(text, skipBlanks(text, end))); hasPrefixFold(text[at:], "arguments:") {
		end = skipArguments(text, skipBlanks(text, at+len("arguments:")))
	}
	s := span{start: start, end: end}
	if endsLine(text, end) {
		s.end = skipBreak(text, skipBlanks(text, end))
	}
	if startsLine(text, start) {
		return s
	}
	// Inside of a line, one blank stays.
	for s.start > 0 && (text[s.start-1] == ' ' || text[s.start-1] == '\t') {
		s.start--
	}
	if s.end == end {
		s.end = skipBlanks(text, end)
	}
	s.with = " "
	return s
}

// skipArguments skips a JSON value, a text in quotes, or the rest of the line. JSON that never closes goes to the end.
func skipArguments(text string, i int) int {
	i = skipBlanks(text, skipBreak(text, i))
	if i >= len(text) {
		return i
	}
	if text[i] == '{' || text[i] == '[' {
		end, _ := skipBalanced(text, i)
		return end
	}
	end := lineEnd(text, i)
	if text[i] == '"' || text[i] == '\'' {
		for at := i + 1; at < end; at++ {
			switch text[at] {
			case '\\':
				at++
			case text[i]:
				return at + 1
			}
		}
	}
	return i + len(strings.TrimRight(text[i:end], "\r\n"))
}

func dropWrittenResults(text string) string {
	const opener, bracket = "[tool result", "[tool "
	at := indexFold(text, opener, 0)
	if at < 0 {
		return text
	}
	c := codeOf(text)
	var cuts []span
	for at >= 0 {
		next := at + len(opener)
		if !c.holds(at) && next < len(text) && strings.IndexByte("]: \t", text[next]) >= 0 {
			end := indexFold(text, bracket, next)
			if end < 0 {
				end = len(text)
			}
			cuts = append(cuts, span{start: at, end: end})
			next = end
		}
		at = indexFold(text, opener, next)
	}
	return cutOut(text, cuts)
}

func dropHistoricalContext(text string) string {
	const opener = "[historical context:"
	at := indexFold(text, opener, 0)
	if at < 0 {
		return text
	}
	c := codeOf(text)
	var closing finder
	var cuts []span
	for at >= 0 {
		next := at + len(opener)
		end := closing.find(text, "]", next)
		if end < len(text) && !c.holds(at) {
			next = skipBreak(text, end+1)
			cuts = append(cuts, span{start: at, end: next})
		}
		at = indexFold(text, opener, next)
	}
	return cutOut(text, cuts)
}
