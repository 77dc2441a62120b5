package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestNormalizeValue(t *testing.T) {
	for in, want := range map[string]string{
		` { "a" :  [ 1 ,  2.50 ] } `: `{"a":[1,2.50]}`,
		`9007199254740993`:           `9007199254740993`,
		`1E400`:                      `1E400`,
		`"\u00e9 é < &"`:             `"\u00e9 é < &"`,
		`{"a":1,"a":2}`:              `{"a":2}`,
		`{"b":0,"a":1,"\u0061":{"x":1,"x":[ 2 ]}}`:      `{"b":0,"a":{"x":[2]}}`,
		`[{"a":1,"b":{"c":1,"c":2},"a":3}, null, true]`: `[{"a":3,"b":{"c":2}},null,true]`,
		`{}`:   `{}`,
		`[]`:   `[]`,
		`null`: `null`,
	} {
		got, err := NormalizeValue(jsontext.Value(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{
		``, ` `, `{`, `{"a":1} x`, `{"a":1,"a":}`, `[1,]`, `'a'`, `01`, `NaN`, `"\ud800"`, "\"\xff\"", `{"a":1,"a":2} {}`, `{"a":1,"a":"\udfff"}`, "\ufeff1",
	} {
		if got, err := NormalizeValue(jsontext.Value(in)); err == nil {
			t.Errorf("%q was taken as %s", in, got)
		} else if in != "" && len(in) > 3 && strings.Contains(err.Error(), in) {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}

func TestDepthOfValues(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`[{"a[\"":`, levels/2) + "1" + strings.Repeat("}]", levels/2)
	}
	if _, err := NormalizeValue(jsontext.Value(nested(MaxValueDepth))); err != nil {
		t.Error(err)
	}
	if _, err := NormalizeValue(jsontext.Value(nested(MaxValueDepth + 2))); !errors.Is(err, errTooDeep) {
		t.Errorf("two levels more: %v", err)
	}
	wide := "[" + strings.Repeat("[{}],", 5000) + "0]"
	if got, err := NormalizeValue(jsontext.Value(wide)); err != nil || string(got) != wide {
		t.Errorf("many lists beside each other: %v", err)
	}
}

// Members repeated at every level must not copy what is below once per level.
func TestRepeatedMembersAreCopiedOnce(t *testing.T) {
	const levels = 900
	text := strings.Repeat("x", 100_000)
	in := strings.Repeat(`{"a":1,"b":2,"a":`, levels) + `"` + text + `"` + strings.Repeat("}", levels)
	want := strings.Repeat(`{"a":`, levels) + `"` + text + `"` + strings.Repeat(`,"b":2}`, levels)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := NormalizeValue(jsontext.Value(in))
	runtime.ReadMemStats(&after)
	if err != nil || string(got) != want {
		t.Fatalf("%d bytes, %v; want %d", len(got), err, len(want))
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 30*uint64(len(in)) {
		t.Errorf("%d bytes were allocated for %d", bytes, len(in))
	}
}

// FuzzNormalizeValue compares with the standard library, which also lets the last of two members count.
func FuzzNormalizeValue(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":{"b":[1,2],"b":null}}`, `[1e5, "x"]`, ` "\u0041" `, `{"\u0061":1,"a":2}`, `[[[]]]`, `"\ud83d\ude00"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		input := bytes.Clone(in)
		out, err := NormalizeValue(in)
		if !bytes.Equal(in, input) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		if !out.IsValid() {
			t.Fatalf("%q became %q, which is not valid", in, out)
		}
		again, err := NormalizeValue(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q and then %q, %v", in, out, again, err)
		}
		var want, got any
		if json.Unmarshal(in, &want) != nil { // numbers beyond its reach
			return
		}
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q: %v, want %v", in, out, got, want)
		}
		if !equalValues(in, out) {
			t.Fatalf("%q is not equal to its normal form %q", in, out)
		}
	})
}

func TestSizeOf(t *testing.T) {
	for _, text := range []string{"1", `"é"`, "null", `{"a":[1,2]}`} {
		if got, want := sizeOf(jsontext.Value(text)), len(`{"present":true,"value":`+text+`}`); got != int64(want) {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if got, want := sizeOf(nil), len(`{"present":false,"value":null}`); got != int64(want) {
		t.Errorf("absent: %d, want %d", got, want)
	}
}

func TestEqualValues(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`1E2`, `1e+2`, true},
		{`0.001`, `1e-3`, true},
		{`-0`, `0`, true},
		{`-0.0e7`, `0`, true},
		{`-1`, `1`, false},
		{`10`, `1`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`0.1`, `0.10000000000000001`, false},
		{`1e400`, `10e399`, true},
		{`1e99999999999999999999`, `1e99999999999999999999`, true},
		{`1e99999999999999999999`, `10e99999999999999999998`, false}, // beyond any use
		{`"1"`, `1`, false},
		{`"\u0041"`, `"A"`, true},
		{`"é"`, `"e\u0301"`, false},
		{`null`, `false`, false},
		{`{"x":1,"y":[{"a":1.0}]}`, `{"y":[{"a":1}],"x":1}`, true},
		{`{"x":null}`, `{}`, false},
		{`{"x":1}`, `{"y":1}`, false},
		{`{}`, `[]`, false},
		{`true`, `true`, true},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := equalValues(jsontext.Value(pair[0]), jsontext.Value(pair[1])); got != c.want {
				t.Errorf("%s and %s: %v", pair[0], pair[1], got)
			}
		}
	}
}

func TestValidNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "bond_log": true, "a.b_2.c3": true, "game_state.x": true, "a_": true, "a__b": true,
		"": false, "bond-log": false, "Bond": false, "_bond": false, "1bond": false, "bond.": false, ".bond": false, "bond..x": false,
		"bond log": false, "bond\n": false, "é": false, "a.1": false, "a._b": false,
	} {
		if got := ValidNamespace(name); got != want {
			t.Errorf("namespace %q: %v", name, got)
		}
	}
	for id, want := range map[string]bool{
		"kit": true, "@guild/kit:1.0-x": true, "9": true, "a_b": true,
		"": false, "QuestKit": false, "-kit": false, "kit space": false, "/kit": false, "é": false, "kit\n": false,
	} {
		if got := ValidOwnerID(id); got != want {
			t.Errorf("owner id %q: %v", id, got)
		}
	}
	for name, want := range map[string]bool{"game_state": true, "game_state.x": true, "game_states": false, "game_state_x": false, "game": false} {
		if got := reserved(name); got != want {
			t.Errorf("reserved %q: %v", name, got)
		}
	}
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "😀": 2, "a😀": 3} {
		if got := UTF16Length(text); got != want {
			t.Errorf("length of %q: %d", text, got)
		}
	}
}
