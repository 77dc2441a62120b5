package httpapi

import (
	"net/http"
	"strings"

	"github.com/sessile-dev/sessile/state"
)

// namespaceBody is a namespace definition (spec/governed-state.md, 4.1 and 4.2). Built-in ones have neither owner nor
// template.
type namespaceBody struct {
	Namespace string        `json:"namespace"`
	OwnerKind string        `json:"owner_kind"`
	OwnerType string        `json:"logical_owner_type,omitzero"`
	OwnerID   string        `json:"logical_owner_id,omitzero"`
	Template  *slotTemplate `json:"default_slot_template,omitzero"`
	Slots     []slotBody    `json:"slots"`
}

// slotTemplate is what every slot of a custom namespace starts from.
type slotTemplate struct {
	VisibilityMode     string   `json:"default_visibility_mode"`
	WriteMode          string   `json:"default_write_mode"`
	ReplaySafety       string   `json:"default_replay_safety"`
	ClientWritable     bool     `json:"client_writable"`
	AllowedWriteModes  []string `json:"allowed_write_modes"`
	SupportsSnapshot   bool     `json:"supports_snapshot"`
	SupportsDiff       bool     `json:"supports_diff"`
	ReplayPolicySource string   `json:"replay_policy_source"`
}

type slotBody struct {
	Slot              string           `json:"slot"`
	ExposureLifecycle string           `json:"exposure_lifecycle"`
	VisibilityMode    string           `json:"visibility_mode"`
	WriteMode         string           `json:"default_write_mode"`
	ReplaySafety      string           `json:"default_replay_safety"`
	SchemaVersion     int              `json:"schema_version"`
	SizeBudgetBytes   int64            `json:"size_budget_bytes"`
	Capabilities      slotCapabilities `json:"capabilities"`
}

type slotCapabilities struct {
	ClientReadable    bool     `json:"client_readable"`
	ClientWritable    bool     `json:"client_writable"`
	AllowedWriteModes []string `json:"allowed_write_modes"`
	SupportsSnapshot  bool     `json:"supports_snapshot"`
	SupportsDiff      bool     `json:"supports_diff"`
}

// The words of definitions and mutations.
const (
	modeDirect      = "direct"
	modeCommitBound = "commit_bound"
	replaySafe      = "safe"
	lifecyclePublic = "public_stable"
)

func customWriteModes() []string { return []string{modeDirect, modeCommitBound} }

func showNamespace(n state.Namespace) namespaceBody {
	body := namespaceBody{Namespace: n.Name, OwnerKind: "built_in", Slots: make([]slotBody, 0, len(n.Slots))}
	if !n.BuiltIn {
		body.OwnerKind, body.OwnerType, body.OwnerID = "custom", n.OwnerType, n.OwnerID
		body.Template = &slotTemplate{
			VisibilityMode: visibilityMode, WriteMode: modeDirect, ReplaySafety: replaySafe, ClientWritable: true,
			AllowedWriteModes: customWriteModes(), SupportsSnapshot: true, SupportsDiff: true,
			ReplayPolicySource: "system_default",
		}
	}
	for _, slot := range n.Slots {
		body.Slots = append(body.Slots, showSlot(slot))
	}
	return body
}

func showSlot(s state.SlotDefinition) slotBody {
	body := slotBody{
		Slot: s.Name, ExposureLifecycle: lifecyclePublic, VisibilityMode: visibilityMode, WriteMode: modeDirect,
		ReplaySafety: replaySafe, SchemaVersion: schemaVersion, SizeBudgetBytes: s.SizeBudgetBytes,
		Capabilities: slotCapabilities{
			ClientReadable: true, ClientWritable: true, AllowedWriteModes: customWriteModes(), SupportsSnapshot: true,
			SupportsDiff: true,
		},
	}
	if s.BuiltIn {
		body.WriteMode = modeCommitBound
		body.Capabilities.ClientWritable = false
		body.Capabilities.AllowedWriteModes = nil
	}
	return body
}

// registerNamespace answers POST /sessions/{session}/state/namespaces (4.1).
func (h *Handler) registerNamespace(c *call) (reply, error) {
	o := openBody(c)
	var r state.Registration
	r.Namespace, _ = o.text("namespace", required, namespaceRule)
	r.OwnerType, _ = o.text("logical_owner_type", required, ownerTypeRule)
	r.OwnerID, _ = o.text("logical_owner_id", required, ownerIDRule)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	namespace, err := h.states.Register(c.ctx, c.account, c.path("session"), r)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusCreated, showNamespace(namespace))
}

// listNamespaces answers GET /sessions/{session}/state/namespaces (4.2).
func (h *Handler) listNamespaces(c *call) (reply, error) {
	namespaces, err := h.states.Namespaces(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	bodies := make([]namespaceBody, 0, len(namespaces))
	for _, n := range namespaces {
		bodies = append(bodies, showNamespace(n))
	}
	return dataReply(http.StatusOK, bodies)
}

// address reads the members that name a cell.
func (o *object) address() (a state.Address) {
	a.Branch, _ = o.text("branch_id", required, anyText)
	a.Namespace, _ = o.text("namespace", required, namespaceRule)
	a.Slot, _ = o.text("slot", required, slotRule)
	return a
}

// writeValue answers POST /sessions/{session}/state/values/write (4.3).
func (h *Handler) writeValue(c *call) (reply, error) {
	o := openBody(c)
	address := o.address()
	data, _ := o.value("value", required)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	value, err := h.states.Write(c.ctx, c.account, c.path("session"), address, data, c.requestID)
	if err != nil {
		return reply{}, err
	}
	return closeData(http.StatusOK, appendResolved(openData(sizeOfValue+len(value.Data)), &value))
}

// deleteValue answers DELETE /sessions/{session}/state/values (4.4).
func (h *Handler) deleteValue(c *call) (reply, error) {
	o := openBody(c)
	address := o.address()
	if err := o.done(); err != nil {
		return reply{}, err
	}
	value, err := h.states.Delete(c.ctx, c.account, c.path("session"), address, c.requestID)
	if err != nil {
		return reply{}, err
	}
	return closeData(http.StatusOK, appendResolved(openData(sizeOfValue+len(value.Data)), &value))
}

// resolve answers GET /sessions/{session}/state/resolve (4.5).
func (h *Handler) resolve(c *call) (reply, error) {
	q := openQuery(c)
	ask := state.ResolveQuery{
		Branch:        q.text("branch_id", required, anyText),
		SourceFloorID: q.text("source_floor_id", optional, anyText),
		Filter:        q.slotFilter(),
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	values, err := h.states.Resolve(c.ctx, c.account, c.path("session"), ask)
	if err != nil {
		return reply{}, err
	}
	size := 2
	for i := range values {
		size += sizeOfValue + len(values[i].Data)
	}
	return closeData(http.StatusOK, appendList(openData(size), values, appendResolved))
}

// snapshot answers GET /sessions/{session}/state/floors/{floor}/snapshot (4.6).
func (h *Handler) snapshot(c *call) (reply, error) {
	q := openQuery(c)
	filter := q.slotFilter()
	if err := q.done(); err != nil {
		return reply{}, err
	}
	values, err := h.states.Snapshot(c.ctx, c.account, c.path("session"), c.path("floor"), filter)
	if err != nil {
		return reply{}, err
	}
	size := 2
	for i := range values {
		size += sizeOfValue + len(values[i].Data)
	}
	return closeData(http.StatusOK, appendList(openData(size), values, appendSnapshot))
}

// diff answers GET /sessions/{session}/state/diff (4.7).
func (h *Handler) diff(c *call) (reply, error) {
	q := openQuery(c)
	ask := state.DiffQuery{FloorID: q.text("floor_id", required, anyText)}
	ask.AgainstFloorID, ask.Branch = q.against()
	ask.Filter = q.slotFilter()
	if err := q.done(); err != nil {
		return reply{}, err
	}
	entries, err := h.states.Diff(c.ctx, c.account, c.path("session"), ask)
	if err != nil {
		return reply{}, err
	}
	size := 2
	for i := range entries {
		size += sizeOfValue + len(entries[i].Left) + len(entries[i].Right)
	}
	return closeData(http.StatusOK, appendList(openData(size), entries, appendDiff))
}

// against asks for the left side of a diff: live values of a branch, or those of a floor. With a floor the branch does
// not matter.
func (q *query) against() (floorID, branch string) {
	target := q.text("against", required, anyText)
	if target == "live" {
		return "", q.text("branch_id", required, anyText)
	}
	q.text("branch_id", optional, anyText) // without effect, but it may not stand there twice
	floorID, found := strings.CutPrefix(target, "floor:")
	if target != "" && (!found || floorID == "") {
		q.problems.add("against", wrongChoice, "this must be live, or floor: and a floor id")
	}
	return floorID, ""
}
