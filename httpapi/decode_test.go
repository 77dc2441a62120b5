package httpapi

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
)

// found lists the problems of an error as "path code".
func found(t testing.TB, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*sessile.Error](err)
	if !ok || e.Code != sessile.CodeValidation {
		t.Fatalf("not a validation error: %v", err)
	}
	var lines []string
	for _, f := range e.Details.([]sessile.FieldError) {
		if f.Message == "" || f.Code == "" {
			t.Errorf("a problem without message or code: %+v", f)
		}
		lines = append(lines, f.Path+" "+f.Code)
	}
	return lines
}

func TestAddressBody(t *testing.T) {
	const rest = `"branch_id":"main","namespace":"bond_log","slot":"trust"`
	tests := []struct {
		name, body string
		want       []string
	}{
		{"good", `{` + rest + `,"value":1}`, nil},
		{"null is a value", `{` + rest + `,"value":null}`, nil},
		{"blanks around", " \n{" + rest + `,"value":[ 1 , 2 ]}` + "\t", nil},
		{"repeats inside a value", `{` + rest + `,"value":{"a":1,"a":2}}`, nil},
		{"escaped name", `{"br\u0061nch_id":"main","namespace":"bond_log","slot":"trust","value":1}`, nil},
		{"no value", `{` + rest + `}`, []string{"value required"}},
		{"nothing there", `{}`, []string{"branch_id required", "namespace required", "slot required", "value required"}},
		{"empty texts", `{"branch_id":"","namespace":"","slot":"","value":0}`, []string{"branch_id empty", "namespace empty", "slot empty"}},
		{"unknown", `{` + rest + `,"value":1,"write_mode":"direct"}`, []string{"write_mode unknown_field"}},
		{"another case", `{` + rest + `,"Value":1}`, []string{"value required", "Value unknown_field"}},
		{"repeated", `{` + rest + `,"value":1,"slot":"x"}`, []string{"slot repeated"}},
		{"repeated by escape", `{` + rest + `,"value":1,"sl\u006ft":"x"}`, []string{"slot repeated"}},
		{"repeated value", `{` + rest + `,"value":1,"value":1}`, []string{"value repeated"}},
		{"types", `{"branch_id":1,"namespace":null,"slot":["a"],"value":1}`, []string{"branch_id wrong_type", "namespace wrong_type", "slot wrong_type"}},
		{"pattern", `{"branch_id":"main","namespace":"Bond","slot":"a","value":1}`, []string{"namespace wrong_pattern"}},
		{"no trimming", `{"branch_id":"main","namespace":" bond","slot":"a","value":1}`, []string{"namespace wrong_pattern"}},
		{"namespace of 129", `{"branch_id":"main","namespace":"` + strings.Repeat("a", 129) + `","slot":"a","value":1}`, []string{"namespace too_long"}},
		{"slot of 256 units", `{"branch_id":"main","namespace":"a","slot":"` + strings.Repeat("\U0001F600", 128) + `","value":1}`, nil},
		{"slot of 258 units", `{"branch_id":"main","namespace":"a","slot":"` + strings.Repeat("\U0001F600", 129) + `","value":1}`, []string{"slot too_long"}},
		{"list", `[]`, []string{" wrong_type"}},
		{"null", `null`, []string{" wrong_type"}},
		{"text", `"a"`, []string{" wrong_type"}},
		{"cut", `{` + rest + `,"value":`, []string{" malformed"}},
		{"cut in a text", `{"branch_id":"ma`, []string{" malformed"}},
		{"comma at the end", `{` + rest + `,"value":1,}`, []string{" malformed"}},
		{"trailing text", `{` + rest + `,"value":1} x`, []string{" malformed"}},
		{"two objects", `{` + rest + `,"value":1}{}`, []string{" malformed"}},
		{"list and more", `[] []`, []string{" malformed"}},
		{"blanks only", `  `, []string{" malformed"}},
		{"not JSON", `namespace=a`, []string{" malformed"}},
		{"byte order mark", "\ufeff{" + rest + `,"value":1}`, []string{" malformed"}},
		{"lone surrogate", `{` + rest + `,"value":"\ud800"}`, []string{" malformed"}},
		{"lone surrogate in a name", `{` + rest + `,"value":{"\udc00":1}}`, []string{" malformed"}},
		{"bad UTF-8", `{` + rest + `,"value":"` + "\xff" + `"}`, []string{" malformed"}},
		{"control character", `{` + rest + `,"value":"` + "\x01" + `"}`, []string{" malformed"}},
		{"bad number", `{` + rest + `,"value":01}`, []string{" malformed"}},
		{"no number", `{` + rest + `,"value":NaN}`, []string{" malformed"}},
		{"unquoted name", `{value:1}`, []string{" malformed"}},
		{"too deep", `{` + rest + `,"value":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, []string{" malformed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := openBody(&call{body: []byte(tt.body)})
			o.address()
			o.value("value", required)
			got := found(t, o.done())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestValueBytes(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"value": 12345678901234567890 }`, `12345678901234567890`},
		{`{"value":[1.0, 1e2]}`, `[1.0,1e2]`},
		{`{"value":"\u0041"}`, `"\u0041"`},
		{`{"value":null}`, `null`},
	}
	for _, tt := range tests {
		o := openBody(&call{body: []byte(tt.in)})
		got, ok := o.value("value", required)
		if err := o.done(); err != nil || !ok || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, %v", tt.in, got, ok, err)
		}
	}
}

func TestManyMembers(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range 50000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsontext.AppendFloat([]byte(`"a`), float64(i), 64))
		b.WriteString(`":1`)
	}
	b.WriteByte('}')
	o := openBody(&call{body: []byte(b.String())})
	if got := found(t, o.done()); len(got) != maxProblems {
		t.Fatalf("%d problems, want %d", len(got), maxProblems)
	}
}

func TestUnknownMemberNameIsCut(t *testing.T) {
	o := openBody(&call{body: []byte(`{"` + strings.Repeat("é", 1000) + `":1}`)})
	got := found(t, o.done())
	if len(got) != 1 || len(got[0]) > 100 {
		t.Fatalf("got %q", got)
	}
}

func TestIntegers(t *testing.T) {
	tests := []struct {
		text string
		want int64
		code string
	}{
		{"0", 0, ""},
		{"-0", 0, ""},
		{"5", 5, ""},
		{"5.0", 5, ""},
		{"1e2", 100, ""},
		{"100", 100, ""},
		{"101", 0, wrongRange},
		{"-1", 0, wrongRange},
		{"5.5", 0, wrongType},
		{"1e400", 0, wrongRange},
		{"99999999999999999999", 0, wrongRange},
		{"1e-3", 0, wrongType},
	}
	for _, tt := range tests {
		if got, code := parseInteger(tt.text, 0, 100); got != tt.want || code != tt.code {
			t.Errorf("%s: %d %q, want %d %q", tt.text, got, code, tt.want, tt.code)
		}
	}
}

// FuzzBody checks that a body never brings the reader down, and that what it lets through is strict JSON.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"message":"a","session_state_writes":[{"namespace":"a","slot":"b","value":{"x":1,"x":2}},{"delete":true}]}`,
		`{"a":1,"a":2}`, `{"generation_params":{"logit_bias":{"1":2},"stop_sequences":["a"]},"config":{"maxRetries":5}}`,
		"{\"\xff\":1}", `{"\ud800":1}`, `{"a":}`, `{"session_state_writes":[1,null,{}]}`, `{"ids":["a","a",""]}`,
	} {
		f.Add([]byte(seed))
	}
	h := New(Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 {
			return
		}
		o := openBody(&call{body: body})
		o.text("message", optional, anyText)
		o.ids()
		o.sessionSettings()
		r := o.turn(&call{})
		err := h.admit(o, r)
		found(t, err)
		if err == nil {
			if jsontext.Value(body).Kind() != '{' && !strings.HasPrefix(strings.TrimLeft(string(body), " \t\r\n"), "{") {
				t.Fatalf("no object, but accepted: %q", body)
			}
			if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
				t.Fatalf("not JSON, but accepted: %q", body)
			}
			for _, w := range r.Writes {
				if w.Data != nil && !w.Data.IsValid() {
					t.Fatalf("a value that is not strict JSON: %q", w.Data)
				}
			}
		}
	})
}
