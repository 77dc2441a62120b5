package sqlite

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// A list is walked over in two stretches: what is pinned, then the rest. Every stretch is merged from walks over an index
// each, which have the order of the list already, so that nobody reads more rows than are shown, but for those that a second
// condition takes out.
const (
	listedFrom = `SELECT ` + sessionColumns + `
FROM account a CROSS JOIN session s INDEXED BY `
	listedWhere  = ` ON s.account = a.id AND s.deleted_at IS NULL AND (s.archived_at IS NOT NULL) = ?2`
	listedPinned = `
  AND ifnull(s.pinned_at, 0) BETWEEN 1 AND ?6 AND (ifnull(s.pinned_at, 0) < ?6 OR s.updated_at < ?7 OR s.updated_at = ?7 AND s.key > ?8)
WHERE a.name = ?1 AND (?4 = '' OR s.agent = ?4) AND s.updated_at >= ?5
ORDER BY ifnull(s.pinned_at, 0) DESC, s.updated_at DESC, s.key`
	listedRest = `
  AND ifnull(s.pinned_at, 0) = 0 AND s.updated_at BETWEEN ?5 AND ?7 AND (s.updated_at < ?7 OR s.key > ?8)
WHERE a.name = ?1 AND (?4 = '' OR s.agent = ?4)
ORDER BY s.updated_at DESC, s.key`

	sqlFoundSessions = `SELECT s.id FROM session_search f CROSS JOIN session s ON s.id = f.rowid JOIN account a ON a.id = s.account
WHERE session_search MATCH ?3 AND a.name = ?1 AND s.deleted_at IS NULL AND (s.archived_at IS NOT NULL) = ?2
  AND (?4 = '' OR s.agent = ?4) AND s.updated_at >= ?5
  AND ifnull(s.pinned_at, 0) <= ?6 AND (ifnull(s.pinned_at, 0) < ?6 OR s.updated_at < ?7 OR s.updated_at = ?7 AND s.key > ?8)
ORDER BY ifnull(s.pinned_at, 0) DESC, s.updated_at DESC, s.key`

	// A child whose last run is known counts by its end, another one by its last change.
	childrenFrom = `SELECT s.key FROM account a CROSS JOIN session s INDEXED BY session_spawned_by ON s.account = a.id AND s.deleted_at IS NULL
  AND (s.archived_at IS NOT NULL) IN (0, 1) AND s.spawned_by = ?2 AND ifnull(s.pinned_at, 0)`
	childrenWhere = `
WHERE a.name = ?1 AND ifnull((SELECT r.ended_at >= ?4 OR r.ended_at IS NULL FROM run r INDEXED BY run_worked WHERE r.session = s.id AND (r.kind = 'ingest') = 0 ORDER BY r.id DESC LIMIT 1), 1)
ORDER BY s.updated_at DESC LIMIT ?5`
	sqlChildren       = childrenFrom + ` = 0 AND s.updated_at >= ?3` + childrenWhere
	sqlPinnedChildren = childrenFrom + ` > 0 AND s.updated_at >= ?3` + childrenWhere
	sqlOpenChildren   = `SELECT r.session_key FROM run r INDEXED BY run_open
WHERE r.account = (SELECT id FROM account WHERE name = ?1) AND r.requester = ?2 AND r.is_open = 1 ORDER BY r.id DESC LIMIT ?3`

	sqlLastRun = `SELECT ` + runColumns + ` FROM run r INDEXED BY run_worked
WHERE r.session = ? AND (r.kind = 'ingest') = 0 AND r.started_at > 0 ORDER BY r.id DESC LIMIT 1`
)

// walk is a stretch of an index: the sessions whose column holds the value.
type walk struct {
	column string
	lane   sessile.Lane // "" for all
	value  string
}

// sql is the statement of a walk; number tells several walks over one index apart.
func (w walk) sql(pinned bool, number int) string {
	narrowed := "\n  AND s." + w.column + " = ?3"
	if w.lane != "" {
		narrowed += " AND s.lane = '" + string(w.lane) + "'"
	}
	stretch := listedRest
	if pinned {
		stretch = listedPinned
	}
	return listedFrom + "session_" + w.column + listedWhere + narrowed + stretch + " -- " + strconv.Itoa(number)
}

// walks are those that together hold what a selection asks for, and may hold more.
func walks(f *sessile.SessionSelection) []walk {
	switch {
	case f.Of != "":
		return []walk{{column: "spawned_by", value: f.Of}, {column: "parent_key", value: f.Of}, {column: "owner_key", value: f.Of}, {column: "key", value: f.Of}}
	case f.Label != "":
		return []walk{{column: "label", value: f.Label}}
	}
	var all []walk
	lanes := f.Lanes
	if len(lanes)+len(f.Names)+len(f.Keys) == 0 {
		lanes = sessile.Lanes()
	}
	for _, lane := range lanes {
		if f.Agent != "" {
			all = append(all, walk{column: "agent", lane: lane, value: f.Agent})
		} else {
			all = append(all, walk{column: "lane", value: string(lane)})
		}
	}
	for _, name := range f.Names {
		all = append(all, walk{column: "name", value: name})
	}
	for _, key := range f.Keys {
		all = append(all, walk{column: "key", value: key})
	}
	return all
}

func (t *readTx) ListSessions(account string, f sessile.SessionSelection, visit func(*sessile.Session) (bool, error)) error {
	after := sessile.SessionPlace{PinnedAt: math.MaxInt64, UpdatedAt: math.MaxInt64}
	if f.After != nil {
		after = *f.After
	}
	args := []any{account, f.Archived, nil, f.Agent, f.Since, after.PinnedAt, after.UpdatedAt, after.Key}
	matching := func(s *sessile.Session) (bool, error) {
		if f.Label != "" && (s.Label == nil || *s.Label != f.Label) {
			return true, nil
		}
		return visit(s)
	}
	if f.Found != "" {
		return t.visitFound(trigrams(f.Found), args, matching)
	}
	all := walks(&f)
	if after.PinnedAt > 0 {
		more, err := t.merge(all, true, args, matching)
		if err != nil || !more {
			return err
		}
		args[5], args[6], args[7] = 0, math.MaxInt64, ""
	}
	_, err := t.merge(all, false, args, matching)
	return err
}

// merge visits the sessions of several walks in the order of the list, each once.
func (t *readTx) merge(all []walk, pinned bool, args []any, visit func(*sessile.Session) (bool, error)) (more bool, err error) {
	type source struct {
		rows sqliteconn.Rows
		head sessile.Session
	}
	sources := make([]*source, 0, len(all))
	defer func() {
		for _, s := range sources {
			if closing := s.rows.Close(); err == nil && more {
				err = closing
			}
		}
	}()
	for i, w := range all {
		args[2] = w.value
		s := &source{rows: t.query(w.sql(pinned, i), args...)}
		sources = append(sources, s)
		if s.rows.Next() {
			s.head = readSession(&s.rows)
		} else if err := s.rows.Err(); err != nil {
			return false, err
		}
	}
	for {
		var next *source
		for _, s := range sources {
			if s.head.Row != 0 && (next == nil || before(&s.head, &next.head)) {
				next = s
			}
		}
		if next == nil {
			return true, nil
		}
		row := next.head
		for _, s := range sources { // all that stand at this session go on
			if s.head.Row != row.Row {
				continue
			}
			s.head = sessile.Session{}
			if s.rows.Next() {
				s.head = readSession(&s.rows)
			} else if err := s.rows.Err(); err != nil {
				return false, err
			}
		}
		if more, err := visit(&row); err != nil || !more {
			return false, err
		}
	}
}

// before is the order of lists.
func before(a, b *sessile.Session) bool {
	return cmp.Or(cmp.Compare(b.PinnedAt, a.PinnedAt), cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.Key, b.Key)) < 0
}

// visitFound visits the sessions that the search index finds.
func (t *readTx) visitFound(match string, args []any, visit func(*sessile.Session) (bool, error)) error {
	if match == "" {
		return errors.New("sqlite: a search without three letters in a row")
	}
	args[2] = match
	rows := t.query(sqlFoundSessions, args...)
	for rows.Next() {
		session, found, err := t.SessionByRow(rows.Int64(0))
		more := true
		if err == nil && found {
			more, err = visit(&session)
		}
		if err != nil || !more {
			_ = rows.Close() // what ends the walk is not an error of its own
			return err
		}
	}
	return rows.Close()
}

// maxTrigrams bounds how much of a long search the index is asked for.
const maxTrigrams = 16

// Searchable reports whether the search index can narrow a search for the text.
func (t *readTx) Searchable(text string) bool { return trigrams(text) != "" }

// trigrams is what the search index is asked for: letters of the text, three in a row. Beyond ASCII only letters without
// case count: the index and its readers may not agree on the others.
func trigrams(text string) string {
	var parts []string
	for _, run := range strings.FieldsFunc(text, func(r rune) bool {
		return r == 0 || r >= utf8.RuneSelf && !unicode.Is(unicode.Lo, r)
	}) {
		letters := []rune(run)
		for i := 0; i+3 <= len(letters); i += 3 {
			parts = append(parts, string(letters[i:i+3]))
		}
		if n := len(letters); n > 3 && n%3 != 0 {
			parts = append(parts, string(letters[n-3:]))
		}
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	for i, part := range parts {
		parts[i] = `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
	}
	return strings.Join(parts[:min(len(parts), maxTrigrams)], " ")
}

// maxChildren bounds how many children of one parent are named.
const maxChildren = 100

func (t *readTx) Children(account string, parents []string, touched, ended int64) (map[string][]string, error) {
	children := map[string][]string{}
	key := func(r *sqliteconn.Rows) string { return r.Text(0) }
	for _, parent := range parents {
		keys, err := list(t.query(sqlOpenChildren, account, parent, maxChildren), key)
		if err != nil {
			return nil, err
		}
		for _, query := range []string{sqlChildren, sqlPinnedChildren} {
			more, err := list(t.query(query, account, parent, touched, ended, maxChildren), key)
			if err != nil {
				return nil, err
			}
			keys = append(keys, more...)
		}
		if keys = keys[:min(len(keys), maxChildren)]; len(keys) > 0 {
			slices.Sort(keys)
			children[parent] = slices.Compact(keys)
		}
	}
	return children, nil
}

func (t *readTx) LastRun(session int64) (sessile.Run, bool, error) {
	return one(t.query(sqlLastRun, session), readRun)
}
