package sessile

// Worldbook is a lorebook that an account keeps and its sessions may bind (spec/governed-state.md, section 9, ruling 24).
type Worldbook struct {
	Row        int64
	ID         string
	Account    string
	Name       string
	Version    int64  // rises with each change, from 1
	Book       []byte // JSON text as it was given; nil in lists
	EntryCount int64
	CreatedAt  int64
	UpdatedAt  int64
}

// WorldbookReader finds worldbooks.
type WorldbookReader interface {
	Worldbook(account, id string) (Worldbook, bool, error)
	WorldbookByRow(row int64) (Worldbook, bool, error)
	// Worldbooks lists without the books, by created_at or updated_at.
	Worldbooks(account string, page Page) (worldbooks []Worldbook, total int, err error)
}

// WorldbookWriter changes worldbooks.
type WorldbookWriter interface {
	// AddWorldbook inserts a worldbook; the account is made at first sight.
	AddWorldbook(*Worldbook) error
	// UpdateWorldbook writes name, version, book, entry count and UpdatedAt.
	UpdateWorldbook(*Worldbook) error
	// DeleteWorldbook removes the worldbook and unbinds the sessions that had it.
	DeleteWorldbook(row int64) error
}
