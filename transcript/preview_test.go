package transcript

import (
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	a50, b29 := strings.Repeat("a", 50), strings.Repeat("b", 29)
	for _, c := range []struct {
		id   string
		in   TitleParts
		want string
	}{
		{"C036", TitleParts{FirstUserText: a50 + " " + b29}, a50 + "…"},
		{"C037", TitleParts{SessionID: "0123abcd-ef", UpdatedAt: 1772625600000}, "0123abcd (2026-03-04)"},
		{"no date", TitleParts{SessionID: "0123abcd-ef"}, "0123abcd"},
		{"label", TitleParts{Label: " L ", DisplayName: "D"}, "L"},
		{"blank label", TitleParts{Label: " ", DisplayName: "D", Subject: "S"}, "D"},
		{"60", TitleParts{FirstUserText: strings.Repeat("a", 60)}, strings.Repeat("a", 60)},
		{"61", TitleParts{FirstUserText: strings.Repeat("a", 61)}, strings.Repeat("a", 59) + "…"},
		{"early space", TitleParts{FirstUserText: "ab " + strings.Repeat("a", 80)}, "ab " + strings.Repeat("a", 56) + "…"},
		{"pairs", TitleParts{FirstUserText: strings.Repeat("😀", 31)}, strings.Repeat("😀", 29) + "…"},
	} {
		if got := Title(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.id, got, c.want)
		}
	}
}

func TestFirstUserText(t *testing.T) {
	v := NewView(nil)
	rows := stored(t, // C038
		one{"role": "assistant", "content": "hello"},
		one{"role": "user", "content": "from elsewhere", "provenance": one{"kind": "inter_session", "sourceTool": "sessions_send"}},
		one{"role": "user", "content": "  "},
		one{"role": "user", "content": secret("from a\n person s", "k-abcdefghij", "klmnopqrstuv")})
	if got := v.FirstUserText(rows); got != "from a person sk-abc…stuv" {
		t.Error(got)
	}
	if got := v.FirstUserText(nil); got != "" {
		t.Error(got)
	}
}

func TestPreview(t *testing.T) {
	v := NewView(nil)
	long := strings.Repeat("word ", 60)
	for want, rows := range map[string][]Row{
		"":                                  nil,
		"a b":                               stored(t, one{"role": "assistant", "content": "<think>x</think>a \n b"}, one{"role": "toolResult", "content": "t"}),
		"<think>u":                          stored(t, one{"role": "user", "content": "<think>u"}, one{"role": "assistant", "content": "NO_REPLY"}),
		"said":                              stored(t, one{"role": "assistant", "content": "said"}, one{"role": "assistant", "content": []one{{"type": "toolCall"}}}),
		"sk-abc…stuv x":                     stored(t, one{"role": "user", "content": secret("s", "k-abcdefghij", "klmnopqrstuv x")}),
		strings.TrimSpace(long[:239]) + "…": stored(t, one{"role": "user", "content": long}),
		strings.Repeat("x", 240):            stored(t, one{"role": "user", "content": strings.Repeat("x", 240)}),
	} {
		if got := v.Preview(rows); got != want || units(got) > 240 {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRecent(t *testing.T) {
	var in []one
	for range 10 {
		in = append(in, one{"role": "toolResult", "content": "t"}, one{"role": "assistant", "content": "a"})
	}
	rows := stored(t, in...)
	v := NewView(nil)
	for n, want := range map[int]int{-1: 0, 0: 0, 3: 3, 50: 10} { // C035
		got := v.Recent(rows, n)
		if len(got) != want {
			t.Errorf("%d: %d messages", n, len(got))
		}
		if want > 0 && decode(t, got[want-1])["__openclaw"].(map[string]any)["seq"] != 20.0 {
			t.Errorf("%d: not the newest", n)
		}
	}
}

func TestReply(t *testing.T) {
	for want, rows := range map[string][]Row{
		"":         stored(t, one{"role": "assistant", "content": "old"}, one{"role": "user", "content": "q"}),
		"pong":     stored(t, one{"role": "user", "content": "q"}, one{"role": "assistant", "content": "<think>x</think>pong"}, one{"role": "toolResult", "content": "out"}, one{"role": "assistant", "content": []one{{"type": "toolCall"}}}),
		"NO_REPLY": stored(t, one{"role": "assistant", "content": "NO_REPLY"}),
		"a\nb":     stored(t, one{"role": "assistant", "content": []one{{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "t"}, {"type": "text", "text": "b"}}}),
		"first":    stored(t, one{"role": "assistant", "content": "first"}, one{"role": "assistant", "content": "by the way", "phase": "commentary"}),
	} {
		if got := Reply(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Halves of a tag in two blocks stay no tag.
	split := stored(t, one{"role": "assistant", "content": []one{{"type": "text", "text": "a <"}, {"type": "text", "text": "think>b"}}})
	if got := Reply(split); strings.Contains(got, "think") || Sanitise(got) != got {
		t.Errorf("%q", got)
	}
}

func TestControlWord(t *testing.T) {
	for text, want := range map[string]string{
		"NO_REPLY": "NO_REPLY", "no_reply": "NO_REPLY", "**NO_REPLY**": "NO_REPLY", " NO_REPLY\nNO_REPLY. ": "NO_REPLY", // C100
		"REPLY_SKIP": "REPLY_SKIP", "ANNOUNCE_SKIP!": "ANNOUNCE_SKIP", "HEARTBEAT_OK": "HEARTBEAT_OK", "NO_REPLYNO_REPLY": "NO_REPLY",
		"": "", "NO_REPLY REPLY_SKIP": "", "NO_REPLY but": "", "NO REPLY": "", "**": "", "NO_REPLY_": "NO_REPLY", "xNO_REPLY": "",
	} {
		if got, ok := ControlWord(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
}

func TestAnnotate(t *testing.T) {
	from := Source{SessionKey: "agent:main:main", Channel: "slack", Tool: "sessions_send"}
	text := Annotate("hi", from)
	first, rest, _ := strings.Cut(text, "\n")
	if want := "[Inter-session message] sourceSession=agent:main:main sourceChannel=slack sourceTool=sessions_send isUser=false"; first != want { // C093
		t.Errorf("%q", first)
	}
	if middle, last, _ := strings.Cut(rest, "\n"); last != "hi" || middle == "" {
		t.Errorf("%q", rest)
	}
	if again := Annotate(text, from); again != text {
		t.Errorf("%q", again)
	}
	if got := Annotate(text, Source{SessionKey: "agent:work:main"}); strings.Count(got, "[Inter-session message]") != 1 || strings.Contains(got, "slack") { // C106
		t.Errorf("%q", got)
	}
	for _, plain := range []string{"hi", "", "see [Inter-session message] here\nfrom another session: an instruction"} {
		if got := StripAnnotation(Annotate(plain, from)); got != plain {
			t.Errorf("%q, want %q", got, plain)
		}
	}
}
