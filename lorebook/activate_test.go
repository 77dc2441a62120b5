package lorebook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// oneEntry is a book with one entry with uid 1 and the given members.
func oneEntry(book, entry string) string {
	if book != "" {
		book += ","
	}
	return `{` + book + `"entries":[{"uid":1,"content":"x",` + entry + `}]}`
}

type messages = []string

func TestActivate(t *testing.T) {
	const (
		chain  = `"entries":[{"uid":1,"key":["alpha"],"content":"beta","order":9},{"uid":2,"key":["beta"],"content":"gamma","order":8},{"uid":3,"key":["gamma"],"order":7}]`
		waits  = `"entries":[{"uid":1,"key":["alpha"],"delayUntilRecursion":true,"order":9},{"uid":2,"key":["alpha"],"delayUntilRecursion":3,"order":8}]`
		blocks = `"entries":[{"uid":1,"key":["alpha"],"content":"beta","order":9},{"uid":2,"key":["beta"],"content":"gamma","preventRecursion":true,"order":8},
			{"uid":3,"key":["gamma"],"order":7},{"uid":4,"key":["beta"],"excludeRecursion":true,"order":6},{"uid":5,"key":["beta"],"delayUntilRecursion":true,"order":5}]`
		depths = `{"scanDepth":3,"entries":[{"uid":1,"key":["dragon"],"order":3},{"uid":2,"key":["dragon"],"scanDepth":1,"order":2},{"uid":3,"key":["dragon"],"scanDepth":0}]}`
	)
	for _, c := range []struct {
		name     string
		book     string
		messages messages // newest first
		want     []int64
	}{
		// Conformance cases L1, L3, L4 and their neighbours.
		{"keys, constants, order", `{"entries":[{"uid":1,"key":["dragon"],"order":10},{"uid":2,"key":["cave"],"order":50},{"uid":3,"constant":true,"order":1},{"uid":4,"key":["sea"]}]}`, messages{"a Dragon in a cave"}, []int64{2, 1, 3}},
		{"no messages", `{"entries":[{"uid":1,"key":["a"]},{"uid":2,"constant":true}]}`, nil, []int64{2}},
		{"no entries", `{"entries":[]}`, messages{"a"}, []int64{}},
		{"whole words inside", oneEntry(`"matchWholeWords":true`, `"key":["art"]`), messages{"a party"}, []int64{}},
		{"whole words alone", oneEntry(`"matchWholeWords":true`, `"key":["art"]`), messages{"art!"}, []int64{1}},
		{"whole words, second place", oneEntry(`"matchWholeWords":true`, `"key":["art"]`), messages{"party art"}, []int64{1}},
		{"whole words, underscore", oneEntry(`"matchWholeWords":true`, `"key":["art"]`), messages{"art_ 2art art3 xart"}, []int64{}},
		{"whole words, several", oneEntry(`"matchWholeWords":true`, `"key":["art of"]`), messages{"party art often"}, []int64{1}},
		{"whole words, mark at the end", oneEntry(`"matchWholeWords":true`, `"key":["c++"]`), messages{"in c++, say"}, []int64{1}},
		{"whole words, mark before a letter", oneEntry(`"matchWholeWords":true`, `"key":["c++"]`), messages{"c++a"}, []int64{}},
		{"whole words, longer key inside", `{"matchWholeWords":true,"entries":[{"uid":1,"key":["she"],"order":3},{"uid":2,"key":["he"],"order":2},{"uid":3,"key":["e"],"order":1}]}`, messages{"x-she"}, []int64{1}},
		{"substrings inside each other", `{"entries":[{"uid":1,"key":["she"],"order":3},{"uid":2,"key":["he"],"order":2},{"uid":3,"key":["hers"],"order":1}]}`, messages{"ushers"}, []int64{1, 2, 3}},
		{"literal dots", oneEntry("", `"key":["d.n"]`), messages{"den"}, []int64{}},
		{"empty key", oneEntry("", `"key":[""]`), messages{"anything"}, []int64{}},
		{"blank key", oneEntry("", `"key":[" \t"]`), messages{"any \tthing"}, []int64{}},
		{"empty text", oneEntry("", `"key":["a"]`), messages{""}, []int64{}},
		{"key with blanks is not trimmed", oneEntry("", `"key":["lantern "]`), messages{"a lantern"}, []int64{}},
		{"exact case", oneEntry(`"caseSensitive":true`, `"key":["OTTO"]`), messages{"Otto"}, []int64{}},
		{"entry overrules the book", oneEntry(`"caseSensitive":true`, `"key":["OTTO"],"caseSensitive":false`), messages{"Otto"}, []int64{1}},
		{"folding beyond ASCII", oneEntry("", `"key":["ДРАКОН"]`), messages{"дракончик"}, []int64{1}},
		{"folding of three cases", oneEntry("", `"key":["Σ"]`), messages{"ς"}, []int64{1}},
		{"no full folding", oneEntry("", `"key":["straße"]`), messages{"STRASSE"}, []int64{}},
		{"long s is an s", oneEntry("", `"key":["ſea"]`), messages{"SEA"}, []int64{1}},
		{"long s is no word character", oneEntry(`"matchWholeWords":true`, `"key":["ea"]`), messages{"ſea"}, []int64{1}},
		{"but an s is one", oneEntry(`"matchWholeWords":true`, `"key":["ea"]`), messages{"Sea"}, []int64{}},
		{"disabled", oneEntry("", `"key":["a"],"disable":true`), messages{"a"}, []int64{}},
		{"disabled constant", oneEntry("", `"constant":true,"disable":true`), messages{"a"}, []int64{}},
		{"order: fractions, negative, default", `{"entries":[{"uid":1,"constant":true,"order":0.5},{"uid":2,"constant":true,"order":-3},{"uid":3,"constant":true},{"uid":4,"constant":true,"order":"0.75"}]}`, nil, []int64{3, 4, 1, 2}},
		{"ties in the order of activation", `{"recursive":true,"entries":[{"uid":1,"key":["beta"]},{"uid":2,"constant":true,"content":"beta"},{"uid":3,"constant":true}]}`, nil, []int64{2, 3, 1}},
		{"equal uids", `{"entries":[{"uid":2,"key":["no"]},{"uid":2,"constant":true},{"uid":1,"constant":true}]}`, nil, []int64{1}},
		{"probability 0 in use", oneEntry("", `"constant":true,"probability":0,"useProbability":true`), nil, []int64{}},
		{"probability 0 in extensions", oneEntry("", `"constant":true,"extensions":{"probability":0,"useProbability":true}`), nil, []int64{}},
		{"probability 0 not in use", oneEntry("", `"constant":true,"probability":0,"useProbability":false`), nil, []int64{1}},
		{"probability 5", oneEntry("", `"constant":true,"probability":5,"useProbability":true`), nil, []int64{1}},
		// Scan depth.
		{"depth: newest", depths, messages{"a dragon"}, []int64{1, 2}},
		{"depth: second", depths, messages{"then", "reply", "a dragon"}, []int64{1}},
		{"depth: beyond", depths, messages{"now", "reply", "then", "a dragon"}, []int64{}},
		{"depth: each message on its own", oneEntry("", `"key":["a b"]`), messages{"b", "a"}, []int64{}},
		{"primary and secondary in different messages", oneEntry("", `"key":["king"],"keysecondary":["crown"]`), messages{"crown", "king"}, []int64{1}},
		{"depth below 0", oneEntry("", `"key":["a"],"scanDepth":-1`), messages{"a"}, []int64{}},
		{"depth null", oneEntry(`"scanDepth":null`, `"key":["a"],"scanDepth":null`), messages{"b", "a"}, []int64{1}},
		{"depth as text", oneEntry("", `"key":["a"],"scanDepth":"1"`), messages{"b", "a"}, []int64{}},
		{"depth of another type", oneEntry(`"scanDepth":1`, `"key":["a"],"scanDepth":[]`), messages{"b", "a"}, []int64{}},
		{"an older hit does not hide a newer one", `{"scanDepth":1,"recursive":true,"entries":[{"uid":1,"key":["a"],"scanDepth":3,"content":"a","order":2},{"uid":2,"key":["a"],"order":1}]}`, messages{"", "", "a"}, []int64{1, 2}},
		// Recursion.
		{"recursion off", `{` + blocks + `}`, messages{"alpha"}, []int64{1}},
		{"recursion on", `{"recursive":true,` + blocks + `}`, messages{"alpha"}, []int64{1, 2, 5}},
		{"waiting without recursion", `{` + waits + `}`, messages{"alpha"}, []int64{}},
		{"waiting with recursion", `{"recursive":true,` + waits + `}`, messages{"alpha"}, []int64{1, 2}},
		{"steps 1", `{"recursive":true,"maxRecursionSteps":1,` + chain + `}`, messages{"alpha"}, []int64{1}},
		{"steps 2", `{"recursive":true,"maxRecursionSteps":2,` + chain + `}`, messages{"alpha"}, []int64{1, 2}},
		{"steps unlimited", `{"recursive":true,"maxRecursionSteps":0,` + chain + `}`, messages{"alpha"}, []int64{1, 2, 3}},
		{"steps beat a delay", `{"recursive":true,"maxRecursionSteps":3,` + waits + `}`, messages{"alpha"}, []int64{1}},
		{"delay of a billion", `{"recursive":true,"entries":[{"uid":1,"key":["alpha"],"delayUntilRecursion":1000000000,"content":"beta"},{"uid":2,"key":["beta"]}]}`, messages{"alpha"}, []int64{1, 2}},
		{"delay of a billion and steps", `{"recursive":true,"maxRecursionSteps":1000000000,"entries":[{"uid":1,"key":["alpha"],"delayUntilRecursion":1000000000}]}`, messages{"alpha"}, []int64{}},
		{"delay beyond every integer", `{"recursive":true,"entries":[{"uid":1,"key":["alpha"],"delayUntilRecursion":1e300}]}`, messages{"alpha"}, []int64{1}},
		{"delay false, 0, below 0", `{"entries":[{"uid":1,"key":["a"],"delayUntilRecursion":false},{"uid":2,"key":["a"],"delayUntilRecursion":0},{"uid":3,"key":["a"],"delayUntilRecursion":-2}]}`, messages{"a"}, []int64{1, 2, 3}},
		{"delay in between is the later round", `{"recursive":true,"maxRecursionSteps":2,"entries":[{"uid":1,"key":["a"],"delayUntilRecursion":1.5}]}`, messages{"a"}, []int64{}},
		{"waiting constant", `{"entries":[{"uid":1,"constant":true,"delayUntilRecursion":5}]}`, nil, []int64{1}},
		{"waiting constant gives its content", `{"recursive":true,"entries":[{"uid":1,"constant":true,"delayUntilRecursion":5,"content":"b"},{"uid":2,"key":["b"]}]}`, nil, []int64{1, 2}},
		{"depth 0 removes recursion", `{"recursive":true,"entries":[{"uid":1,"constant":true,"content":"b"},{"uid":2,"key":["b"],"scanDepth":0}]}`, nil, []int64{1}},
		{"a key may come up in a later round", `{"recursive":true,"entries":[{"uid":1,"constant":true,"content":"crown"},{"uid":2,"key":["king"],"keysecondary":["crown"]}]}`, messages{"king"}, []int64{1, 2}},
		{"what is active stays active", `{"recursive":true,"entries":[{"uid":1,"key":["king"],"content":"crown"},{"uid":2,"key":["king"],"keysecondary":["crown"],"selectiveLogic":2}]}`, messages{"king"}, []int64{1, 2}},
		{"what waits may become blocked", `{"recursive":true,"entries":[{"uid":1,"key":["king"],"content":"crown"},{"uid":2,"key":["king"],"keysecondary":["crown"],"selectiveLogic":2,"delayUntilRecursion":true}]}`, messages{"king"}, []int64{1}},
		{"pattern across rounds", `{"recursive":true,"entries":[{"uid":1,"constant":true,"content":"a-17"},{"uid":2,"key":["/\\w-\\d+/"],"content":"z"},{"uid":3,"key":["/^z$/"],"excludeRecursion":true}]}`, nil, []int64{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustParse(t, c.book)
			if got := b.Activate(c.messages); !slices.Equal(got, c.want) || got == nil {
				t.Errorf("%v, want %v", got, c.want)
			}
			if !strings.Contains(c.name, "billion") && !strings.Contains(c.name, "beyond every") { // the reference would run those rounds
				if got := naive(b, c.messages); !slices.Equal(got, c.want) {
					t.Errorf("the reference says %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestSecondaryLogic(t *testing.T) {
	for _, c := range []struct {
		logic, text string
		want        bool
	}{
		{"0", "king crown", true},
		{"0", "king", false},
		{"0", "crown robe", false},
		{"1", "king crown", true},
		{"1", "king", true},
		{"1", "king crown robe", false},
		{"2", "king", true},
		{"2", "king robe", false},
		{"3", "king crown robe", true},
		{"3", "king robe", false},
		{"9", "king", true},
		{"-1", "king", true},
		{"0.5", "king", true},
		{`"3"`, "king robe", false},
		{"null", "king", false},
		{"{}", "king", false},
	} {
		b := mustParse(t, oneEntry("", `"key":["king"],"keysecondary":["crown","","robe"," "],"selectiveLogic":`+c.logic))
		if got := len(b.Activate([]string{c.text})) == 1; got != c.want {
			t.Errorf("logic %s, %q: %v", c.logic, c.text, got)
		}
	}
	for entry, want := range map[string]int{
		`"keysecondary":[]`:                           1,
		`"keysecondary":["",""]`:                      1,
		`"keysecondary":["robe"]`:                     0,
		`"keysecondary":["robe"],"selective":false`:   1,
		`"keysecondary":[],"secondary_keys":["robe"]`: 0,
	} {
		b := mustParse(t, oneEntry("", `"key":["king"],`+entry))
		if got := b.Activate([]string{"king"}); len(got) != want {
			t.Errorf("%s: %v", entry, got)
		}
	}
}

func TestExplain(t *testing.T) {
	b := mustParse(t, `{"recursive":true,"entries":[
		{"uid":1,"constant":true,"content":"a throne","order":1},
		{"uid":2,"key":["queen","king"],"keysecondary":["crown"],"order":2},
		{"uid":3,"key":["/thr[aeiou]ne/"],"order":3}]}`)
	got := b.Explain([]string{"The King's crown"})
	want := []Match{
		{UID: 3, Key: "/thr[aeiou]ne/", Round: 1, Reason: ReasonKey},
		{UID: 2, Key: "king", Reason: ReasonSecondary},
		{UID: 1, Reason: ReasonConstant},
	}
	if !slices.Equal(got.Matches, want) || got.PatternsCut {
		t.Errorf("%+v", got)
	}
}

// Literals are many and cheap; what patterns may cost together is bounded.
func TestCost(t *testing.T) {
	t.Run("literals", func(t *testing.T) {
		var keys []string
		for i := range 50_000 {
			keys = append(keys, fmt.Sprintf(`"%d-"`, i))
		}
		b := mustParse(t, oneEntry("", `"key":[`+strings.Join(keys, ",")+`]`))
		if got := b.Activate([]string{strings.Repeat("12 34 ", 200_000)}); len(got) != 0 {
			t.Error(got)
		}
	})
	t.Run("nested literals", func(t *testing.T) {
		var keys []string
		for i := range 1000 {
			keys = append(keys, `"`+strings.Repeat("a", i+1)+`b"`)
		}
		b := mustParse(t, oneEntry(`"matchWholeWords":true`, `"key":[`+strings.Join(keys, ",")+`]`))
		if got := b.Activate([]string{strings.Repeat("a", 1_000_000)}); len(got) != 0 {
			t.Error(got)
		}
	})
	t.Run("rounds", func(t *testing.T) {
		var entries []string
		for i := range 5000 {
			entries = append(entries, fmt.Sprintf(`{"key":["k%d."],"content":"k%d."}`, i, i+1))
		}
		b := mustParse(t, `{"recursive":true,"entries":[`+strings.Join(entries, ",")+`]}`)
		if got := b.Activate([]string{"k0."}); len(got) != len(entries) {
			t.Error(len(got))
		}
	})
	t.Run("patterns", func(t *testing.T) {
		b := mustParse(t, oneEntry("", `"key":["/(?:a?b?c?){300}[xw]/","/y/","z"]`))
		got := b.Explain([]string{strings.Repeat("abc", 1<<20)})
		if len(got.Matches) != 0 || !got.PatternsCut {
			t.Errorf("%+v", got)
		}
		if got := b.Activate([]string{strings.Repeat("abc", 1<<20) + "z"}); len(got) != 1 {
			t.Error("a literal fell to the costs of a pattern")
		}
	})
}

// makeBook is a book of a thousand entries as people write them.
func makeBook(entries int) string {
	words := strings.Fields("amber basalt cinder dragon ember ferry glass harbour iron jade kestrel lantern marsh north orchard peat")
	var list []string
	for i := range entries {
		key := fmt.Sprintf(`"%s %s","%s%d"`, words[i%16], words[i/16%16], words[(i+5)%16], i)
		if i%20 == 0 {
			key += fmt.Sprintf(`,"/%s(s|es)? of %s\\b/i"`, words[i%16], words[i/16%16])
		}
		list = append(list, fmt.Sprintf(`{"uid":%d,"key":[%s],"content":"%s, as everybody knows.","order":%d,"selective":true}`,
			i, key, strings.Repeat(words[i*7%16]+" and ", 20), i%100))
	}
	return `{"recursive":true,"scanDepth":4,"entries":[` + strings.Join(list, ",") + `]}`
}

func BenchmarkActivate(b *testing.B) {
	book := mustParse(b, makeBook(1000))
	message := strings.Repeat("The Ember Lantern stood between the marsh and the glass orchard, and dragons of iron slept. ", 10)
	messages := []string{message, message, message, message}
	b.ReportAllocs()
	for b.Loop() {
		if len(book.Activate(messages)) == 0 {
			b.Fatal("nothing activated")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(makeBook(1000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
