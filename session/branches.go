package session

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// ForkBranch registers a branch that starts at a committed floor (spec/governed-state.md, section 6). It costs one row:
// reads of the branch go through the floor until it has floors of its own. An empty name gets a generated one. Codes:
// not_found, invalid_state, branch_exists.
func (s *Service) ForkBranch(ctx context.Context, account, floorID, name string) (fork Fork, err error) {
	if name == "" {
		name = "branch-" + s.options.IDs.Suffix()
	}
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		floor, err := ownFloor(tx, account, floorID)
		if err != nil {
			return err
		}
		if floor.State != sessile.FloorCommitted || floor.SupersededAt != nil {
			return sessile.Errorf(sessile.CodeInvalidState, "only a committed floor that is not superseded can start a branch")
		}
		fork = Fork{BranchID: name, SourceFloorID: floor.ID, SourceFloorNo: floor.No, SessionID: floor.SessionID}
		return register(tx, &floor, name)
	})
	return fork, err
}

func register(tx sessile.Tx, floor *sessile.Floor, name string) error {
	branch, found, err := tx.Branch(floor.Session, name)
	if err != nil {
		return err
	}
	if !found { // not even written to
		return tx.AddBranch(&sessile.Branch{
			Session: floor.Session, Name: name, SourceFloor: floor.Row, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		})
	}
	exists, err := branchExists(tx, &branch)
	if err != nil {
		return err
	}
	if exists {
		return sessile.Errorf(sessile.CodeBranchExists, "the session has a branch of this name")
	}
	return tx.RegisterBranch(branch.Row, floor.Row)
}

// branchExists tells a branch that management knows from a name that was only written to (section 1.1).
func branchExists(tx sessile.ReadTx, branch *sessile.Branch) (bool, error) {
	if branch.Name == sessile.MainBranch || branch.SourceFloor != 0 {
		return true, nil
	}
	_, carried, err := tx.LatestFloor(branch.Row, false)
	if err != nil || carried {
		return carried, err
	}
	return tx.HasSnapshotFloor(branch.Row)
}

// Branches lists the branches of a session: main, registered ones and those that carry floors. Codes: not_found.
func (s *Service) Branches(ctx context.Context, account, sessionID string, page sessile.Page) (branches []sessile.BranchSummary, total int, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		branches, total, err = tx.BranchSummaries(row.Row, page)
		return err
	})
	return branches, total, err
}

// DeleteBranch removes a branch with its heads and floors; its mutations stay (ruling 14). Without a session the name
// must be unambiguous among the account's sessions. Codes: protected_branch, not_found, ambiguous_branch,
// active_run_in_progress.
func (s *Service) DeleteBranch(ctx context.Context, account, sessionID, name string) (deleted DeletedBranch, err error) {
	if name == sessile.MainBranch {
		return DeletedBranch{}, sessile.Errorf(sessile.CodeProtectedBranch, "the branch main cannot be deleted")
	}
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		session, branch, err := findBranch(tx, account, sessionID, name)
		if err != nil {
			return err
		}
		busy, err := branchBusy(tx, &branch)
		if err != nil {
			return err
		}
		if busy {
			return errActiveRun("branch")
		}
		floors, err := s.cells.DeleteBranch(tx, &session, &branch)
		deleted = DeletedBranch{BranchID: name, SessionID: session.ID, Floors: floors}
		return err
	})
	return deleted, err
}

// findBranch finds the one existing branch of the name, in the session if one is given.
func findBranch(tx sessile.ReadTx, account, sessionID, name string) (sessile.Session, sessile.Branch, error) {
	candidates, err := tx.BranchesNamed(account, name)
	if err != nil {
		return sessile.Session{}, sessile.Branch{}, err
	}
	only := sessile.Session{}
	if sessionID != "" {
		if only, err = ownSession(tx, account, sessionID); err != nil {
			return sessile.Session{}, sessile.Branch{}, err
		}
	}
	var found []sessile.Branch
	for i := range candidates {
		if only.Row != 0 && candidates[i].Session != only.Row {
			continue
		}
		exists, err := branchExists(tx, &candidates[i])
		if err != nil {
			return sessile.Session{}, sessile.Branch{}, err
		}
		if exists {
			found = append(found, candidates[i])
		}
	}
	switch {
	case len(found) == 0:
		return sessile.Session{}, sessile.Branch{}, sessile.NotFound()
	case len(found) > 1:
		return sessile.Session{}, sessile.Branch{}, sessile.Errorf(sessile.CodeAmbiguousBranch, "several sessions have a branch of this name; name the session")
	}
	session, known, err := tx.SessionByRow(found[0].Session)
	if err == nil && !known {
		err = sessile.NotFound()
	}
	return session, found[0], err
}

// branchBusy reports whether a run works on the branch, or on a floor that starts at one of its floors.
func branchBusy(tx sessile.ReadTx, branch *sessile.Branch) (bool, error) {
	runs, err := tx.RunningRuns(branch.Session)
	if err != nil {
		return false, err
	}
	for i := range runs {
		if runs[i].Branch == branch.Row {
			return true, nil
		}
		parent, found, err := runParent(tx, &runs[i])
		if err != nil {
			return false, err
		}
		if found && parent.Branch == branch.Row {
			return true, nil
		}
	}
	return false, nil
}

// runParent finds the parent of the floor a run works on: what the run will commit builds on its snapshot.
func runParent(tx sessile.ReadTx, run *sessile.Run) (sessile.Floor, bool, error) {
	if run.Floor == 0 {
		return sessile.Floor{}, false, nil
	}
	floor, found, err := tx.FloorByRow(run.Floor)
	if err != nil || !found || floor.Parent == 0 {
		return sessile.Floor{}, false, err
	}
	return tx.FloorByRow(floor.Parent)
}
