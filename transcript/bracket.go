package transcript

import "strings"

// dropBrackets is step 6: calls and results between bracket tags. Code is protected.
func dropBrackets(text string) string {
	for _, name := range []string{"tool_call", "tool_result"} {
		text = dropBracket(text, "["+name+"]", "[/"+name+"]")
	}
	return text
}

func dropBracket(text, opener, closer string) string {
	at := indexFold(text, opener, 0)
	if at < 0 {
		return text
	}
	c := codeOf(text)
	var cuts []span
	for at >= 0 {
		next := at + len(opener)
		if !c.holds(at) && looksLikeRecord(text, next) {
			end := next
			if from, ok := opensJSON(text, next); ok {
				end, _ = skipBalanced(text, from)
			}
			if to := indexFold(text, closer, end); to >= 0 {
				end = to + len(closer)
			} else {
				end = len(text)
			}
			cuts = append(cuts, span{start: at, end: end})
			next = end
		}
		at = indexFold(text, opener, next)
	}
	return cutOut(text, cuts)
}

// looksLikeRecord tells whether a call record or JSON stands at position i: {…, […, or a word and =>, = or :.
func looksLikeRecord(text string, i int) bool {
	i, ok := opensJSON(text, i)
	if ok {
		return true
	}
	name, after := readName(text, i)
	if name == "" {
		return false
	}
	if strings.HasSuffix(name, ":") {
		return true
	}
	after = skipSpace(text, after)
	return after < len(text) && (text[after] == '=' || text[after] == ':' || text[after] == '{' || text[after] == '(' || text[after] == '<')
}

// dropPlainCalls is step 7: calls in plain text on lines of their own. What does not match completely stays; so does code.
func dropPlainCalls(text string) string {
	var c *code
	var cuts []span
	for start := 0; start < len(text); {
		next := lineEnd(text, start)
		if end, ok := plainCall(text, start); ok {
			if c == nil {
				c = codeOf(text)
			}
			if !c.holds(start) {
				cuts = append(cuts, span{start: start, end: end})
				next = end
			}
		}
		start = next
	}
	return cutOut(text, cuts)
}

// plainCall is where the call ends that begins with the line at position i.
func plainCall(text string, i int) (end int, ok bool) {
	i = skipBlanks(text, i)
	if i < len(text) && text[i] == '[' {
		return bracketCall(text, i+1)
	}
	name, after := readName(text, i)
	switch name {
	case "commentary", "analysis", "final":
	default:
		return 0, false
	}
	after = skipBlanks(text, after)
	if !hasPrefixFold(text[after:], "to=") {
		return 0, false
	}
	after += len("to=")
	at := after
	for at < len(text) && text[at] > ' ' && text[at] != '{' {
		at++
	}
	at = skipBlanks(text, at)
	if !hasPrefixFold(text[at:], "code") {
		return 0, false
	}
	return recordLine(text, skipSpace(text, at+len("code")))
}

func bracketCall(text string, i int) (end int, ok bool) {
	line := text[i:lineEnd(text, i)]
	n := strings.IndexByte(line, ']')
	if n <= 0 {
		return 0, false
	}
	name := line[:n]
	after := i + n + 1
	if hasPrefixFold(name, "tool:") {
		if name = name[len("tool:"):]; !callName(name) {
			return 0, false
		}
		return recordLine(text, skipSpace(text, after))
	}
	if !callName(name) || !endsLine(text, after) {
		return 0, false
	}
	end, ok = recordLine(text, skipSpace(text, after))
	if !ok {
		return 0, false
	}
	end = skipBlanks(text, skipSpace(text, end))
	for _, closer := range []string{"[end_tool_request]", "[/" + strings.ToLower(name) + "]"} {
		if hasPrefixFold(text[end:], closer) && endsLine(text, end+len(closer)) {
			return skipBreak(text, skipBlanks(text, end+len(closer))), true
		}
	}
	return 0, false
}

func callName(name string) bool {
	for i := range len(name) {
		if !nameByte(name[i]) && name[i] != '.' && name[i] != '/' {
			return false
		}
	}
	return name != "" && len(name) <= 200
}

// recordLine is where the line ends whose last thing is the JSON object at position i.
func recordLine(text string, i int) (end int, ok bool) {
	if i >= len(text) || text[i] != '{' {
		return 0, false
	}
	if end, ok = skipJSON(text, i); !ok || !endsLine(text, end) {
		return 0, false
	}
	return skipBreak(text, skipBlanks(text, end)), true
}
