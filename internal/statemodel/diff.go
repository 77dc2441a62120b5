package statemodel

// Change is what happened to a slot from the left side of a diff to the right one.
type Change string

// The changes of 4.7.
const (
	Added     Change = "added"
	Removed   Change = "removed"
	Changed   Change = "changed"
	Unchanged Change = "unchanged"
)

// Difference compares one slot. Floors are 0 where that side stores nothing.
type Difference struct {
	Slot
	Change      Change
	Left, Right FloorID
}

// Diff compares a floor (right) with another floor, or when against is 0 with the live values of the branch (left).
// Values are equal when their texts are: the model never sees one value written in two ways.
func (m *Model) Diff(id SessionID, floor, against FloorID, branch string) ([]Difference, Code) {
	left, code := m.Resolve(id, branch, against)
	if code != OK {
		return nil, code
	}
	if s := m.account.sessions[id]; floor == 0 || s.floors[floor] == nil {
		return nil, NotFound
	}
	right, _ := m.Resolve(id, branch, floor)
	var differences []Difference
	for i := range right { // both list all slots in one order
		l, r := left[i], right[i]
		d := Difference{Slot: r.Slot, Change: Changed}
		if r.Source != None {
			d.Right = floor
		}
		if l.Source != None {
			d.Left = l.Floor
			if d.Left == 0 { // a direct write
				d.Left = floor
			}
		}
		switch {
		case !l.Present && r.Present:
			d.Change = Added
		case l.Present && !r.Present:
			d.Change = Removed
		case !l.Present || l.Mutation == r.Mutation || l.Namespace != GameState && l.Value == r.Value:
			d.Change = Unchanged // the turn's own values name their floor and are never equal
		}
		differences = append(differences, d)
	}
	return differences, OK
}
