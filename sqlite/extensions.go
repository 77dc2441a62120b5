package sqlite

import (
	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

const (
	extensionColumns = `e.branch, e.plugin, e.revision, e.dropped, v.value FROM extension e LEFT JOIN extension_value v ON v.revision = e.revision`

	sqlExtensionAt = `SELECT ` + extensionColumns + `
WHERE e.branch = ? AND e.plugin = ? AND e.own = 1 AND e.revision <= ? ORDER BY e.revision DESC LIMIT 1`
	sqlExtensionBase  = `SELECT ` + extensionColumns + ` WHERE e.branch = ? AND e.plugin = ? AND e.own = 0`
	sqlExtensionShown = `SELECT 1 FROM floor f WHERE f.branch = ? AND f.commit_seq >= ? AND f.deleted_at IS NULL LIMIT 1`

	// Between a version and its successor every live floor saw it.
	sqlHiddenExtensions = `SELECT branch, plugin, revision, dropped, NULL FROM (
  SELECT e.branch, e.plugin, e.revision, e.dropped, (SELECT min(n.revision) FROM extension n
    WHERE n.branch = e.branch AND n.plugin = e.plugin AND n.own = 1 AND n.revision > e.revision) AS successor
  FROM extension e WHERE e.branch = ?1 AND e.own = 1) x
WHERE successor IS NOT NULL AND NOT EXISTS (SELECT 1 FROM floor f
  WHERE f.branch = ?1 AND f.commit_seq >= x.revision AND f.commit_seq < x.successor AND f.deleted_at IS NULL)`

	sqlPutExtension      = `INSERT INTO extension (branch, plugin, own, revision, dropped) VALUES (?, ?, 1, ?, ?)`
	sqlPutExtensionValue = `INSERT INTO extension_value (revision, value) VALUES (?, ?)`
	sqlRemoveExtension   = `DELETE FROM extension WHERE branch = ? AND plugin = ? AND own = 1 AND revision = ?`
	// A value goes with the last branch that shows it.
	sqlDropExtensionValue = `DELETE FROM extension_value WHERE revision = ?1 AND NOT EXISTS (SELECT 1 FROM extension e WHERE e.revision = ?1)`

	// What a branch inherited goes by ?2 = 0 alone, everything by 1.
	sqlBranchExtensions       = `SELECT revision FROM extension WHERE branch = ?1 AND own <= ?2`
	sqlForgetBranchExtensions = `DELETE FROM extension WHERE branch = ?1 AND own <= ?2`

	// What the branch ?2 showed at the place ?3 of the log: its newest version then (n) unless that was dropped, else what it
	// inherited.
	sqlLayExtensions = `INSERT INTO extension (branch, plugin, own, revision, dropped)
SELECT ?1, e.plugin, 0, e.revision, 0 FROM extension e
LEFT JOIN extension n ON n.branch = e.branch AND n.plugin = e.plugin AND n.own = 1 AND n.revision = (SELECT max(m.revision)
  FROM extension m WHERE m.branch = e.branch AND m.plugin = e.plugin AND m.own = 1 AND m.revision <= ?3)
WHERE e.branch = ?2 AND CASE e.own WHEN 1 THEN e.revision = n.revision AND e.dropped = 0 ELSE ifnull(n.dropped, 1) = 1 END`
)

// sqlPurgeExtensions removes what extensions keep on the branches of a session: see sqlPurgeState. Branches share values
// within their session only.
var sqlPurgeExtensions = []string{
	`DELETE FROM extension_value WHERE revision IN (SELECT v.revision FROM branch b JOIN extension e ON e.branch = b.id
  JOIN extension_value v ON v.revision = e.revision WHERE b.session = ?1 LIMIT ?2)`,
	`DELETE FROM extension WHERE (branch, plugin, own, revision) IN (SELECT e.branch, e.plugin, e.own, e.revision
  FROM branch b JOIN extension e ON e.branch = b.id WHERE b.session = ?1 LIMIT ?2)`,
}

func readExtension(r *sqliteconn.Rows) sessile.ExtensionVersion {
	return sessile.ExtensionVersion{Branch: r.Int64(0), Plugin: r.Text(1), Revision: r.Int64(2), Dropped: r.Bool(3), Value: r.Bytes(4)}
}

func (t *readTx) ExtensionAt(branch int64, plugin string, at int64) (sessile.ExtensionVersion, bool, error) {
	return one(t.query(sqlExtensionAt, branch, plugin, at), readExtension)
}

func (t *readTx) ExtensionBase(branch int64, plugin string) (sessile.ExtensionVersion, bool, error) {
	return one(t.query(sqlExtensionBase, branch, plugin), readExtension)
}

func (t *readTx) ExtensionShown(branch, revision int64) (bool, error) {
	return t.exists(sqlExtensionShown, branch, revision)
}

func (t *readTx) HiddenExtensions(branch int64) ([]sessile.ExtensionVersion, error) {
	return list(t.query(sqlHiddenExtensions, branch), readExtension)
}

func (t *tx) PutExtension(v *sessile.ExtensionVersion) error {
	t.writer.lastSeq++
	t.writer.bytes += len(v.Value)
	v.Revision = t.writer.lastSeq
	if err := t.conn.Exec(sqlPutExtension, v.Branch, v.Plugin, v.Revision, v.Dropped); err != nil {
		return err
	}
	if !v.Dropped {
		if err := t.conn.Exec(sqlPutExtensionValue, v.Revision, v.Value); err != nil {
			return err
		}
	}
	// The row may be gone by the time somebody asks for the last number, unlike those of the log.
	return t.conn.Exec(sqlSaveSeq, v.Revision)
}

func (t *tx) RemoveExtension(branch int64, plugin string, revision int64) error {
	if err := t.conn.Exec(sqlRemoveExtension, branch, plugin, revision); err != nil {
		return err
	}
	return t.conn.Exec(sqlDropExtensionValue, revision)
}

// layExtensions points a branch at what extensions kept on the branch of a floor when that committed.
func (t *tx) layExtensions(branch int64, from *sessile.Floor) error {
	if err := t.forgetExtensions(branch, false); err != nil {
		return err
	}
	return t.conn.Exec(sqlLayExtensions, branch, from.Branch, from.CommitSeq)
}

// forgetExtensions removes what a branch inherited, or everything that extensions keep on it.
func (t *tx) forgetExtensions(branch int64, all bool) error {
	revisions, err := list(t.query(sqlBranchExtensions, branch, all), func(r *sqliteconn.Rows) int64 { return r.Int64(0) })
	if err != nil || len(revisions) == 0 {
		return err
	}
	if err := t.conn.Exec(sqlForgetBranchExtensions, branch, all); err != nil {
		return err
	}
	for _, revision := range revisions {
		if err := t.conn.Exec(sqlDropExtensionValue, revision); err != nil {
			return err
		}
	}
	return nil
}
