package turn

import "strings"

const (
	summaryOpen  = "<summary>"
	summaryClose = "</summary>"
)

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
