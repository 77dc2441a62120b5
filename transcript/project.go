package transcript

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// message is a row on its way out: what it holds, in the order in which it will stand.
type message struct {
	seq    int64
	id     string
	role   string
	blocks []object // its content, if that is a list
	text   *string  // its content, if that is a text
	raw    jsontext.Value
	more   object
}

// provenance says where a row came from: spec/session-tools.md, section 4.3.
type provenance struct{ kind, session, tool string }

// The kinds of provenance that the projection knows.
const (
	kindInterSession   = "inter_session"
	kindRuntimeContext = "runtime_context"
	kindHeartbeat      = "heartbeat"
)

// failedTurn is shown for a turn that failed before it said anything.
const failedTurn = "[the turn failed before it said anything]"

// projection turns stored rows into messages, section 3.3: some rows do not appear, some appear as something else.
type projection struct {
	sessionStart int64
	// oldAnnounce tells that the next assistant row answers an announcement of an earlier session.
	oldAnnounce bool
}

// add gives the message that a row appears as, if it does.
func (p *projection) add(row Row) (message, bool) {
	m, from := read(row)
	switch m.role {
	case "user":
		p.oldAnnounce = false
	case "assistant":
		old := p.oldAnnounce
		p.oldAnnounce = false
		if old {
			return m, false
		}
	}
	switch {
	case row.Hidden || m.off("display") || m.on("hidden"),
		from.kind == kindRuntimeContext, strings.HasSuffix(m.more.text("customType"), "runtime-context"):
		return m, false
	case m.role == "user" && (from.kind == kindHeartbeat || m.on("heartbeat")):
		return m, false
	case m.role == "user" && from.kind == kindInterSession && from.tool == "subagent_announce":
		p.oldAnnounce = row.CreatedAt > 0 && row.CreatedAt < p.sessionStart
		return m, false
	case m.role == "assistant" && (m.more.text("phase") == "commentary" || m.controlWord()):
		return m, false
	case m.role == "assistant" && m.plain() && acknowledges(m.joined()):
		return m, false
	}
	if m.role == "user" && from.kind == kindInterSession && from.tool == "sessions_send" {
		m.forward(from.session)
	}
	if m.role == "user" || m.role == "assistant" {
		m.eachText(func(text string) string { return dropDirectives(dropEnvelope(text)) })
	}
	if m.role == "user" && m.plain() && blank(m.joined()) {
		return m, false
	}
	if m.role == "assistant" {
		m.dropToolCalls()
		m.explainFailure()
	}
	return m, true
}

// read takes a row apart.
func read(row Row) (message, provenance) {
	m := message{seq: row.Seq, id: row.ID, role: row.Role, raw: row.Content}
	if text, ok := readText(row.Content); ok {
		m.text = &text
	} else if list, ok := readArray(row.Content); ok {
		m.blocks = make([]object, 0, len(list))
		for _, one := range list {
			if o, ok := readObject(one); ok {
				m.blocks = append(m.blocks, o)
			} else if text, ok := readText(one); ok { // a text that stands in the list as it is
				m.blocks = append(m.blocks, object{{"type", Text("text")}, {"text", Text(text)}})
			}
		}
	}
	m.more, _ = readObject(row.Extra)
	if row.Provenance != nil {
		m.more.set("provenance", row.Provenance)
	}
	if row.Usage != nil {
		m.more.set("usage", row.Usage)
	}
	for _, name := range []string{"role", "content", "__openclaw", "redacted"} {
		m.more.remove(name)
	}
	value, _ := m.more.get("provenance")
	o, _ := readObject(value)
	return m, provenance{kind: o.text("kind"), session: o.text("sourceSessionKey"), tool: o.text("sourceTool")}
}

func (m *message) on(name string) bool {
	value, ok := m.more.get(name)
	return ok && value.Kind() == 't'
}

func (m *message) off(name string) bool {
	value, ok := m.more.get(name)
	return ok && value.Kind() == 'f'
}

// plain tells whether the content is nothing but text.
func (m *message) plain() bool {
	if m.blocks == nil {
		return m.text != nil
	}
	for _, b := range m.blocks {
		if b.text("type") != "text" {
			return false
		}
	}
	return true
}

// joined is all text of the content. Blocks stay on lines of their own.
func (m *message) joined() string {
	if m.text != nil {
		return *m.text
	}
	var all []string
	for _, b := range m.blocks {
		if b.text("type") == "text" {
			all = append(all, b.text("text"))
		}
	}
	return strings.Join(all, "\n")
}

// eachText changes the texts of the content.
func (m *message) eachText(change func(string) string) {
	if m.text != nil {
		*m.text = change(*m.text)
	}
	for i := range m.blocks {
		changeText(&m.blocks[i], change)
	}
	changeText(&m.more, change)
}

// changeText changes the member text of an object, if it is a text.
func changeText(o *object, change func(string) string) {
	value, ok := o.get("text")
	if !ok {
		return
	}
	if text, ok := readText(value); ok {
		if changed := change(text); changed != text {
			o.set("text", Text(changed))
		}
	}
}

// controlWord tells whether the content is one of the words that only mean silence.
func (m *message) controlWord() bool {
	if !m.plain() {
		return false
	}
	word, ok := ControlWord(m.joined())
	return ok && word != heartbeatOK
}

func acknowledges(text string) bool {
	word, _ := ControlWord(text)
	return word == heartbeatOK
}

// forward shows a message of another session as what it is.
func (m *message) forward(session string) {
	m.role = "assistant"
	label := "Forwarded agent message"
	if session != "" {
		label = "Forwarded from " + agentOf(session)
	}
	m.more.set("senderLabel", Text(label))
	first := true
	m.eachText(func(text string) string {
		if first {
			first = false
			return StripAnnotation(text)
		}
		return text
	})
}

// agentOf is the agent in a session key; keys without one are the default agent's.
func agentOf(key string) string {
	parts := strings.SplitN(key, ":", 4)
	if len(parts) < 3 || !strings.EqualFold(parts[0], "agent") || parts[1] == "" || parts[2] == "" {
		return "main"
	}
	return strings.ToLower(parts[1])
}

// toolCall tells whether a block is a call of a tool, in the spellings of the model interfaces.
func toolCall(b object) bool {
	switch b.text("type") {
	case "toolCall", "tool_call", "toolUse", "tool_use", "functionCall", "function_call":
		return true
	}
	return false
}

// dropToolCalls keeps the text blocks only, if there are both text and calls.
func (m *message) dropToolCalls() {
	var texts []object
	calls := false
	for _, b := range m.blocks {
		calls = calls || toolCall(b)
		if b.text("type") == "text" {
			texts = append(texts, b)
		}
	}
	if calls && !blank(m.joined()) {
		m.blocks = texts
	}
}

// explainFailure gives a failed turn without text something to read.
func (m *message) explainFailure() {
	if m.more.text("stopReason") != "error" && m.more.text("errorMessage") == "" {
		return
	}
	if !blank(m.joined()) {
		return
	}
	if m.blocks == nil {
		text := failedTurn
		m.text = &text
		return
	}
	m.blocks = append(m.blocks, object{{"type", Text("text")}, {"text", Text(failedTurn)}})
}

var (
	directive = regexp.MustCompile(`(?i)\[\[\s*(?:reply_to[^\[\]\n]*|audio_as_voice\s*)\]\][ \t]*`)
	envelope  = regexp.MustCompile(`(?i)^\s*\[(?:web ?chat|whatsapp|telegram|signal|slack|discord|google chat|imessage|bluebubbles|` +
		`(?:ms ?)?teams|matrix|zalo(?: personal)?|line|irc|mattermost|nostr|sms|email)\b[^\]\n]*\d{4}-\d{2}-\d{2}[^\]\n]*\]\s*`)
)

// dropDirectives cuts what tells a channel how to deliver. Code is protected.
func dropDirectives(text string) string {
	if !strings.Contains(text, "[[") {
		return text
	}
	c := codeOf(text)
	var cuts []span
	for _, found := range directive.FindAllStringIndex(text, -1) {
		if !c.touches(found[0], found[1]) {
			cuts = append(cuts, span{start: found[0], end: found[1]})
		}
	}
	return cutOut(text, cuts)
}

// dropEnvelope cuts what a channel put before a message: its name, the sender and the time in brackets.
func dropEnvelope(text string) string {
	if found := envelope.FindStringIndex(text); found != nil {
		return text[found[1]:]
	}
	return text
}
