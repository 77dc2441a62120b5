package transcript

import (
	"sort"
	"strings"
)

// The kinds of openers of step 9. A tag closes any tag; the others close their own kind only.
const (
	thinkTag = iota
	thinkBracket
	thinkTriangle
	thinkDetails
	plainDetails // inside of thinkDetails
)

var thinkNames = func() map[string]bool {
	names := map[string]bool{"antthinking": true, "reasoning": true, "reflection": true, "seed:think": true, "details": true}
	for _, prefix := range []string{"", "mm:", antml} {
		for _, name := range []string{"think", "thinking", "thought"} {
			names[prefix+name] = true
		}
	}
	return names
}()

// thought is an opener or a closer of reasoning.
type thought struct {
	kind       int
	start, end int
	closing    bool
	empty      bool // a tag that closes itself
	inCode     bool // a closer in what looks like code
	closer     int  // of an opener: its closer, or -1
}

// dropReasoning is step 9 with F5. Code is protected.
func dropReasoning(text string) string {
	text = dropFinalTags(text)
	if !strings.ContainsAny(text, "<[◁") {
		return text
	}
	thoughts := thoughtsOf(text)
	if len(thoughts) == 0 {
		return text
	}
	pairThoughts(thoughts)
	hidden := pairHidden(thoughts)
	var cuts, strays []span
	done, shown := 0, false
	for i, t := range thoughts {
		if t.start < done || t.inCode {
			continue
		}
		shown = shown || !blank(text[done:t.start])
		s := span{start: t.start, end: t.end}
		switch {
		case t.empty:
		case t.closing:
			if t.kind != thinkTag {
				continue // text of its own; the next one looks at it
			}
			strays = append(strays, s)
		case t.kind == plainDetails:
			continue
		case t.closer >= 0:
			s.end = thoughts[t.closer].end
		case shown:
			s.end = len(text)
		case hidden[i] > 0 && !blank(text[thoughts[hidden[i]].end:]):
			s.end = thoughts[hidden[i]].end
		}
		cuts = append(cuts, s)
		done = s.end
	}
	return cutOut(text, dropLeaked(text, cuts, strays))
}

// dropLeaked gives the cuts with what stands before the last closing tag that lacks its opener, if text stays visible
// both before and after it.
func dropLeaked(text string, cuts, strays []span) []span {
	for n := len(strays) - 1; n >= 0; n-- {
		at := sort.Search(len(cuts), func(i int) bool { return cuts[i].start >= strays[n].start })
		if !visible(text, cuts[at:], strays[n].end, nextStray(strays, n, len(text))) {
			continue
		}
		if !visible(text, cuts[:at], 0, strays[n].start) {
			return cuts
		}
		return append([]span{{end: strays[n].end}}, cuts[at+1:]...)
	}
	return cuts
}

// nextStray is where the stretch ends that the n-th stray tag begins; what stands after the next one has been looked at.
func nextStray(strays []span, n, end int) int {
	if n+1 < len(strays) {
		return strays[n+1].start
	}
	return end
}

// visible tells whether text shows anything between from and to once the spans are cut out.
func visible(text string, cuts []span, from, to int) bool {
	for _, s := range cuts {
		if s.start >= to {
			break
		}
		if s.start > from && !blank(text[from:s.start]) {
			return true
		}
		from = max(from, s.end)
	}
	return from < to && !blank(text[from:to])
}

func dropFinalTags(text string) string {
	if !containsFold(text, "final") {
		return text
	}
	var cuts []span
	for _, t := range tagsOf(text, map[string]bool{"final": true}, codeOf(text)) {
		if !t.inCode && !t.cut {
			cuts = append(cuts, span{start: t.start, end: t.end})
		}
	}
	return cutOut(text, cuts)
}

// thoughtsOf lists what opens and closes reasoning outside of code, in order.
func thoughtsOf(text string) []thought {
	var thoughts []thought
	for _, t := range tagsOf(text, thinkNames, codeOf(text)) {
		if t.inCode && !t.closing || t.cut {
			continue
		}
		one := thought{inCode: t.inCode, kind: thinkTag, start: t.start, end: t.end, closing: t.closing, empty: t.selfClosed}
		if t.name == "details" {
			one.kind, one.empty = plainDetails, false
			if reasoningDetails(t.attributes) && !t.closing {
				one.kind = thinkDetails
			}
		}
		thoughts = append(thoughts, one)
	}
	tags := len(thoughts)
	for _, form := range []struct {
		kind    int
		literal string
		closing bool
	}{
		{thinkBracket, "[think]", false},
		{thinkBracket, "[/think]", true},
		{thinkTriangle, "◁think▷", false},
		{thinkTriangle, "◁/think▷", true},
	} {
		c := codeOf(text)
		for at := indexFold(text, form.literal, 0); at >= 0; at = indexFold(text, form.literal, at+1) {
			if !c.holds(at) {
				thoughts = append(thoughts, thought{kind: form.kind, start: at, end: at + len(form.literal), closing: form.closing})
			}
		}
	}
	if len(thoughts) > tags {
		sort.Slice(thoughts, func(i, j int) bool { return thoughts[i].start < thoughts[j].start })
	}
	return thoughts
}

// reasoningDetails tells whether the attributes hold type="reasoning".
func reasoningDetails(attributes string) bool {
	for at := indexFold(attributes, "type", 0); at >= 0; at = indexFold(attributes, "type", at+1) {
		if at > 0 && nameByte(attributes[at-1]) {
			continue
		}
		rest := strings.TrimLeftFunc(attributes[at+len("type"):], space)
		rest, ok := strings.CutPrefix(rest, "=")
		if !ok {
			continue
		}
		rest = strings.TrimLeft(strings.TrimLeftFunc(rest, space), `"'`)
		if name, _ := readName(rest, 0); name == "reasoning" {
			return true
		}
	}
	return false
}

// pairThoughts finds the closer of each opener, by nesting.
func pairThoughts(thoughts []thought) {
	var open []int
	var count [plainDetails + 1]int
	for i := range thoughts {
		t := &thoughts[i]
		t.closer = -1
		if t.empty || t.inCode {
			continue
		}
		details := t.kind == plainDetails
		if !t.closing {
			if details && count[thinkDetails] == 0 {
				continue
			}
			open = append(open, i)
			count[t.kind]++
			continue
		}
		if details && count[thinkDetails] == 0 || !details && count[t.kind] == 0 {
			continue
		}
		// What is open inside of the one that closes closes with it.
		for {
			last := &thoughts[open[len(open)-1]]
			open = open[:len(open)-1]
			count[last.kind]--
			last.closer = i
			if last.kind == t.kind || details && last.kind == thinkDetails {
				break
			}
		}
	}
}

// pairHidden finds, for an opener that has no closer, the next one in what looks like code: a single backtick in the
// reasoning makes code of everything up to the next. It counts where else all reasoning would be shown. 0 is none.
func pairHidden(thoughts []thought) []int {
	hidden := make([]int, len(thoughts))
	next := 0
	for i := len(thoughts) - 1; i >= 0; i-- {
		switch {
		case thoughts[i].inCode && thoughts[i].kind == thinkTag:
			next = i
		case thoughts[i].kind == thinkTag && !thoughts[i].closing && thoughts[i].closer < 0:
			hidden[i] = next
		}
	}
	return hidden
}
