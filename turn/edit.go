package turn

import "github.com/sessile-dev/sessile"

// beginEdit puts a floor with the new words behind the floor of the message, on a branch of its own. The order of the
// checks is that of spec/governed-state.md, 5.5: existence, archive, role, scope, state, branch.
func (s *Service) beginEdit(tx sessile.Tx, account, messageID string, r *EditRequest) (*attempt, error) {
	message, found, err := tx.Message(account, messageID)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, sessile.Errorf(sessile.CodeMessageNotFound, "no such message")
	}
	page, found, err := tx.PageByRow(message.Page)
	if err != nil || !found {
		return nil, orGone(err)
	}
	source, found, err := tx.FloorByRow(page.Floor)
	if err != nil || !found {
		return nil, orGone(err)
	}
	session, err := activeSession(tx, account, source.SessionID)
	if err != nil {
		return nil, err
	}
	switch {
	case message.Role != "user":
		return nil, sessile.Errorf(sessile.CodeInvalidMessageRole, "only a user message can be edited")
	case page.Kind == sessile.PageOutput || !page.Active:
		return nil, sessile.Errorf(sessile.CodeInvalidMessageScope, "only a message on an active input page can be edited")
	case source.State != sessile.FloorCommitted:
		return nil, sessile.Errorf(sessile.CodeInvalidState, "only a message of a committed floor can be edited")
	}
	branch, err := ensureBranch(tx, session.Row, r.BranchID)
	if err != nil {
		return nil, err
	}
	if _, err := s.clearBranch(tx, branch.Row); err != nil { // a dead edit leaves its branch free
		return nil, err
	}
	no, err := editPlace(tx, &session, &branch, &source)
	if err != nil {
		return nil, err
	}
	a := &attempt{
		request: r.Request, runType: RunTypeEdit, session: session, branch: branch, message: r.Content,
		edited: &editedMessage{messageID: message.ID, floorID: source.ID},
	}
	if err := s.takeBranch(tx, a); err != nil {
		return nil, err
	}
	if err := s.mayRerun(tx, a, source.Row); err != nil {
		return nil, err
	}
	if a.story, err = tx.Story(source.Row, false, s.options.StoryFloors); err != nil {
		return nil, err
	}
	return a, s.addFloor(tx, a, &sessile.Floor{No: no, Parent: source.Row})
}

// editPlace is the number of the new floor. The branch must be free: without floors, or with failed ones only (ruling 25).
func editPlace(tx sessile.ReadTx, session *sessile.Session, branch *sessile.Branch, source *sessile.Floor) (int64, error) {
	filter := sessile.FloorFilter{
		Account: session.Account, SessionID: session.ID, Branch: branch.Name, Page: sessile.Page{Limit: 1},
	}
	_, all, err := tx.Floors(filter)
	if err != nil {
		return 0, err
	}
	filter.State = sessile.FloorFailed
	_, failed, err := tx.Floors(filter)
	if err != nil {
		return 0, err
	}
	if all > failed {
		return 0, sessile.Errorf(sessile.CodeBranchExists, "the branch has floors already")
	}
	last, found, err := tx.LatestFloor(branch.Row, false)
	if err != nil {
		return 0, err
	}
	if found {
		return max(last.No, source.No) + 1, nil
	}
	return source.No + 1, nil
}

// orGone answers for a row whose owner was deleted meanwhile.
func orGone(err error) error {
	if err == nil {
		err = sessile.Errorf(sessile.CodeMessageNotFound, "no such message")
	}
	return err
}
