package session

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
)

// StatusQuery asks for the state of a session (spec/session-tools.md, 6.3).
type StatusQuery struct {
	Session string // as a tool was given it; "" is the caller's own
	Model   string // "" changes nothing, default clears the override
	Since   *int64 // also what changed after this version
}

// Status is the state of a session as agents see it.
type Status struct {
	Target
	Details      Details // counters filled from the transcript where none are stored
	Origin       Origin
	Delivery     Route
	Model        string // provider/model
	Own          bool   // the caller's own session
	Activity     Activity
	Tasks        Tasks
	ChangedModel bool
	StateVersion int64
	Changes      *changelog.Changes // nil when not asked for
}

// StatusOf shows a session to a caller and, where a model is named, changes its override, in one transaction. Looking
// acknowledges nothing. Codes: tool_error for a session that is not known or not to be seen, and for a model that is not to
// be had.
func (s *Service) StatusOf(ctx context.Context, c Caller, q StatusQuery) (status Status, err error) {
	if q.Model == "" {
		err = s.store.View(ctx, func(tx sessile.ReadTx) error {
			status, err = s.status(tx, c, &q)
			return err
		})
		return status, err
	}
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		status, err = s.status(tx, c, &q)
		if err == nil {
			err = s.chooseModel(tx, c, &status, q.Model)
		}
		return err
	})
	return status, err
}

func (s *Service) status(tx sessile.ReadTx, c Caller, q *StatusQuery) (Status, error) {
	t, refusal, err := s.resolver(tx, c).findForStatus(q.Session, "session_status")
	if err != nil {
		return Status{}, err
	}
	if refusal != nil {
		return Status{}, sessile.Errorf(sessile.CodeToolError, "%s", refusal.Reason)
	}
	status := Status{Target: t, Own: t.Key == c.Key}
	row := t.Row
	if row == nil {
		row = &sessile.Session{Account: c.Account, Key: t.Key, AgentID: s.options.Keys.Agent(t.Key)}
	}
	if status.Details, err = DetailsOf(row); err != nil {
		return status, err
	}
	if status.Model, err = s.modelOf(row, &status.Details); err != nil {
		return status, err
	}
	status.Origin, status.Delivery = OriginOf(row, &status.Details), status.Details.Delivery()
	if t.Row != nil {
		if err := backfill(tx, row, &status.Details); err != nil {
			return status, err
		}
	}
	now := s.options.Now().UnixMilli()
	if t.Row != nil {
		if status.Activity, err = activityOf(tx, row.Row, now); err != nil {
			return status, err
		}
	}
	if status.Tasks, err = tasksOf(tx, c, t.Key, now); err != nil {
		return status, err
	}
	since, limit := int64(0), 0
	if q.Since != nil {
		since, limit = *q.Since, changelog.MaxChanges
	}
	changes, err := changelog.ReadChanges(tx, c.Account, t.Key, since, limit)
	status.StateVersion = changes.StateVersion
	if q.Since != nil {
		status.Changes = &changes
	}
	return status, err
}

// backfillBytes is how much of the end of a transcript is searched for the newest usage.
const backfillBytes = 256 << 10

// usage is what a row says it cost.
type usage struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// backfill fills counters that are not known from the newest usage of the transcript. Nothing is written back.
func backfill(tx sessile.ReadTx, row *sessile.Session, d *Details) error {
	if d.InputTokens != 0 && d.OutputTokens != 0 && d.CacheRead != 0 && d.CacheWrite != 0 && d.TotalTokens != 0 {
		return nil
	}
	floor, found, err := lastFloor(tx, row)
	if err != nil || !found {
		return err
	}
	messages, err := tx.StoryTail(floor, 0, storyTailRows)
	if err != nil {
		return err
	}
	left := backfillBytes
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		m := &messages[i]
		left -= len(m.Content) + len(m.Extra)
		u, ok := usageOf(m.Extra)
		if !ok {
			continue
		}
		fill(&d.InputTokens, u.Input)
		fill(&d.OutputTokens, u.Output)
		fill(&d.CacheRead, u.CacheRead)
		fill(&d.CacheWrite, u.CacheWrite)
		prompt := u.Total
		if prompt == 0 {
			prompt = u.Input + u.CacheRead + u.CacheWrite
		}
		fill(&d.TotalTokens, prompt)
		return nil
	}
	return nil
}

func fill(counter *int64, value float64) {
	if *counter == 0 && value > 0 && value < 1<<53 {
		*counter = int64(value)
	}
}

// usageOf finds the usage among the further members of a row.
func usageOf(extra []byte) (usage, bool) {
	var members struct {
		Usage jsontext.Value `json:"usage"`
	}
	lenient := jsontext.AllowDuplicateNames(true)
	if len(extra) == 0 || json.Unmarshal(extra, &members, lenient) != nil || members.Usage.Kind() != '{' {
		return usage{}, false
	}
	var u usage
	if json.Unmarshal(members.Usage, &u, lenient) != nil {
		return usage{}, false
	}
	return u, u != usage{}
}

// chooseModel sets or clears the override of a session; a caller without a session gets one.
func (s *Service) chooseModel(tx sessile.Tx, c Caller, status *Status, text string) error {
	row := status.Row
	if row == nil {
		row = &sessile.Session{Account: c.Account, Key: status.Key}
	}
	stored, err := DetailsOf(row)
	if err != nil {
		return err
	}
	standard := s.options.Models.Default(s.options.Keys.Agent(status.Key))
	override := ""
	if !strings.EqualFold(text, "default") {
		model, ok := s.options.Models.Choose(text, status.Model)
		if !ok {
			return sessile.Errorf(sessile.CodeToolError, "model %q is not known here or not allowed", text)
		}
		if model != standard {
			override = model
		}
	}
	status.Model = override
	if override == "" {
		status.Model = standard
	}
	status.Details.ModelOverride = override
	if stored.ModelOverride == override {
		return nil
	}
	status.ChangedModel = true
	stored.ModelOverride, stored.ContextTokens = override, 0
	status.Details.ContextTokens = 0
	if err := stored.store(row); err != nil {
		return err
	}
	if status.Row != nil {
		row.UpdatedAt = tx.Now()
		return tx.TouchSession(row)
	}
	row.ID, row.Status = s.options.IDs.New(sessile.PrefixSession), sessile.SessionActive
	row.CreatedAt, row.UpdatedAt, row.Settings = tx.Now(), tx.Now(), []byte("{}")
	status.Row = row
	return s.add(tx, row, "")
}
