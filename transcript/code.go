package transcript

import "strings"

// span is a stretch of bytes of a text, and what stands in its place when it is cut out.
type span struct {
	start, end int
	with       string
}

// cutOut gives text without the spans, which are in ascending order and do not overlap.
func cutOut(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	at := 0
	for _, s := range spans {
		if s.start < at { // a later rule may reach into what an earlier one took
			s.start = at
		}
		if s.end < s.start {
			continue
		}
		out.WriteString(text[at:s.start])
		out.WriteString(s.with)
		at = s.end
	}
	out.WriteString(text[at:])
	return out.String()
}

// code tells which bytes of a text stand in fenced blocks or inline code: spec/session-tools.md, section 3.5. Questions
// are to be asked in ascending order, so that all of them together cost one pass.
type code struct {
	regions []span
	at      int
}

// holds tells whether the byte at position i is in code.
func (c *code) holds(i int) bool {
	for c.at < len(c.regions) && c.regions[c.at].end <= i {
		c.at++
	}
	return c.at < len(c.regions) && c.regions[c.at].start <= i
}

// touches tells whether any byte from start up to end is in code.
func (c *code) touches(start, end int) bool {
	return c.holds(start) || c.at < len(c.regions) && c.regions[c.at].start < end
}

func codeOf(text string) *code {
	c := &code{}
	if !strings.ContainsAny(text, "`~") {
		return c
	}
	prose := 0 // where the prose after the last fence begins
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		mark, length, after := fence(text[start:end])
		if length == 0 || mark == '`' && strings.IndexByte(text[start+after:end], '`') >= 0 {
			start = end
			continue
		}
		c.inline(text, prose, start)
		closed := fenceEnd(text, end, mark, length)
		c.regions = append(c.regions, span{start: start, end: closed})
		prose, start = closed, closed
		if start < len(text) { // the rest of the closing line is prose, and no fence
			start = lineEnd(text, start)
		}
	}
	c.inline(text, prose, len(text))
	return c
}

// lineEnd is the position after the line break of the line that holds position i.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// fence reads the fence at the start of a line: its character, how many there are (0: no fence) and where it ends.
func fence(line string) (mark byte, length, after int) {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i == len(line) || line[i] != '`' && line[i] != '~' {
		return 0, 0, 0
	}
	mark = line[i]
	for i+length < len(line) && line[i+length] == mark {
		length++
	}
	if length < 3 {
		return 0, 0, 0
	}
	return mark, length, i + length
}

func fenceEnd(text string, from int, mark byte, length int) int {
	for start := from; start < len(text); {
		end := lineEnd(text, start)
		if m, n, after := fence(text[start:end]); m == mark && n >= length {
			return start + after
		}
		start = end
	}
	return len(text)
}

// inline adds the inline code between two fences: a run of backticks up to the next run of the same length.
func (c *code) inline(text string, from, to int) {
	var runs []span
	for i := from; i < to; {
		n := strings.IndexByte(text[i:to], '`')
		if n < 0 {
			break
		}
		start := i + n
		i = start
		for i < to && text[i] == '`' {
			i++
		}
		runs = append(runs, span{start: start, end: i})
	}
	// From the right, each run learns which is the next one as long as itself.
	partner := make([]int, len(runs))
	latest := map[int]int{}
	for r := len(runs) - 1; r >= 0; r-- {
		length := runs[r].end - runs[r].start
		partner[r] = latest[length] // 0: none, since no run closes the first
		latest[length] = r
	}
	for r := 0; r < len(runs); r++ {
		if p := partner[r]; p > 0 {
			c.regions = append(c.regions, span{start: runs[r].start, end: runs[p].end})
			r = p
		}
	}
}
