package state

import "github.com/sessile-dev/sessile"

// DeleteFloor removes a floor and its snapshot and frees the versions that only it showed, those of extensions too. Heads
// that came from it stay (spec/governed-state.md, section 6).
func (s *Service) DeleteFloor(tx sessile.Tx, session *sessile.Session, floor *sessile.Floor) error {
	kept := newRetention(session.AccountRow)
	if floor.HasSnapshot() {
		versions, err := tx.Versions(session.Row, sessile.PointOf(floor), sessile.SlotFilter{}, false)
		if err != nil {
			return err
		}
		for i := range versions {
			v := &versions[i]
			kept.add(v.Seq, v.NamespaceRow, v.Size, true)
		}
	}
	if err := tx.DeleteFloor(session.Row, floor.Row); err != nil {
		return err
	}
	if _, err := kept.settle(tx); err != nil {
		return err
	}
	return forgetExtensions(tx, floor.Branch)
}

// DeleteBranch removes the heads of a branch and the snapshots of its floors, frees what only they kept, and tells how
// many floors went. Its mutations stay in the log (ruling 14).
func (s *Service) DeleteBranch(tx sessile.Tx, session *sessile.Session, branch *sessile.Branch) (floors int, err error) {
	versions, err := tx.BranchVersions(branch.Row)
	if err != nil {
		return 0, err
	}
	kept := newRetention(session.AccountRow)
	for i := range versions {
		v := &versions[i]
		if err := kept.follow(tx, v.Seq, v.NamespaceRow, v.Size); err != nil {
			return 0, err
		}
	}
	if floors, err = tx.DeleteBranch(session.Row, branch.Row); err != nil {
		return 0, err
	}
	_, err = kept.settle(tx)
	return floors, err
}
