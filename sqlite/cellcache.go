package sqlite

import "github.com/sessile-dev/sessile"

// cellCache spares the writer the search for cells that were written before. It belongs to the writer's goroutine, and may
// stand in for the database because nothing else writes to the file.
//
// A cell is kept once its branch has a head. Direct writes move the head along; whatever else changes what a write has to
// know — a commit, a deletion, a change of the session — drops the cells of the session.
type cellCache struct {
	sessions map[string]*sessionCells
	byRow    map[int64]string // id of a session that has cells here
	count    int

	// Counters as they stand after all requests of the batch that succeeded so far.
	namespaces map[int64]sessile.Usage
	accounts   map[int64]sessile.Usage
}

type sessionCells struct {
	cells map[cellName]*sessile.Cell
}

// cellName is an address without its session.
type cellName struct{ account, branch, namespace, slot string }

// maxCachedCells bounds the memory to some tens of megabytes; beyond it everything is dropped, which needs no bookkeeping.
const maxCachedCells = 50_000

func newCellCache() *cellCache {
	c := &cellCache{}
	c.clear()
	return c
}

func (c *cellCache) clear() {
	c.sessions, c.byRow, c.count = map[string]*sessionCells{}, map[int64]string{}, 0
	c.namespaces, c.accounts = map[int64]sessile.Usage{}, map[int64]sessile.Usage{}
}

func nameOf(a *sessile.CellAddress) cellName {
	return cellName{a.Account, a.Branch, a.Namespace, a.Slot}
}

func (c *cellCache) find(a *sessile.CellAddress) *sessile.Cell {
	if s := c.sessions[a.SessionID]; s != nil {
		return s.cells[nameOf(a)]
	}
	return nil
}

func (c *cellCache) put(a *sessile.CellAddress, cell sessile.Cell) {
	if c.count >= maxCachedCells {
		c.clear()
	}
	s := c.sessions[a.SessionID]
	if s == nil {
		s = &sessionCells{cells: map[cellName]*sessile.Cell{}}
		c.sessions[a.SessionID] = s
		c.byRow[cell.Session] = a.SessionID
	}
	s.cells[nameOf(a)] = &cell
	c.count++
}

// drop forgets one cell, dropSession those of a session.
func (c *cellCache) drop(a *sessile.CellAddress) {
	if s := c.sessions[a.SessionID]; s != nil {
		if _, kept := s.cells[nameOf(a)]; kept {
			delete(s.cells, nameOf(a))
			c.count--
		}
	}
}

func (c *cellCache) dropSession(row int64) {
	id, kept := c.byRow[row]
	if !kept {
		return
	}
	c.count -= len(c.sessions[id].cells)
	delete(c.sessions, id)
	delete(c.byRow, row)
}

// settle moves the counters by what a request that succeeded did.
func (c *cellCache) settle(u *usageDeltas) {
	settle(c.namespaces, u.namespaces)
	settle(c.accounts, u.accounts)
}

func settle(kept map[int64]sessile.Usage, deltas []usageDelta) {
	for _, d := range deltas {
		if u, ok := kept[d.row]; ok {
			kept[d.row] = sessile.Usage{Namespaces: u.Namespaces + d.namespaces, Items: u.Items + d.items, Bytes: u.Bytes + d.bytes}
		}
	}
}

// Locate answers from the cache where it can. Counters include what the request itself has moved.
func (t *tx) Locate(a sessile.CellAddress) (sessile.Cell, error) {
	cells := t.writer.cells
	if kept := cells.find(&a); kept != nil {
		cell := *kept
		namespace, known := cells.namespaces[cell.Namespace]
		account, alsoKnown := cells.accounts[cell.Account]
		if known && alsoKnown {
			cell.NamespaceUsage, cell.AccountUsage = namespace, account
			carry(t.usage.namespaces, cell.Namespace, &cell.NamespaceUsage)
			carry(t.usage.accounts, cell.Account, &cell.AccountUsage)
			return cell, nil
		}
	}
	cell, err := t.readTx.Locate(a)
	if err != nil || cell.HeadSeq == 0 {
		return cell, err
	}
	cells.put(&a, cell)
	t.touched = append(t.touched, a)
	if t.usage.none() { // the counters are not the request's alone
		cells.namespaces[cell.Namespace], cells.accounts[cell.Account] = cell.NamespaceUsage, cell.AccountUsage
	}
	return cell, nil
}

// moved keeps a cached cell in step with a mutation that became its head.
func (t *tx) moved(m *sessile.Mutation) {
	cell := t.writer.cells.find(&m.Address)
	if cell == nil {
		return
	}
	if m.Floor != 0 || cell.Branch != m.Branch || cell.Slot != m.Slot {
		t.writer.cells.drop(&m.Address)
		return
	}
	t.touched = append(t.touched, m.Address)
	cell.HeadSeq, cell.HeadSize, cell.HeadFloor, cell.HeadFromRetry = m.Seq, m.Size, 0, false
}

// forgetTouched undoes in the cache what a request did that failed.
func (t *tx) forgetTouched() {
	for i := range t.touched {
		t.writer.cells.drop(&t.touched[i])
	}
}
