package lorebook

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folded is a text with every letter replaced by the one that stands for all its cases, so that equality is a
// comparison of bytes.
type folded struct {
	text string
	// soft are the offsets of ASCII letters that stand for letters beyond ASCII (U+017F and U+212A): they are no word
	// characters.
	soft []int
}

// foldText applies simple Unicode case folding. Bytes that are no UTF-8 stay as they are.
func foldText(s string) folded {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z') {
		i++
	}
	if i == len(s) {
		return folded{text: s}
	}
	var soft []int
	out := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			out = append(out, s[i])
			i++
			continue
		}
		f := foldRune(r)
		if f < utf8.RuneSelf {
			soft = append(soft, len(out))
		}
		out = utf8.AppendRune(out, f)
		i += size
	}
	return folded{text: string(out), soft: soft}
}

// Between these two there is no letter with a case.
const (
	caselessFrom = 0x2E80
	caselessTo   = 0xA63F
)

// foldRune is the smallest of a rune's cases, in lower case if it is an ASCII letter.
func foldRune(r rune) rune {
	if caselessFrom <= r && r <= caselessTo {
		return r
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	if 'A' <= smallest && smallest <= 'Z' {
		smallest += 'a' - 'A'
	}
	return smallest
}

// wordAt reports whether the byte at an offset is a word character: an ASCII letter, a digit or an underscore. Before
// the start and behind the end there is none.
func (f folded) wordAt(i int) bool {
	if i < 0 || i >= len(f.text) {
		return false
	}
	if c := f.text[i]; !asciiAlnum(rune(c)) && c != '_' {
		return false
	}
	if len(f.soft) == 0 {
		return true
	}
	_, isSoft := slices.BinarySearch(f.soft, i)
	return !isSoft
}

func asciiAlnum(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// severalWords reports whether a key has more than one word. Blanks at its ends count, since they are part of the key.
func severalWords(key string) bool {
	return strings.ContainsFunc(key, isBlank)
}

// blank reports whether a key consists of blanks only, or of nothing.
func blank(key string) bool {
	return strings.TrimFunc(key, isBlank) == ""
}

func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r == '\ufeff'
}
