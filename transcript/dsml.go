package transcript

import "strings"

var dsmlPipes = []string{"|", "｜", "‖"}

// dsmlTag reads a tag whose name has the prefix DSML between pipes.
func dsmlTag(text string, start int, ends *tagEnds) (tag, bool) {
	t := tag{start: start}
	i := skipSpace(text, start+1)
	if i < len(text) && text[i] == '/' {
		t.closing = true
		i = skipSpace(text, i+1)
	}
	i, ok := skipPipes(text, i)
	if !ok || len(text)-i < 4 || !strings.EqualFold(text[i:i+4], "dsml") {
		return t, false
	}
	if i, ok = skipPipes(text, skipSpace(text, i+4)); !ok {
		return t, false
	}
	name, after := readName(text, i)
	switch name {
	case "tool_calls", "tool_use", "calls", "invoke", "parameter":
	default:
		return t, false
	}
	t.name, t.end = name, len(text)
	if end := ends.from(after); end >= 0 {
		t.end = end + 1
	} else if t.closing {
		return t, false
	}
	return t, true
}

// skipPipes skips one or two pipes and the white space around them.
func skipPipes(text string, i int) (int, bool) {
	found := 0
	for found < 2 {
		at := i
		for _, p := range dsmlPipes {
			if strings.HasPrefix(text[i:], p) {
				i = skipSpace(text, i+len(p))
				found++
				break
			}
		}
		if i == at {
			break
		}
	}
	return i, found > 0
}

// dropDSML is F2: from the first opening tag to its closing tag, or to the end. Stray closing tags go too.
func dropDSML(text string) string {
	if !containsFold(text, "dsml") {
		return text
	}
	c := codeOf(text)
	ends := tagEnds{text: text}
	var tags []tag
	closers := map[string][]int{}
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		i += n
		t, ok := dsmlTag(text, i, &ends)
		if !ok {
			i++
			continue
		}
		t.inCode = c.holds(i)
		if t.closing {
			closers[t.name] = append(closers[t.name], len(tags))
		}
		tags = append(tags, t)
		i = t.end
	}
	var cuts []span
	done := 0
	for i, t := range tags {
		if t.start < done || t.inCode {
			continue
		}
		done = t.end
		if !t.closing {
			list := closers[t.name]
			for len(list) > 0 && list[0] < i {
				list = list[1:]
			}
			closers[t.name] = list
			done = len(text)
			if len(list) > 0 {
				done = tags[list[0]].end
			}
		}
		cuts = append(cuts, span{start: t.start, end: done})
	}
	return cutOut(text, cuts)
}

// containsFold tells whether text holds the needle, which is in lower-case ASCII, in any case.
func containsFold(text, needle string) bool { return indexFold(text, needle, 0) >= 0 }

// indexFold is the position of the needle, which is in lower-case ASCII, at or after i in any case, or -1. Needles are
// short, so this is one pass.
func indexFold(text, needle string, i int) int {
	for ; i+len(needle) <= len(text); i++ {
		if lower(text[i]) == needle[0] && hasPrefixFold(text[i:], needle) {
			return i
		}
	}
	return -1
}

// hasPrefixFold tells whether text begins with the prefix, which is in lower-case ASCII, in any case.
func hasPrefixFold(text, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(text[i]) != prefix[i] {
			return false
		}
	}
	return true
}
