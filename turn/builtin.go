package turn

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// scene and world are the values of the built-in slots (spec/governed-state.md, section 2).
type scene struct {
	Kind             string     `json:"kind"`
	SchemaVersion    int        `json:"schemaVersion"`
	SessionID        string     `json:"sessionId"`
	BranchID         string     `json:"branchId"`
	FloorID          string     `json:"floorId"`
	RunType          string     `json:"runType"`
	GeneratedText    string     `json:"generatedText"`
	Summaries        []string   `json:"summaries"`
	Usage            sceneUsage `json:"usage"`
	ToolExecutionIDs []string   `json:"toolExecutionIds"`
	UpdatedAt        int64      `json:"updatedAt"`
}

type sceneUsage struct {
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
	TotalTokens  int64 `json:"totalTokens"`
}

type world struct {
	Kind              string   `json:"kind"`
	SchemaVersion     int      `json:"schemaVersion"`
	SessionID         string   `json:"sessionId"`
	BranchID          string   `json:"branchId"`
	FloorID           string   `json:"floorId"`
	RunType           string   `json:"runType"`
	SummaryLines      []string `json:"summaryLines"`
	WorldbookID       *string  `json:"worldbookId"`
	WorldbookVersion  *int64   `json:"worldbookVersion"`
	ActivatedEntryIDs []int64  `json:"activatedWorldbookEntryUids"`
	ToolExecutionIDs  []string `json:"toolExecutionIds"`
	UpdatedAt         int64    `json:"updatedAt"`
}

// builtIn makes the values that the turn leaves in the built-in slots.
func (a *attempt) builtIn(said *answer, now int64) (sceneValue, worldValue jsontext.Value, err error) {
	sceneValue, err = json.Marshal(scene{
		Kind: "first_party_scene_state", SchemaVersion: 1, SessionID: a.session.ID, BranchID: a.branch.Name, FloorID: a.floor.ID,
		RunType: a.runType, GeneratedText: said.text, Summaries: said.summaries,
		Usage:            sceneUsage{InputTokens: said.usage.InputTokens, OutputTokens: said.usage.OutputTokens, TotalTokens: said.usage.TotalTokens},
		ToolExecutionIDs: []string{}, UpdatedAt: now,
	})
	if err != nil {
		return nil, nil, err
	}
	w := world{
		Kind: "first_party_world_state", SchemaVersion: 1, SessionID: a.session.ID, BranchID: a.branch.Name, FloorID: a.floor.ID,
		RunType: a.runType, SummaryLines: said.summaries, ActivatedEntryIDs: []int64{}, ToolExecutionIDs: []string{}, UpdatedAt: now,
	}
	if a.worldbook != nil {
		w.WorldbookID, w.WorldbookVersion, w.ActivatedEntryIDs = &a.worldbook.ID, &a.worldbook.Version, a.worldbook.UIDs
	}
	worldValue, err = json.Marshal(w)
	return sceneValue, worldValue, err
}
