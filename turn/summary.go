package turn

import "strings"

const (
	summaryOpen  = "<summary>"
	summaryClose = "</summary>"
)

// summaryFilter passes a text on as it comes, without the blocks that splitSummaries takes out. What may be the beginning
// of a block is held back until it is clear.
type summaryFilter struct {
	out    func(string)
	held   string
	inside bool
}

func (f *summaryFilter) write(text string) {
	f.held += text
	for {
		mark := summaryOpen
		if f.inside {
			mark = summaryClose
		}
		before, behind, found := strings.Cut(f.held, mark)
		if !found {
			break
		}
		if !f.inside {
			f.pass(before)
		}
		f.held, f.inside = behind, !f.inside
	}
	if f.inside {
		return
	}
	keep := 0
	for n := min(len(f.held), len(summaryOpen)-1); n > 0; n-- {
		if strings.HasSuffix(f.held, summaryOpen[:n]) {
			keep = n
			break
		}
	}
	f.pass(f.held[:len(f.held)-keep])
	f.held = f.held[len(f.held)-keep:]
}

// end passes on what was held back: a block without an end is text.
func (f *summaryFilter) end() {
	if f.inside {
		f.pass(summaryOpen)
	}
	f.pass(f.held)
	f.held, f.inside = "", false
}

func (f *summaryFilter) pass(text string) {
	if text != "" && f.out != nil {
		f.out(text)
	}
}

// splitSummaries takes every <summary>…</summary> block out of a model's text; each becomes one entry, trimmed, empty
// ones dropped (spec/governed-state.md, ruling 23). The blanks a block leaves at the ends of the text go with it. A
// block without an end is text.
func splitSummaries(text string) (rest string, summaries []string) {
	summaries = []string{}
	var out strings.Builder
	found := false
	for {
		before, after, opened := strings.Cut(text, summaryOpen)
		inside, behind, closed := strings.Cut(after, summaryClose)
		if !opened || !closed {
			break
		}
		found = true
		out.WriteString(before)
		if summary := strings.TrimSpace(inside); summary != "" {
			summaries = append(summaries, summary)
		}
		text = behind
	}
	out.WriteString(text)
	if !found {
		return text, summaries
	}
	return strings.TrimSpace(out.String()), summaries
}
