package lorebook

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// warningTexts writes warnings as "uid key: reason".
func warningTexts(list []Warning) []string {
	var texts []string
	for _, w := range list {
		text := "book"
		if w.UID != nil {
			text = fmt.Sprint(*w.UID)
		}
		if w.Key != "" {
			text += " " + w.Key
		}
		texts = append(texts, text+": "+w.Reason)
	}
	return texts
}

func mustParse(t testing.TB, text string) *Book {
	t.Helper()
	b, _, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]error{
		``:                           ErrNotBook,
		`[]`:                         ErrNotBook,
		`null`:                       ErrNotBook,
		`"x"`:                        ErrNotBook,
		`{"entries":[]} x`:           ErrNotBook,
		`{"entries":[}`:              ErrNotBook,
		`{"entries":["\ud800"]}`:     ErrNotBook,
		"\ufeff" + `{"entries":[]}`:  ErrNotBook,
		`{}`:                         ErrEntries,
		`{"entries":null}`:           ErrEntries,
		`{"entries":"x"}`:            ErrEntries,
		`{"entries":3}`:              ErrEntries,
		`{"entries":[],"entries":3}`: ErrEntries,
	} {
		if _, _, err := Parse([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func TestUIDs(t *testing.T) {
	for entries, want := range map[string][]int64{
		`[{},{},{}]`:                                                       {0, 1, 2},
		`[{"uid":7},{"id":3},{"uid":"12"}]`:                                {7, 3, 12},
		`[{"uid":"x","id":4},{"uid":null,"id":5}]`:                         {4, 5},
		`[{"uid":1.5},{"uid":2.0},{"uid":1e1}]`:                            {0, 2, 10},
		`[{"uid":1},{},{}]`:                                                {1, 2, 3}, // index 1 is taken: above the largest; then index 2 is taken too
		`[{"uid":9},{"uid":1},{"x":1}]`:                                    {9, 1, 2},
		`[{"uid":2},{"uid":8},{}]`:                                         {2, 8, 9},
		`[1,{},null,{}]`:                                                   {1, 3},
		`{"9":{},"5":{},"b":{"uid":-4}}`:                                   {0, 1, -4},
		`{"a":{"uid":1},"b":{"uid":2},"a":{"uid":3}}`:                      {3, 2},
		`[{"id":"550e8400-e29b"},{"uid":[]}]`:                              {0, 1},
		`[{"uid":9223372036854775807},{"uid":1.5},{"uid":1},{"uid":2},{}]`: {9223372036854775807, 0, 1, 2, 4},
		`[{"uid":9223372036854775807},{},{"uid":1}]`:                       {9223372036854775807, 0, 1},
		`[{"uid":9223372036854775808}]`:                                    {0},
		`[{"uid":3},{"uid":3},{"uid":4}]`:                                  {3, 4},
	} {
		var got []int64
		for _, e := range mustParse(t, `{"entries":`+entries+`}`).Entries() {
			got = append(got, e.UID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", entries, got, want)
		}
	}
}

func TestEntryFields(t *testing.T) {
	plainEntry := Entry{Depth: 4, Order: 100}
	for members, change := range map[string]func(*Entry){
		``:                                   func(*Entry) {},
		`"content":"c","comment":"d"`:        func(e *Entry) { e.Content, e.Comment = "c", "d" },
		`"content":5,"comment":null`:         func(*Entry) {},
		`"order":7`:                          func(e *Entry) { e.Order = 7 },
		`"order":7,"insertion_order":"8.5"`:  func(e *Entry) { e.Order = 8.5 },
		`"order":7,"insertion_order":null`:   func(e *Entry) { e.Order = 7 },
		`"order":7,"insertion_order":[]`:     func(*Entry) {},
		`"order":-1e999`:                     func(e *Entry) { e.Order = -math.MaxFloat64 },
		`"order":7,"extensions":{"order":1}`: func(e *Entry) { e.Order = 7 },
		`"disable":"TRUE"`:                   func(e *Entry) { e.Disabled = true },
		`"disable":1`:                        func(*Entry) {},
		`"disable":true,"enabled":true`:      func(*Entry) {},
		`"enabled":"false"`:                  func(e *Entry) { e.Disabled = true },
		`"enabled":null,"disable":true`:      func(e *Entry) { e.Disabled = true },
		`"constant":"true"`:                  func(e *Entry) { e.Constant = true },
		`"position":4`:                       func(e *Entry) { e.Position = 4 },
		`"position":"after_char"`:            func(e *Entry) { e.Position = 1 },
		`"position":"before_char"`:           func(*Entry) {},
		`"position":"elsewhere"`:             func(*Entry) {},
		`"position":"after_char","extensions":{"position":4}`: func(e *Entry) { e.Position = 4 },
		`"depth":-3`:                            func(e *Entry) { e.Depth = 0 },
		`"depth":"2"`:                           func(e *Entry) { e.Depth = 2 },
		`"depth":1,"extensions":{"depth":null}`: func(e *Entry) { e.Depth = 1 },
		`"depth":1,"extensions":{"depth":{}}`:   func(*Entry) {},
		`"depth":1e300`:                         func(e *Entry) { e.Depth = math.MaxInt32 },
		`"role":2`:                              func(e *Entry) { e.Role = 2 },
		`"role":2,"role":1`:                     func(e *Entry) { e.Role = 1 },
		`"role":2,"role":null`:                  func(*Entry) {},
		`"extensions":[],"role":1`:              func(e *Entry) { e.Role = 1 },
		`"probability":0,"useProbability":true`: func(e *Entry) { e.Disabled = true },
	} {
		b := mustParse(t, `{"entries":[{`+members+`}]}`)
		want := plainEntry
		change(&want)
		if got, ok := b.Entry(0); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", members, got, want)
		}
	}
}

// Which of several spellings counts.
func TestPrecedence(t *testing.T) {
	for _, c := range []struct {
		book, entry, text string
		want              bool
	}{
		{``, `"key":["A"],"caseSensitive":true`, "a", false},
		{``, `"key":["A"],"case_sensitive":true`, "a", false},
		{``, `"key":["A"],"caseSensitive":false,"case_sensitive":true`, "a", true},
		{``, `"key":["A"],"caseSensitive":true,"extensions":{"caseSensitive":false}`, "a", true},
		{``, `"key":["A"],"extensions":{"caseSensitive":true,"case_sensitive":false}`, "a", true},
		{``, `"key":["A"],"caseSensitive":true,"extensions":{"case_sensitive":null}`, "a", false},
		{`"caseSensitive":true`, `"key":["A"],"caseSensitive":null`, "a", false},
		{`"caseSensitive":true,"case_sensitive":false`, `"key":["A"]`, "a", true},
		{`"caseSensitive":true,"case_sensitive":null`, `"key":["A"]`, "a", false},
		{`"extensions":{"case_sensitive":true}`, `"key":["A"]`, "a", true},
		{`"match_whole_words":"true"`, `"key":["a"]`, "ab", false},
		{`"scan_depth":0`, `"key":["a"]`, "a", false},
		{`"scan_depth":"0"`, `"key":["a"]`, "a", false},
		{`"scan_depth":{}`, `"key":["a"]`, "a", true},
		{``, `"key":[],"keys":["a"]`, "a", true},
		{``, `"key":[""],"keys":["a"]`, "a", true},
		{``, `"key":["b"],"keys":["a"]`, "a", false},
		{``, `"key":"b, a"`, "a", true},
		{``, `"key":7`, "7", false},
		{``, `"key":[7.50]`, "7.50", true},
		{``, `"key":[null,true,["a"]]`, "null true a", false},
		{``, `"key":["a"],"selective":"false","keysecondary":["b"]`, "a", true},
		{``, `"key":["a"],"selectiveLogic":0,"extensions":{"selective_logic":2},"keysecondary":["b"]`, "a", true},
		{``, `"key":["a"],"extensions":{"constant":true}`, "b", false},
	} {
		b := mustParse(t, oneEntry(c.book, c.entry))
		if got := len(b.Activate([]string{c.text})) == 1; got != c.want {
			t.Errorf("%s | %s in %q: %v", c.book, c.entry, c.text, got)
		}
	}
	for book, want := range map[string]bool{
		`"recursive":true`: true, `"recursive_scanning":true`: true, `"recursive":true,"recursive_scanning":false`: false,
		`"recursive":1`: false, `"recursiveScanning":true`: false,
	} {
		if b := mustParse(t, `{`+book+`,"entries":[]}`); b.recursive != want {
			t.Errorf("%s: %v", book, b.recursive)
		}
	}
	for steps, want := range map[string]int{"2": 2, `"3"`: 3, "-1": 0, "null": 0, "0.5": 1, "1e99": math.MaxInt32} {
		if b := mustParse(t, `{"entries":[],"maxRecursionSteps":`+steps+`}`); b.maxSteps != want {
			t.Errorf("%s: %v", steps, b.maxSteps)
		}
	}
}

func TestSplitKeys(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		" , ,":                   nil,
		"a, b ,c":                {"a", "b", "c"},
		"/a,b/i, c":              {"/a,b/i", "c"},
		"c,/a,b/":                {"c", "/a,b/"},
		"/[,;]{2}/g , /x\\/,y/i": {"/[,;]{2}/g", "/x\\/,y/i"},
		"/and/or/, b":            {"/and/or/", "b"},
		"/a, b":                  {"/a", "b"},
		"/a,b/z, c":              {"/a", "b/z", "c"},
		"a/b, c/d":               {"a/b", "c/d"},
		"ключ，x":                 {"ключ，x"},
	} {
		if got := splitKeys(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestWarnings(t *testing.T) {
	for book, want := range map[string][]string{
		`{"entries":[{"key":["a"]}]}`: nil,
		`{"scanDepth":"x","caseSensitive":3,"scanDepth":-1,"entries":[]}`: {
			`book: the member "scanDepth" stands there twice; the last one counts`,
			"book: scanDepth is below 0 and counts as 0",
			"book: caseSensitive is neither true nor false; the default counts",
		},
		`{"recursiveScanning":true,"entries":{"a":5,"a":{"uid":2,"x":1,"x":2}}}`: {
			`book: entries has the member "a" twice; the last one counts`,
			"book: recursiveScanning means nothing; the name is recursive or recursive_scanning",
			`2: the member "x" stands there twice; the last one counts`,
		},
		`{"entries":[7,{"uid":"x"}]}`: {
			"book: the entry with the index 0 is no object and is skipped",
			"1: the uid is no integer; the entry has the number 1",
		},
		`{"entries":[{"key":["a",null,""],"keys":["b"],"order":1,"insertion_order":2,"keysecondary":{}}]}`: {
			"0: insertion_order and order differ; the former counts",
			"0: key has a member that is no text; it is dropped",
			"0: key and keys differ; the former counts",
			"0: an empty key matches nothing and is dropped",
			"0: keysecondary is no list of keys; there are none",
		},
		`{"entries":[{"key":["a.c","a(b"],"use_regex":true,"probability":50,"sticky":2,"group":"g","extensions":{"triggers":["x"],"cooldown":0}}]}`: {
			"0: probability 50 has no effect: the entry activates whenever it matches",
			"0: sticky has no effect",
			"0: group has no effect",
			"0: triggers has no effect",
			"0 a(b: use_regex has no effect: a pattern is written /…/",
		},
		`{"entries":[{"key":["a"],"delayUntilRecursion":2,"content":"@@depth 3\ntext","characterFilter":{"isExclude":true,"names":["x"]}}]}`: {
			"0: characterFilter has no effect",
			"0: decorators (@@…) have no effect and stay part of the content",
			"0: the entry waits for recursion in a book without recursion, so it never activates",
		},
		`{"entries":[{"key":["a"],"characterFilter":{"isExclude":true,"names":[],"tags":[]},"probability":50,"useProbability":false,"vectorized":false,"delay":null}]}`: nil,
	} {
		_, list, err := Parse([]byte(book))
		if got := warningTexts(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", book, got, err)
		}
	}
	text := `{"entries":[` + strings.Repeat("1,", 5000) + `1]}`
	if _, list, _ := Parse([]byte(text)); len(list) != maxWarnings+1 || list[maxWarnings].Reason != "and 4001 more warnings" {
		t.Errorf("%d warnings", len(list))
	}
}
