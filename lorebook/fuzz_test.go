package lorebook

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func seedBooks(f *testing.F) [][]byte {
	books := [][]byte{
		[]byte(`{"scan_depth":"3","recursive":true,"maxRecursionSteps":2,"entries":{"a":{"uid":"4","keys":"a, /b,c/i","secondary_keys":[1,null,"x"],"selectiveLogic":1},"a":7}}`),
		[]byte(`{"entries":[{"uid":1,"uid":2,"extensions":{"scan_depth":0,"delay_until_recursion":true}},{"constant":true,"order":1e999}]}`),
		[]byte(`{"type":"risu","data":[{"key":"a,b","insertorder":1,"mode":"folder"},{"key":"/x/","useRegex":true,"alwaysActive":true}]}`),
		[]byte(`{"lorebookVersion":5,"categories":[{"id":"c","enabled":false}],"entries":[{"text":"t","keys":["a & b"],"category":"c","contextConfig":{"budgetPriority":3}}]}`),
		[]byte(`{"kind":"memory","recursiveScanning":true,"entries":[{"entry":"e","keywords":["k"],"weight":1}]}`),
		[]byte("\ufeff[{\"keys\":[\"a\"]}]"),
		[]byte(`{"data":{"character_book":{"entries":[{"keys":["\ud800"]}]}}}`),
	}
	for _, text := range readBooks(f) {
		books = append(books, text)
	}
	return books
}

// FuzzParse looks for crashes, and for books that break what activation relies on.
func FuzzParse(f *testing.F) {
	for _, text := range seedBooks(f) {
		f.Add(text, "a Message\nwith the marsh, x")
	}
	f.Fuzz(func(t *testing.T, text []byte, message string) {
		before := bytes.Clone(text)
		b, warnings, err := Parse(text)
		if !bytes.Equal(before, text) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			if b != nil || warnings != nil {
				t.Fatal("a book beside an error")
			}
			return
		}
		if len(b.Entries()) > b.Count() || len(warnings) > maxWarnings+1 {
			t.Fatalf("%d entries of %d, %d warnings", len(b.Entries()), b.Count(), len(warnings))
		}
		for _, w := range warnings {
			if w.Reason == "" {
				t.Fatal("a warning without a reason")
			}
		}
		checkActivation(t, b, []string{message, "older " + message})
	})
}

// FuzzActivate builds books of three entries around the keys and compares with the algorithm as the sheet tells it.
func FuzzActivate(f *testing.F) {
	f.Add("a", "/b+/i", "art", "b c", "a party\r\nof art", uint64(0x123456789abcdef), true)
	f.Add("ſ", "/^x$/m", "Σ", "ς x", "S\u2028x", uint64(7), false)
	f.Add("龙门", "/\\bк/i", "", "龙门", "穿过龙门", ^uint64(0), true)
	f.Fuzz(func(t *testing.T, key1, key2, key3, content, message string, bits uint64, recursive bool) {
		take := func(n uint64) uint64 {
			v := bits % n
			bits /= n
			return v
		}
		keys := []string{valid(key1), valid(key2), valid(key3)}
		content = valid(content)
		var entries []string
		for i := range keys {
			entries = append(entries, `{"uid":`+string('0'+rune(take(5)))+`,"key":[`+quoteName(keys[i])+`],"keysecondary":[`+quoteName(keys[take(3)])+
				`],"content":`+quoteName(content)+`,"selective":`+boolString(take(2))+`,"selectiveLogic":`+string('0'+rune(take(5)))+
				`,"scanDepth":`+string('0'+rune(take(3)))+`,"matchWholeWords":`+boolString(take(2))+`,"caseSensitive":`+boolString(take(2))+
				`,"order":`+string('0'+rune(take(3)))+`,"delayUntilRecursion":`+string('0'+rune(take(4)))+`,"preventRecursion":`+boolString(take(2))+`}`)
			content += keys[2]
		}
		book := `{"maxRecursionSteps":` + string('0'+rune(take(4))) + `,"entries":[` + strings.Join(entries, ",") + `]}`
		if recursive {
			book = `{"recursive":true,` + book[1:]
		}
		b, _, err := Parse([]byte(book))
		if err != nil {
			t.Fatalf("%s: %v", book, err)
		}
		messages := []string{message, content}
		checkActivation(t, b, messages)
		if !strings.ContainsRune(message+content, '\ufffd') && len(book)+len(message) < 4000 { // not what is no Unicode
			if want, got := naive(b, messages), b.Activate(messages); !slices.Equal(got, want) {
				t.Fatalf("%s\n%q: %v, want %v", book, messages, got, want)
			}
		}
	})
}

// valid is what may stand in JSON.
func valid(s string) string {
	return strings.ToValidUTF8(s, "?")
}

func boolString(v uint64) string {
	return string(boolText(v == 1))
}

// checkActivation checks what holds for every book: the same answer twice, each uid once and known, in order.
func checkActivation(t *testing.T, b *Book, messages []string) {
	t.Helper()
	got := b.Activate(messages)
	if got == nil || !slices.Equal(got, b.Activate(messages)) {
		t.Fatalf("%v is not the answer each time", got)
	}
	seen := map[int64]bool{}
	last := 0.0
	for i, uid := range got {
		entry, ok := b.Entry(uid)
		switch {
		case !ok || entry.Disabled:
			t.Fatalf("%d is active, but unknown or disabled", uid)
		case seen[uid]:
			t.Fatalf("%d is active twice", uid)
		case i > 0 && entry.Order > last:
			t.Fatalf("%v is out of order", got)
		}
		seen[uid], last = true, entry.Order
	}
	for _, entry := range b.Entries() {
		if entry.Constant && !entry.Disabled && !seen[entry.UID] {
			t.Fatalf("%d is constant, but not active", entry.UID)
		}
	}
}

// FuzzImport: whatever is imported can be parsed, and stays as it is when it is imported again.
func FuzzImport(f *testing.F) {
	for _, text := range seedBooks(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		book, _, err := Import(text)
		if !bytes.Equal(before, text) {
			t.Fatal("the text was changed")
		}
		if err == nil {
			checkImported(t, book)
		}
	})
}
