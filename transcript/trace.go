package transcript

import (
	"regexp"
	"strings"
)

// The shapes of progress traces, each asked at the start of a line.
var (
	traceLabel = regexp.MustCompile(`^(?:⚠\x{FE0F}?\s*)?(?:📊|🛠|📖|📝|🔍|🔎|⚙)\x{FE0F}?\s*(?i:session status|exec|read|edit|write|patch|` +
		`search|open|click|find|screenshot|update plan|tool call|tool result|function call|shell|command)\s*:`)
	traceCommand = regexp.MustCompile("^🛠\\x{FE0F}?\\s*(?i:(?:elevated|pty)[\\s·,:;|&+-]*)*(?:`[^`]+`|(?i:run|check|fetch|pull|push|view|" +
		"show|list|switch|create|merge|rebase|stage|restore|reset|stash|search|find|print|copy|move|remove|install|start|cd|git|pnpm|" +
		`npm|yarn|bun|node|python3?|bash|sh)(?:[\s:` + "`" + `]|$))`)
	traceFailed = regexp.MustCompile(`^⚠\x{FE0F}?\s*🛠\x{FE0F}?.*\(agent\)\s*failed(?:\s*[:.(—–-].*)?$`)
	traceWord   = regexp.MustCompile(`^(?i:tool[-_ ]?call|tool[-_ ]?result|function[-_ ]?call)\s*[:=]`)
)

// dropTraces is step 5: whole lines that are traces of progress. Code is protected, unless all is set.
func dropTraces(text string, all bool) string {
	var c *code
	var cuts []span
	for start := 0; start < len(text); {
		end := lineEnd(text, start)
		if trace(text[start:end]) {
			if c == nil {
				c = codeOf(text)
			}
			if all || !c.holds(start) {
				cuts = append(cuts, span{start: start, end: end})
			}
		}
		start = end
	}
	return cutOut(text, cuts)
}

func trace(line string) bool {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, ">"); ok {
		line = strings.TrimSpace(rest)
	}
	if line == "" {
		return false
	}
	switch lower(line[0]) {
	case 't', 'f':
		return traceWord.MatchString(line)
	case 0xe2, 0xf0: // where the emojis begin
		return traceLabel.MatchString(line) || traceCommand.MatchString(line) || traceFailed.MatchString(line)
	}
	return false
}
