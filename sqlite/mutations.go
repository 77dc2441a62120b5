package sqlite

import (
	"strconv"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	sqlAppend = `INSERT INTO mutation (seq, branch, slot, on_line, present, kind, status, safety, floor, size, created_at, run_id, request_id, discard_reason, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlMoveHead = `INSERT INTO visible (branch, slot, seq, own) VALUES (?, ?, ?, 1)
ON CONFLICT (branch, slot) DO UPDATE SET seq = excluded.seq, own = 1`
	sqlMaterialise = `UPDATE slot SET first_seq = ? WHERE id = ?`

	// A list shows the beginning of a value, in bytes.
	mutationPreview = `CAST(substr(CAST(m.value AS BLOB), 1, 256) AS TEXT)`

	mutationColumns = `m.seq, m.branch, m.slot, m.present, m.value, m.size, m.on_line, m.kind, m.status, m.floor, m.run_id, m.request_id,
  m.discard_reason, m.created_at, n.name, x.name, s.public_id, b.name, f.public_id, m.safety`
	mutationJoins = ` JOIN session s ON s.id = b.session JOIN slot x ON x.id = m.slot JOIN namespace n ON n.id = x.namespace
LEFT JOIN floor f ON f.id = m.floor`

	sqlMutation = `SELECT ` + mutationColumns + ` FROM mutation m JOIN branch b ON b.id = m.branch` + mutationJoins + `
WHERE m.seq = ? AND b.session = ?`

	sqlFloorMutations = `SELECT ` + mutationColumns + ` FROM mutation m JOIN branch b ON b.id = m.branch` + mutationJoins + `
WHERE m.floor = ? ORDER BY m.seq`

	// The log has one index for what is on line and one for the rest; a list of a session reads both.
	mutationsOnLine  = ` FROM branch b JOIN mutation m ON m.branch = b.id AND m.on_line = 1` + mutationJoins + ` WHERE b.session = ?1`
	mutationsOffLine = ` FROM branch b JOIN mutation m ON m.branch = b.id AND m.on_line = 0` + mutationJoins + ` WHERE b.session = ?1`
)

func (t *tx) AppendMutation(m *sessile.Mutation) error {
	t.writer.lastSeq++
	t.writer.bytes += len(m.Value)
	m.Seq = t.writer.lastSeq
	m.CreatedAt = t.now
	err := t.conn.Exec(sqlAppend, m.Seq, m.Branch, m.Slot, m.OnLine, m.Present, int(m.Kind), int(m.Status), int(m.Safety), orNull(m.Floor), m.Size,
		m.CreatedAt, textOrNull(m.RunID), textOrNull(m.RequestID), textOrNull(m.DiscardReason), m.Value)
	if err != nil {
		return err
	}
	if m.Materialises {
		if err := t.conn.Exec(sqlMaterialise, m.Seq, m.Slot); err != nil {
			return err
		}
	}
	if !m.OnLine {
		return nil
	}
	t.heads = append(t.heads, headOf(m))
	t.moved(m)
	return t.conn.Exec(sqlMoveHead, m.Branch, m.Slot, m.Seq)
}

func (t *tx) LastSeq() (int64, error) { return t.writer.lastSeq, nil }

func readMutation(r *sqliteconn.Rows) sessile.MutationRecord {
	return sessile.MutationRecord{
		Mutation: sessile.Mutation{
			Seq: r.Int64(0), Branch: r.Int64(1), Slot: r.Int64(2), Present: r.Bool(3), Value: r.Bytes(4), Size: r.Int64(5), OnLine: r.Bool(6),
			Kind: sessile.MutationKind(r.Int(7)), Status: sessile.MutationStatus(r.Int(8)), Floor: r.Int64(9), RunID: r.Text(10),
			RequestID: r.Text(11), DiscardReason: r.Text(12), CreatedAt: r.Int64(13),
			Safety: sessile.ReplaySafety(r.Int(19)),
		},
		Namespace: r.Text(14), SlotName: r.Text(15), SessionID: r.Text(16), BranchName: r.Text(17), FloorID: r.TextOrNil(18),
	}
}

func (t *readTx) Mutation(session, seq int64) (sessile.MutationRecord, bool, error) {
	return one(t.query(sqlMutation, seq, session), readMutation)
}

func (t *readTx) FloorMutations(floor int64) ([]sessile.MutationRecord, error) {
	return list(t.query(sqlFloorMutations, floor), readMutation)
}

func (t *readTx) Mutations(session int64, f sessile.MutationFilter) ([]sessile.MutationRecord, int, error) {
	where, args := mutationWhere(f, []any{session})
	total := 0
	count := "SELECT (SELECT count(*)" + mutationsOnLine + where + ") + (SELECT count(*)" + mutationsOffLine + where + ")"
	if _, err := t.oneRow(count, func(r *sqliteconn.Rows) { total = r.Int(0) }, args...); err != nil {
		return nil, 0, err
	}
	order := direction(f.Page.Descending)
	columns := strings.Replace(mutationColumns, "m.value", mutationPreview, 1)
	query := "SELECT " + columns + mutationsOnLine + where + " UNION ALL SELECT " + columns + mutationsOffLine + where +
		" ORDER BY 14" + order + ", 1" + order + " LIMIT ? OFFSET ?" // by created_at, then seq
	records, err := list(t.query(query, append(args, f.Page.Limit, f.Page.Offset)...), readMutation)
	return records, total, err
}

// mutationWhere adds a condition for every member of the filter that narrows.
func mutationWhere(f sessile.MutationFilter, args []any) (string, []any) {
	var where strings.Builder
	condition := func(sql string, arg any) {
		args = append(args, arg)
		where.WriteString(" AND " + strings.ReplaceAll(sql, "?", "?"+strconv.Itoa(len(args))))
	}
	if f.Branch != "" {
		condition("b.name = ?", f.Branch)
	}
	if f.Status != 0 {
		condition("m.status = ?", int(f.Status))
	}
	if f.FloorID != "" {
		condition("f.public_id = ?", f.FloorID)
	}
	if f.RunID != "" {
		condition("m.run_id = ?", f.RunID)
	}
	if f.Namespace != "" {
		condition("n.name = ?", f.Namespace)
	}
	if f.Slot != "" {
		condition("x.name = ?", f.Slot)
	}
	if f.Direct != nil {
		condition("(m.kind = 1) = ?", *f.Direct)
	}
	if f.CreatedAfter != nil {
		condition("m.created_at >= ?", *f.CreatedAfter)
	}
	if f.CreatedBefore != nil {
		condition("m.created_at <= ?", *f.CreatedBefore)
	}
	return where.String(), args
}
