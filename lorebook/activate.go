package lorebook

import (
	"cmp"
	"slices"
)

// maxPatternWork is what one activation may spend on patterns: sizes times bytes of text. It is a matter of seconds, and
// some thousand times what a real book needs.
const maxPatternWork = 1_000_000_000

// Reasons of a [Match].
const (
	ReasonConstant  = "constant"  // the entry is always active
	ReasonKey       = "key"       // a primary key matched, and no secondary key was asked for
	ReasonSecondary = "secondary" // a primary key matched, and the secondary keys agreed
)

// Match says why an entry is active.
type Match struct {
	UID int64 `json:"uid"`
	// Key is the first primary key of the entry that had matched; empty for a constant entry.
	Key string `json:"key,omitzero"`
	// Round is 0 for the first scan, else the number of the recursion round.
	Round int `json:"round"`
	// Reason is one of the Reason constants.
	Reason string `json:"reason"`
}

// Explanation is an activation in detail.
type Explanation struct {
	// Matches are the active entries, in the order of [Book.Activate].
	Matches []Match
	// PatternsCut says that the patterns of the book were too costly for the texts: those that came too late, always the
	// same for the same texts, were not looked for.
	PatternsCut bool
}

// Activate lists the uids of the entries that the messages activate, in the order in which they go into `world`
// (spec/governed-state.md, section 9, steps 1 to 6). The messages come newest first, the current user message being the
// newest. The list is never nil, and holds each uid at most once.
func (b *Book) Activate(messages []string) []int64 {
	matches := b.Explain(messages).Matches
	uids := make([]int64, len(matches))
	for i, m := range matches {
		uids[i] = m.UID
	}
	return uids
}

// Explain is [Book.Activate] with the reasons.
func (b *Book) Explain(messages []string) Explanation {
	a := &activation{
		book:     b,
		progress: make([]progress, len(b.rules)),
		hit:      make([]bool, len(b.keys.keys)),
		patterns: make([]int, len(b.keys.patterns)),
	}
	for kind, words := range b.keys.literals {
		if words != nil {
			a.literals[kind] = make([]int, len(words.hits))
		}
	}
	a.run(messages)
	slices.SortStableFunc(a.active, func(x, y activated) int { return cmp.Compare(y.order, x.order) })
	matches := make([]Match, len(a.active))
	for i, entry := range a.active {
		matches[i] = entry.match
	}
	return Explanation{Matches: matches, PatternsCut: a.cut}
}

// activation is one run. Keys only ever gain matches, so an entry is looked at again only when a text touched it or when
// its delay ends: nothing else can change the answer.
type activation struct {
	book     *Book
	progress []progress
	hit      []bool // by key
	touched  []int32
	active   []activated

	// How new the newest text was in which a literal or a pattern was found: 0 not found, 1 the newest message or a
	// content, 2 the message before, and so on. A text as new tells nothing more about it.
	literals [4][]int
	patterns []int

	work int64
	cut  bool
}

// progress is what is known of a rule.
type progress struct {
	primary   bool
	secondary int32
	touched   bool
	active    bool
}

type activated struct {
	match Match
	order float64
}

func (a *activation) run(messages []string) {
	b := a.book
	for i, text := range messages[:min(len(messages), b.depth)] {
		a.read(text, i)
	}
	for i, r := range b.rules {
		if r.constant && !r.dead {
			a.touch(int32(i))
		}
	}
	contents := a.try(0)
	waiting := b.delayed
	for round := 1; b.recursive; round++ {
		if len(contents) == 0 {
			if len(waiting) == 0 {
				return
			}
			round = max(round, b.rules[waiting[0]].delay) // the rounds between would find nothing
		}
		if b.maxSteps > 0 && round >= b.maxSteps {
			return
		}
		for _, content := range contents {
			a.readContent(content)
		}
		for len(waiting) > 0 && b.rules[waiting[0]].delay <= round {
			if a.progress[waiting[0]].primary {
				a.touch(waiting[0])
			}
			waiting = waiting[1:]
		}
		contents = a.try(round)
	}
}

func (a *activation) touch(rule int32) {
	if p := &a.progress[rule]; !p.touched && !p.active {
		p.touched = true
		a.touched = append(a.touched, rule)
	}
}

// try looks at the touched entries in the order of the book and returns what the newly active ones give to the next
// round.
func (a *activation) try(round int) (contents []string) {
	slices.Sort(a.touched)
	for _, i := range a.touched {
		r, p := &a.book.rules[i], &a.progress[i]
		p.touched = false
		if !r.constant && (round < r.delay || round > 0 && r.excludeRecursion) {
			continue
		}
		match, ok := a.match(r, p)
		if !ok {
			continue
		}
		entry := &a.book.entries[i]
		match.UID, match.Round = entry.UID, round
		p.active = true
		a.active = append(a.active, activated{match, entry.Order})
		if !r.preventRecursion && entry.Content != "" {
			contents = append(contents, entry.Content)
		}
	}
	a.touched = a.touched[:0]
	return contents
}

// match applies steps 2 and 4.
func (a *activation) match(r *rule, p *progress) (Match, bool) {
	if r.constant {
		return Match{Reason: ReasonConstant}, true
	}
	if !p.primary {
		return Match{}, false
	}
	m := Match{Reason: ReasonKey}
	for key := r.first; key < r.first+r.primary; key++ {
		if a.hit[key] {
			m.Key = a.book.keys.keys[key].text
			break
		}
	}
	if r.secondary == 0 {
		return m, true
	}
	m.Reason = ReasonSecondary
	switch r.logic {
	case logicAny:
		return m, p.secondary > 0
	case logicNotAll:
		return m, p.secondary < r.secondary
	case logicNone:
		return m, p.secondary == 0
	default:
		return m, p.secondary == r.secondary
	}
}

// read marks the keys that a message holds, 0 being the newest.
func (a *activation) read(text string, message int) {
	form := scanText{raw: text}
	a.readLiterals(&form, message)
	a.readPatterns(&form, message, false)
}

// readContent marks the keys that the content of an active entry holds. It is seen wherever the newest message is.
func (a *activation) readContent(text string) {
	form := scanText{raw: text}
	a.readLiterals(&form, 0)
	a.readPatterns(&form, 0, true)
}

func (a *activation) readLiterals(text *scanText, message int) {
	for kind, words := range a.book.keys.literals {
		if words == nil {
			continue
		}
		form := folded{text: text.raw}
		if kind&exactCase == 0 {
			form = text.withoutCases()
		}
		seen := a.literals[kind]
		words.find(form,
			func(hit int32) bool { return seen[hit] != 0 && seen[hit] <= message+1 },
			func(hit int32) {
				seen[hit] = message + 1
				a.mark(words.hits[hit].keys, message)
			})
	}
}

func (a *activation) readPatterns(text *scanText, message int, content bool) {
	for i := range a.book.keys.patterns {
		p, seen := &a.book.keys.patterns[i], a.patterns[i]
		if p.depth <= message || content && !p.recursion || seen != 0 && seen <= message+1 || !p.mayMatch(text) {
			continue
		}
		cost := int64(p.size) * int64(len(text.raw)+1)
		if a.work+cost > maxPatternWork {
			a.cut = true
			continue
		}
		a.work += cost
		if p.matches(text) {
			a.patterns[i] = message + 1
			a.mark(p.keys, message)
		}
	}
}

// mark says that keys have been found in a message; those of entries that do not look so far back are left alone.
func (a *activation) mark(keys []int32, message int) {
	for _, key := range keys {
		ref := &a.book.keys.keys[key]
		if a.hit[key] || message >= a.book.rules[ref.rule].depth {
			continue
		}
		a.hit[key] = true
		p := &a.progress[ref.rule]
		if ref.secondary {
			p.secondary++
		} else {
			p.primary = true
		}
		a.touch(ref.rule)
	}
}
