package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// join replaces {"$join": […]} by its parts joined: so that no file holds the shape of a secret.
func join(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if parts, ok := v["$join"].([]any); ok {
			var text strings.Builder
			for _, p := range parts {
				text.WriteString(p.(string))
			}
			return text.String()
		}
		for name := range v {
			v[name] = join(v[name])
		}
	case []any:
		for i := range v {
			v[i] = join(v[i])
		}
	}
	return value
}

// stored makes rows of messages as they are put in.
func stored(t *testing.T, messages ...map[string]any) []Row {
	t.Helper()
	var rows []Row
	for i, m := range messages {
		row := Row{Seq: int64(i + 1), ID: fmt.Sprintf("msg_%d", i+1)}
		row.Role, _ = m["role"].(string)
		extra := map[string]any{}
		for name, value := range m {
			switch name {
			case "role":
			case "content":
				row.Content = encode(t, value)
			default:
				extra[name] = value
			}
		}
		if len(extra) > 0 {
			row.Extra = encode(t, extra)
		}
		rows = append(rows, row)
	}
	return rows
}

func encode(t *testing.T, value any) jsontext.Value {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

func decode(t *testing.T, value []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(value, &out); err != nil {
		t.Fatalf("%v: %s", err, value)
	}
	return out
}

type expected struct {
	Row                         int
	Same, GoneRow, ToolsOnly    bool
	Out                         any
	Blocks                      []any
	Gone, Keep, Flags, FlagsOff []string
}

func (e *expected) UnmarshalJSON(data []byte) error {
	var raw struct {
		Row       int      `json:"row"`
		Same      bool     `json:"same"`
		GoneRow   bool     `json:"gone_row"`
		ToolsOnly bool     `json:"tools_only"`
		Out       any      `json:"out"`
		Blocks    []any    `json:"blocks"`
		Gone      []string `json:"gone"`
		Keep      []string `json:"keep"`
		Flags     []string `json:"flags"`
		FlagsOff  []string `json:"flags_off"`
	}
	err := json.Unmarshal(data, &raw)
	*e = expected(raw)
	return err
}

// The transcripts of fixtures, each row alone in a session, as the page beside them says it appears.
func TestFixtures(t *testing.T) {
	v := NewView(nil)
	for _, name := range []string{
		"reasoning-tags", "tool-markup", "control-tokens", "blocks-and-memories", "credentials", "whole-session",
	} {
		messages := lines[map[string]any](t, "transcripts/"+name+".jsonl")
		wants := lines[expected](t, "transcripts/"+name+".expected.jsonl")
		if len(wants) != len(messages) {
			t.Fatalf("%s: %d rows, %d expectations", name, len(messages), len(wants))
		}
		for _, want := range wants {
			t.Run(fmt.Sprintf("%s/%d", name, want.Row), func(t *testing.T) {
				message := join(messages[want.Row-1]).(map[string]any)
				rows := stored(t, message)
				for _, tools := range []bool{false, true} {
					r := v.Page(Page{Rows: rows, IncludeTools: tools})
					checkFixture(t, message, want, r, tools)
				}
			})
		}
	}
}

func checkFixture(t *testing.T, message map[string]any, want expected, r Result, tools bool) {
	t.Helper()
	if r.DroppedMessages {
		t.Error("droppedMessages is set")
	}
	if want.GoneRow || want.ToolsOnly && !tools {
		if len(r.Messages) != 0 {
			t.Errorf("tools %t: the row appears: %s", tools, r.Messages)
		}
		return
	}
	if len(r.Messages) != 1 {
		t.Fatalf("tools %t: %d messages", tools, len(r.Messages))
	}
	got := decode(t, r.Messages[0])["content"]
	before, out := message["content"], join(want.Out)
	switch {
	case want.Same:
		if !reflect.DeepEqual(got, before) {
			t.Errorf("got %v, want it unchanged", got)
		}
	case want.Blocks != nil:
		if got := trimmed(withoutThinking(got)); !reflect.DeepEqual(got, trimmed(want.Blocks)) {
			t.Errorf("got %v, want %v", got, want.Blocks)
		}
	case want.Out != nil:
		if strings.TrimSpace(got.(string)) != strings.TrimSpace(out.(string)) {
			t.Errorf("got %q, want %q", got, out)
		}
	}
	gone := strings.Join(want.Gone, "")
	for i := 0; i+7 <= len(gone); i++ {
		if strings.Contains(got.(string), gone[i:i+7]) {
			t.Errorf("%q shows a part of the secret", got)
		}
	}
	for _, keep := range want.Keep {
		if !strings.Contains(got.(string), keep) {
			t.Errorf("%q lacks %q", got, keep)
		}
	}
	flags := map[string]bool{"contentTruncated": r.ContentTruncated, "contentRedacted": r.ContentRedacted}
	for _, f := range want.Flags {
		if !flags[f] {
			t.Errorf("%s is not set", f)
		}
	}
	for _, f := range want.FlagsOff {
		if flags[f] {
			t.Errorf("%s is set", f)
		}
	}
	masked := gone != "" || strings.ContainsAny(fmt.Sprint(out), "…") || strings.Contains(fmt.Sprint(out), "***")
	if r.ContentRedacted != masked {
		t.Errorf("contentRedacted is %t", r.ContentRedacted)
	}
}

func withoutThinking(content any) []any {
	var kept []any
	for _, b := range content.([]any) {
		if b.(map[string]any)["type"] != "thinking" {
			kept = append(kept, b)
		}
	}
	return kept
}

func trimmed(blocks []any) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, strings.TrimSpace(b.(map[string]any)["text"].(string)))
	}
	return out
}

func TestWholeSession(t *testing.T) {
	messages := lines[map[string]any](t, "transcripts/whole-session.jsonl")
	for i := range messages {
		messages[i] = join(messages[i]).(map[string]any)
	}
	rows := stored(t, messages...)
	for _, c := range []struct {
		tools    bool
		seq      []float64
		redacted bool
	}{
		{false, []float64{1, 2, 4, 6, 7, 9, 11, 12}, false},
		{true, []float64{1, 2, 3, 4, 5, 6, 7, 9, 11, 12}, true},
	} {
		r := NewView(nil).Page(Page{Rows: rows, IncludeTools: c.tools, Paged: true, Total: len(rows)})
		var seq []float64
		for _, m := range r.Messages {
			seq = append(seq, decode(t, m)["__openclaw"].(map[string]any)["seq"].(float64))
		}
		if !reflect.DeepEqual(seq, c.seq) || r.ContentRedacted != c.redacted || !r.ContentTruncated || *r.TotalMessages != 12 {
			t.Errorf("tools %t: seq %v, flags %+v", c.tools, seq, r)
		}
	}
}
