package lorebook

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// What Parse refuses.
var (
	// ErrNotBook says that a text is not one JSON object.
	ErrNotBook = errors.New("a worldbook is a JSON object")
	// ErrEntries says that a book's entries are missing or are neither an array nor an object.
	ErrEntries = errors.New("entries of a worldbook are an array or an object")
)

// Book is a parsed worldbook with its keys compiled. It does not change and may be used concurrently.
type Book struct {
	count   int
	entries []Entry
	rules   []rule // of the entries, in the same order
	place   map[int64]int
	delayed []int32 // rules that wait for recursion, the shortest wait first

	recursive bool
	maxSteps  int
	depth     int
	keys      *index
}

// Entry is what a prompt needs of an entry (spec/governed-state.md, section 9, field list).
type Entry struct {
	UID      int64
	Comment  string
	Content  string
	Position int     // 0 before the character, 1 after, 4 at Depth, …; as it stands in the book
	Depth    int     // 4 unless the book says otherwise, at least 0
	Role     int     // 0 system, 1 user, 2 assistant
	Order    float64 // 100 unless the book says otherwise
	Constant bool
	Disabled bool // it never activates
}

// rule is what activation needs of an entry.
type rule struct {
	dead             bool // it never activates
	constant         bool
	caseSensitive    bool
	wholeWords       bool
	excludeRecursion bool
	preventRecursion bool
	depth            int
	delay            int // first round in which it takes part
	logic            int
	first            int32 // its keys in the index
	primary          int32
	secondary        int32
}

// The logics of secondary keys.
const (
	logicAny    = 0
	logicNotAll = 1
	logicNone   = 2
	logicAll    = 3
	logicPass   = -1
)

// settings are the book's.
type settings struct {
	scanDepth     int
	caseSensitive bool
	wholeWords    bool
}

// Parse reads a book, however it is spelt (spec/governed-state.md, section 9 with "Real files, further rules"). It fails
// with [ErrNotBook] or [ErrEntries]; the second is the mistake at book.entries. Of a repeated member name the last one
// counts. Reading costs time and memory linear in the text, plus the patterns within [MaxPatternsSize]. The book shares
// no memory with the text.
func Parse(text []byte) (*Book, []Warning, error) {
	members, repeated, err := readObject(text)
	if err != nil {
		return nil, nil, ErrNotBook
	}
	var w warnings
	f := newFields(members)
	f.extensions, f.snakeFirst = nil, true
	f.complain = func(key, reason string) { w.add(nil, key, reason) }
	entries, err := readEntries(f.root["entries"], f.complain)
	if err != nil {
		return nil, nil, err
	}
	complainRepeated(f, repeated)
	b := &Book{
		count:     len(entries),
		recursive: f.flag(memberRecursive, false),
		keys:      newIndex(),
	}
	if steps, ok := f.number(memberMaxRecursionSteps); ok {
		b.maxSteps = max(0, roundUp(steps))
	}
	if f.root["recursiveScanning"] != nil {
		f.complain("", "recursiveScanning means nothing; the name is recursive or recursive_scanning")
	}
	s := settings{
		scanDepth:     f.atLeastZero(memberScanDepth, 2),
		caseSensitive: f.flag(memberCaseSensitive, false),
		wholeWords:    f.flag(memberMatchWholeWords, false),
	}
	b.place = make(map[int64]int, len(entries))
	for _, e := range giveUIDs(entries) {
		b.add(e, s, &w)
	}
	b.finish()
	return b, w.all(), nil
}

// readEntries lists the entries, of which those that are no object have no fields.
func readEntries(v jsontext.Value, complain func(key, reason string)) ([]rawEntry, error) {
	var values []jsontext.Value
	switch v.Kind() {
	case '[':
		list, err := readList(v)
		if err != nil {
			return nil, ErrNotBook
		}
		values = list
	case '{':
		members, repeated, err := readObject(v)
		if err != nil {
			return nil, ErrNotBook
		}
		for _, m := range members {
			values = append(values, m.value)
		}
		for _, name := range repeated {
			complain("", "entries has the member "+quoteName(name)+" twice; the last one counts")
		}
	default:
		return nil, ErrEntries
	}
	entries := make([]rawEntry, len(values))
	for i, value := range values {
		if value.Kind() != '{' {
			complain("", "the entry with the index "+strconv.Itoa(i)+" is no object and is skipped")
			continue
		}
		members, repeated, err := readObject(value)
		if err != nil {
			return nil, ErrNotBook
		}
		entries[i] = rawEntry{fields: newFields(members), repeated: repeated}
	}
	return entries, nil
}

func complainRepeated(f *fields, repeated []string) {
	for _, name := range repeated {
		f.complain("", "the member "+quoteName(name)+" stands there twice; the last one counts")
	}
}

func quoteName(name string) string {
	quoted, err := jsontext.AppendQuote(nil, name)
	if err != nil {
		return "?"
	}
	return string(quoted)
}

// roundUp makes a number of rounds of a number.
func roundUp(number float64) int {
	return clampInt(math.Ceil(number))
}

// add puts in the next entry.
func (b *Book) add(raw rawEntry, s settings, w *warnings) {
	f, uid := raw.fields, raw.uid
	f.complain = func(key, reason string) { w.add(&uid, key, reason) }
	complainRepeated(f, raw.repeated)
	if raw.problem != "" {
		f.complain("", raw.problem)
	}
	if _, taken := b.place[uid]; taken {
		f.complain("", "another entry has the same uid; this one never activates")
		return
	}
	root := f.rootOnly()
	entry := Entry{
		UID:      uid,
		Comment:  f.text("comment"),
		Content:  f.text("content"),
		Position: f.position(),
		Depth:    f.atLeastZero(memberDepth, 4),
		Role:     f.whole(memberRole, 0),
		Order:    f.order(),
		Constant: root.flag(plain("constant"), false),
		Disabled: f.disabled(),
	}
	r := rule{
		dead:             entry.Disabled,
		constant:         entry.Constant,
		caseSensitive:    f.flag(memberCaseSensitive, s.caseSensitive),
		wholeWords:       f.flag(memberMatchWholeWords, s.wholeWords),
		excludeRecursion: f.flag(memberExcludeRecursion, false),
		preventRecursion: f.flag(memberPreventRecursion, false),
		depth:            f.atLeastZero(memberScanDepth, s.scanDepth),
		delay:            f.delay(),
		logic:            f.logic(),
	}
	if f.neverByProbability() {
		r.dead, entry.Disabled = true, true
	}
	complainIneffective(f, entry, r, b.recursive)
	b.place[uid] = len(b.entries)
	b.addKeys(f, root, &r)
	b.entries = append(b.entries, entry)
	b.rules = append(b.rules, r)
}

// addKeys checks an entry's keys, and puts in those that can matter.
func (b *Book) addKeys(f, root *fields, r *rule) {
	primary := b.usable(f, f.keys("key", "keys"))
	var secondary []string
	if keys := f.keys("keysecondary", "secondary_keys"); root.flag(plain("selective"), true) && r.logic != logicPass {
		secondary = b.usable(f, keys)
	}
	complainRegexWish(f, primary)
	r.first = int32(len(b.keys.keys))
	if r.dead || r.constant || r.depth == 0 || len(primary) == 0 {
		return
	}
	place := int32(len(b.rules))
	for _, key := range primary {
		b.keys.add(keyRef{rule: place, text: key}, r)
	}
	for _, key := range secondary {
		b.keys.add(keyRef{rule: place, secondary: true, text: key}, r)
	}
	r.primary, r.secondary = int32(len(primary)), int32(len(secondary))
	b.depth = max(b.depth, r.depth)
}

// usable leaves out keys that match nothing, and says what is to be said about the others.
func (b *Book) usable(f *fields, keys []string) []string {
	var list []string
	for _, key := range keys {
		if blank(key) {
			f.complain(key, "an empty key matches nothing and is dropped")
			continue
		}
		for _, problem := range b.keys.check(key) {
			f.complain(key, problem)
		}
		list = append(list, key)
	}
	return list
}

func (b *Book) finish() {
	b.keys.finish()
	for i, r := range b.rules {
		if r.primary > 0 && r.delay > 0 && !r.excludeRecursion && b.recursive {
			b.delayed = append(b.delayed, int32(i))
		}
	}
	slices.SortStableFunc(b.delayed, func(x, y int32) int { return b.rules[x].delay - b.rules[y].delay })
}

// Count is the number of entries as the book was sent, whether they can activate or not.
func (b *Book) Count() int { return b.count }

// Entries lists the entries in the order of the book, without those that are no object and those whose uid an earlier
// one has.
func (b *Book) Entries() []Entry { return slices.Clone(b.entries) }

// Entry finds an entry by its uid.
func (b *Book) Entry(uid int64) (Entry, bool) {
	i, found := b.place[uid]
	if !found {
		return Entry{}, false
	}
	return b.entries[i], true
}

// ScanDepth is the number of messages, counted from the newest, that [Book.Activate] looks at at most.
func (b *Book) ScanDepth() int { return b.depth }
