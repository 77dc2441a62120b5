package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a control token of a model: "<", a pipe, a run without pipes, a pipe, ">".
type token struct {
	name       string // lower case, trimmed, with _ for ▁
	start, end int
	inCode     bool // it begins in code, or overlaps it
}

const pipes = "|｜"

// pipe is the length of the pipe at position i, 0 for none.
func pipe(text string, i int) int {
	switch {
	case i >= len(text):
		return 0
	case text[i] == '|':
		return 1
	case strings.HasPrefix(text[i:], "｜"):
		return len("｜")
	}
	return 0
}

// tokensOf lists the control tokens of text, those in code included.
func tokensOf(text string, c *code) []token {
	var tokens []token
	var half, full finder
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		start := i + n
		i = start + 1
		at := skipSpace(text, i)
		width := pipe(text, at)
		if width == 0 {
			if t, ok := turnToken(text, start); ok {
				t.inCode = c.touches(t.start, t.end)
				tokens = append(tokens, t)
				i = t.end
			}
			continue
		}
		at += width
		second := min(half.find(text, "|", at), full.find(text, "｜", at))
		width = pipe(text, second)
		end := skipSpace(text, second+width)
		if width == 0 || end >= len(text) || text[end] != '>' {
			continue
		}
		i = end + 1
		tokens = append(tokens, token{name: tokenName(text[at:second]), start: start, end: i, inCode: c.touches(start, i)})
	}
	return tokens
}

// turnToken reads the tokens of the models that write them as tags.
func turnToken(text string, start int) (token, bool) {
	at := skipSpace(text, start+1)
	name, after := readName(text, at)
	if name != "start_of_turn" && name != "end_of_turn" {
		return token{}, false
	}
	end := skipSpace(text, after)
	if end >= len(text) || text[end] != '>' {
		return token{}, false
	}
	return token{name: name, start: start, end: end + 1}, true
}

func tokenName(run string) string {
	if len(run) > 3*maxName { // no name that a rule knows; spares the copies
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimFunc(run, space), "▁", "_"))
}

// dropSections is F1: a section of calls goes from its begin token to its end token, or to the end.
func dropSections(text string) string {
	if !strings.ContainsAny(text, pipes) {
		return text
	}
	tokens := tokensOf(text, codeOf(text))
	ends := map[string][]token{}
	for _, t := range tokens {
		if section, ok := strings.CutSuffix(t.name, "_end"); ok {
			ends[section] = append(ends[section], t)
		}
	}
	var cuts []span
	done := 0
	for _, t := range tokens {
		section, ok := strings.CutSuffix(t.name, "_begin")
		if !ok || t.inCode || t.start < done {
			continue
		}
		switch section {
		case "tool_calls_section", "tool_calls", "tool_call":
		default:
			continue
		}
		for len(ends[section]) > 0 && ends[section][0].start < t.end {
			ends[section] = ends[section][1:]
		}
		done = len(text)
		if len(ends[section]) > 0 {
			done = ends[section][0].end
		}
		cuts = append(cuts, span{start: t.start, end: done})
	}
	return cutOut(text, cuts)
}

// dropTokens is step 2 with the tokens of F6. Code is protected.
func dropTokens(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	tokens := tokensOf(text, codeOf(text))
	cuts := openClosed(text, tokens)
	inside := 0
	var all []span
	for _, t := range tokens {
		for inside < len(cuts) && cuts[inside].end <= t.start {
			all = append(all, cuts[inside])
			inside++
		}
		if t.inCode || inside < len(cuts) && cuts[inside].start <= t.start {
			continue
		}
		end := t.end
		switch t.name {
		case "im_start", "start", "start_of_turn":
			end = skipRole(text, end)
		}
		all = append(all, span{start: t.start, end: end})
	}
	all = append(all, cuts[inside:]...)
	return cutOutApart(text, all)
}

// cutOutApart cuts the spans out and keeps the words at both sides of one apart.
func cutOutApart(text string, spans []span) string {
	kept := rune(-1)
	at := 0
	for i := range spans {
		if spans[i].start > at {
			kept, _ = utf8.DecodeLastRuneInString(text[at:spans[i].start])
		}
		at = max(at, spans[i].end)
		next, _ := utf8.DecodeRuneInString(text[at:])
		if unicode.In(kept, unicode.Letter, unicode.Mark, unicode.Digit) && unicode.In(next, unicode.Letter, unicode.Digit) {
			spans[i].with = " "
			kept = ' '
		}
	}
	return cutOut(text, spans)
}

// skipRole skips a role word with the line break, or the token, that ends it.
func skipRole(text string, i int) int {
	name, after := readName(text, i)
	switch name {
	case "system", "user", "assistant", "tool", "model":
	default:
		return i
	}
	end := skipBlanks(text, after)
	if next := skipBreak(text, end); next > end {
		return next
	}
	if end+1 < len(text) && text[end] == '<' && pipe(text, skipSpace(text, end+1)) > 0 {
		return end
	}
	return i
}

// openClosed is F6: elements written as <|open|>name …<|sep|> and <|close|>name<|sep|>.
func openClosed(text string, tokens []token) []span {
	type mark struct {
		name       string
		start, end int
		closing    bool
	}
	var marks []mark
	closers := map[string][]int{}
	for i := 0; i+1 < len(tokens); i++ {
		t := tokens[i]
		if t.inCode || t.name != "open" && t.name != "close" || tokens[i+1].name != "sep" {
			continue
		}
		name, _ := readName(text, skipSpace(text, t.end))
		switch name {
		case "tools", "call", "argument", "think", "response", "message":
		default:
			continue
		}
		if t.name == "close" {
			closers[name] = append(closers[name], len(marks))
		}
		marks = append(marks, mark{name: name, start: t.start, end: tokens[i+1].end, closing: t.name == "close"})
	}
	var cuts []span
	done, shown := 0, false
	for i, m := range marks {
		if m.start < done {
			continue
		}
		shown = shown || !blank(text[done:m.start])
		done = m.end
		if !m.closing && m.name != "response" && m.name != "message" {
			list := closers[m.name]
			for len(list) > 0 && list[0] < i {
				list = list[1:]
			}
			closers[m.name] = list
			switch {
			case len(list) > 0:
				done = marks[list[0]].end
			case m.name != "think" || shown:
				done = len(text)
			}
		}
		cuts = append(cuts, span{start: m.start, end: done})
	}
	return cuts
}

// dropEndMarks is F7: marks of the end at the very end of a text. Code is protected.
func dropEndMarks(text string) string {
	prose := -1 // where the prose after the last code begins; -1: not asked yet
	for {
		trimmed := strings.TrimRightFunc(text, space)
		rest := trimmed
		for _, mark := range []string{"</s>", "<eos>", "<|endoftext|>"} {
			if n := len(trimmed) - len(mark); n >= 0 && hasPrefixFold(trimmed[n:], mark) {
				rest = trimmed[:n]
			}
		}
		if rest == trimmed {
			return text
		}
		if prose < 0 {
			prose = 0
			if regions := codeOf(text).regions; len(regions) > 0 {
				prose = regions[len(regions)-1].end
			}
		}
		if len(rest) < prose {
			return text
		}
		text = rest
	}
}
