package httpapi

import (
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// Pages of mutations (spec/governed-state.md, section 11).
const (
	mutationPageSize = 20
	previewBytes     = 256
)

// neverStored is a status that no stored mutation has. Staged, blocked and uncertain mutations are legal to ask for, but
// there are none: a turn's writes are stored when it ends, and no public writer can make the others.
const neverStored sessile.MutationStatus = -1

// listMutations answers GET /sessions/{session}/session-state/mutations.
func (h *Handler) listMutations(c *call) (reply, error) {
	q := openQuery(c)
	filter := q.mutationFilter()
	if err := q.done(); err != nil {
		return reply{}, err
	}
	mutations, total, err := h.states.Mutations(c.ctx, c.account, c.path("session"), filter)
	if err != nil {
		return reply{}, err
	}
	items := appendList(nil, mutations, func(b []byte, m *state.Mutation) []byte {
		return append(appendMutation(b, m), '}')
	})
	return rawPageReply(items, filter.Page, total)
}

// getMutation answers GET /sessions/{session}/session-state/mutations/{mutation}.
func (h *Handler) getMutation(c *call) (reply, error) {
	m, err := h.states.Mutation(c.ctx, c.account, c.path("session"), c.path("mutation"))
	if err != nil {
		return reply{}, err
	}
	b := appendMember(appendMutation(nil, &m), "payload")
	b = append(appendPayload(b, &m), '}')
	return rawReply(http.StatusOK, b)
}

func (q *query) mutationFilter() sessile.MutationFilter {
	f := sessile.MutationFilter{
		Branch:        q.text("branch_id", optional, anyText),
		FloorID:       q.text("source_floor_id", optional, anyText),
		RunID:         q.text("run_id", optional, anyText),
		Namespace:     q.text("state_namespace", optional, anyText),
		Slot:          q.text("target_slot", optional, anyText),
		CreatedAfter:  q.integer("created_after", 0, maxInteger),
		CreatedBefore: q.integer("created_before", 0, maxInteger),
		Page:          q.page(mutationPageSize, "created_at"),
	}
	switch q.choice("status", "staged", "applied", "discarded", "blocked", "uncertain") {
	case "":
	case "applied":
		f.Status = sessile.StatusApplied
	case "discarded":
		f.Status = sessile.StatusDiscarded
	default:
		f.Status = neverStored
	}
	switch q.choice("replay_safety", replaySafe, "confirm_on_replay", "never_auto_replay", "uncertain") {
	case "", replaySafe:
	default:
		f.Status = neverStored
	}
	if mode := q.choice("write_mode", modeDirect, modeCommitBound); mode != "" {
		direct := mode == modeDirect
		f.Direct = &direct
	}
	return f
}

// appendMutation appends the summary of a mutation and leaves its object open.
func appendMutation(b []byte, m *state.Mutation) []byte {
	mode, status := modeCommitBound, "applied"
	if m.Kind == sessile.KindDirect {
		mode = modeDirect
	}
	applied := &m.CreatedAt
	if m.Status == sessile.StatusDiscarded {
		status, applied = "discarded", nil
	}
	var floorID string
	if m.FloorID != nil {
		floorID = *m.FloorID
	}
	b = append(b, '{')
	b = appendText(appendMember(b, "id"), m.ID)
	b = appendText(appendMember(b, "state_namespace"), m.Namespace)
	b = appendText(appendMember(b, "target_slot"), m.SlotName)
	b = appendText(appendMember(b, "session_id"), m.SessionID)
	b = appendText(appendMember(b, "branch_id"), m.BranchName)
	b = appendOptional(appendMember(b, "source_floor_id"), floorID)
	b = append(b, `,"source_snapshot_floor_id":null`...)
	b = appendText(appendMember(b, "visibility_mode"), visibilityMode)
	b = appendText(appendMember(b, "write_mode"), mode)
	b = appendText(appendMember(b, "status"), status)
	b = appendText(appendMember(b, "replay_safety"), replaySafe)
	b = appendOptional(appendMember(b, "request_id"), m.RequestID)
	b = appendOptional(appendMember(b, "run_id"), m.RunID)
	b = appendText(appendMember(b, "live_head_key"), "live:"+m.Namespace+":"+m.SlotName+":branch:"+m.BranchName)
	b = appendOptional(appendMember(b, "discard_reason"), m.DiscardReason)
	b = append(b, `,"blocked_reason":null`...)
	b = strconv.AppendInt(appendMember(b, "payload_size_bytes"), m.Size, 10)
	b = strconv.AppendBool(appendMember(b, "payload_present"), m.Present)
	b = appendText(appendMember(b, "payload_preview"), preview(m))
	b = strconv.AppendInt(appendMember(b, "created_at"), m.CreatedAt, 10)
	b = strconv.AppendInt(appendMember(b, "updated_at"), m.CreatedAt, 10)
	return appendTime(appendMember(b, "applied_at"), applied)
}

// appendPayload appends what the mutation wrote, as {present, value}.
func appendPayload(b []byte, m *state.Mutation) []byte {
	b = strconv.AppendBool(append(b, `{"present":`...), m.Present)
	return append(appendValue(append(b, `,"value":`...), m.Value), '}')
}

// preview is the start of the payload, cut before a character that does not fit whole.
func preview(m *state.Mutation) string {
	head := *m
	head.Value = m.Value[:min(len(m.Value), previewBytes)]
	text := appendPayload(make([]byte, 0, 2*previewBytes), &head)
	if len(m.Value) > previewBytes {
		text = text[:len(text)-1] // the end of the object is not reached
	}
	if len(text) <= previewBytes {
		return string(text)
	}
	cut := previewBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut])
}
