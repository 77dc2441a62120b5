package transcript

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// RedactOptions says what a [Redactor] masks beside what it always masks.
type RedactOptions struct {
	// Patterns are regular expressions of the setting logging.redactPatterns, in Go's syntax or as /source/flags with
	// the flags i, m, s, g and u (the last two change nothing). What the last group that took part holds is masked, and
	// without groups the whole match. They are added to the built-in rules. Default: none.
	Patterns []string
	// Secrets are values that the process knows, such as its own keys. Those of 6 to 512 characters are masked wherever
	// they stand: plain, URL-encoded and JSON-escaped. Default: none.
	Secrets []string
	// LogsOff is set for logging.redactSensitive "off": [Redactor.RedactLog] leaves texts as they are. Redact masks all
	// the same. Default: false.
	LogsOff bool
}

// Redactor masks credentials in texts: spec/session-tools.md, section 3.7. It is made once and may be used by several
// goroutines at once.
type Redactor struct {
	patterns []*regexp.Regexp
	secrets  []string
	logsOff  bool
}

// NewRedactor compiles the patterns. The error names the place of the first that Go's engine does not take.
func NewRedactor(o RedactOptions) (*Redactor, error) {
	r := &Redactor{logsOff: o.LogsOff}
	for i, pattern := range o.Patterns {
		compiled, err := regexp.Compile(inline(pattern))
		if err != nil {
			return nil, fmt.Errorf("logging.redactPatterns[%d] is no regular expression of Go's syntax", i)
		}
		r.patterns = append(r.patterns, compiled)
	}
	for _, secret := range o.Secrets {
		if n := units(secret); n < 6 || n > 512 {
			continue
		}
		query := url.QueryEscape(secret)
		component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
		for _, form := range []string{secret, query, component, url.PathEscape(secret), escaped(secret)} {
			if !slices.Contains(r.secrets, form) {
				r.secrets = append(r.secrets, form)
			}
		}
	}
	return r, nil
}

// inline writes /source/flags as Go has it.
func inline(pattern string) string {
	end := strings.LastIndexByte(pattern, '/')
	if len(pattern) < 3 || pattern[0] != '/' || end == 0 {
		return pattern
	}
	flags := ""
	for _, f := range pattern[end+1:] {
		switch f {
		case 'i', 'm', 's':
			flags += string(f)
		case 'g', 'u':
		default:
			return pattern
		}
	}
	if flags == "" {
		return pattern[1:end]
	}
	return "(?" + flags + ")" + pattern[1:end]
}

// escaped is the secret as it stands within a JSON string.
func escaped(secret string) string {
	quoted := Text(secret)
	return string(quoted[1 : len(quoted)-1])
}

// hit is a value that a rule wants masked.
type hit struct {
	start, end int
	rule       int
	full       bool   // *** whatever its length
	with       string // "" for the usual mask
}

// The rules, for telling apart whether one value was hit by several of them.
const (
	ruleSecret = iota
	ruleField
	ruleURL
	rulePEM
	ruleShape
	rulePattern
)

// Redact masks the credentials in text and tells whether there were any. Masks that stand in text already stay and do
// not count. A value of fewer than 18 characters becomes ***, a longer one its first 6, … and its last 4; a value that
// several rules hit becomes ***. The result is no longer than text but for the bytes of "…", "***" and the line that
// stands for a private key. It costs time in proportion to the length of text, as far as the patterns of the options do.
func (r *Redactor) Redact(text string) (masked string, changed bool) {
	masked, changed = r.mask(text, false)
	// The ends of a mask may look like a credential together with what follows it. They go in full then.
	for more, round := changed, 1; more && round < maxRounds; round++ {
		masked, more = r.mask(masked, true)
	}
	return masked, changed
}

// mask goes once through the rules.
func (r *Redactor) mask(text string, full bool) (masked string, changed bool) {
	var hits []hit
	for _, secret := range r.secrets {
		for at, n := 0, 0; ; at += n + len(secret) {
			if n = strings.Index(text[at:], secret); n < 0 {
				break
			}
			hits = append(hits, hit{start: at + n, end: at + n + len(secret), rule: ruleSecret})
		}
	}
	hits = fieldHits(text, hits)
	hits = flagHits(text, hits)
	hits = bearerHits(text, hits)
	hits = urlHits(text, hits)
	hits = keyHits(text, hits)
	hits = shapeHits(text, hits)
	for i, pattern := range r.patterns {
		for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
			start, end := m[0], m[1]
			for g := len(m) - 2; g > 0; g -= 2 {
				if m[g] >= 0 {
					start, end = m[g], m[g+1]
					break
				}
			}
			hits = append(hits, hit{start: start, end: end, rule: rulePattern + i})
		}
	}
	if len(hits) == 0 {
		return text, false
	}
	for i := range hits {
		hits[i].full = hits[i].full || full
	}
	out := cutOut(text, masks(text, hits))
	return out, out != text
}

// RedactLog is Redact for what goes to a log: it does nothing when the options switch redaction of logs off.
func (r *Redactor) RedactLog(text string) string {
	if r.logsOff {
		return text
	}
	masked, _ := r.Redact(text)
	return masked
}

// masks joins the hits that overlap and gives each stretch its mask.
func masks(text string, hits []hit) []span {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	var spans []span
	for i := 0; i < len(hits); {
		all := hits[i]
		several := false
		for i++; i < len(hits) && hits[i].start < all.end; i++ {
			several = several || hits[i].rule != all.rule
			all.full = all.full || hits[i].full
			all.end = max(all.end, hits[i].end)
		}
		value := text[all.start:all.end]
		switch {
		case value == "" || isMask(value):
			continue
		case all.with != "" && !several:
			spans = append(spans, span{start: all.start, end: all.end, with: all.with})
		case all.full || several:
			spans = append(spans, span{start: all.start, end: all.end, with: "***"})
		default:
			spans = append(spans, span{start: all.start, end: all.end, with: mask(value)})
		}
	}
	return spans
}

// mask is what stands for a value. A mask has one "…", by which it is known.
func mask(value string) string {
	if units(value) < 18 || strings.Contains(value, "…") {
		return "***"
	}
	head := 0
	for range 6 {
		_, size := utf8.DecodeRuneInString(value[head:])
		head += size
	}
	tail := len(value)
	for range 4 {
		_, size := utf8.DecodeLastRuneInString(value[:tail])
		tail -= size
	}
	if tail <= head { // few characters that count twice each
		return "***"
	}
	return value[:head] + "…" + value[tail:]
}

// isMask tells whether the value is what mask gives, or the line that stands for a private key.
func isMask(value string) bool {
	if value == "***" || value == keyMask {
		return true
	}
	head, tail, ok := strings.Cut(value, "…")
	return ok && utf8.RuneCountInString(head) == 6 && utf8.RuneCountInString(tail) == 4
}

// units is the length of text in UTF-16 code units.
func units(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}
