package state

import "github.com/sessile-dev/sessile"

// CopyInto has the commit of a new session's first floor bring what the main branch of another session shows: it
// registers the same namespaces, within the quotas, and adds the values to the commit. Values are written anew, so both
// sessions are independent from then on (design.md section 5). Codes: those of [Service.Register].
func (s *Service) CopyInto(tx sessile.Tx, source *sessile.Session, c *FloorCommit) error {
	namespaces, err := tx.Namespaces(source.Row)
	if err != nil {
		return err
	}
	for _, n := range namespaces {
		if n.BuiltIn {
			continue
		}
		err := s.register(tx, c.Session.Account, c.Session.ID, Registration{Namespace: n.Name, OwnerType: n.OwnerType, OwnerID: n.OwnerID})
		if err != nil {
			return err
		}
	}
	main, found, err := tx.Branch(source.Row, sessile.MainBranch)
	if err != nil || !found {
		return err
	}
	latest, err := latestSnapshotFloor(tx, &main)
	if err != nil {
		return err
	}
	versions, err := liveVersions(tx, source.Row, &main, latest, sessile.SlotFilter{})
	if err != nil {
		return err
	}
	for _, v := range versions {
		switch {
		case v.Seq == 0 || !v.Present:
		case v.Namespace != sessile.GameState:
			c.Writes = append(c.Writes, TurnWrite{Namespace: v.Namespace, Slot: v.Slot, Data: v.Value})
		case v.Slot == sessile.SlotScene:
			c.Scene = v.Value
		case v.Slot == sessile.SlotWorld:
			c.World = v.Value
		}
	}
	return nil
}
