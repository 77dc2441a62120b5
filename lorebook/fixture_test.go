package lorebook

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
)

// fixture is one row of testdata/activations.json. The messages stand in time order.
type fixture struct {
	ID       string   `json:"id"`
	File     string   `json:"file"`
	Messages []string `json:"messages"`
	UIDs     []int64  `json:"uids"`
	Why      string   `json:"why"`
}

func readFixtures(t testing.TB) []fixture {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "activations.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []fixture
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func readBooks(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "books", "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatal("no books", err)
	}
	books := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		books[filepath.Base(name)] = text
	}
	return books
}

func newestFirst(messages []string) []string {
	out := slices.Clone(messages)
	slices.Reverse(out)
	return out
}

// The books of testdata/books have the shapes of files that people really have.
func TestFixtures(t *testing.T) {
	books := readBooks(t)
	for _, f := range readFixtures(t) {
		t.Run(f.ID, func(t *testing.T) {
			b, _, err := Parse(books[f.File])
			if err != nil {
				t.Fatal(err)
			}
			messages := newestFirst(f.Messages)
			if got := b.Activate(messages); !slices.Equal(got, f.UIDs) {
				t.Errorf("%q: %v, want %v: %s", f.Messages, got, f.UIDs, f.Why)
			}
			if got := naive(b, messages); !slices.Equal(got, f.UIDs) {
				t.Errorf("the reference disagrees: %v", got)
			}
		})
	}
}

// What a fixture is warned of, complete: so a new warning is a decision.
func TestFixtureWarnings(t *testing.T) {
	want := map[string][]string{
		"chub-two-names.json": {
			"2: insertion_order and order differ; the former counts",
			"3: enabled and disable contradict each other; the former counts",
			"4: enabled and disable contradict each other; the former counts",
		},
		"recursion.json": {"8: the entry both waits for recursion and is excluded from it, so it never activates"},
		"regex-keys.json": {
			`14 /and/or/: looks like a pattern but is read as a literal: a slash inside a pattern must be written \/`,
			"15 /broken(/i: looks like a pattern but is read as a literal: a group is not closed",
		},
		"card-book.json": {
			"3: extensions.case_sensitive and caseSensitive differ; the former counts",
			"4: extensions.scan_depth and scanDepth differ; the former counts",
			"5: extensions.match_whole_words and matchWholeWords differ; the former counts",
		},
		"hand-edited.json": {
			"5: another entry has the same uid; this one never activates",
			"6: an empty key matches nothing and is dropped",
			"9: selectiveLogic 7 is unknown: the secondary keys count for nothing",
			"13: the entry has no uid and another one has its index; it has the number 13",
		},
	}
	for name, text := range readBooks(t) {
		b, list, err := Parse(text)
		if err != nil {
			t.Fatal(name, err)
		}
		got := warningTexts(list)
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: %q", name, got)
		}
		if b.Count() < len(b.Entries()) {
			t.Errorf("%s: %d entries of %d", name, len(b.Entries()), b.Count())
		}
	}
}
