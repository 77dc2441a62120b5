package transcript

import "strings"

// dropMiniMax is step 1: the calls of MiniMax models. Code is protected.
func dropMiniMax(text string) string {
	if !containsFold(text, "minimax:tool_call") {
		return text
	}
	tags := tagsOf(text, map[string]bool{"invoke": true, "minimax:tool_call": true}, codeOf(text))
	var closers []int
	for i, t := range tags {
		if t.name == "invoke" && t.closing && !t.cut {
			closers = append(closers, i)
		}
	}
	var cuts []span
	done := 0
	for i, t := range tags {
		if t.start < done || t.inCode || t.cut {
			continue
		}
		end := t.end
		if t.name == "invoke" {
			for len(closers) > 0 && closers[0] < i {
				closers = closers[1:]
			}
			if t.closing || len(closers) == 0 {
				continue
			}
			end = tags[closers[0]].end
		}
		cuts = append(cuts, span{start: t.start, end: end})
		done = end
	}
	return cutOut(text, cuts)
}

// dropMemories is step 3: recalled memories. Blocks within blocks are counted, so that nothing of the outer one stays.
func dropMemories(text string) string {
	if !containsFold(text, "relevant") {
		return text
	}
	tags := tagsOf(text, map[string]bool{"relevant-memories": true, "relevant_memories": true}, codeOf(text))
	var cuts []span
	depth, start, closed := 0, 0, -1
	for _, t := range tags {
		switch {
		case t.cut || t.inCode && (depth == 0 || !t.closing): // a block ends where it ends, also in what looks like code
		case t.selfClosed || t.closing && depth == 0:
			if depth == 0 {
				cuts = append(cuts, span{start: t.start, end: t.end})
			}
		case t.closing:
			if depth, closed = depth-1, t.end; depth == 0 {
				cuts = append(cuts, span{start: start, end: t.end})
			}
		default:
			if depth == 0 {
				start, closed = t.start, -1
			}
			depth++
		}
	}
	if depth > 0 {
		end := len(text)
		if closed >= 0 {
			end = closed
		}
		cuts = append(cuts, span{start: start, end: end})
	}
	return cutOut(text, cuts)
}

// unwrapParameters ends step 4: wrappers of parameters that are left lose their tags.
func unwrapParameters(text string) string {
	if !containsFold(text, "parameter") {
		return text
	}
	tags := tagsOf(text, map[string]bool{"parameter": true, antml + "parameter": true}, codeOf(text))
	var open []int
	cut := make([]bool, len(tags))
	for i, t := range tags {
		switch {
		case t.inCode || t.cut:
		case t.selfClosed:
			cut[i] = true
		case !t.closing:
			open = append(open, i)
		case len(open) > 0:
			cut[i], cut[open[len(open)-1]] = true, true
			open = open[:len(open)-1]
		case t.name != "parameter":
			cut[i] = true
		}
	}
	var cuts []span
	for i, t := range tags {
		if !cut[i] {
			continue
		}
		s := span{start: t.start, end: t.end}
		switch {
		case t.selfClosed:
		case !t.closing:
			s.end = skipBreak(text, s.end)
		case s.start > 0 && text[s.start-1] == '\n':
			s.start--
			s.start -= len(text[:s.start]) - len(strings.TrimSuffix(text[:s.start], "\r"))
		}
		cuts = append(cuts, s)
	}
	return cutOut(text, cuts)
}
