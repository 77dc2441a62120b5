// Package lorebook reads worldbooks (lorebooks, World Info) as people have them and says which of their entries a
// conversation activates: spec/governed-state.md, section 9. It is pure: it does no IO, keeps no state between calls, and
// the same book and the same messages always give the same entries in the same order.
//
//	book, warnings, err := lorebook.Parse(text)         // once per stored book; compiles every key
//	uids := book.Activate([]string{newest, older})       // once per turn; safe for concurrent use
//	for _, uid := range uids {
//		entry, _ := book.Entry(uid)                      // content, position, depth, role for the prompt
//	}
//
// [Parse] refuses only what is no book at all. Everything else it reads as section 9 says, and it warns of each place
// where that may not be what the author meant. [Import] makes a book of the files of other programs. [Book.Explain] tells
// why entries are active, for people who look for a fault in a book.
//
// # Keys
//
// A key is a literal, found anywhere in a text and in any case (simple Unicode case folding), unless the book or the
// entry asks for exact case or whole words; or it is a pattern, written /source/flags as in JavaScript. Patterns run in
// Go's regular expression engine, whose time is linear in the text. Texts are read by code points, as JavaScript does
// with the flag u. What differs, and what happens then:
//
//   - look-ahead, look-behind, back references, octal escapes, inline modifiers such as (?i), unpaired surrogates, \c
//     without a letter, property names beyond general categories and Script=: the key becomes a literal, with a warning;
//   - repeats above 1,000 (also as the product of nested ones), more than 1,000 nested groups, a pattern of more than
//     [MaxPatternSize] steps, or patterns of more than [MaxPatternsSize] steps in one book: likewise;
//   - an unescaped inner slash, an empty pattern, a flag given twice, the flags d and v, or a source that JavaScript
//     does not accept: likewise;
//   - \u{…} and \p{…} without the flag u mean what they mean with it, with a warning; the flag y is ignored, with a
//     warning; the flags g and u change nothing else, except that u forbids the escapes and braces that it forbids in
//     JavaScript;
//   - the flag i uses simple Unicode folding, as JavaScript does with u;
//   - with the flag m, each line end (CR LF, CR, LF, U+2028, U+2029) is read as LF, in the text and in the pattern;
//   - the white space of \s, the line ends that a dot does not match, the ASCII words of \w and \b, $ at the very end
//     of the text only, [] and [^] are JavaScript's.
//
// # Cost
//
// All literals of a book are looked for in one pass over each text. A pattern costs its size times the text; what one
// activation may spend on patterns is bounded (see [Explanation]). Rounds of recursion touch only the entries that
// the new texts mention.
package lorebook
