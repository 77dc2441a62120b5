package state

import "github.com/sessile-dev/sessile"

// inherit makes a floor that commits for the first time show what 1.7 wants for the slots it did not write.
//
// A floor's place in the log says it already in two cases: the parent lies on the same branch and has no exceptions,
// or the branch starts here and has been pointed at everything its parent shows. Whatever differs otherwise is written
// down as an exception.
func inherit(tx sessile.Tx, c *FloorCommit) error {
	parent, err := snapshotParent(tx, c.Floor)
	if err != nil {
		return err
	}
	switch {
	case parent == nil:
		if !c.Branch.Based {
			return nil // no pointers to look through: own heads or nothing
		}
	case parent.Branch == c.Branch.Row:
		exceptions, err := tx.Overrides(parent.Row)
		if err != nil || len(exceptions) == 0 {
			return err
		}
	default:
		others, err := tx.HasSnapshotFloor(c.Branch.Row)
		if err != nil {
			return err
		}
		if !others {
			c.Branch.Based, c.Branch.ForkSeq = true, parent.CommitSeq
			return tx.LayBase(c.Branch.Row, parent)
		}
	}
	view, err := readFloorView(tx, c, parent)
	if err != nil {
		return err
	}
	var overrides []sessile.Override
	for i := range view.slots {
		slot := &view.slots[i]
		if want := slot.wanted(); want.Seq != slot.byPlace.Seq {
			overrides = append(overrides, sessile.Override{Slot: want.SlotRow, Seq: want.Seq})
		}
	}
	if overrides == nil {
		return nil
	}
	return tx.SetOverrides(c.Floor.Row, overrides)
}

// snapshotParent is the parent of a floor if it has a snapshot to inherit from.
func snapshotParent(tx sessile.ReadTx, floor *sessile.Floor) (*sessile.Floor, error) {
	if floor.Parent == 0 {
		return nil, nil
	}
	parent, found, err := tx.FloorByRow(floor.Parent)
	if err != nil || !found || parent.Deleted || !parent.HasSnapshot() {
		return nil, err
	}
	return &parent, nil
}

// floorView is everything that decides what a floor shows, slot by slot.
type floorView struct {
	slots []slotView
}

// slotView is the same for one slot. Seq 0 means nothing there.
type slotView struct {
	own        sessile.Version // the branch's own newest version as of the floor's first commit
	parent     sessile.Version // what the parent shows
	inParent   bool            // whether the parent stores the slot at all
	afterwards bool            // whether own was written after the parent's first commit
	byPlace    sessile.Version // what the floor's place in the log says
}

// wanted is the rule of 1.7 for a slot that the commit did not write: the own version if it is newer than the parent
// or the parent does not know the slot, else the parent's, else nothing.
func (v *slotView) wanted() sessile.Version {
	if v.own.Seq != 0 && (!v.inParent || v.afterwards) {
		return v.own
	}
	if v.inParent {
		return v.parent
	}
	empty := v.own
	empty.Seq, empty.Size, empty.Floor = 0, 0, 0
	return empty
}

func readFloorView(tx sessile.ReadTx, c *FloorCommit, parent *sessile.Floor) (floorView, error) {
	session, at := c.Session.Row, c.Floor.CommitSeq
	all := sessile.SlotFilter{}
	own, err := tx.Versions(session, sessile.Point{Branch: c.Branch.Row, At: at}, all, false)
	if err != nil {
		return floorView{}, err
	}
	byPlace, err := tx.Versions(session, sessile.Point{Branch: c.Branch.Row, After: c.Branch.ForkSeq, At: at}, all, false)
	if err != nil {
		return floorView{}, err
	}
	var inherited []sessile.Version
	if parent != nil {
		if inherited, err = tx.Versions(session, sessile.PointOf(parent), all, false); err != nil {
			return floorView{}, err
		}
	}
	view := floorView{slots: make([]slotView, len(own))}
	for i := range own { // all lists hold every materialised slot in one order
		slot := slotView{own: own[i], byPlace: byPlace[i]}
		if own[i].Branch != c.Branch.Row { // inherited, not its own
			slot.own.Seq = 0
		}
		if parent != nil {
			slot.parent = inherited[i]
			slot.inParent = stored(parent, &inherited[i])
			slot.afterwards = slot.own.Seq > parent.CommitSeq
		}
		view.slots[i] = slot
	}
	return view, nil
}
