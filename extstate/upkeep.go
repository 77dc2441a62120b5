package extstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// Orphan is a session of which there are rows but, as far as anybody knows, no file.
type Orphan struct {
	SessionID string
	Rows      int64
	Bytes     int64 // of the values
}

// Orphans lists the sessions with rows that exists does not know, by id. Who answers should know all places where sessions
// are kept: custom directories, other machines that share the file, and running sessions that have no file yet look like
// orphans otherwise. An error of exists ends the search.
func (f *File) Orphans(ctx context.Context, exists func(sessionID string) (bool, error)) ([]Orphan, error) {
	var all, orphans []Orphan
	err := f.with(ctx, func() error {
		rows := f.conn.Query(`SELECT session_id, count(*), sum(octet_length(value)) FROM state GROUP BY session_id ORDER BY session_id`)
		for rows.Next() {
			all = append(all, Orphan{rows.Text(0), rows.Int64(1), rows.Int64(2)})
		}
		return rows.Close()
	})
	if err != nil {
		return nil, err
	}
	for _, session := range all {
		known, err := exists(session.SessionID)
		if err != nil {
			return nil, err
		}
		if !known {
			orphans = append(orphans, session)
		}
	}
	return orphans, ctx.Err()
}

// PurgeOptions choose what is purged.
type PurgeOptions struct {
	// Sessions are those whose rows go. None is none: nothing is purged by leaving something out.
	Sessions []string
	// PluginID keeps the rows of all other plugins; "" keeps none.
	PluginID string
	// DryRun says what would go, and leaves it.
	DryRun bool
}

// Purged is what went.
type Purged struct {
	Rows []SizedRow
	// Refused are the sessions that another process was writing; their rows stayed.
	Refused []string
}

// Purge deletes rows, and what the history knows of them, session by session under their locks. Make a [File.Backup]
// before. With an error the sessions before it are purged.
func (f *File) Purge(ctx context.Context, options PurgeOptions) (Purged, error) {
	var purged Purged
	for _, session := range slices.Compact(slices.Sorted(slices.Values(options.Sessions))) {
		if session == "" {
			continue
		}
		var rows []SizedRow
		list := func() (err error) {
			rows, err = f.rows(Filter{PluginID: options.PluginID, SessionID: session})
			return err
		}
		work := list
		if !options.DryRun {
			work = func() error {
				return f.exclusively(ActionDrop, session, func() error {
					if err := list(); err != nil {
						return err
					}
					return f.purge(session, options.PluginID)
				})
			}
		}
		err := f.changing(ctx, work, session)
		if _, refused := err.(*RefusedError); refused { //nolint:errorlint // it is returned as it is
			purged.Refused = append(purged.Refused, session)
			continue
		}
		if err != nil {
			return purged, err
		}
		purged.Rows = append(purged.Rows, rows...)
	}
	return purged, nil
}

// purge deletes the rows first, since their deletion makes versions of its own.
func (f *File) purge(session, plugin string) error {
	const chosen = ` WHERE session_id = ?1 AND (?2 = '' OR plugin_id = ?2)`
	if err := f.conn.Exec(`DELETE FROM state`+chosen, session, plugin); err != nil {
		return err
	}
	kept, err := f.hasHistory()
	if err != nil || !kept {
		return err
	}
	return f.conn.Exec(`DELETE FROM sessile_history`+chosen, session, plugin)
}

// Backup writes a copy of the file, as it is at one moment, to a path where no file may be. Other programs go on writing
// meanwhile. Lock rows and the history are copied too. The copy is on the disk on return, and can be read by its owner
// only.
func (f *File) Backup(ctx context.Context, path string) error {
	return f.with(ctx, func() error {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // SQLite fills a file that is empty
		if err != nil {
			return &OpenError{Path: path, Err: err}
		}
		err = f.conn.Exec(`VACUUM INTO ?`, sqliteconn.FileURI(path))
		if err == nil {
			err = file.Sync()
		}
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(path) // half-made
			return fmt.Errorf("back up to %s: %w", path, err)
		}
		return nil
	})
}

// Conflict says which value stays when both files have one for a row.
type Conflict string

// The rules of [File.Merge].
const (
	KeepOurs   Conflict = "ours"
	KeepTheirs Conflict = "theirs"
)

// Merged is what a merge did.
type Merged struct {
	Added, Replaced, Kept, Same int
	// Refused are the sessions that another process was writing; their rows were not merged.
	Refused []string
}

// Merge copies the rows of another state file into this one, session by session under the locks of this file. Rows whose
// text is no JSON are copied as they are. Where both have a row with different texts, the rule decides. Running it again
// changes nothing. With an error the sessions before it are merged.
func (f *File) Merge(ctx context.Context, from *File, rule Conflict) (Merged, error) {
	var merged Merged
	if rule != KeepOurs && rule != KeepTheirs {
		return merged, &ArgumentError{fmt.Sprintf("no rule %q for conflicts", rule)}
	}
	if from == f || from.path == f.path {
		return merged, &ArgumentError{"a file cannot be merged into itself"}
	}
	rows, err := from.Rows(ctx, Filter{})
	if err != nil {
		return merged, err
	}
	for len(rows) > 0 {
		session := rows[0].SessionID
		n := 1
		for n < len(rows) && rows[n].SessionID == session {
			n++
		}
		err := f.mergeSession(ctx, from, session, rows[:n], rule, &merged)
		if _, refused := err.(*RefusedError); refused { //nolint:errorlint // it is returned as it is
			merged.Refused = append(merged.Refused, session)
		} else if err != nil {
			return merged, err
		}
		rows = rows[n:]
	}
	return merged, nil
}

func (f *File) mergeSession(ctx context.Context, from *File, session string, rows []SizedRow, rule Conflict, total *Merged) error {
	theirs := make([][]byte, len(rows))
	for i, row := range rows {
		text, found, err := from.Get(ctx, row.Row)
		if err != nil {
			return err
		}
		if found { // not dropped meanwhile
			theirs[i] = text
		}
	}
	merged := *total
	err := f.changing(ctx, func() error {
		return f.exclusively(ActionWrite, session, func() error {
			for i, row := range rows {
				if theirs[i] == nil {
					continue
				}
				ours, err := get(f.conn, row.key())
				if err != nil {
					return err
				}
				switch {
				case !ours.present:
					merged.Added++
				case string(ours.text) == string(theirs[i]):
					merged.Same++
					continue
				case rule == KeepOurs:
					merged.Kept++
					continue
				default:
					merged.Replaced++
				}
				if err := f.put(row.Row, theirs[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}, session)
	if err == nil {
		*total = merged
	}
	return err
}

// Problem is something in a file that should not be there.
type Problem struct {
	Row     Row // the row it concerns; empty when it concerns the file
	Message string
}

// Check looks at the whole file: SQLite's own check of its integrity, the version of the schema, rows that no plugin can
// have written, texts that are not JSON, and lock rows whose holder is gone. A file without problems gives none. It changes
// nothing.
func (f *File) Check(ctx context.Context) ([]Problem, error) {
	var problems []Problem
	add := func(row Row, message string) { problems = append(problems, Problem{row, message}) }
	err := f.with(ctx, func() error {
		verdicts, err := f.texts(`PRAGMA integrity_check`)
		if err != nil {
			return err
		}
		for _, verdict := range verdicts {
			if verdict != "ok" {
				add(Row{}, verdict)
			}
		}
		if !f.hasLock {
			add(Row{}, "an old schema; the first write brings it up to date")
		}
		rows := f.conn.Query(`SELECT plugin_id, session_id, branch_id, value FROM state ORDER BY session_id, plugin_id, branch_id`)
		for rows.Next() {
			row := Row{rows.Text(0), rows.Text(1), rows.Text(2)}
			if checkPlugin(row.PluginID) != nil {
				add(row, "no plugin can have this id")
			}
			if checkJSON(rows.Bytes(3)) != nil {
				add(row, "the value is not JSON")
			}
		}
		return rows.Close()
	})
	if err != nil {
		return problems, err
	}
	locks, err := f.Locks(ctx)
	for _, lock := range locks {
		if lock.Expired {
			add(Row{SessionID: lock.SessionID}, fmt.Sprintf("a lock row of %s (%s) was left; the next write takes it over", lock.Holder, lock.Liveness))
		}
	}
	return problems, err
}
