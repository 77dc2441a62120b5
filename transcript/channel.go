package transcript

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// channelMessage is one message of a text that is written in channels.
type channelMessage struct {
	header, body, end int // end is after the token that ends it, or where the next header begins
	bodyEnd           int
	channel           string
	call              bool // the header names a recipient
}

// dropChannels is F3: of a text that holds a channel token the messages of the final channel stay, and what stands
// outside of any message.
func dropChannels(text string) string {
	if !containsFold(text, "channel") {
		return text
	}
	tokens := tokensOf(text, codeOf(text))
	messages := channelMessages(text, tokens)
	if len(messages) == 0 {
		return text
	}
	var cuts []span
	final := false
	for _, m := range messages {
		switch m.channel {
		case "analysis", "commentary":
			cuts = append(cuts, span{start: m.header, end: m.end})
		default:
			final = final || m.channel == "final"
			cuts = append(cuts, span{start: m.header, end: m.body}, span{start: m.bodyEnd, end: m.end})
		}
	}
	out := cutOutApart(text, cuts)
	if final || !blank(cutTokens(out)) {
		return out
	}
	last := messages[len(messages)-1]
	body := text[last.body:last.bodyEnd]
	if last.call || jsontext.Value(strings.TrimFunc(body, space)).IsValid() {
		return out
	}
	return body
}

// cutTokens is the text without its control tokens, wherever they stand.
func cutTokens(text string) string {
	var cuts []span
	for _, t := range tokensOf(text, &code{}) {
		cuts = append(cuts, span{start: t.start, end: t.end})
	}
	return cutOut(text, cuts)
}

func channelMessages(text string, tokens []token) []channelMessage {
	var messages []channelMessage
	for i := 0; i < len(tokens); i++ {
		if tokens[i].inCode || tokens[i].name != "channel" {
			continue
		}
		m := channelMessage{header: tokens[i].start, body: tokens[i].end}
		var to int
		m.channel, to = readName(text, skipSpace(text, tokens[i].end))
		headerEnd := len(text)
		next := i + 1
		if next < len(tokens) {
			headerEnd = tokens[next].start
		}
		// Some models put further tokens, such as one for constraints, into a header.
		for next < len(tokens) && tokens[next].name != "message" && !endsMessage(tokens[next].name) {
			next++
		}
		switch {
		case next < len(tokens) && tokens[next].name == "message":
			m.body = tokens[next].end
			m.call = containsFold(text[m.header:tokens[next].start], "to=")
			next++
		case known(m.channel):
			m.body = to
			m.call = containsFold(text[m.header:min(headerEnd, m.body+100)], "to=")
		default:
			continue // a mention of the token
		}
		taken := 0
		if len(messages) > 0 {
			taken = messages[len(messages)-1].end
		}
		if i > 0 && tokens[i-1].name == "start" && !tokens[i-1].inCode && taken <= tokens[i-1].start {
			m.call = m.call || containsFold(text[tokens[i-1].end:m.header], "to=")
			m.header = tokens[i-1].start
		}
		for next < len(tokens) && !endsMessage(tokens[next].name) {
			next++
		}
		m.bodyEnd, m.end = len(text), len(text)
		if next < len(tokens) {
			m.bodyEnd, m.end = tokens[next].start, tokens[next].end
			if tokens[next].name == "start" || tokens[next].name == "channel" {
				m.end = m.bodyEnd
			}
		}
		messages = append(messages, m)
		i = next - 1
		if next < len(tokens) && m.end > m.bodyEnd {
			i = next
		}
	}
	return messages
}

func known(channel string) bool {
	return channel == "final" || channel == "analysis" || channel == "commentary"
}

func endsMessage(name string) bool {
	switch name {
	case "start", "channel", "end", "call", "return":
		return true
	}
	return false
}
