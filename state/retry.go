package state

import "github.com/sessile-dev/sessile"

// commitRetry rewrites the snapshot of a floor that ran again (spec/governed-state.md, ruling 12). The floor keeps its
// place in the log, so everything it shows from this attempt is an exception; heads that somebody else wrote later than
// the floor's first commit stay where they are.
func (s *Service) commitRetry(tx sessile.Tx, c *FloorCommit) error {
	before, err := tx.Versions(c.Session.Row, sessile.PointOf(c.Floor), sessile.SlotFilter{}, false)
	if err != nil {
		return err
	}
	parent, err := snapshotParent(tx, c.Floor)
	if err != nil {
		return err
	}
	view, err := readFloorView(tx, c, parent)
	if err != nil {
		return err
	}
	shown := map[int64]sessile.Version{} // by slot: what the floor will show
	byPlace := map[int64]int64{}
	kept := newRetention(c.Session.AccountRow)
	for i := range view.slots {
		slot := &view.slots[i]
		want := slot.wanted()
		if before[i].Seq != 0 && before[i].Floor == c.Floor.Row {
			want = before[i] // its own last write, whichever attempt made it
		}
		shown[before[i].SlotRow], byPlace[before[i].SlotRow] = want, slot.byPlace.Seq
		if want.Seq == before[i].Seq {
			continue
		}
		for _, v := range []*sessile.Version{&before[i], &want} {
			if err := kept.follow(tx, v.Seq, v.NamespaceRow, v.Size); err != nil {
				return err
			}
		}
	}
	if err := s.applyRetry(tx, c, shown, kept); err != nil {
		return err
	}
	var overrides []sessile.Override
	for slot, v := range shown {
		if v.Seq != byPlace[slot] {
			overrides = append(overrides, sessile.Override{Slot: slot, Seq: v.Seq})
		}
	}
	if err := tx.SetOverrides(c.Floor.Row, overrides); err != nil {
		return err
	}
	if c.Floor.SnapshotSeq, err = tx.LastSeq(); err != nil {
		return err
	}
	c.Floor.CommittedAt = tx.Now()
	if err := tx.CommitFloor(c.Floor); err != nil {
		return err
	}
	moved, err := kept.settle(tx)
	if err != nil {
		return err
	}
	return s.checkResult(tx, c.Session, moved)
}

// applyRetry appends the writes of this attempt and notes what they make the floor show.
func (s *Service) applyRetry(tx sessile.Tx, c *FloorCommit, shown map[int64]sessile.Version, kept *retention) error {
	for _, w := range c.staged() {
		cell, err := s.locate(tx, c, &w)
		if err != nil {
			return err
		}
		if err := kept.follow(tx, cell.HeadSeq, cell.Namespace, cell.HeadSize); err != nil {
			return err
		}
		if v, found := shown[cell.Slot]; found {
			if err := kept.follow(tx, v.Seq, v.NamespaceRow, v.Size); err != nil {
				return err
			}
		}
		laterByOthers := cell.HeadSeq > c.Floor.CommitSeq && cell.HeadFloor != c.Floor.Row
		m, err := s.apply(tx, c, &cell, &w, !laterByOthers)
		if err != nil {
			return err
		}
		kept.add(m.Seq, cell.Namespace, m.Size, false)
		shown[m.Slot] = sessile.Version{SlotRow: m.Slot, NamespaceRow: cell.Namespace, Seq: m.Seq, Floor: c.Floor.Row, Size: m.Size}
	}
	return nil
}
