package httpapi

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/state"
)

// The functions of this file append JSON text. They serve the answers that hold stored values: those are appended as
// they are, never decoded. Members stand in the order of spec/governed-state.md, 4.3, 4.6 and 4.7.

const (
	visibilityMode = "fork_on_branch" // of every slot there is (1.6)
	schemaVersion  = 1
)

// appendText appends a quoted text. What is not valid UTF-8 is repaired.
func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

// appendOptional appends a text, or null for an empty one.
func appendOptional(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return appendText(b, text)
}

// appendTime appends milliseconds, or null.
func appendTime(b []byte, ms *int64) []byte {
	if ms == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *ms, 10)
}

// appendValue appends JSON text, or null for none.
func appendValue(b []byte, value jsontext.Value) []byte {
	if len(value) == 0 {
		return append(b, "null"...)
	}
	return append(b, value...)
}

// appendMember appends a name that needs no escape, after a comma unless it is the first of its object.
func appendMember(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, text)
	}
	return append(b, ']')
}

// appendList appends a list by appending each of its items.
func appendList[T any](b []byte, items []T, one func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &items[i])
	}
	return append(b, ']')
}

// sizeOfValue is about what an entry takes besides its values: names, ids and members.
const sizeOfValue = 420

// appendResolved appends one resolved value (4.3).
func appendResolved(b []byte, v *state.Value) []byte {
	b = append(b, '{')
	b = appendText(appendMember(b, "namespace"), v.Namespace)
	b = appendText(appendMember(b, "slot"), v.Slot)
	b = appendText(appendMember(b, "source"), string(v.Source))
	b = appendContent(b, v.Present, v.Data)
	b = appendText(appendMember(b, "session_id"), v.SessionID)
	b = appendText(appendMember(b, "branch_id"), v.BranchID)
	b = appendOptional(appendMember(b, "floor_id"), v.FloorID)
	b = appendTexts(appendMember(b, "source_mutation_ids"), v.MutationIDs)
	b = appendTime(appendMember(b, "updated_at"), v.UpdatedAt)
	return append(b, '}')
}

// appendSnapshot appends one value of a floor's snapshot (4.6).
func appendSnapshot(b []byte, v *state.SnapshotValue) []byte {
	b = append(b, '{')
	b = appendText(appendMember(b, "namespace"), v.Namespace)
	b = appendText(appendMember(b, "slot"), v.Slot)
	b = appendContent(b, v.Present, v.Data)
	b = appendText(appendMember(b, "session_id"), v.SessionID)
	b = appendText(appendMember(b, "branch_id"), v.BranchID)
	b = appendText(appendMember(b, "floor_id"), v.FloorID)
	b = appendTexts(appendMember(b, "source_mutation_ids"), v.MutationIDs)
	b = appendTime(appendMember(b, "committed_at"), v.CommittedAt)
	return append(b, '}')
}

// appendContent appends what resolved values and snapshots have in common.
func appendContent(b []byte, present bool, data jsontext.Value) []byte {
	b = appendText(appendMember(b, "visibility_mode"), visibilityMode)
	b = strconv.AppendInt(appendMember(b, "schema_version"), schemaVersion, 10)
	b = strconv.AppendBool(appendMember(b, "present"), present)
	return appendValue(appendMember(b, "value"), data)
}

// appendDiff appends one entry of a diff (4.7).
func appendDiff(b []byte, e *state.DiffEntry) []byte {
	b = appendDiffHead(b, e)
	b = appendValue(appendMember(b, "left_value"), e.Left)
	b = appendValue(appendMember(b, "right_value"), e.Right)
	return append(b, '}')
}

// appendDiffNames appends an entry without its values.
func appendDiffNames(b []byte, e *state.DiffEntry) []byte { return append(appendDiffHead(b, e), '}') }

func appendDiffHead(b []byte, e *state.DiffEntry) []byte {
	b = append(b, '{')
	b = appendText(appendMember(b, "namespace"), e.Namespace)
	b = appendText(appendMember(b, "slot"), e.Slot)
	b = appendText(appendMember(b, "change_type"), string(e.Change))
	b = appendOptional(appendMember(b, "left_floor_id"), e.LeftFloorID)
	b = appendOptional(appendMember(b, "right_floor_id"), e.RightFloorID)
	b = strconv.AppendBool(appendMember(b, "left_present"), e.LeftPresent)
	return strconv.AppendBool(appendMember(b, "right_present"), e.RightPresent)
}

// appendFloorValue appends what a floor stores of a slot as the observation surface shows it: with the value, or with its
// size.
func appendFloorValue(b []byte, v *state.FloorValue, withValue bool) []byte {
	b = appendText(append(b, `{"state_namespace":`...), v.Namespace)
	b = appendText(appendMember(b, "slot"), v.Slot)
	b = appendText(appendMember(b, "visibility_mode"), visibilityMode)
	b = strconv.AppendInt(appendMember(b, "schema_version"), schemaVersion, 10)
	b = strconv.AppendBool(appendMember(b, "present"), v.Present)
	b = appendText(appendMember(b, "session_id"), v.SessionID)
	b = appendText(appendMember(b, "branch_id"), v.BranchID)
	b = appendText(appendMember(b, "floor_id"), v.FloorID)
	b = appendTexts(appendMember(b, "source_mutation_ids"), v.MutationIDs)
	b = appendTime(appendMember(b, "committed_at"), v.CommittedAt)
	if withValue {
		return append(appendValue(appendMember(b, "value"), v.Data), '}')
	}
	return append(strconv.AppendInt(appendMember(b, "payload_size_bytes"), v.Size, 10), '}')
}
