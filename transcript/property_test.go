package transcript

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// pieces are what hostile texts are made of.
var pieces = []string{
	"<think>", "</think>", "<thinking", ">", "<", "</", "< / THINK >", "<final>", "</final>", "[THINK]", "[/THINK]", "◁think▷",
	"◁/think▷", `<details type="reasoning">`, "<details>", "</details>", "<reasoning>", "</reflection>", "<mm:thought/>",
	"<tool_call>", "</tool_call>", `{"a":1}`, `{"a":"`, "}", "{", "[", "]", `"`, "'", "<tool_calls>", "</tool_calls>", "<tool_call",
	`<function name="x">`, "<function=x>", "</function>", "<function_response>", "</function_response>", "<tool_result>",
	"</tool_result>", `<parameter name="x">`, "</parameter>", "<arg_key>", "</arg_value>", "<minimax:tool_call>",
	`<invoke name="x">`, "</invoke>", "<relevant-memories>", "</relevant_memories>", "<|", "|>", "<|im_start|>", "<|start|>",
	"assistant", "<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<|call|>", "<｜tool▁calls▁begin｜>",
	"<|tool_calls_end|>", "<|open|>", "<|close|>", "<|sep|>", "think", "tools", "<｜DSML｜calls>", "</｜DSML｜calls>", "</s>", "<eos>",
	"<start_of_turn>", "[TOOL_CALL]", "[/TOOL_CALL]", "[Tool Call: a]", "Arguments:", "[Tool Result for ID 1]", "[Tool Result]",
	"[Historical context: ", "[tool:x] ", "[x]", "[END_TOOL_REQUEST]", "commentary to=x code ", "tool_call: x", "📖 Read: x", "🛠️ git",
	"`", "``", "```", "~~~", "\n", "\r\n", " ", "\u00a0", "\x00", "\xff", "é", "é", "word", "日本", "ſ", "＜think＞", "&lt;think&gt;",
	"antml" + ":thinking>", "</antml" + ":invoke>", "<antml" + ":invoke name='x'>",
}

// secrets are what redaction looks for, and what is near it.
var secretPieces = []string{
	"sk-", "ghp_", "abcdefgh", "ijklmnopqrstuvwxyz", "0123456789", "AKIA", "ABCDEFGHIJKLMNOP", "eyJ", ".", "bot", ":", "=", "\"", "'", "\\",
	"apiKey", "API_KEY", "TOKEN", "password", "--token ", "--", "Bearer ", "Authorization: ", "https://", "u:", "@", "?", "&", "token=",
	"code=", "refresh_token=", "-----BEGIN PRIVATE", " KEY-----", "-----END PRIVATE", "…", "***", "…redacted…", "$", "${", "}", " ", "\n", "x",
	"é", "\xff", "hooks.slack.com/services/", "cookie: ", "X-Api-Key: ", "123456789:", "SG.", "ya29.", "sig=", ",", ";", "sk-abc…wxyz",
}

func text(pieces []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
	})
}

// checkSanitise tells what is wrong with the sanitiser on a text.
func checkSanitise(in string) string {
	out := Sanitise(in)
	switch {
	case len(out) > len(in):
		return "the result is longer"
	case Sanitise(out) != out:
		return "a second time changes " + out + " into " + Sanitise(out)
	case utf8.ValidString(in) && !utf8.ValidString(out):
		return "the result is no UTF-8"
	case blank(in) && out != in:
		return "a blank text changed"
	}
	return ""
}

// checkRedact tells what is wrong with redaction on a text.
func checkRedact(r *Redactor, in string) string {
	out, changed := r.Redact(in)
	again, twice := r.Redact(out)
	switch {
	case changed != (out != in):
		return "changed is wrong"
	case twice:
		return "a second time changes " + out + " into " + again
	case utf8.ValidString(in) && !utf8.ValidString(out):
		return "the result is no UTF-8"
	}
	return ""
}

func TestSanitiseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := text(pieces).Draw(t, "in")
		if wrong := checkSanitise(in); wrong != "" {
			t.Fatalf("%q: %q", in, wrong)
		}
	})
}

func TestRedactProperties(t *testing.T) {
	r, err := NewRedactor(RedactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := text(secretPieces).Draw(t, "in")
		if wrong := checkRedact(r, in); wrong != "" {
			t.Fatalf("%q: %q", in, wrong)
		}
	})
}

func FuzzSanitise(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "x" + p)
	}
	for _, v := range []string{"<think>a</think>b", "a\n[tool:x] {\"a\":1}\nb", "```\n<think>\n```\n<think>"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if wrong := checkSanitise(in); wrong != "" {
			t.Errorf("%q: %q", in, wrong)
		}
	})
}

func FuzzRedact(f *testing.F) {
	r, err := NewRedactor(RedactOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range secretPieces {
		f.Add(p + "abcdefghijklmnopqrstuvwxyz")
	}
	f.Fuzz(func(t *testing.T, in string) {
		if wrong := checkRedact(r, in); wrong != "" {
			t.Errorf("%q: %q", in, wrong)
		}
	})
}

// However rows are made, a page keeps its promises.
func FuzzPage(f *testing.F) {
	f.Add("assistant", `"<think>a</think>b"`, `{"usage":{}}`)
	f.Add("user", `[{"type":"image","data":"AAAA"},{"type":"text","text":"sk-abcdefghijkl"}]`, ``)
	f.Add("toolResult", `{"a":[1,{"b":null}]}`, `[`)
	f.Fuzz(func(t *testing.T, role, content, extra string) {
		row := Row{Seq: 1, ID: "m", Role: role, Content: []byte(content), Extra: []byte(extra)}
		r := NewView(nil).Page(Page{Rows: []Row{row, row}, IncludeTools: true, Paged: true, Total: 2})
		checkResult(t, r)
	})
}
