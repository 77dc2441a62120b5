package turn

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile"
)

func TestSplitSummaries(t *testing.T) {
	tests := []struct {
		name, text, rest string
		summaries        []string
	}{
		{"none", "plain text", "plain text", nil},
		{"blanks stay where there is no block", "  plain \n", "  plain \n", nil},
		{"one at the end", "text\n<summary>short</summary>", "text", []string{"short"}},
		{"one at the start", "<summary>short</summary>\n\ntext", "text", []string{"short"}},
		{"one in the middle", "one <summary>short</summary> two", "one  two", []string{"short"}},
		{"several", "a<summary>1</summary>b<summary>2</summary>c", "abc", []string{"1", "2"}},
		{"next to each other", "<summary>1</summary><summary>2</summary>", "", []string{"1", "2"}},
		{"trimmed", "x<summary>\n  short  \n</summary>", "x", []string{"short"}},
		{"empty", "x<summary></summary>", "x", nil},
		{"blank", "x<summary> \n</summary>", "x", nil},
		{"twice the same", "<summary>1</summary><summary>1</summary>", "", []string{"1", "1"}},
		{"without an end", "x <summary>short", "x <summary>short", nil},
		{"the second without an end", "x<summary>1</summary> <summary>2", "x <summary>2", []string{"1"}},
		{"an end alone", "x</summary> y", "x</summary> y", nil},
		{"an opening inside", "<summary>a<summary>b</summary>c", "c", []string{"a<summary>b"}},
		{"other case", "<Summary>short</Summary>", "<Summary>short</Summary>", nil},
		{"with attributes", "<summary id=1>short</summary>", "<summary id=1>short</summary>", nil},
		{"markup around", "<b><summary>short</summary></b>", "<b></b>", []string{"short"}},
		{"a beginning that is none", "a <sum <summary>1</summary>", "a <sum", []string{"1"}},
		{"empty text", "", "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rest, summaries := splitSummaries(test.text)
			if rest != test.rest || !slices.Equal(summaries, test.summaries) {
				t.Errorf("got %q and %q, want %q and %q", rest, summaries, test.rest, test.summaries)
			}
			if summaries == nil {
				t.Error("the list is nil: on the wire it would be null")
			}
			for size := 1; size <= len(test.text)+1; size++ {
				var pieces []string
				for piece := range slices.Chunk([]byte(test.text), size) {
					pieces = append(pieces, string(piece))
				}
				if got := filtered(pieces); strings.TrimSpace(got) != strings.TrimSpace(rest) {
					t.Errorf("streamed in pieces of %d: %q, want %q", size, got, rest)
				}
			}
		})
	}
}

// filtered is everything that the filter lets through.
func filtered(pieces []string) string {
	var out strings.Builder
	f := summaryFilter{out: func(text string) { out.WriteString(text) }}
	for _, piece := range pieces {
		f.write(piece)
	}
	f.end()
	return out.String()
}

// However an answer is cut into pieces, what is streamed is what is kept, up to blanks at the ends.
func TestSummaryFilterAnyPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{
		summaryOpen, summaryClose, "<", ">", "/", "<summary", "</summary", "<sum", "summary>", "text", " ", "\n", "ü", "<<summary>",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "text"), "")
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "cut")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
			if n == 0 { // an empty piece, and then all that is left if it likes
				n = rapid.IntRange(1, len(rest)).Draw(t, "cut")
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
		}
		kept, _ := splitSummaries(text)
		if got := filtered(pieces); strings.TrimSpace(got) != strings.TrimSpace(kept) {
			t.Fatalf("%q in pieces %q: streamed %q, kept %q", text, pieces, got, kept)
		}
	})
}

// The filter holds back no more than what may become a block.
func TestSummaryFilterIsPrompt(t *testing.T) {
	var got []string
	f := summaryFilter{out: func(text string) { got = append(got, text) }}
	for _, piece := range []string{"one ", "two <su", "n> three <summary>hid", "den</summ", "ary> four"} {
		f.write(piece)
	}
	want := []string{"one ", "two ", "<sun> three ", " four"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlainText(t *testing.T) {
	tests := []struct{ name, format, content, want string }{
		{"text", "text", "as it is", "as it is"},
		{"text that looks like blocks", "text", `[{"type":"text","text":"a"}]`, `[{"type":"text","text":"a"}]`},
		{"one block", "blocks", `[{"type":"text","text":"a"}]`, "a"},
		{"several", "blocks", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "a\nb"},
		{"others are left out", "blocks", `[{"type":"image","source":{}},{"type":"text","text":"a"},{"type":"thinking","text":"no"}]`, "a"},
		{"empty texts are left out", "blocks", `[{"type":"text","text":""},{"type":"text","text":"a"}]`, "a"},
		{"further members", "blocks", `[{"type":"text","text":"a","cache":{"a":1}}]`, "a"},
		{"none", "blocks", `[]`, ""},
		{"no list", "blocks", `{"type":"text","text":"a"}`, ""},
		{"a list of texts", "blocks", `["a"]`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := plainText(&sessile.Message{Content: test.content, ContentFormat: test.format})
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
