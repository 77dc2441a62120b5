package lorebook

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// naive is the algorithm as the sheet tells it: in every round every remaining entry is tried on all texts it sees. It
// takes the parsed book and shares nothing else with the real one.
func naive(b *Book, messages []string) []int64 {
	type found struct {
		uid   int64
		order float64
	}
	var active []found
	var contents []string
	isActive := make([]bool, len(b.rules))
	longest := 0
	for _, r := range b.rules {
		if !r.excludeRecursion {
			longest = max(longest, min(r.delay, len(b.rules)*2+60))
		}
	}
	for round := 0; ; round++ {
		var added []string
		any := false
		for i := range b.rules {
			r := &b.rules[i]
			if isActive[i] || r.dead {
				continue
			}
			if !r.constant {
				if round < r.delay || round > 0 && r.excludeRecursion {
					continue
				}
				texts := messages[:min(len(messages), r.depth)]
				if r.depth > 0 {
					texts = slices.Concat(texts, contents)
				}
				if !naiveRule(b, r, texts) {
					continue
				}
			}
			any, isActive[i] = true, true
			active = append(active, found{b.entries[i].UID, b.entries[i].Order})
			if !r.preventRecursion && b.entries[i].Content != "" {
				added = append(added, b.entries[i].Content)
			}
		}
		contents = append(contents, added...)
		if !b.recursive || b.maxSteps > 0 && round+1 >= b.maxSteps || !any && round >= longest {
			break
		}
	}
	slices.SortStableFunc(active, func(x, y found) int { return cmp.Compare(y.order, x.order) })
	uids := []int64{}
	for _, f := range active {
		uids = append(uids, f.uid)
	}
	return uids
}

func naiveRule(b *Book, r *rule, texts []string) bool {
	primary, secondary := false, int32(0)
	for k := r.first; k < r.first+r.primary+r.secondary; k++ {
		ref := b.keys.keys[k]
		hit := slices.ContainsFunc(texts, func(text string) bool { return naiveKey(r, ref.text, text) })
		switch {
		case hit && ref.secondary:
			secondary++
		case hit:
			primary = true
		}
	}
	if !primary || r.secondary == 0 {
		return primary
	}
	switch r.logic {
	case 0:
		return secondary > 0
	case 1:
		return secondary < r.secondary
	case 2:
		return secondary == 0
	default:
		return secondary == r.secondary
	}
}

func naiveKey(r *rule, key, text string) bool {
	if source, flags, _, ok := patternForm(key); ok {
		if p, _, err := compile(source, flags, MaxPatternSize); err == nil {
			return p.matches(&scanText{raw: text})
		}
	}
	word := func(r rune) bool {
		return r == '_' || r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	k, s := []rune(key), []rune(text)
	for from := 0; from+len(k) <= len(s); from++ {
		part := s[from : from+len(k)]
		if r.caseSensitive && string(part) != key || !r.caseSensitive && !strings.EqualFold(string(part), key) {
			continue
		}
		to := from + len(k)
		if !r.wholeWords || severalWords(key) || (from == 0 || !word(s[from-1])) && (to == len(s) || !word(s[to])) {
			return true
		}
	}
	return false
}
