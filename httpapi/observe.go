package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// Observation is the read-only surface of spec/governed-state.md, section 11, beside the log of mutations.
type Observation interface {
	Bindings(ctx context.Context, account, sessionID string) ([]state.Binding, error)
	LiveHeads(ctx context.Context, account, sessionID, branch, namespace string) ([]state.LiveHead, error)
	LiveValue(ctx context.Context, account, sessionID string, a state.Address, sourceFloorID string) (state.Value, error)
	FloorSnapshots(ctx context.Context, account, floorID, namespace string) ([]state.FloorValue, error)
	FloorSnapshot(ctx context.Context, account, floorID, namespace, slot string) (state.FloorValue, error)
	FloorDiff(ctx context.Context, account, floorID string, q state.FloorDiffQuery) ([]state.DiffEntry, error)
}

type bindingBody struct {
	DomainID                  string `json:"domain_id"`
	AccountID                 string `json:"account_id"`
	ManagerKind               string `json:"manager_kind"`
	HostType                  string `json:"host_type"`
	HostID                    string `json:"host_id"`
	StateNamespace            string `json:"state_namespace"`
	RequireCallerOwner        bool   `json:"require_caller_owner"`
	AllowAutoCreateCollection bool   `json:"allow_auto_create_collection"`
	CreatedAt                 int64  `json:"created_at"`
	UpdatedAt                 int64  `json:"updated_at"`
}

// listBindings answers GET /sessions/{session}/session-state/bindings.
func (h *Handler) listBindings(c *call) (reply, error) {
	bindings, err := h.observation.Bindings(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	out := make([]bindingBody, 0, len(bindings))
	for _, b := range bindings {
		out = append(out, bindingBody{
			DomainID: b.SessionID + "/" + b.Namespace, AccountID: b.Account, ManagerKind: "session_state", HostType: "session", HostID: b.SessionID,
			StateNamespace: b.Namespace, RequireCallerOwner: true, CreatedAt: b.CreatedAt, UpdatedAt: b.CreatedAt,
		})
	}
	return dataReply(http.StatusOK, out)
}

type liveHeadBody struct {
	StateNamespace string  `json:"state_namespace"`
	Slot           string  `json:"slot"`
	BranchID       string  `json:"branch_id"`
	VisibilityMode string  `json:"visibility_mode"`
	SchemaVersion  int     `json:"schema_version"`
	Present        bool    `json:"present"`
	SourceFloorID  *string `json:"source_floor_id"`
	LastMutationID string  `json:"last_mutation_id"`
	UpdatedAt      int64   `json:"updated_at"`
	PayloadSize    int64   `json:"payload_size_bytes"`
}

// listLive answers GET /sessions/{session}/session-state/live: own heads, without values.
func (h *Handler) listLive(c *call) (reply, error) {
	q := openQuery(c)
	branch := q.text("branch_id", optional, anyText)
	namespace := q.namespace("state_namespace")
	if err := q.done(); err != nil {
		return reply{}, err
	}
	heads, err := h.observation.LiveHeads(c.ctx, c.account, c.path("session"), branch, namespace)
	if err != nil {
		return reply{}, err
	}
	out := make([]liveHeadBody, 0, len(heads))
	for i := range heads {
		head := &heads[i]
		body := liveHeadBody{
			StateNamespace: head.Namespace, Slot: head.Slot, BranchID: head.BranchID, VisibilityMode: visibilityMode, SchemaVersion: schemaVersion,
			Present: head.Present, LastMutationID: head.MutationID, UpdatedAt: head.UpdatedAt, PayloadSize: head.Size,
		}
		if head.FloorID != "" {
			body.SourceFloorID = &head.FloorID
		}
		out = append(out, body)
	}
	return dataReply(http.StatusOK, out)
}

// getLive answers GET /sessions/{session}/session-state/live/{namespace}/{slot}.
func (h *Handler) getLive(c *call) (reply, error) {
	q := openQuery(c)
	branch := q.text("branch_id", required, anyText)
	source := q.text("source_floor_id", optional, anyText)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	address := state.Address{Branch: branch, Namespace: c.path("namespace"), Slot: c.path("slot")}
	value, err := h.observation.LiveValue(c.ctx, c.account, c.path("session"), address, source)
	if err != nil {
		return reply{}, observed(err)
	}
	return rawReply(http.StatusOK, observedName(appendResolved(nil, &value)))
}

// listFloorSnapshots answers GET /floors/{floor}/session-state/snapshots: what the floor stores, without values.
func (h *Handler) listFloorSnapshots(c *call) (reply, error) {
	q := openQuery(c)
	namespace := q.namespace("state_namespace")
	if err := q.done(); err != nil {
		return reply{}, err
	}
	values, err := h.observation.FloorSnapshots(c.ctx, c.account, c.path("floor"), namespace)
	if err != nil {
		return reply{}, err
	}
	return rawReply(http.StatusOK, appendList(nil, values, func(b []byte, v *state.FloorValue) []byte { return appendFloorValue(b, v, false) }))
}

// getFloorSnapshot answers GET /floors/{floor}/session-state/snapshots/{namespace}/{slot}: the same with the value.
func (h *Handler) getFloorSnapshot(c *call) (reply, error) {
	value, err := h.observation.FloorSnapshot(c.ctx, c.account, c.path("floor"), c.path("namespace"), c.path("slot"))
	if err != nil {
		return reply{}, observed(err)
	}
	return rawReply(http.StatusOK, appendFloorValue(nil, &value, true))
}

// replaySafety answers GET /floors/{floor}/session-state/replay-safety.
func (h *Handler) replaySafety(c *call) (reply, error) {
	q := openQuery(c)
	list := q.text("confirmed_mutation_ids", optional, anyText)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	var confirmed []string
	if list != "" {
		confirmed = strings.Split(list, ",")
	}
	blockers, err := h.turns.Blockers(c.ctx, c.account, c.path("floor"), confirmed)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		Allowed  bool           `json:"allowed"`
		Blockers []turn.Blocker `json:"blockers"`
	}{len(blockers) == 0, blockers})
}

// floorDiff answers GET /floors/{floor}/session-state/diff. Its sides are the reverse of the public diff between floors.
func (h *Handler) floorDiff(c *call) (reply, error) {
	q := openQuery(c)
	d := state.FloorDiffQuery{Namespace: q.namespace("state_namespace")}
	d.AgainstFloorID, d.Branch = q.against()
	include := q.choice("include_values", "true", "1", "false", "0")
	if err := q.done(); err != nil {
		return reply{}, err
	}
	entries, err := h.observation.FloorDiff(c.ctx, c.account, c.path("floor"), d)
	if err != nil {
		return reply{}, err
	}
	values := include == "true" || include == "1"
	return rawReply(http.StatusOK, appendList(nil, entries, func(b []byte, e *state.DiffEntry) []byte {
		if values {
			return append(b, observedName(appendDiff(nil, e))...)
		}
		return append(b, observedName(appendDiffNames(nil, e))...)
	}))
}

// observed gives an unregistered namespace the status that this surface has for it (ruling 6).
func observed(err error) error {
	if sessile.CodeOf(err) == sessile.CodeNamespaceNotRegistered {
		return &statusError{err, http.StatusConflict}
	}
	return err
}

// observedName turns the first member of an object, namespace, into state_namespace, as this surface calls it.
func observedName(object []byte) []byte {
	const public, here = `{"namespace":`, `{"state_namespace":`
	out := make([]byte, 0, len(object)+len(here)-len(public))
	return append(append(out, here...), object[len(public):]...)
}
