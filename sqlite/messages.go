package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	messageColumns = `m.id, m.page, p.public_id, m.public_id, m.seq, m.role, m.content, m.content_format, m.token_count, m.hidden,
  m.source, m.created_at, m.extra`

	sqlMessage = `SELECT ` + messageColumns + `
FROM message m JOIN content_page p ON p.id = m.page JOIN floor f ON f.id = p.floor
JOIN session s ON s.id = f.session JOIN account a ON a.id = s.account
WHERE m.public_id = ? AND a.name = ? AND f.deleted_at IS NULL AND s.deleted_at IS NULL`

	messagesOf = ` FROM account a JOIN session s ON s.account = a.id AND s.deleted_at IS NULL
JOIN floor f ON f.session = s.id AND f.deleted_at IS NULL JOIN content_page p ON p.floor = f.id JOIN message m ON m.page = p.id
WHERE a.name = ?1 AND (?3 = '' OR m.role = ?3) AND (?4 IS NULL OR m.hidden = ?4)`
	messagesOfPage = ` FROM content_page p JOIN floor f ON f.id = p.floor AND f.deleted_at IS NULL
JOIN session s ON s.id = f.session AND s.deleted_at IS NULL JOIN account a ON a.id = s.account JOIN message m ON m.page = p.id
WHERE a.name = ?1 AND p.public_id = ?2 AND (?3 = '' OR m.role = ?3) AND (?4 IS NULL OR m.hidden = ?4)`

	sqlPageMessages = `SELECT ` + messageColumns + ` FROM message m JOIN content_page p ON p.id = m.page WHERE m.page = ? ORDER BY m.seq`

	// 'input' < 'mixed' < 'output', which is the order in which a floor is read.
	sqlPages = `SELECT id, floor, public_id, kind, page_no, active, version, summaries FROM content_page WHERE floor = ? ORDER BY kind, page_no`

	sqlPageByRow = `SELECT id, floor, public_id, kind, page_no, active, version, summaries FROM content_page WHERE id = ?`

	sqlAddPage    = `INSERT INTO content_page (public_id, floor, kind, page_no, active, version, summaries) VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlAddMessage = `INSERT INTO message (public_id, page, seq, role, content, content_format, token_count, hidden, source, created_at, extra)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlDeactivatePages = `UPDATE content_page SET active = 0 WHERE floor = ? AND kind = ?`

	// The line runs from a floor up through its parents. A parent that its own child replaced is passed through but not
	// told.
	sqlStory = `WITH RECURSIVE line (id, parent, told, depth) AS (
  SELECT f.id, f.parent, ?3, 0 FROM floor f WHERE f.id = ?1
  UNION ALL
  SELECT f.id, f.parent, f.superseded_by IS NOT l.id, l.depth + 1 FROM line l JOIN floor f ON f.id = l.parent WHERE l.depth < ?2)
SELECT ` + messageColumns + `
FROM line l CROSS JOIN content_page p ON p.floor = l.id AND p.active = 1 CROSS JOIN message m ON m.page = p.id
WHERE l.told = 1 AND m.hidden = 0
ORDER BY l.depth DESC, p.kind, p.page_no, m.seq`

	// storyOrder gives every message of a story its place from the end, without reading what it says.
	storyRows = `WITH RECURSIVE line (id, parent, told, depth) AS (
  SELECT f.id, f.parent, 1, 0 FROM floor f WHERE f.id = ?1
  UNION ALL
  SELECT f.id, f.parent, f.superseded_by IS NOT l.id, l.depth + 1 FROM line l JOIN floor f ON f.id = l.parent WHERE l.depth < ?2)
`
	storyFrom = `FROM line l CROSS JOIN content_page p ON p.floor = l.id AND p.active = 1 CROSS JOIN message m ON m.page = p.id
WHERE l.told = 1 AND m.hidden = 0`
	sqlStoryLength = storyRows + `SELECT count(*) ` + storyFrom
	sqlStoryTail   = storyRows + `SELECT ` + messageColumns + ` FROM (
  SELECT m.id AS id, row_number() OVER () AS n FROM (
    SELECT m.id AS id ` + storyFrom + `
    ORDER BY l.depth, p.kind DESC, p.page_no DESC, m.seq DESC LIMIT ?4 OFFSET ?3) m) t
CROSS JOIN message m ON m.id = t.id JOIN content_page p ON p.id = m.page
ORDER BY t.n DESC`
	sqlStoryHead = storyRows + `SELECT ` + messageColumns + ` FROM (
  SELECT m.id AS id, row_number() OVER () AS n FROM (
    SELECT m.id AS id ` + storyFrom + ` AND m.role = ?3
    ORDER BY l.depth DESC, p.kind, p.page_no, m.seq LIMIT ?4) m) t
CROSS JOIN message m ON m.id = t.id JOIN content_page p ON p.id = m.page
ORDER BY t.n`
	sqlStoryPlace = storyRows + `SELECT t.n FROM (
  SELECT m.id AS id, row_number() OVER () AS n FROM (
    SELECT m.id AS id ` + storyFrom + `
    ORDER BY l.depth DESC, p.kind, p.page_no, m.seq) m) t
WHERE t.id = (SELECT id FROM message WHERE public_id = ?3)`
)

// wholeStory bounds how far back a story is counted.
const wholeStory = 1 << 20

func readMessage(r *sqliteconn.Rows) sessile.Message {
	return sessile.Message{
		Row: r.Int64(0), Page: r.Int64(1), PageID: r.Text(2), ID: r.Text(3), Seq: r.Int64(4), Role: r.Text(5), Content: r.Text(6),
		ContentFormat: r.Text(7), TokenCount: r.Int64(8), Hidden: r.Bool(9), Source: r.TextOrNil(10), CreatedAt: r.Int64(11),
		Extra: r.Bytes(12),
	}
}

func (t *readTx) Message(account, id string) (sessile.Message, bool, error) {
	return one(t.query(sqlMessage, id, account), readMessage)
}

func (t *readTx) Messages(f sessile.MessageFilter) ([]sessile.Message, int, error) {
	from := messagesOf
	if f.PageID != "" {
		from = messagesOfPage
	}
	var hidden any
	if f.Hidden != nil {
		hidden = *f.Hidden
	}
	args := []any{f.Account, f.PageID, f.Role, hidden}
	total := 0
	if _, err := t.oneRow("SELECT count(*)"+from, func(r *sqliteconn.Rows) { total = r.Int(0) }, args...); err != nil {
		return nil, 0, err
	}
	column := "m.created_at"
	if f.Page.SortBy == "seq" {
		column = "m.seq"
	}
	order := direction(f.Page.Descending)
	query := "SELECT " + messageColumns + from + " ORDER BY " + column + order + ", m.id" + order + " LIMIT ?5 OFFSET ?6"
	messages, err := list(t.query(query, append(args, f.Page.Limit, f.Page.Offset)...), readMessage)
	return messages, total, err
}

func (t *readTx) Pages(floor int64) ([]sessile.ContentPage, error) {
	return list(t.query(sqlPages, floor), readPage)
}

func (t *readTx) PageByRow(row int64) (sessile.ContentPage, bool, error) {
	return one(t.query(sqlPageByRow, row), readPage)
}

func readPage(r *sqliteconn.Rows) sessile.ContentPage {
	return sessile.ContentPage{
		Row: r.Int64(0), Floor: r.Int64(1), ID: r.Text(2), Kind: sessile.PageKind(r.Text(3)), No: r.Int64(4), Active: r.Bool(5),
		Version: r.Int64(6), Summaries: r.Bytes(7),
	}
}

func (t *readTx) PageMessages(page int64) ([]sessile.Message, error) {
	return list(t.query(sqlPageMessages, page), readMessage)
}

func (t *readTx) Story(floor int64, own bool, maxFloors int) ([]sessile.Message, error) {
	return list(t.query(sqlStory, floor, maxFloors-1, own), readMessage)
}

func (t *readTx) StoryLength(floor int64) (length int, err error) {
	_, err = t.oneRow(sqlStoryLength, func(r *sqliteconn.Rows) { length = r.Int(0) }, floor, wholeStory)
	return length, err
}

// Most floors tell something, so the newest messages stand on about as many floors; only when they do not, all are looked at.
func (t *readTx) StoryTail(floor int64, skip, limit int) ([]sessile.Message, error) {
	near := skip + limit
	messages, err := list(t.query(sqlStoryTail, floor, near, skip, limit), readMessage)
	if err != nil || len(messages) == limit {
		return messages, err
	}
	return list(t.query(sqlStoryTail, floor, wholeStory, skip, limit), readMessage)
}

func (t *readTx) StoryHead(floor int64, role string, limit int) ([]sessile.Message, error) {
	return list(t.query(sqlStoryHead, floor, wholeStory, role, limit), readMessage)
}

func (t *readTx) StoryPlace(floor int64, messageID string) (place int, found bool, err error) {
	found, err = t.oneRow(sqlStoryPlace, func(r *sqliteconn.Rows) { place = r.Int(0) }, floor, wholeStory, messageID)
	return place, found, err
}

func (t *tx) AddPage(p *sessile.ContentPage) error {
	err := t.conn.Exec(sqlAddPage, p.ID, p.Floor, string(p.Kind), p.No, p.Active, p.Version, p.Summaries)
	p.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) AddMessage(m *sessile.Message) error {
	err := t.conn.Exec(sqlAddMessage, m.ID, m.Page, m.Seq, m.Role, m.Content, m.ContentFormat, m.TokenCount, m.Hidden, m.Source, m.CreatedAt, m.Extra)
	m.Row = t.conn.InsertedRow()
	return err
}

func (t *tx) DeactivatePages(floor int64, kind sessile.PageKind) error {
	return t.conn.Exec(sqlDeactivatePages, floor, string(kind))
}
