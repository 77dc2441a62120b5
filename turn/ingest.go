package turn

import (
	"context"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// RunTypeIngest is the run type of floors whose rows came from elsewhere.
const RunTypeIngest = "ingest"

// IngestedMessage is a transcript row that is put in without a model. Content is a text, or with Blocks set the JSON text
// of a list. Extra holds further members as a JSON object, or nil.
type IngestedMessage struct {
	Role      string
	Content   string
	Blocks    bool
	Extra     []byte
	CreatedAt *int64
}

// IngestRequest puts rows into the transcript of a branch.
type IngestRequest struct {
	BranchID  string // "" is main
	Messages  []IngestedMessage
	Writes    []state.TurnWrite
	RequestID string
}

// Ingested is the floor that holds the rows.
type Ingested struct {
	FloorID    string
	FloorNo    int64
	MessageIDs []string
}

// Ingest commits one floor with the rows and a snapshot, in one transaction; scene and world stay as they were
// (design.md section 5). Codes: not_found, session_archived, generation_conflict, invalid_state, feature_unavailable,
// and those of the writes.
func (s *Service) Ingest(ctx context.Context, account, sessionID string, r IngestRequest) (in Ingested, err error) {
	if s.options.StateDisabled && len(r.Writes) > 0 {
		return Ingested{}, errFeature()
	}
	err = s.store.Update(ctx, func(tx sessile.Tx) (err error) {
		in, err = s.ingest(tx, account, sessionID, &r)
		return err
	})
	return in, err
}

func (s *Service) ingest(tx sessile.Tx, account, sessionID string, r *IngestRequest) (Ingested, error) {
	session, err := activeSession(tx, account, sessionID)
	if err != nil {
		return Ingested{}, err
	}
	name := r.BranchID
	if name == "" {
		name = sessile.MainBranch
	}
	branch, err := ensureBranch(tx, session.Row, name)
	if err != nil {
		return Ingested{}, err
	}
	a := &attempt{
		request: Request{Writes: r.Writes, RequestID: r.RequestID}, runType: RunTypeIngest, session: session, branch: branch,
	}
	if err := s.takeBranch(tx, a); err != nil {
		return Ingested{}, err
	}
	no, parent, err := nextPlace(tx, &session, &branch, account, "")
	if err != nil {
		return Ingested{}, err
	}
	a.floor = sessile.Floor{
		ID: s.options.IDs.New(sessile.PrefixFloor), Session: session.Row, Branch: branch.Row, No: no, Parent: parent,
		State: sessile.FloorGenerating, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	if err := tx.AddFloor(&a.floor); err != nil {
		return Ingested{}, err
	}
	if err := s.startRun(tx, a, sessile.RunKindIngest); err != nil {
		return Ingested{}, err
	}
	ids, err := s.addRows(tx, a.floor.Row, r.Messages)
	if err != nil {
		return Ingested{}, err
	}
	c := &state.FloorCommit{
		Session: &session, Branch: &branch, Floor: &a.floor, RunType: RunTypeIngest, Writes: r.Writes, RequestID: r.RequestID,
	}
	if err := s.cells.CommitFloor(tx, c); err != nil {
		return Ingested{}, err
	}
	if err := touch(tx, session.Row, nil); err != nil {
		return Ingested{}, err
	}
	now := tx.Now()
	a.run.Status, a.run.EndedAt = sessile.RunSucceeded, &now
	return Ingested{FloorID: a.floor.ID, FloorNo: no, MessageIDs: ids}, tx.UpdateRun(&a.run)
}

func (s *Service) addRows(tx sessile.Tx, floor int64, messages []IngestedMessage) ([]string, error) {
	page := sessile.ContentPage{
		ID: s.options.IDs.New(sessile.PrefixPage), Floor: floor, Kind: sessile.PageMixed, Active: true, Version: 1,
	}
	if err := tx.AddPage(&page); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(messages))
	for i, in := range messages {
		m := sessile.Message{
			ID: s.options.IDs.New(sessile.PrefixMessage), Page: page.Row, Seq: int64(i), Role: in.Role, Content: in.Content,
			ContentFormat: "text", Extra: in.Extra, CreatedAt: tx.Now(),
		}
		if in.Blocks {
			m.ContentFormat = "blocks"
		}
		if in.CreatedAt != nil {
			m.CreatedAt = *in.CreatedAt
		}
		if err := tx.AddMessage(&m); err != nil {
			return nil, err
		}
		ids = append(ids, m.ID)
	}
	return ids, nil
}
