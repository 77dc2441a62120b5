package lorebook

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestPatternForm(t *testing.T) {
	for key, want := range map[string]struct {
		source, flags string
		ok, complains bool
	}{
		`/a/`:          {"a", "", true, false},
		`/a/gimsuy`:    {"a", "gimsuy", true, false},
		`/a\/b/i`:      {`a\/b`, "i", true, false},
		`/a\\/i`:       {`a\\`, "i", true, false},
		`/tide`:        {},
		`tide/`:        {},
		`/`:            {},
		`AC/DC`:        {},
		` /a/`:         {},
		`/home/user`:   {},
		`/a\/i`:        {},
		`/a/ `:         {},
		`//`:           {complains: true},
		`//i`:          {complains: true},
		`/a/ii`:        {complains: true},
		`/a/v`:         {complains: true},
		`/and/or/`:     {complains: true},
		`/[/]/`:        {complains: true},
		`/a\\/b/`:      {complains: true},
		`/home/user/i`: {complains: true},
	} {
		source, flags, problem, ok := patternForm(key)
		if source != want.source || flags != want.flags || ok != want.ok || (problem != "") != want.complains {
			t.Errorf("%s: %q %q %v, %q", key, source, flags, ok, problem)
		}
	}
}

// The expectations are JavaScript's, except where the package comment says otherwise.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		key     string
		yes, no string // texts parted by "|"
	}{
		{`/drag(on|oon)s?/i`, "two DRAGOONS|dragon", "drag"},
		{`/dragon/`, "dragon", "Dragon"},
		{`/(?<year>\d{4})-(?<día>\d\d)/`, "in 1999-12", "199-12"},
		{`/\d/`, "7", "٧"},
		{`/\w/`, "_|a", "é|-"},
		{`/é\b/`, "éa", "é"},
		{`/^a\sb$/`, "a b|a\u00a0b|a\u3000b|a\ufeffb|a\nb", "ab|a\u200bb"},
		{`/^a\Sb$/`, "a\u200bb|aéb", "a b|a\u2028b"},
		{`/^[\s,]+$/`, " \u00a0,", "a"},
		{`/^[^\s,]+$/`, "ab", "a\u00a0"},
		{`/^[\S]$/`, "a", "\u2003"},
		{`/a.b/`, "a-b|a🐉b|a\u0085b", "a\nb|a\rb|a\u2028b"},
		{`/a.b/s`, "a\nb|a\u2028b", "ab"},
		{`/a[^]b/`, "a\nb", "ab"},
		{`/a[]b/`, "", "ab|a]b"},
		{`/^a$/`, "a", "a\n|\na"},
		{`/^a$/m`, "a|b\na|a\r\nb|b\ra\rb|b\u2028a", "ba"},
		{`/a\r\nb/m`, "a\r\nb|a\nb", "ab"},
		{`/a\r?\nb/m`, "a\r\nb|a\nb", "ab"},
		{`/a[\r\n]+b/m`, "a\r\nb", "ab"},
		{`/\u0041\x42\u{43}/u`, "ABC", "abc"},
		{`/\u{1F409}/u`, "🐉", "🐲"},
		{`/\ud83d\udc09/`, "🐉", "🐲"},
		{`/^🐉{2}$/`, "🐉🐉", "🐉"},
		{`/^[🐉🐲]$/`, "🐉|🐲", "🐊"},
		{`/\p{L}+\p{Script=Greek}/u`, "aΣ", "a1|Σ"},
		{`/\p{Uppercase_Letter}\P{Lu}/u`, "Aa", "AA"},
		{`/^[\p{Lu}\d]$/u`, "A|1", "a"},
		{`/{{user}}/i`, "hi {{User}}", "user"},
		{`/a{,2}/`, "a{,2}", "aa"},
		{`/a{2}$/`, "baa", "ba"},
		{`/^a{0}b??c{1,}?$/`, "c|bcc", "ac"},
		{`/[[:alpha:]]/`, "a:]|[]", "b"},
		{`/[a\]b]{2}/`, "]]", "c"},
		{`/^[\b]$/`, "\b", "b"},
		{`/^[\d-x]$/`, "-|x|4", "e"},
		{`/^[a-]$/`, "-", "b"},
		{`/a\/b/`, "a/b", `a\/b`},
		{`/\cJ\0\v/`, "\n\x00\v", "J0v"},
		{`/\A\z\Q\e/`, "AzQe", "a"},
		{`/a|^b|/`, "a|b|c", ""},
		{`/(?:)/`, "a", ""},
		{`/(a|b)?c/`, "c", "a"},
		{`/x{1000}/`, strings.Repeat("x", 1000), strings.Repeat("x", 999)},
		{`/ſea/i`, "SEA", "tea"},
		{`/K/i`, "\u212a", "c"},
		{`/^ab*c+d?e{2}f/`, "acee" + "f", "acef"},
		{`/y/y`, "xy", "x"},
	} {
		source, flags, problem, ok := patternForm(c.key)
		if !ok {
			t.Errorf("%s is no pattern: %s", c.key, problem)
			continue
		}
		p, _, err := compile(source, flags, MaxPatternSize)
		if err != nil {
			t.Errorf("%s: %v", c.key, err)
			continue
		}
		check := func(texts string, want bool) {
			for _, text := range strings.Split(texts, "|") {
				if texts == "" {
					continue
				}
				form := scanText{raw: text}
				if got := p.mayMatch(&form) && p.matches(&form); got != want {
					t.Errorf("%s in %q: %v (%s, needle %q)", c.key, text, got, p.re, p.needle)
				}
			}
		}
		check(c.yes, true)
		check(c.no, false)
	}
}

func TestPatternsThatAreLiterals(t *testing.T) {
	for key, want := range map[string]string{
		`/a(?=b)/`:               "look-ahead is not supported",
		`/a(?!b)/`:               "look-ahead is not supported",
		`/(?<=a)b/`:              "look-behind is not supported",
		`/(?<!a)b/`:              "look-behind is not supported",
		`/(a)\1/`:                "back references are not supported",
		`/(?<n>a)\k<n>/`:         "back references are not supported",
		`/\07/`:                  "octal escapes are not supported",
		`/(?i)a/`:                "modifiers and other groups that begin with (? are not supported",
		`/(?i:a)/`:               "modifiers and other groups that begin with (? are not supported",
		`/(?<1>a)/`:              "the name of a group is not valid",
		`/\ud83d/`:               "unpaired surrogates are not supported",
		`/[\ud800-\udbff]/`:      "unpaired surrogates are not supported",
		`/\u{d800}/u`:            "unpaired surrogates are not supported",
		`/\u{110000}/u`:          "a code point is not valid",
		`/\c1/`:                  `\c needs a letter`,
		`/\p{Emoji}/u`:           "this Unicode property is not supported",
		`/\p{scx=Greek}/u`:       "this Unicode property is not supported",
		`/\pL/u`:                 "a property has no name",
		`/a{1001}/`:              "it repeats something more than 1,000 times",
		`/a{99999999999999}/`:    "it repeats something more than 1,000 times",
		`/(a{100}){100}/`:        "it repeats something more than 1,000 times",
		`/a{2,1}/`:               "the numbers of a repeat are out of order",
		`/(abcdefghijkl){1000}/`: "the pattern is too large",
		`/*a/`:                   "there is nothing to repeat",
		`/a**/`:                  "there is nothing to repeat",
		`/a++/`:                  "there is nothing to repeat",
		`/^*/`:                   "there is nothing to repeat",
		`/{2}/`:                  "there is nothing to repeat",
		`/a{/u`:                  "a brace stands alone",
		`/]/u`:                   "a bracket stands alone",
		`/\-/u`:                  "an escape is unknown",
		`/\x4/u`:                 "an escape has too few digits",
		`/[\w-x]/u`:              "a range in a class has no end",
		`/[b-a]/`:                "a range in a class is out of order",
		`/[a/`:                   "a class is not closed",
		`/(a/`:                   "a group is not closed",
		`/a)/`:                   "a group is closed that was not opened",
		`/broken(/i`:             "a group is not closed",
		`//`:                     "the pattern is empty",
		`/a/ii`:                  "a flag stands there twice",
		`/a/v`:                   "the flags d and v are not supported",
		`/and/or/`:               `a slash inside a pattern must be written \/`,
		"/" + strings.Repeat("(a|b", 1001) + strings.Repeat(")", 1001) + "/": "its groups nest too deeply",
		"/" + strings.Repeat("a", 10_001) + "/":                              "the pattern is too large",
		"/" + strings.Repeat("{", 100_000) + "/":                             "the pattern is too large",
	} {
		shown := key[:min(len(key), 30)]
		b, list, err := Parse([]byte(`{"entries":[{"uid":1,"key":[` + quoteName(key) + `]}]}`))
		if err != nil {
			t.Fatal(shown, err)
		}
		if len(list) != 1 || list[0].Key != key || list[0].Reason != literalReason(want) {
			t.Errorf("%s: %q", shown, warningTexts(list))
		}
		if got := b.Activate([]string{"x " + strings.ToUpper(key) + " y"}); len(got) != 1 {
			t.Errorf("%s is not read as a literal", shown)
		}
	}
}

func TestPatternNotes(t *testing.T) {
	for key, want := range map[string]string{
		`/\u{1F409}/`:  `\u{…} is read as with the flag u`,
		`/\p{L}\p{N}/`: `\p{…} is read as with the flag u`,
		`/a/y`:         "the flag y is ignored",
	} {
		_, list, err := Parse([]byte(oneEntry("", `"key":[`+quoteName(key)+`]`)))
		if err != nil || len(list) != 1 || list[0].Reason != want {
			t.Errorf("%s: %q %v", key, warningTexts(list), err)
		}
	}
}

// The patterns of a book have a limit together; the first ones count.
func TestPatternsOfABook(t *testing.T) {
	var keys []string
	for i := range 60 {
		keys = append(keys, quoteName("/"+strings.Repeat("x", i+1)+strings.Repeat("a", 9900)+"/"))
	}
	_, list, err := Parse([]byte(oneEntry("", `"key":[`+strings.Join(keys, ",")+`]`)))
	if err != nil || len(list) == 0 || len(list) > 20 || list[0].Reason != literalReason(errTooMany.Error()) {
		t.Errorf("%d warnings, %v", len(list), err)
	}
}

// Folding has no exceptions but those of the standard library's table.
func TestFoldRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		f := foldRune(r)
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			if foldRune(next) != f {
				t.Fatalf("%U and %U are cases of one letter, but fold to %U and %U", r, next, f, foldRune(next))
			}
		}
		if g := foldRune(f); g != f {
			t.Fatalf("%U folds to %U, which folds to %U", r, f, g)
		}
	}
	got := foldText("A\u017féÉ\u212a\xff日本")
	if got.text != "asÉÉk\xff日本" || !slices.Equal(got.soft, []int{1, 6}) {
		t.Errorf("%+v", got)
	}
}
