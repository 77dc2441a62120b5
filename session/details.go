package session

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// Route is where messages of a session come from or go to (spec/session-tools.md, 1.9). A thread id is a text or a number,
// and stays as it was given.
type Route struct {
	Channel   string         `json:"channel,omitzero"`
	To        string         `json:"to,omitzero"`
	AccountID string         `json:"accountId,omitzero"`
	ThreadID  jsontext.Value `json:"threadId,omitzero"`
}

func (r *Route) empty() bool {
	return r.Channel == "" && r.To == "" && r.AccountID == "" && len(r.ThreadID) == 0
}

// Origin is where a session was created.
type Origin struct {
	Provider  string         `json:"provider,omitzero"`
	AccountID string         `json:"accountId,omitzero"`
	ThreadID  jsontext.Value `json:"threadId,omitzero"`
}

// Goal is what a session is to achieve (spec/session-tools.md, 1.10).
type Goal struct {
	SchemaVersion     int    `json:"schemaVersion"`
	ID                string `json:"id"`
	Objective         string `json:"objective"`
	Status            string `json:"status"`
	CreatedAt         int64  `json:"createdAt"`
	UpdatedAt         int64  `json:"updatedAt"`
	TokenStart        int64  `json:"tokenStart"`
	TokenStartFresh   bool   `json:"tokenStartFresh"`
	TokensUsed        int64  `json:"tokensUsed"`
	TokenBudget       *int64 `json:"tokenBudget,omitzero"`
	ContinuationTurns int    `json:"continuationTurns"`
}

// Details are what is kept of a session for agents, beside its columns. Counters of 0 are not known.
type Details struct {
	Origin          Origin `json:"origin,omitzero"`
	DeliveryContext Route  `json:"deliveryContext,omitzero"`
	Last            Route  `json:"last,omitzero"`
	SpawnDepth      *int64 `json:"spawnDepth,omitzero"`

	InputTokens   int64 `json:"inputTokens,omitzero"`
	OutputTokens  int64 `json:"outputTokens,omitzero"`
	CacheRead     int64 `json:"cacheRead,omitzero"`
	CacheWrite    int64 `json:"cacheWrite,omitzero"`
	TotalTokens   int64 `json:"totalTokens,omitzero"`
	ContextTokens int64 `json:"contextTokens,omitzero"`

	ModelOverride       string `json:"modelOverride,omitzero"`       // provider/model
	ModelOverrideSource string `json:"modelOverrideSource,omitzero"` // user or auto, of a spawned session

	// What a session was spawned with (spec/session-tools.md, 5.5).
	Thinking      string   `json:"thinking,omitzero"`
	Workspace     string   `json:"spawnedWorkspaceDir,omitzero"`
	Cwd           string   `json:"spawnedCwd,omitzero"`
	Role          string   `json:"subagentRole,omitzero"`         // orchestrator or leaf
	ControlScope  string   `json:"subagentControlScope,omitzero"` // children or none
	InheritedDeny []string `json:"inheritedToolDeny,omitempty"`

	Goal *Goal `json:"goal,omitzero"`
}

// DetailsOf reads the details of a stored session.
func DetailsOf(row *sessile.Session) (d Details, err error) {
	if len(row.Details) > 0 {
		err = json.Unmarshal(row.Details, &d)
	}
	return d, err
}

// ChangeDetails changes the details of a session that is about to be stored.
func ChangeDetails(row *sessile.Session, change func(*Details)) error {
	d, err := DetailsOf(row)
	if err != nil {
		return err
	}
	change(&d)
	return d.store(row)
}

// store puts the details into the row.
func (d *Details) store(row *sessile.Session) (err error) {
	row.Details, err = json.Marshal(d, json.Deterministic(true))
	return err
}

// Delivery is the effective route for later delivery: the stored context completed by the last route. Of two that name
// different channels or accounts only one counts, and an outside channel wins over the web chat.
func (d *Details) Delivery() Route {
	first, second := d.DeliveryContext, d.Last
	if second.empty() {
		return first
	}
	if first.empty() || first.Channel == internalWebChat && second.Channel != "" && second.Channel != internalWebChat {
		return second
	}
	if differ(first.Channel, second.Channel) || differ(first.AccountID, second.AccountID) {
		return first
	}
	if first.Channel == "" {
		first.Channel = second.Channel
	}
	if first.To == "" {
		first.To = second.To
	}
	if first.AccountID == "" {
		first.AccountID = second.AccountID
	}
	if len(first.ThreadID) == 0 && !differ(first.To, second.To) {
		first.ThreadID = second.ThreadID
	}
	return first
}

// internalWebChat is the channel of the web chat, which is not outside.
const internalWebChat = "webchat"

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// SplitModel takes provider/model apart; without a provider the whole is the model.
func SplitModel(model string) (provider, name string) {
	provider, name, ok := strings.Cut(model, "/")
	if !ok {
		return "", model
	}
	return provider, name
}
