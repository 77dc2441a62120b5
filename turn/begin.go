package turn

import (
	"github.com/sessile-dev/sessile"
)

// beginRespond takes the branch and puts the new floor with the user's message on it.
func (s *Service) beginRespond(tx sessile.Tx, account, sessionID string, r *RespondRequest) (*attempt, error) {
	session, err := activeSession(tx, account, sessionID)
	if err != nil {
		return nil, err
	}
	name := r.BranchID
	if name == "" {
		name = sessile.MainBranch
	}
	branch, err := ensureBranch(tx, session.Row, name)
	if err != nil {
		return nil, err
	}
	a := &attempt{
		request: r.Request, runType: RunTypeRespond, session: session, branch: branch, message: r.Message, offerTools: r.OfferTools,
	}
	if err := s.takeBranch(tx, a); err != nil {
		return nil, err
	}
	no, parent, err := nextPlace(tx, &session, &branch, account, r.SourceFloorID)
	if err != nil {
		return nil, err
	}
	if err := s.cells.CheckTurnWrites(tx, &session, r.Writes); err != nil {
		return nil, err
	}
	if parent != 0 {
		if a.story, err = tx.Story(parent, true, s.options.StoryFloors); err != nil {
			return nil, err
		}
	}
	return a, s.addFloor(tx, a, &sessile.Floor{No: no, Parent: parent})
}

// beginRegenerate puts a new floor beside the latest committed one of main, to take its place.
func (s *Service) beginRegenerate(tx sessile.Tx, account, sessionID string, meant *string, r *Request) (*attempt, error) {
	session, err := activeSession(tx, account, sessionID)
	if err != nil {
		return nil, err
	}
	branch, err := ensureBranch(tx, session.Row, sessile.MainBranch)
	if err != nil {
		return nil, err
	}
	a := &attempt{request: *r, runType: RunTypeRegenerate, session: session, branch: branch}
	if err := s.takeBranch(tx, a); err != nil {
		return nil, err
	}
	target, found, err := tx.LatestFloor(branch.Row, true)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, sessile.Errorf(sessile.CodeNoFloorToRegenerate, "main has no committed floor")
	}
	if meant != nil && target.ID != *meant { // a turn before this one in the queue has moved on
		return nil, errStale()
	}
	if a.message, err = userMessage(tx, target.Row); err != nil {
		return nil, err
	}
	if err := s.mayRerun(tx, a, target.Row); err != nil {
		return nil, err
	}
	if a.story, err = tx.Story(target.Row, false, s.options.StoryFloors); err != nil {
		return nil, err
	}
	a.replaced = &target
	return a, s.addFloor(tx, a, &sessile.Floor{No: target.No, Parent: target.Row, Replaces: target.Row})
}

// beginRetry opens a committed floor again. wasLive says that it could have been when the turn came into the queue.
func (s *Service) beginRetry(tx sessile.Tx, account, floorID string, wasLive bool, r *Request) (*attempt, error) {
	floor, found, err := tx.Floor(account, floorID)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, sessile.Errorf(sessile.CodeFloorNotFound, "no such floor")
	}
	session, err := activeSession(tx, account, floor.SessionID)
	if err != nil {
		return nil, err
	}
	branch, err := ensureBranch(tx, session.Row, floor.BranchName)
	if err != nil {
		return nil, err
	}
	a := &attempt{request: *r, runType: RunTypeRetry, session: session, branch: branch}
	if err := s.takeBranch(tx, a); err != nil {
		return nil, err
	}
	if floor, _, err = tx.FloorByRow(floor.Row); err != nil { // a dead retry may just have been given up
		return nil, err
	}
	a.floor = floor
	if !isLive(&floor) {
		if wasLive {
			return nil, errStale()
		}
		return nil, sessile.Errorf(sessile.CodeInvalidState, "only a committed floor that is not superseded can be retried")
	}
	if a.message, err = userMessage(tx, floor.Row); err != nil {
		return nil, err
	}
	if err := s.mayRerun(tx, a, floor.Row); err != nil {
		return nil, err
	}
	if a.story, err = tx.Story(floor.Row, false, s.options.StoryFloors); err != nil {
		return nil, err
	}
	pages, err := tx.Pages(floor.Row)
	if err != nil {
		return nil, err
	}
	for i := range pages {
		if pages[i].Kind == sessile.PageOutput {
			a.retryPage = max(a.retryPage, pages[i].No)
		}
	}
	if err := tx.SetFloorState(floor.Row, sessile.FloorGenerating); err != nil {
		return nil, err
	}
	return a, s.startRun(tx, a, sessile.RunKindTurn)
}

// isLive reports whether a floor can be run again.
func isLive(floor *sessile.Floor) bool {
	return floor.State == sessile.FloorCommitted && floor.SupersededAt == nil
}

func activeSession(tx sessile.ReadTx, account, id string) (sessile.Session, error) {
	session, found, err := tx.Session(account, id)
	switch {
	case err != nil:
		return session, err
	case !found:
		return session, sessile.NotFound()
	case session.Status == sessile.SessionArchived:
		return session, sessile.Errorf(sessile.CodeSessionArchived, "the session is archived and takes no turns")
	}
	return session, nil
}

func ensureBranch(tx sessile.Tx, session int64, name string) (sessile.Branch, error) {
	branch, found, err := tx.Branch(session, name)
	if err != nil || found {
		return branch, err
	}
	branch = sessile.Branch{Session: session, Name: name, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	err = tx.AddBranch(&branch)
	return branch, err
}

// clearBranch takes a branch from a run whose lease ran out: its holder is dead. It reports whether one is alive.
func (s *Service) clearBranch(tx sessile.Tx, branch int64) (busy bool, err error) {
	holder, held, err := tx.RunningRun(branch)
	if err != nil || !held {
		return false, err
	}
	if holder.LeaseUntil > tx.Now() {
		return true, nil
	}
	return false, s.lose(tx, &holder, sessile.RunTimeout, errNoSign())
}

// takeBranch makes sure nobody else works on the branch.
func (s *Service) takeBranch(tx sessile.Tx, a *attempt) error {
	busy, err := s.clearBranch(tx, a.branch.Row)
	if err != nil {
		return err
	}
	if busy {
		return sessile.Errorf(sessile.CodeGenerationConflict, "another turn runs on this branch")
	}
	generating, err := tx.HasGeneratingFloor(a.branch.Row)
	if err != nil {
		return err
	}
	if generating {
		return sessile.Errorf(sessile.CodeInvalidState, "a floor of this branch is generating")
	}
	return nil
}

// nextPlace finds number and parent of the next floor (1.2): behind the floors of an existing branch, or behind the
// source of a new one.
func nextPlace(tx sessile.ReadTx, session *sessile.Session, branch *sessile.Branch, account, sourceID string) (no, parent int64, err error) {
	last, exists, err := tx.LatestFloor(branch.Row, false)
	if err != nil {
		return 0, 0, err
	}
	if exists {
		committed, found, err := tx.LatestFloor(branch.Row, true)
		if err != nil {
			return 0, 0, err
		}
		if found {
			return last.No + 1, committed.Row, nil
		}
		return last.No + 1, last.Parent, nil
	}
	source, found, err := findSource(tx, session, branch, account, sourceID)
	if err != nil || !found {
		return 0, 0, err
	}
	return source.No + 1, source.Row, nil
}

// findSource finds where a new branch starts: the floor asked for, else the one it was registered from (ruling 13), else
// the latest committed floor of main.
func findSource(tx sessile.ReadTx, session *sessile.Session, branch *sessile.Branch, account, sourceID string) (sessile.Floor, bool, error) {
	if sourceID != "" {
		source, found, err := tx.Floor(account, sourceID)
		if err != nil {
			return source, false, err
		}
		if !found || source.Session != session.Row || source.State != sessile.FloorCommitted || source.SupersededAt != nil {
			return source, false, sessile.Errorf(sessile.CodeSourceFloorNotFound, "the source floor is not a committed floor of this session")
		}
		return source, true, nil
	}
	if branch.SourceFloor != 0 {
		return tx.FloorByRow(branch.SourceFloor)
	}
	if branch.Name == sessile.MainBranch {
		return sessile.Floor{}, false, nil
	}
	main, found, err := tx.Branch(session.Row, sessile.MainBranch)
	if err != nil || !found {
		return sessile.Floor{}, false, err
	}
	return tx.LatestFloor(main.Row, true)
}

// userMessage finds what the user said on a floor.
func userMessage(tx sessile.ReadTx, floor int64) (string, error) {
	pages, err := tx.Pages(floor)
	if err != nil {
		return "", err
	}
	for i := range pages {
		if pages[i].Kind == sessile.PageOutput || !pages[i].Active {
			continue
		}
		messages, err := tx.PageMessages(pages[i].Row)
		if err != nil {
			return "", err
		}
		for j := range messages {
			if messages[j].Role == "user" {
				return plainText(&messages[j]), nil
			}
		}
	}
	return "", sessile.Errorf(sessile.CodeNoUserMessage, "the floor has no user message")
}

// addFloor stores the floor with the user's message and starts the run that works on it.
func (s *Service) addFloor(tx sessile.Tx, a *attempt, floor *sessile.Floor) error {
	ids := s.options.IDs
	floor.ID, floor.Session, floor.Branch = ids.New(sessile.PrefixFloor), a.session.Row, a.branch.Row
	floor.State, floor.CreatedAt, floor.UpdatedAt = sessile.FloorGenerating, tx.Now(), tx.Now()
	if err := tx.AddFloor(floor); err != nil {
		return err
	}
	a.floor = *floor
	page := sessile.ContentPage{ID: ids.New(sessile.PrefixPage), Floor: floor.Row, Kind: sessile.PageInput, Active: true, Version: 1}
	if err := tx.AddPage(&page); err != nil {
		return err
	}
	message := sessile.Message{
		ID: ids.New(sessile.PrefixMessage), Page: page.Row, Role: "user", Content: a.message, ContentFormat: "text", Extra: a.extra,
		CreatedAt: tx.Now(),
	}
	if err := tx.AddMessage(&message); err != nil {
		return err
	}
	return s.startRun(tx, a, sessile.RunKindTurn)
}

// startRun makes a run of the turn, or lets the queued run that it was made for begin.
func (s *Service) startRun(tx sessile.Tx, a *attempt, kind string) error {
	if a.queued {
		return s.startQueued(tx, a)
	}
	a.run = sessile.Run{
		ID: s.options.IDs.New(sessile.PrefixRun), Account: a.session.Account, SessionKey: a.session.Key, Session: a.session.Row,
		Branch: a.branch.Row, Floor: a.floor.Row, Kind: kind, RunType: a.runType, Status: sessile.RunRunning, Attempt: 1,
		StartedAt: tx.Now(), LeaseUntil: tx.Now() + (s.options.GenerationTimeout + leaseMargin).Milliseconds(),
	}
	return tx.AddRun(&a.run)
}
