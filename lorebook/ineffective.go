package lorebook

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// neverByProbability reports the one case in which a probability has an effect: 0, and it is in use. Every other one
// has none, since the same turn must give the same uids (spec/governed-state.md, section 9).
func (f *fields) neverByProbability() bool {
	probability, given := f.number(memberProbability)
	if !given {
		return false
	}
	used, said := f.boolean(memberUseProbability)
	switch {
	case said && used && probability == 0:
		return true
	case probability < 100 && (used || !said):
		f.complain("", fmt.Sprintf("probability %g has no effect: the entry activates whenever it matches", probability))
	}
	return false
}

// ineffective are members of other programs that are kept without effect. They are warned of when they ask for
// something.
var ineffective = []spelling{
	plain("sticky"),
	plain("cooldown"),
	plain("delay"),
	plain("group"),
	plain("triggers"),
	plain("vectorized"),
	{"characterFilter", "character_filter"},
	{"matchPersonaDescription", "match_persona_description"},
	{"matchCharacterDescription", "match_character_description"},
	{"matchCharacterPersonality", "match_character_personality"},
	{"matchCharacterDepthPrompt", "match_character_depth_prompt"},
	{"matchScenario", "match_scenario"},
	{"matchCreatorNotes", "match_creator_notes"},
}

// complainIneffective warns of what an entry asks for in vain.
func complainIneffective(f *fields, e Entry, r rule, recursive bool) {
	for _, s := range ineffective {
		for _, from := range []map[string]jsontext.Value{f.extensions, f.root} {
			v := from[s.camel]
			if v == nil {
				v = from[s.snake]
			}
			if asks(v) {
				f.complain("", s.camel+" has no effect")
				break
			}
		}
	}
	if strings.HasPrefix(strings.TrimSpace(e.Content), "@@") {
		f.complain("", "decorators (@@…) have no effect and stay part of the content")
	}
	switch {
	case r.dead || r.constant || r.delay == 0:
	case !recursive:
		f.complain("", "the entry waits for recursion in a book without recursion, so it never activates")
	case r.excludeRecursion:
		f.complain("", "the entry both waits for recursion and is excluded from it, so it never activates")
	}
}

// asks reports whether a value is more than empty.
func asks(v jsontext.Value) bool {
	switch v.Kind() {
	case 't':
		return true
	case '"':
		text, _ := textOf(v)
		return text != "" && text != "false" && text != "0"
	case '0':
		number, _ := numberOf(v)
		return number > 0
	case '[':
		list, err := readList(v)
		return err == nil && len(list) > 0
	case '{':
		members, _, err := readObject(v)
		if err != nil {
			return false
		}
		for _, m := range members {
			if m.value.Kind() != 't' && asks(m.value) { // a lone switch such as isExclude asks for nothing
				return true
			}
		}
	}
	return false
}

// complainRegexWish warns of keys that a card means as patterns without writing them so.
func complainRegexWish(f *fields, keys []string) {
	if wish, _ := booleanOf(f.root["use_regex"]); !wish {
		return
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, "/") && strings.ContainsAny(key, `\^$*+?()[]{}|`) {
			f.complain(key, "use_regex has no effect: a pattern is written /…/")
		}
	}
}
