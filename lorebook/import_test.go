package lorebook

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestImport(t *testing.T) {
	const plainBook = `{ "entries": [ {"uid": 1, "key": ["a"], "x": 1.50} ], "more": {} }`
	for _, c := range []struct {
		name, file, want string
		dropped          []string
	}{
		{"a book", plainBook, plainBook, nil},
		{"byte-order mark", "\ufeff" + plainBook, plainBook, []string{"the byte-order mark"}},
		{"UTF-16", utf16File(plainBook, "\xff\xfe", binary.LittleEndian), plainBook, []string{"the byte-order mark"}},
		{"UTF-16, big end first", utf16File(plainBook, "\xfe\xff", binary.BigEndian), plainBook, []string{"the byte-order mark"}},
		{"half a character", `{"entries":[{"key":["a\ud83d"],"order":1.0}]}`, "{\"entries\":[{\"key\":[\"a\ufffd\"],\"order\":1.0}]}", []string{"characters that are not valid Unicode"}},
		{"bytes of another encoding", "{\"entries\":[{\"key\":[\"caf\xe9\"]}]}", "{\"entries\":[{\"key\":[\"caf\ufffd\"]}]}", []string{"characters that are not valid Unicode"}},
		{"bare list", " [{\"key\":[\"a\"]}, 3 ]\n", `{"entries":[{"key":["a"]}, 3 ]}`, nil},
		{
			"V2 card", `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"N","description":"D","character_book":{"entries": [{"id":1,"keys":["a"]}]}}}`,
			`{"entries": [{"id":1,"keys":["a"]}]}`,
			[]string{"spec", "spec_version", "data.name", "data.description"},
		},
		{"older card", `{"name":"N","character_book":{"entries":{}}}`, `{"entries":{}}`, []string{"name"}},
		{
			"lorebook_v3", `{"spec":"lorebook_v3","data":{"name":"L","scan_depth":3,"entries":[{"keys":["a"],"content":"c"}]}}`,
			`{"name":"L","scan_depth":3,"entries":[{"keys":["a"],"content":"c"}]}`,
			[]string{"spec"},
		},
		{
			"Risu", `{"type":"risu","ver":1,"data":[
			{"key":"a, b","secondkey":"c","insertorder":7,"alwaysActive":false,"comment":"N","content":"C","mode":"normal","selective":true,"` + risuExtensions + `":{"risu_case_sensitive":true},"loreCache":null},
			{"key":"a/b, c","secondkey":"","insertorder":1,"alwaysActive":true,"content":"C","mode":"multiple","selective":true,"useRegex":true},
			{"key":"/x, y/i","insertorder":1,"mode":"constant","useRegex":true},
			{"key":"f","mode":"folder","insertorder":1}]}`,
			`{"entries":[` +
				`{"key":["a","b"],"keysecondary":["c"],"selective":true,"constant":false,"content":"C","order":7,"comment":"N","caseSensitive":true},` +
				`{"key":["/a\\/b, c/"],"keysecondary":[],"selective":false,"constant":true,"content":"C","order":1},` +
				`{"key":["/x, y/i"],"keysecondary":[],"selective":false,"constant":true,"content":"","order":1}]}`,
			[]string{"type", "ver", "entries.loreCache", "entries.mode multiple", "folders"},
		},
		{
			"NovelAI", `{"lorebookVersion":6,"name":"L","settings":{},"categories":[{"id":"off","enabled":false},{"id":"on","enabled":true}],"entries":[
			{"text":"T","displayName":"N","keys":["a","b & c"],"enabled":true,"forceActivation":false,"category":"on","searchRange":1000,"contextConfig":{"budgetPriority":400,"prefix":""}},
			{"text":"T","keys":[],"enabled":true,"forceActivation":true,"category":"off","searchRange":1000},
			{"content":"P","keys":["p"],"searchRange":1}]}`,
			`{"name":"L","entries":[` +
				`{"key":["a","b & c"],"constant":false,"content":"T","comment":"N","order":400,"disable":false},` +
				`{"key":[],"constant":true,"content":"T","disable":true},` +
				`{"content":"P","keys":["p"],"searchRange":1}]}`,
			[]string{"the meaning of & in keys", "entries.contextConfig.prefix", "entries.category (2 times)", "entries.searchRange (2 times)", "lorebookVersion", "settings", "categories"},
		},
		{
			"Agnai", `{"kind":"memory","name":"M","recursiveScanning":true,"scanDepth":4,"entries":[
			{"name":"N","entry":"E","keywords":["a",5],"priority":3,"weight":2,"enabled":false},
			{"name":"N","comment":"C","entry":"E","keywords":["b"],"secondaryKeys":["s"],"selective":true,"weight":1,"enabled":true}]}`,
			`{"name":"M","recursive_scanning":true,"scanDepth":4,"entries":[` +
				`{"key":["a","5"],"keysecondary":[],"content":"E","comment":"N","order":2,"enabled":false},` +
				`{"key":["b"],"keysecondary":["s"],"content":"E","comment":"C","order":1,"enabled":true,"selective":true}]}`,
			[]string{"entries.priority", "entries.name", "kind"},
		},
		{
			"entries of another program as an object", `{"entries":{"x\u0022":{"entry":"E","keywords":["a"]},"y":3}}`,
			`{"entries":{"x\"":{"key":["a"],"keysecondary":[],"content":"E"},"y":3}}`, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			book, dropped, err := Import([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if string(book) != c.want {
				t.Errorf("\n%s, want\n%s", book, c.want)
			}
			if !slices.Equal(dropped, c.dropped) {
				t.Errorf("dropped %q", dropped)
			}
			checkImported(t, book)
		})
	}
}

// checkImported makes sure that a book can be parsed, and comes back unchanged when it is imported again.
func checkImported(t *testing.T, book []byte) {
	t.Helper()
	again, dropped, err := Import(book)
	if err != nil || string(again) != string(book) || len(dropped) > 0 {
		t.Errorf("%s\nbecame, imported again,\n%s, %q, %v", book, again, dropped, err)
	}
	if _, _, err := Parse(book); err != nil {
		t.Errorf("%s: %v", book, err)
	}
}

func utf16File(text, mark string, order binary.AppendByteOrder) string {
	out := []byte(mark)
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func TestImportRefuses(t *testing.T) {
	for file, want := range map[string]error{
		``:                      ErrNotJSON,
		`{`:                     ErrNotJSON,
		"\x89PNG\r\n":           ErrNotJSON,
		`{"entries":[]} {}`:     ErrNotJSON,
		"{\"entries\":[]\xff}":  ErrNotJSON,
		`"\ud800" 1`:            ErrNotJSON,
		`3`:                     ErrNoBook,
		`{}`:                    ErrNoBook,
		`{"entries":3}`:         ErrNoBook,
		`{"data":{"name":"N"}}`: ErrNoBook,
		`{"data":{"character_book":{"name":"no entries"}}}`:                       ErrNoBook,
		strings.Repeat(`{"data":`, 9) + `{"entries":[]}` + strings.Repeat(`}`, 9): ErrNoBook,
	} {
		if _, _, err := Import([]byte(file)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", file, err, want)
		}
	}
}

// The fixtures are books already.
func TestImportFixtures(t *testing.T) {
	for name, text := range readBooks(t) {
		book, dropped, err := Import(text)
		if err != nil || string(book) != string(text) || len(dropped) > 0 {
			t.Errorf("%s is changed: %q, %v", name, dropped, err)
		}
	}
}
