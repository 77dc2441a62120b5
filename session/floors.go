package session

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
)

func ownFloor(tx sessile.ReadTx, account, id string) (sessile.Floor, error) {
	floor, found, err := tx.Floor(account, id)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	return floor, err
}

// CreateFloor makes a bare floor: it has no content and no snapshots, whatever its state. Codes: not_found for the
// session or the parent, floor_exists when the branch has a floor of that number.
func (s *Service) CreateFloor(ctx context.Context, account string, n NewFloor) (floor sessile.Floor, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		row, err := s.createFloor(tx, account, n)
		if err != nil {
			return err
		}
		floor, _, err = tx.FloorByRow(row)
		return err
	})
	return floor, err
}

func (s *Service) createFloor(tx sessile.Tx, account string, n NewFloor) (row int64, err error) {
	session, err := ownSession(tx, account, n.SessionID)
	if err != nil {
		return 0, err
	}
	parent := int64(0)
	if n.ParentFloorID != "" {
		floor, err := ownFloor(tx, account, n.ParentFloorID)
		if err != nil {
			return 0, err
		}
		if floor.Session != session.Row {
			return 0, sessile.NotFound()
		}
		parent = floor.Row
	}
	branch, found, err := tx.Branch(session.Row, n.BranchID)
	if err != nil {
		return 0, err
	}
	if !found {
		branch = sessile.Branch{Session: session.Row, Name: n.BranchID, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.AddBranch(&branch); err != nil {
			return 0, err
		}
	}
	taken, err := tx.FloorNumberTaken(branch.Row, n.No)
	if err != nil {
		return 0, err
	}
	if taken {
		return 0, sessile.Errorf(sessile.CodeFloorExists, "the branch has a floor of this number")
	}
	if n.State == "" {
		n.State = sessile.FloorDraft
	}
	floor := sessile.Floor{
		ID: s.options.IDs.New(sessile.PrefixFloor), Session: session.Row, Branch: branch.Row, Parent: parent, No: n.No, State: n.State,
		TokenIn: n.TokenIn, TokenOut: n.TokenOut, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	err = tx.AddFloor(&floor)
	return floor.Row, err
}

// Floor finds a floor, superseded ones too. Codes: not_found.
func (s *Service) Floor(ctx context.Context, account, id string) (floor sessile.Floor, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		floor, err = ownFloor(tx, account, id)
		return err
	})
	return floor, err
}

// Floors lists floors that are not superseded. A session that is not the account's has none.
func (s *Service) Floors(ctx context.Context, f sessile.FloorFilter) (floors []sessile.Floor, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		floors, total, err = tx.Floors(f)
		return err
	})
	return floors, total, err
}

// FloorRun finds a floor and its latest run, nil when none ever worked on it. Codes: not_found.
func (s *Service) FloorRun(ctx context.Context, account, id string) (floor sessile.Floor, run *sessile.Run, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		floor, err = ownFloor(tx, account, id)
		if err != nil {
			return err
		}
		latest, found, err := tx.FloorRun(floor.Row)
		if err == nil && found {
			run = &latest
		}
		return err
	})
	return floor, run, err
}

// FloorResult reads what a committed floor produced. Codes: not_found, invalid_state when it is not committed.
func (s *Service) FloorResult(ctx context.Context, account, id string) (result FloorResult, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		floor, err := ownFloor(tx, account, id)
		if err != nil {
			return err
		}
		if floor.State != sessile.FloorCommitted {
			return sessile.Errorf(sessile.CodeInvalidState, "the floor is not committed")
		}
		result = FloorResult{
			FloorID: floor.ID, Summaries: []string{}, PromptTokens: floor.TokenIn, CompletionTokens: floor.TokenOut,
			CommittedAt: floor.CommittedAt,
		}
		if result.CommittedAt == 0 { // a bare floor was never committed by a turn
			result.CommittedAt = floor.CreatedAt
		}
		return readOutput(tx, floor.Row, &result)
	})
	return result, err
}

func readOutput(tx sessile.ReadTx, floor int64, result *FloorResult) error {
	pages, err := tx.Pages(floor)
	if err != nil {
		return err
	}
	for i := range pages {
		page := &pages[i]
		if page.Kind == sessile.PageInput || !page.Active {
			continue
		}
		result.OutputPageID = &page.ID
		if page.Summaries != nil {
			if err := json.Unmarshal(page.Summaries, &result.Summaries); err != nil {
				return err
			}
		}
		messages, err := tx.PageMessages(page.Row)
		if err != nil {
			return err
		}
		for j := range messages {
			if messages[j].Role == "assistant" && messages[j].ContentFormat != "blocks" {
				result.AssistantMessageID, result.GeneratedText = &messages[j].ID, messages[j].Content
			}
		}
	}
	return nil
}

// DeleteFloor removes a floor, its content and its snapshot; heads that came from it stay. Codes: not_found,
// active_run_in_progress while a run works on it or on a floor that follows it.
func (s *Service) DeleteFloor(ctx context.Context, account, id string) error {
	return s.store.Update(ctx, func(tx sessile.Tx) error {
		floor, err := ownFloor(tx, account, id)
		if err != nil {
			return err
		}
		session, err := ownSession(tx, account, floor.SessionID)
		if err != nil {
			return err
		}
		runs, err := tx.RunningRuns(floor.Session)
		if err != nil {
			return err
		}
		for i := range runs {
			parent, found, err := runParent(tx, &runs[i])
			if err != nil {
				return err
			}
			if runs[i].Floor == floor.Row || found && parent.Row == floor.Row {
				return errActiveRun("floor")
			}
		}
		return s.cells.DeleteFloor(tx, &session, &floor)
	})
}

// Message finds a message. Codes: not_found.
func (s *Service) Message(ctx context.Context, account, id string) (message sessile.Message, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		m, found, err := tx.Message(account, id)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		message = m
		return err
	})
	return message, err
}

// Messages lists messages of floors that are not deleted.
func (s *Service) Messages(ctx context.Context, f sessile.MessageFilter) (messages []sessile.Message, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		messages, total, err = tx.Messages(f)
		return err
	})
	return messages, total, err
}

// maxTranscriptFloors bounds how far back a transcript is read.
const maxTranscriptFloors = 1 << 20

// Transcript lists the rows of a branch as they were put in or said, oldest first: those of its latest committed floor
// and of everything before it. A branch without floors tells what its source tells. Codes: not_found for the session.
func (s *Service) Transcript(ctx context.Context, account, sessionID, branch string, limit, offset int) (rows []sessile.Message, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		all, err := readTranscript(tx, &session, branch)
		total = len(all)
		rows = all[min(offset, total):min(offset+limit, total)]
		return err
	})
	return rows, total, err
}

// readTranscript reads what a branch tells, oldest first.
func readTranscript(tx sessile.ReadTx, session *sessile.Session, branch string) ([]sessile.Message, error) {
	b, found, err := tx.Branch(session.Row, branch)
	if err != nil || !found {
		return nil, err
	}
	last := b.SourceFloor
	floor, found, err := tx.LatestFloor(b.Row, true)
	if err != nil {
		return nil, err
	}
	if found {
		last = floor.Row
	}
	if last == 0 {
		return nil, nil
	}
	return tx.Story(last, true, maxTranscriptFloors)
}

// Timeline lists the floors of a branch with their content, by number. Codes: not_found for the session.
func (s *Service) Timeline(ctx context.Context, account, sessionID, branch string, limit, offset int) (floors []TimelineFloor, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		if _, err := ownSession(tx, account, sessionID); err != nil {
			return err
		}
		rows, n, err := tx.Floors(sessile.FloorFilter{
			Account: account, SessionID: sessionID, Branch: branch,
			Page: sessile.Page{Limit: limit, Offset: offset, SortBy: "floor_no"},
		})
		if err != nil {
			return err
		}
		total = n
		for i := range rows {
			floor, err := withContent(tx, &rows[i])
			if err != nil {
				return err
			}
			floors = append(floors, floor)
		}
		return nil
	})
	return floors, total, err
}

func withContent(tx sessile.ReadTx, row *sessile.Floor) (TimelineFloor, error) {
	floor := TimelineFloor{Floor: *row}
	pages, err := tx.Pages(row.Row)
	if err != nil {
		return floor, err
	}
	for i := range pages {
		messages, err := tx.PageMessages(pages[i].Row)
		if err != nil {
			return floor, err
		}
		floor.Pages = append(floor.Pages, TimelinePage{ContentPage: pages[i], Messages: messages})
	}
	return floor, nil
}
