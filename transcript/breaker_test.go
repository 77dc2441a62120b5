package transcript

import (
	"strings"
	"testing"
)

// Texts that somebody would write to get past the sanitiser, and what looks like scaffolding but is none.
func TestSanitiseHostile(t *testing.T) {
	for in, want := range map[string]string{
		"<th<think>x</think>ink>hidden</think>seen":           "seen",
		"<|<|x|>im_end|>a":                                    "a",
		"<tool_<|x|>call>{\"a\":1}</tool_call>ok":             "ok",
		"<think\u00a0>x</\u00a0think>ok":                      "ok",
		"<\u200bthink>x</think\x00>ok":                        "ok",
		"<THINK a='>'>x</think>ok":                            "ok",
		"<think a=\">x</think>ok":                             "ok",
		"<think about it's>x</think>ok":                       "ok",
		"<thinké>x":                                           "<thinké>x",
		"<think\n>x</think\n>ok":                              "ok",
		"&lt;think&gt;x":                                      "&lt;think&gt;x",
		"<think>the `key</think>Use `x`.":                     "Use `x`.",
		"<relevant-memories>a `b</relevant-memories>Use `x`.": "Use `x`.",
		"<relevant-memories>a<relevant-memories>b</relevant-memories>c</relevant-memories>d": "d",
		"<think>only</think>\n<|im_end|>":                             "",
		"leak</think> \n":                                             "leak",
		"leak</think><think>more</think>":                             "leak",
		"a</think>b<think>c":                                          "b",
		"<details><summary>s</summary>kept</details>":                 "<details><summary>s</summary>kept</details>",
		"<details type='reasoning'>a<details>b</details>c</details>d": "d",
		"[THINK]a</think>b[/THINK]c":                                  "c",
		"◁think▷a◁/think▷b":                                           "b",
		"<seed:think>a</seed:think><reflection>b</reflection>c":       "c",
		"<tool_call>do it</tool_call>ok":                              "ok",
		"<function_calls>\n<antml" + ":invoke name=\"x\">\n</antml" + ":invoke>\n</function_calls>\nok": "ok",
		"<invoke name=\"x\">a</invoke>ok":                                             "ok",
		"[Tool Result]\nout":                                                          "",
		"Hi [Tool Call: a]\nArguments: {\"a\": \nnever":                               "Hi",
		"<toolcall><x>1</x></toolcall>ok":                                             "ok",
		"<tool_response>out</tool_response>ok":                                        "ok",
		"<function=a>\n<parameter=b>\n1\n</parameter>\n</function>\n</tool_call>\nok": "ok",
		"<tool_call>map <arg_key>q":                                                   "",
		"I got <function_response>raw</function_response> inline":                     "I got <function_response>raw</function_response> inline",
		"It is a <function name=\"r\">thing</function>.":                              "It is a <function name=\"r\">thing</function>.",
		"<|open|>tools<|sep|><|open|>call<|sep|>x<|close|>call<|sep|><|close|>tools<|sep|><|open|>response<|sep|>Hi<|close|>response<|sep|>": "Hi",
		"<|open|>think<|sep|>plan":                       "plan",
		"<|open|>call x<|sep|>never":                     "",
		"<start_of_turn>model\nHi<end_of_turn>":          "Hi",
		"<|channel|>analysis<|message|>Thoughts only":    "Thoughts only",
		"<|channel|>commentary to=x<|message|>{\"a\":1}": "",
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>{\"a\":1}<|call|>": "",
		"<|channel|>final<|message|>a<|return|>": "a",
		"The <|channel|> token":                  "The  token",
		"<｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>ok<｜tool▁call▁begin｜>y": "ok",
		"ok</s>\n <|endoftext|></s>": "ok",
		"</s>ok":                     "</s>ok",
		"`</s>":                      "`",
		"`</s>`":                     "`</s>`",
		"```\n</s>":                  "```\n</s>",
		"> tool_result = 5\n⚠️ 🛠️ `x` (agent) failed: no\n🛠️ elevated `ls`\nok": "ok",
		"```x``` <think>a</think>b":                            "```x``` b",
		"````\n```\n<think>a</think>\n````\n<think>b</think>c": "````\n```\n<think>a</think>\n````\nc",
	} {
		if got := Sanitise(in); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("Sanitise(%q)\n got %q\nwant %q", in, got, want)
		}
		if wrong := checkSanitise(in); wrong != "" {
			t.Errorf("%q: %s", in, wrong)
		}
	}
}

// A text that is made to outlast the rounds ends without anything that a step could match.
func TestSanitiseOutlasted(t *testing.T) {
	for depth := range 40 {
		in := "a " + strings.Repeat("<th", depth) + "<think></think>" + strings.Repeat("ink></think>", depth) + " tool_call: x"
		if wrong := checkSanitise(in); wrong != "" {
			t.Errorf("depth %d: %s", depth, wrong)
		}
		if out := Sanitise(in); strings.Contains(out, "<think>") {
			t.Errorf("depth %d: %q", depth, out)
		}
	}
}

// The secret S is gone, and what is around it stays.
func TestRedactMore(t *testing.T) {
	r, err := NewRedactor(RedactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{
		`API_KEY := "S"`, `API_KEY => 'S', x`, `process.env.DB_PASSWD = S;`, `{\"apiKey\":\"S\",\"b\":1}`, `{"password": "S"}`,
		`{'refreshToken': 'S'}`, `--api-key=S x`, `--secret "S" x`, `-H "Cookie: sid=S; b=c" url`, `-H 'Authorization: Basic S' url`,
		`-H "Authorization: S" url`, `"authorization": "Bearer S",`, `Authorization: Bot S`, `redis://:S@host:1/2`,
		`mongodb+srv://u:S@h/db?x=1`, `https://h/?a=1&X-Amz-Signature=S&b`, `https://h/?sig=S#x`, `AccountKey=S;Endpoint=x`,
		`grant=x&password=S&b=c`, `token=S&b=c`, `cvv: S,`, `CARD_NUMBER=S`, `password = S`, `db_password=S`, `X-Auth-Token: S`,
		`https://discord.com/api/webhooks/1/S`, `const DB_PASSWD: string = "S"`,
	} {
		const value = "q7Vt2mZp9Lx4RbN8cW3dKfh1"
		text := strings.Replace(c, "S", value, 1)
		if strings.Contains(c, "API") || strings.Contains(c, "Signature") || strings.Contains(c, "PASSWD") {
			text = strings.Replace(c, "=S", "="+value, 1)
			for _, q := range []string{`"S"`, `'S'`, ` S;`} {
				text = strings.Replace(text, q, strings.Replace(q, "S", value, 1), 1)
			}
		}
		got, changed := r.Redact(text)
		for i := 0; i+7 <= len(value); i++ {
			if strings.Contains(got, value[i:i+7]) {
				t.Errorf("%q leaks: %q", c, got)
				break
			}
		}
		if at := strings.Index(text, value); at < 0 || !changed {
			t.Errorf("%q: nothing to mask in %q", c, text)
		} else if !strings.HasSuffix(got, text[at+len(value):]) && !strings.Contains(c, "Cookie") {
			t.Errorf("%q: what follows is gone: %q", c, got)
		}
	}
	for _, keep := range []string{
		"disk-cache-everything-here", "risk-adjusted-returns", "hexa_table_of_contents", "MAX_TOKENS=4096", "the password is x",
		"token: abc", `secret: "abc"`, "password=***", "TOKEN=sk-abc…wxyz", `{"apiKey":"abcdef…stuv"}`, "https://u:***@h/",
		"http://localhost:8080/a@b", "Bearer of good news", "a == b", "12:30:45", "state=open&x=1", "-----BEGIN PRIVATE" + " KEY-----\n…redacted…\n-----END PRIVATE" + " KEY-----",
	} {
		if got, changed := r.Redact(keep); changed || got != keep {
			t.Errorf("%q became %q", keep, got)
		}
	}
}

func TestRedactOptions(t *testing.T) {
	r, err := NewRedactor(RedactOptions{
		Patterns: []string{"zebra-[0-9]+", "/QUAGGA-([a-z]+)/gi", `/plain/slash`},
		Secrets:  []string{`p"ss word/1`, "short", strings.Repeat("x", 513)},
		LogsOff:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"card zebra-12345": "card ***", "quagga-stripes x": "quagga-*** x", "a /plain/slash b": "a *** b", // X-H20
		`plain p"ss word/1.`: "plain ***.", `json p\"ss word/1.`: "json ***.", "url p%22ss+word%2F1 p%22ss%20word%2F1": "url *** ***",
		"short": "short", strings.Repeat("x", 513): strings.Repeat("x", 513),
	} {
		if got, _ := r.Redact(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := r.RedactLog("zebra-1"); got != "zebra-1" {
		t.Error(got)
	}
	if _, err := NewRedactor(RedactOptions{Patterns: []string{"a", "(?=b)"}}); err == nil || !strings.Contains(err.Error(), "[1]") || strings.Contains(err.Error(), "?=") {
		t.Error(err)
	}
}
