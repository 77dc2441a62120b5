package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// checkResult asks what holds for every result.
func checkResult(t *testing.T, r Result) {
	t.Helper()
	array := arrayJSON(r.Messages)
	if r.Bytes != len(array) || r.Bytes > MaxBytes {
		t.Errorf("bytes is %d, the messages have %d", r.Bytes, len(array))
	}
	for _, m := range r.Messages {
		if !m.IsValid(options()...) {
			t.Fatalf("no JSON: %q", m)
		}
		short := m.Clone()
		if err := short.Compact(options()...); err != nil || !bytes.Equal(short, m) {
			t.Errorf("not compact: %s", m)
		}
	}
	if r.Truncated != (r.DroppedMessages || r.ContentTruncated) {
		t.Errorf("truncated is wrong: %+v", r)
	}
}

func secret(parts ...string) string { return strings.Join(parts, "") }

func show(t *testing.T, p Page) Result {
	t.Helper()
	r := NewView(nil).Page(p)
	checkResult(t, r)
	return r
}

type one = map[string]any

func contents(t *testing.T, r Result) string {
	t.Helper()
	var all []string
	for _, m := range r.Messages {
		all = append(all, strings.TrimSpace(string(encode(t, decode(t, m)["content"]))))
	}
	return strings.Join(all, " ")
}

// The cases of the sheet's section 11.3 that are about what rows appear as.
func TestHistoryCases(t *testing.T) {
	x4000 := strings.Repeat("x", 4000)
	const cut, red, drop = 1, 2, 4
	for _, c := range []struct {
		id    string
		tools bool
		in    []one
		want  string // the contents as JSON, apart by blanks
		flags int
	}{
		{id: "C050", in: []one{{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"role": "toolResult", "content": "out"}, {"role": "assistant", "content": "b"}}, want: `"q" "a" "b"`},
		{id: "C050 with tools", tools: true, in: []one{{"role": "user", "content": "q"}, {"role": "tool", "content": "t"}, {"role": "toolResult", "content": "out"}}, want: `"q" "t" "out"`},
		{id: "C051", in: []one{{"role": "user", "content": x4000 + strings.Repeat("x", 1000)}}, want: `"` + x4000 + `\n…(truncated)…"`, flags: cut},
		{id: "C052", in: []one{{"role": "user", "content": x4000}}, want: `"` + x4000 + `"`},
		{id: "C053", in: []one{{"role": "assistant", "content": secret("<think>key s", "k-abcdefghij", "klmnopqrstuv</think>ok")}}, want: `"ok"`},
		{id: "C054", in: []one{{"role": "user", "content": "<think>x</think> y"}}, want: `"<think>x</think> y"`},
		{id: "C055", in: []one{{"role": "user", "content": secret("key s", "k-abcdefghij", "klmnopqrstuv")}}, want: `"key sk-abc…stuv"`, flags: red},
		{id: "C057", in: []one{{"role": "assistant", "content": []one{{"type": "text", "text": "<think>x</think>"}, {"type": "text", "text": "Hi"}}}}, want: `[{"text":"Hi","type":"text"}]`},
		{id: "C058", in: []one{{"role": "user", "content": "q"}, {"role": "assistant", "content": "<think>x</think>"}}, want: `"q"`},
		{id: "C059", in: []one{{"role": "user", "content": []one{{"type": "image", "mimeType": "image/png", "data": strings.Repeat("A", 400)}}}}, want: `[{"bytes":300,"mimeType":"image/png","omitted":true,"type":"image"}]`, flags: cut},
		{id: "C059 kept bytes", in: []one{{"role": "user", "content": []one{{"type": "image", "bytes": 7}}}}, want: `[{"bytes":7,"omitted":true,"type":"image"}]`},
		{id: "C059 nested", in: []one{{"role": "user", "content": []one{{"type": "image", "source": one{"type": "base64", "data": "AAA="}}}}}, want: `[{"bytes":2,"omitted":true,"source":{"type":"base64"},"type":"image"}]`, flags: cut},
		{id: "C059 URL", in: []one{{"role": "user", "content": []one{{"type": "image_url", "image_url": one{"url": "data:image/png;base64,AAAA"}}}}}, want: `[{"bytes":3,"image_url":{},"omitted":true,"type":"image_url"}]`, flags: cut},
		{id: "C059 in a result", tools: true, in: []one{{"role": "toolResult", "content": []one{{"type": "tool_result", "content": []one{{"type": "image", "data": "AAAA"}}}}}}, want: `[{"content":[{"bytes":3,"omitted":true,"type":"image"}],"type":"tool_result"}]`, flags: cut},
		{id: "C060", in: []one{{"role": "assistant", "content": "x", "usage": one{"input": 1}, "cost": one{"total": 0.1}, "details": one{"a": 1}}}, want: `"x"`, flags: cut},
		{id: "C062", in: []one{{"role": "user", "content": "before"}, {"role": "assistant", "content": blocks(25, strings.Repeat("z", 4000))}}, want: `"[sessions_history omitted: message too large]"`, flags: drop},
		{id: "C068 NO_REPLY", in: []one{{"role": "user", "content": "q"}, {"role": "assistant", "content": "NO_REPLY"}}, want: `"q"`},
		{id: "C068 ANNOUNCE_SKIP", in: []one{{"role": "assistant", "content": []one{{"type": "text", "text": " ANNOUNCE_SKIP\n"}}}}},
		{id: "C068 REPLY_SKIP", in: []one{{"role": "assistant", "content": "<think>no</think>REPLY_SKIP"}}},
		{id: "C068 in a sentence", in: []one{{"role": "assistant", "content": "Say NO_REPLY then"}}, want: `"Say NO_REPLY then"`},
		{id: "C068 of a user", in: []one{{"role": "user", "content": "NO_REPLY"}}, want: `"NO_REPLY"`},
		{id: "C069", in: []one{{"role": "user", "content": Annotate("hello", Source{SessionKey: "agent:work:main"}), "provenance": one{"kind": "inter_session", "sourceSessionKey": "agent:work:main", "sourceTool": "sessions_send"}}}, want: `"hello"`},
		{id: "C071", tools: true, in: []one{{"role": "assistant", "content": []one{{"type": "thinking", "thinking": "deep", "thinkingSignature": "sig"}, {"type": "text", "text": "Hi"}}}}, want: `[{"thinking":"deep","type":"thinking"},{"text":"Hi","type":"text"}]`, flags: cut},
		{id: "C071 without tools", in: []one{{"role": "assistant", "content": []one{{"type": "thinking", "thinking": "deep"}, {"type": "text", "text": "Hi"}}}}, want: `[{"text":"Hi","type":"text"}]`, flags: cut},
		{id: "C072", in: []one{{"role": "assistant", "content": "Write:\n```\n<think>x</think>\n```"}}, want: "\"Write:\\n```\\n<think>x</think>\\n```\""},
		{id: "X-H02", in: []one{{"role": "assistant", "content": []one{{"type": "toolCall", "name": "look"}}}, {"role": "assistant", "content": []one{{"type": "text", "text": "Looking."}, {"type": "toolCall"}}}}, want: `[{"name":"look","type":"toolCall"}] [{"text":"Looking.","type":"text"}]`},
		{id: "X-H03", in: []one{{"role": "user", "content": "a"}, {"role": "user", "content": "internal", "provenance": one{"kind": "inter_session", "sourceTool": "subagent_announce"}}, {"role": "assistant", "content": "b"}}, want: `"a" "b"`},
		{id: "X-H04", in: []one{{"role": "assistant", "content": "[[reply_to_current]] Sure."}, {"role": "assistant", "content": "[[audio_as_voice]]Hello"}, {"role": "assistant", "content": "[[ reply_to: 12 ]]Yes"}, {"role": "assistant", "content": "`[[audio_as_voice]]` is one"}}, want: "\"Sure.\" \"Hello\" \"Yes\" \"`[[audio_as_voice]]` is one\""},
		{id: "X-H06", tools: true, in: []one{{"role": "toolResult", "content": x4000 + "x"}}, want: `"` + x4000 + `\n…(truncated)…"`, flags: cut},
		{id: "X-H07", in: []one{{"role": "user", "content": secret(x4000[:3993], " s", "k-abcdefghij", "klmnopqrstuvwxyz")}}, want: `"` + x4000[:3993] + ` sk-abc\n…(truncated)…"`, flags: cut | red},
		{id: "X-H08", tools: true, in: []one{{"role": "toolResult", "content": secret("key s", "k-abcdefghij", "klmnopqrstuv")}}, want: `"key sk-abc…stuv"`, flags: red},
		{id: "3.6 a pair is not split", in: []one{{"role": "user", "content": x4000[:3999] + "😀x"}}, want: `"` + x4000[:3999] + `\n…(truncated)…"`, flags: cut},
		{id: "3.3 envelope", in: []one{{"role": "user", "content": "[Telegram Osk 2026-03-04 10:00] hi"}, {"role": "user", "content": "[Slack is down] hi"}}, want: `"hi" "[Slack is down] hi"`},
		{id: "3.3 empty", in: []one{{"role": "user", "content": " \n"}, {"role": "user", "content": []one{}}, {"role": "assistant", "content": ""}}},
		{id: "3.3 flagged", in: []one{{"role": "user", "content": "a", "display": false}, {"role": "assistant", "content": "b", "phase": "commentary"}, {"role": "user", "content": "c", "provenance": one{"kind": "runtime_context"}}, {"role": "user", "content": "d", "provenance": one{"kind": "heartbeat"}}, {"role": "assistant", "content": "HEARTBEAT_OK"}}},
		{id: "3.3 failed", in: []one{{"role": "assistant", "content": "", "stopReason": "error"}, {"role": "assistant", "content": []one{}, "errorMessage": "x"}}, want: `"` + failedTurn + `" [{"text":"` + failedTurn + `","type":"text"}]`},
		{id: "3.7 arguments", in: []one{{"role": "assistant", "content": []one{{"type": "toolCall", "arguments": one{"password": "hunter2", "q": secret("s", "k-abcdefghij", "klmnopqrstuv")}}}}}, want: `[{"arguments":{"password":"***","q":"sk-abc…stuv"},"type":"toolCall"}]`, flags: red},
	} {
		t.Run(c.id, func(t *testing.T) {
			r := show(t, Page{Rows: stored(t, c.in...), IncludeTools: c.tools})
			if got := contents(t, r); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			if r.ContentTruncated != (c.flags&cut > 0) || r.ContentRedacted != (c.flags&red > 0) || r.DroppedMessages != (c.flags&drop > 0) {
				t.Errorf("flags: %+v", r)
			}
			for _, m := range r.Messages {
				if _, marked := decode(t, m)["redacted"]; marked != r.ContentRedacted && len(r.Messages) == 1 {
					t.Errorf("redacted: %s", m)
				}
			}
		})
	}
}

func blocks(n int, text string) []one {
	var all []one
	for range n {
		all = append(all, one{"type": "text", "text": text})
	}
	return all
}

func TestForwarded(t *testing.T) {
	for key, want := range map[string]string{
		"agent:work:main": "Forwarded from work", "AGENT:Work:x:y": "Forwarded from work", "cron:j": "Forwarded from main",
		"": "Forwarded agent message",
	} {
		r := show(t, Page{Rows: stored(t, one{"role": "user", "content": []one{{"type": "text", "text": Annotate("<think>x</think>hello", Source{SessionKey: key})}}, "provenance": one{
			"kind": "inter_session", "sourceSessionKey": key, "sourceTool": "sessions_send",
		}})})
		m := decode(t, r.Messages[0])
		if m["role"] != "assistant" || m["senderLabel"] != want || contents(t, r) != `[{"text":"hello","type":"text"}]` {
			t.Errorf("%q: %v", key, m)
		}
	}
}

// An answer to an announcement of a session that a reset ended does not appear; later ones do.
func TestOldAnnouncements(t *testing.T) {
	announce := one{"role": "user", "content": "x", "provenance": one{"kind": "inter_session", "sourceTool": "subagent_announce"}}
	rows := stored(t, announce, one{"role": "assistant", "content": "old"}, announce, one{"role": "assistant", "content": "new"})
	for i := range rows {
		rows[i].CreatedAt = int64(100 + i)
	}
	if got := contents(t, show(t, Page{Rows: rows, SessionStart: 102})); got != `"new"` {
		t.Error(got)
	}
}

func numbered(n, size int) []Row {
	var rows []Row
	for i := range n {
		text := fmt.Sprintf("%sm%d", strings.Repeat("m", size), i)
		rows = append(rows, Row{Seq: int64(i + 1), ID: fmt.Sprintf("msg_%026d", i+1), Role: "user", Content: Text(text), CreatedAt: 1780000000000})
	}
	return rows
}

// page reads stored rows as the caller does.
func page(t *testing.T, rows []Row, offset, limit int) Result {
	t.Helper()
	end := max(0, len(rows)-offset)
	return show(t, Page{Rows: rows[max(0, end-limit):end], Paged: true, Offset: offset, Total: len(rows)})
}

func seqs(t *testing.T, r Result) (first, last int) {
	t.Helper()
	seq := func(m jsontext.Value) int {
		return int(decode(t, m)["__openclaw"].(map[string]any)["seq"].(float64))
	}
	return seq(r.Messages[0]), seq(r.Messages[len(r.Messages)-1])
}

func TestPages(t *testing.T) {
	rows := numbered(120, 0)
	for _, c := range []struct {
		id                               string
		offset, limit, first, last, next int
	}{
		{"C064", 0, 50, 71, 120, 50},
		{"C065", 100, 50, 1, 20, 0},
		{"all", 0, 200, 1, 120, 0},
	} {
		r := page(t, rows, c.offset, c.limit)
		first, last := seqs(t, r)
		if first != c.first || last != c.last || *r.Offset != c.offset || *r.TotalMessages != 120 || *r.HasMore != (c.next > 0) {
			t.Errorf("%s: %d to %d, %+v", c.id, first, last, r)
		}
		if (r.NextOffset != nil) != (c.next > 0) || r.NextOffset != nil && *r.NextOffset != c.next {
			t.Errorf("%s: nextOffset %v", c.id, r.NextOffset)
		}
	}
	if r := page(t, rows[:1], 5, 50); len(r.Messages) != 0 || *r.HasMore || r.NextOffset != nil || r.Bytes != 2 { // X-H10
		t.Errorf("X-H10: %+v", r)
	}
	if r := page(t, nil, 0, 50); len(r.Messages) != 0 || *r.HasMore || r.Bytes != 2 || *r.TotalMessages != 0 { // X-H09
		t.Errorf("X-H09: %+v", r)
	}
	if r := show(t, Page{Rows: rows[70:]}); r.Offset != nil || r.NextOffset != nil || r.HasMore != nil || r.TotalMessages != nil || len(r.Messages) != 50 {
		t.Errorf("C063: %+v", r)
	}
}

func TestByteCap(t *testing.T) {
	rows := numbered(60, 3890)
	r := show(t, Page{Rows: rows})
	if first, last := seqs(t, r); first != 41 || last != 60 || !r.DroppedMessages || !r.Truncated {
		t.Errorf("C061: %d to %d, %d bytes", first, last, r.Bytes)
	}
	for offset, want := range map[int][3]int{0: {41, 60, 20}, 20: {21, 40, 40}, 40: {1, 20, 0}} { // C066, C067
		r := page(t, rows, offset, 200)
		first, last := seqs(t, r)
		if first != want[0] || last != want[1] || *r.HasMore != (want[2] > 0) || r.NextOffset != nil && *r.NextOffset != want[2] {
			t.Errorf("offset %d: %d to %d, %v", offset, first, last, r.NextOffset)
		}
	}
}

// Walking by nextOffset ends, and shows every row that appears at all, whatever is between them.
func TestWalk(t *testing.T) {
	rows := numbered(300, 0)
	for i := range rows {
		switch {
		case i%7 < 4:
			rows[i].Role = "toolResult"
		case i%50 == 5:
			rows[i].Content = Text(strings.Repeat("😀", 3000))
		case i == 44:
			var many []jsontext.Value
			for range 30 {
				many = append(many, jsontext.Value(`{"type":"text","text":"`+strings.Repeat("y", 4000)+`"}`))
			}
			rows[i].Content = arrayJSON(many)
		}
	}
	for _, limit := range []int{1, 3, 7, 50, 1000} {
		seen := map[int]bool{}
		for offset := 0; ; {
			r := page(t, rows, offset, limit)
			for _, m := range r.Messages {
				seen[int(decode(t, m)["__openclaw"].(map[string]any)["seq"].(float64))] = true
			}
			if !*r.HasMore {
				break
			}
			if *r.NextOffset <= offset {
				t.Fatalf("limit %d: nextOffset %d after %d", limit, *r.NextOffset, offset)
			}
			offset = *r.NextOffset
		}
		for i, row := range rows {
			if seen[i+1] == (row.Role == "toolResult") {
				t.Errorf("limit %d: row %d of role %s: seen %t", limit, i+1, row.Role, seen[i+1])
			}
		}
	}
}

func TestWindow(t *testing.T) {
	v := NewView(nil)
	rows := numbered(120, 0)
	for _, c := range []struct{ at, limit, first, last int }{ // X-H05 and its edges
		{60, 5, 58, 62}, {60, 4, 58, 61}, {60, 1, 60, 60}, {1, 5, 1, 5}, {120, 5, 116, 120}, {60, 0, 1, 120},
	} {
		r := v.Window(Window{Rows: rows, MessageID: rows[c.at-1].ID, Limit: c.limit, Total: 120})
		checkResult(t, r)
		if first, last := seqs(t, r); first != c.first || last != c.last || *r.TotalMessages != 120 || r.Offset != nil || r.HasMore != nil {
			t.Errorf("%+v: %d to %d", c, first, last)
		}
	}
	for _, id := range []string{"no-such-message", ""} {
		if r := v.Window(Window{Rows: rows, MessageID: id}); len(r.Messages) != 0 || r.Bytes != 2 {
			t.Errorf("%q: %+v", id, r)
		}
	}
	big := numbered(60, 3890)
	r := v.Window(Window{Rows: big, MessageID: big[30].ID})
	checkResult(t, r)
	if first, last := seqs(t, r); last-first != 19 || first > 31 || last < 31 || !r.DroppedMessages {
		t.Errorf("%d to %d", first, last)
	}
	huge := stored(t, one{"role": "user", "content": "a"}, one{"role": "user", "content": blocks(25, strings.Repeat("z", 4000))})
	r = v.Window(Window{Rows: huge, MessageID: "msg_2"})
	checkResult(t, r)
	if got := contents(t, r); got != `"[sessions_history omitted: message too large]"` || !r.DroppedMessages {
		t.Error(got)
	}
}

func TestResultJSON(t *testing.T) {
	out, err := json.Marshal(show(t, Page{}))
	want := `{"messages":[],"truncated":false,"droppedMessages":false,"contentTruncated":false,"contentRedacted":false,"bytes":2}`
	if err != nil || string(out) != want { // C013
		t.Errorf("%s, %v", out, err)
	}
}
