package transcript

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of section 1.6 and 2.1.
const (
	maxTitle   = 60
	maxPreview = 240
	// MaxRecent is how many messages a row of a list carries at most.
	MaxRecent = 20
)

// Recent shows the newest messages of a transcript for a row of sessions_list, oldest first and without rows of tools, as
// history shows them (spec/session-tools.md, section 2.3). The rows are the newest stored ones, oldest first; n is at
// most MaxRecent, and 0 or less gives none.
func (v *View) Recent(rows []Row, n int) []jsontext.Value {
	n = min(n, MaxRecent)
	if n <= 0 {
		return []jsontext.Value{}
	}
	// From the newest back, as much as it takes: the texts of older rows cost nothing.
	for take := n; ; take *= 2 {
		start := max(0, len(rows)-take)
		page := v.Page(Page{Rows: rows[start:]})
		all := page.Messages
		if len(all) >= n || start == 0 || page.DroppedMessages {
			return all[max(0, len(all)-n):]
		}
	}
}

// Preview is the text of the last message that has one, for a row of sessions_list (section 1.6): sanitised, redacted, in
// one line, at most 240 UTF-16 code units. The rows are the newest stored ones, oldest first. "" for none.
func (v *View) Preview(rows []Row) string {
	for take := 1; ; take *= 2 {
		start := max(0, len(rows)-take)
		all := v.show(rows[start:], false, 0)
		for i := len(all) - 1; i >= 0; i-- {
			if text := v.oneLine(all[i].message); text != "" {
				if short, cut := cutText(text, maxPreview-1); cut && units(text) > maxPreview {
					return strings.TrimSpace(short) + "…"
				}
				return text
			}
		}
		if start == 0 {
			return ""
		}
	}
}

// FirstUserText is what the first message of a person says, for [Title]: in one line, redacted. The rows are the oldest
// stored ones, oldest first; messages from other sessions are skipped. "" for none.
func (v *View) FirstUserText(rows []Row) string {
	var p projection
	for _, row := range rows {
		if row.Role != "user" {
			continue
		}
		if _, from := read(row); from.kind == kindInterSession {
			continue
		}
		m, ok := p.add(row)
		if !ok {
			continue
		}
		if text := v.oneLine(m); text != "" {
			return text
		}
	}
	return ""
}

// oneLine is the text of a message, sanitised if an assistant wrote it, redacted, with one blank for each stretch of
// white space. That may bring a name and its value together, so it is redacted once more.
func (v *View) oneLine(m message) string {
	text := m.joined()
	if m.role == "assistant" {
		text = Sanitise(text)
	}
	text, _ = v.redactor.Redact(text)
	text, _ = v.redactor.Redact(strings.Join(strings.Fields(text), " "))
	return strings.ToValidUTF8(text, "�")
}

// TitleParts are what a title is made of; the first that is not blank counts.
type TitleParts struct {
	Label, DisplayName, Subject string
	FirstUserText               string // see [View.FirstUserText]
	SessionID                   string
	UpdatedAt                   int64 // in milliseconds since the Unix epoch; 0 for unknown
}

// name is what somebody called the session, "" for nothing.
func (p *TitleParts) name() string {
	for _, part := range []string{p.Label, p.DisplayName, p.Subject} {
		if !blank(part) {
			return strings.TrimSpace(part)
		}
	}
	return ""
}

// Unnamed reports whether the title depends on what was said.
func (p *TitleParts) Unnamed() bool { return p.name() == "" }

// Title is the derived title of a session: section 1.6.
func Title(p TitleParts) string {
	if name := p.name(); name != "" {
		return name
	}
	if text := strings.Join(strings.Fields(p.FirstUserText), " "); text != "" {
		return shortTitle(text)
	}
	id, _ := cutText(p.SessionID, 8)
	if id == "" || p.UpdatedAt == 0 {
		return id
	}
	return id + " (" + time.UnixMilli(p.UpdatedAt).UTC().Format(time.DateOnly) + ")"
}

func shortTitle(text string) string {
	if units(text) <= maxTitle {
		return text
	}
	short, _ := cutText(text, maxTitle-1)
	if space := strings.LastIndexByte(short, ' '); space >= 0 && units(short[:space]) > 36 {
		short = short[:space]
	}
	return short + "…"
}

// AssistantText is the sanitised text of a row, trimmed, whatever its role: what a reply or the result of a sub-agent is
// made of (sections 4.4 and 5.10). Blocks stay on lines of their own.
func AssistantText(row Row) string {
	m, _ := read(row)
	m.eachText(func(text string) string { return Sanitise(dropDirectives(text)) })
	// What the blocks hold apart may match once it stands together.
	return strings.TrimFunc(Sanitise(m.joined()), space)
}

// ToolCalls is how many calls of tools the rows hold after the last input: what an announcement says of a run that did
// nothing but call tools (section 5.10).
func ToolCalls(rows []Row) int {
	calls := 0
	for i := len(rows) - 1; i >= 0 && rows[i].Role != "user"; i-- {
		if rows[i].Role != "assistant" {
			continue
		}
		m, _ := read(rows[i])
		for _, b := range m.blocks {
			if toolCall(b) {
				calls++
			}
		}
	}
	return calls
}

// Reply is the newest visible text of an assistant after the last input, "" for none: what sessions_send gives back and
// announcements report. Rows of tools are never promoted; rows that are not for display, and comments on the way, do not
// count. A control word is a reply; see [ControlWord]. The rows are the newest stored ones, oldest first.
func Reply(rows []Row) string {
	for i := len(rows) - 1; i >= 0; i-- {
		row := rows[i]
		if row.Role == "user" {
			return ""
		}
		if row.Role != "assistant" || row.Hidden {
			continue
		}
		if m, _ := read(row); m.more.text("phase") == "commentary" {
			continue
		}
		if text := AssistantText(row); text != "" {
			return text
		}
	}
	return ""
}
