//go:build unix

package extstate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

func ours(branch string) extstate.Row {
	return extstate.Row{PluginID: "role", SessionID: "s1", BranchID: branch}
}

func (d *desk) fill(rows ...extstate.Row) {
	d.Helper()
	r := d.file()
	for _, row := range rows {
		if err := r.put(row.PluginID, row.SessionID, row.BranchID, `"`+row.BranchID+`"`); err != nil {
			d.Fatal(err)
		}
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestOpenFileMakesNothing(t *testing.T) {
	d := newDesk(t)
	for _, readOnly := range []bool{true, false} {
		_, err := extstate.OpenFile(d.path, extstate.FileOptions{ReadOnly: readOnly})
		var open *extstate.OpenError
		if !errors.As(err, &open) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
	d.missing(filepath.Dir(d.path))
	text := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := extstate.OpenFile(text, extstate.FileOptions{ReadOnly: true}); err == nil {
		t.Error("an empty file is a state file")
	}
	foreign := filepath.Join(t.TempDir(), "foreign")
	conn, err := sqliteconn.Open(foreign, sqliteconn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(`PRAGMA journal_mode=delete`), conn.Exec(`CREATE TABLE t (a)`), conn.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extstate.OpenFile(foreign, extstate.FileOptions{}); err == nil || !strings.Contains(err.Error(), "not a state file") {
		t.Errorf("a foreign database: %v", err)
	}
	if after, err := os.ReadFile(foreign); err != nil || string(after) != string(before) {
		t.Errorf("a foreign database was changed: %v", err)
	}
}

func TestLocksAndCounts(t *testing.T) {
	d := newDesk(t)
	d.fill(ours(""), ours("abc"), extstate.Row{PluginID: "a", SessionID: "s1"}, extstate.Row{PluginID: "role", SessionID: "s2"})
	dead := d.deadPID()
	r := d.file()
	for session, lock := range map[string]struct {
		holder string
		age    time.Duration
	}{"s1": {living(), 0}, "s2": {fmt.Sprintf("pid:%d", dead), time.Second}, "s3": {"host-a", 2 * time.Minute}} {
		if _, err := r.insertLock(session, lock.holder, d.now.Add(-lock.age).UnixMilli()); err != nil {
			t.Fatal(err)
		}
	}
	f, err := extstate.OpenFile(d.path, extstate.FileOptions{ReadOnly: true, Now: func() time.Time { return d.now }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	locks, err := f.Locks(background)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "locks", locks, []extstate.Lock{
		{SessionID: "s1", Holder: living(), PID: os.Getppid(), Liveness: extstate.Alive, AcquiredAt: d.now},
		{SessionID: "s2", Holder: fmt.Sprintf("pid:%d", dead), PID: dead, Liveness: extstate.NotAlive, AcquiredAt: d.now.Add(-time.Second), Age: time.Second, Expired: true},
		{SessionID: "s3", Holder: "host-a", Liveness: extstate.Unknown, AcquiredAt: d.now.Add(-2 * time.Minute), Age: 2 * time.Minute, Expired: true},
	})
	counts, err := f.Counts(background, extstate.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "counts", counts, []extstate.Count{{PluginID: "a", Sessions: 1, Rows: 1, Bytes: 2}, {PluginID: "role", Sessions: 2, Rows: 3, Bytes: 9}})
	rows, err := f.Rows(background, extstate.Filter{PluginID: "role", SessionID: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "rows", rows, []extstate.SizedRow{{Row: ours(""), Bytes: 2}, {Row: ours("abc"), Bytes: 5}})
	if err := f.Set(background, ours(""), jsontext.Value("1")); err == nil {
		t.Error("a file that is open for reading was written")
	}
}

func TestGetSetDrop(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.reads(s, tree(""), "absent")
	f := d.maintain()
	if err := f.Set(background, ours(""), jsontext.Value(`{"b": 1, "a": "<"}`)); err != nil {
		t.Fatal(err)
	}
	d.reads(s, tree(""), `{"b":1,"a":"<"}`)
	if text, found, err := f.Get(background, ours("")); string(text) != `{"b":1,"a":"<"}` || !found || err != nil {
		t.Errorf("%s, %v, %v", text, found, err)
	}
	for _, want := range []bool{true, false} {
		if dropped, err := f.Drop(background, ours("")); dropped != want || err != nil {
			t.Errorf("dropped %v, %v", dropped, err)
		}
	}
	d.reads(s, tree(""), "absent")
	if err := f.Set(background, ours(""), jsontext.Value("{")); err == nil {
		t.Error("no JSON was written")
	}
	release, err := s.Hold(background, tree(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(background, ours(""), jsontext.Value("1")); err != nil {
		t.Error(err)
	}
	if held := d.file().locks(t); len(held) != 1 {
		t.Errorf("what this process holds was let go: %v", held)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	d.lock(living(), 0)
	d.lockedByNow(f)
}

// lockedByNow expects refusals, since the lock row is younger than the clock of the file by years.
func (d *desk) lockedByNow(f *extstate.File) {
	d.Helper()
	d.now = time.Now()
	if _, _, err := f.ForceRefresh(background, "s1"); err != nil {
		d.Fatal(err)
	}
	d.lock(living(), 0)
	d.refused(f.Set(background, ours(""), jsontext.Value("1")), extstate.ActionWrite, living())
	_, err := f.Drop(background, ours(""))
	d.refused(err, extstate.ActionDrop, living())
	if holder, found, err := f.ForceRefresh(background, "s1"); holder != living() || !found || err != nil {
		d.Errorf("force refresh: %q, %v, %v", holder, found, err)
	}
	d.unlocked()
}

func TestExplain(t *testing.T) {
	d := newDesk(t)
	v := tree("r; a<r; b<a; c<b; d<c; e<c; f<e; g<r; q")
	d.fill(ours(""), ours("r"), ours("g"))
	f := d.maintain()
	for _, c := range []struct {
		scope extstate.Scope
		leaf  string
		want  extstate.Explanation
	}{
		{extstate.ScopeSession, "", extstate.Explanation{Found: true, Value: []byte(`""`), Searched: []string{""}}},
		{extstate.ScopeBranch, "", extstate.Explanation{}},
		{extstate.ScopeBranch, "f", extstate.Explanation{Found: true, Value: []byte(`"r"`), Key: "e", Source: "r", Inherited: true, Searched: []string{"e", "a", "r"}}},
		{extstate.ScopeBranch, "g", extstate.Explanation{Found: true, Value: []byte(`"g"`), Key: "g", Source: "g", Searched: []string{"g"}}},
		{extstate.ScopeBranch, "q", extstate.Explanation{Key: "q", Searched: []string{"q"}}},
	} {
		got, err := f.Explain(background, "role", c.scope, v.at(c.leaf))
		if err != nil {
			t.Error(err)
		}
		same(t, c.leaf, got, c.want)
	}
	d.rows(`="" g="g" r="r"`)
}

// The history knows what other programs write, and brings it back.
func TestHistory(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), "1")
	f := d.maintain()
	if _, err := f.Undo(background, ours("")); !errors.Is(err, extstate.ErrNoHistory) {
		t.Errorf("undo without history: %v", err)
	}
	if err := f.EnableHistory(background, 5); err != nil {
		t.Fatal(err)
	}
	if err := f.EnableHistory(background, 5); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Undo(background, ours("")); !errors.Is(err, extstate.ErrNoHistory) {
		t.Errorf("undo of what was there before the history: %v", err)
	}
	d.reads(s, tree(""), "1")
	d.write(s, tree(""), "2")
	if err := d.file().write("role", "s1", "", "3"); err != nil {
		t.Fatal(err)
	}
	d.drop(s, tree(""))
	d.versions(f, "", "3", "2", "1")
	d.undo(f, "3")
	d.reads(s, tree(""), "3")
	d.undo(f, "")
	d.reads(s, tree(""), "absent")
	d.undo(f, "3")
	d.versions(f, "3", "", "3", "", "3") // five are kept
	d.write(s, tree(""), "4")
	versions, err := f.History(background, ours(""))
	if err != nil {
		t.Fatal(err)
	}
	if now, err := f.Restore(background, ours(""), versions[2].ID); err != nil || now.Value != nil {
		t.Errorf("restored %s, %v", now.Value, err)
	}
	d.reads(s, tree(""), "absent")
	if _, err := f.Restore(background, ours(""), 1); !errors.Is(err, extstate.ErrNoHistory) {
		t.Errorf("a version that is not kept any more: %v", err)
	}
	if err := f.DisableHistory(background); err != nil {
		t.Fatal(err)
	}
	if enabled, err := f.HistoryEnabled(background); enabled || err != nil {
		t.Errorf("enabled %v, %v", enabled, err)
	}
	if _, err := f.History(background, ours("")); !errors.Is(err, extstate.ErrNoHistory) {
		t.Errorf("a history that is disabled: %v", err)
	}
	d.write(s, tree(""), "5")
}

func (d *desk) versions(f *extstate.File, want ...string) {
	d.Helper()
	versions, err := f.History(background, ours(""))
	if err != nil {
		d.Fatal(err)
	}
	var got []string
	for _, v := range versions {
		got = append(got, string(v.Value))
		if age := time.Since(v.At); age < -time.Minute || age > time.Minute {
			d.Errorf("version %d is of %v", v.ID, v.At)
		}
	}
	if !slices.Equal(got, want) {
		d.Errorf("versions %q, want %q", got, want)
	}
}

func (d *desk) undo(f *extstate.File, want string) {
	d.Helper()
	if now, err := f.Undo(background, ours("")); err != nil || string(now.Value) != want {
		d.Errorf("undo gives %s, %v; want %s", now.Value, err, want)
	}
}

func TestUndoOfTheFirstWrite(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.reads(s, tree(""), "absent")
	f := d.maintain()
	if err := f.EnableHistory(background, 2); err != nil {
		t.Fatal(err)
	}
	d.write(s, tree(""), "1")
	d.undo(f, "")
	d.reads(s, tree(""), "absent")
	d.undo(f, "1")
}

func TestOrphansAndPurge(t *testing.T) {
	d := newDesk(t)
	other := extstate.Row{PluginID: "role", SessionID: "s2", BranchID: "x"}
	third := extstate.Row{PluginID: "a", SessionID: "s3"}
	d.fill(ours(""), ours("abc"), other, third)
	f := d.maintain()
	if err := f.EnableHistory(background, 2); err != nil {
		t.Fatal(err)
	}
	exists := func(id string) (bool, error) { return id == "s3", nil }
	orphans, err := f.Orphans(background, exists)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "orphans", orphans, []extstate.Orphan{{SessionID: "s1", Rows: 2, Bytes: 7}, {SessionID: "s2", Rows: 1, Bytes: 3}})
	broken := errors.New("no directory")
	if _, err := f.Orphans(background, func(string) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}

	d.now = time.Now()
	if _, err := d.file().insertLock("s2", living(), d.now.UnixMilli()); err != nil {
		t.Fatal(err)
	}
	options := extstate.PurgeOptions{Sessions: []string{"s2", "s1", "s1", ""}, PluginID: "role", DryRun: true}
	purged, err := f.Purge(background, options)
	if err != nil || len(purged.Rows) != 3 || len(purged.Refused) != 0 {
		t.Errorf("dry run: %+v, %v", purged, err)
	}
	d.rows(`="" abc="abc"`)
	options.DryRun = false
	purged, err = f.Purge(background, options)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "purged", purged, extstate.Purged{Rows: []extstate.SizedRow{{Row: ours(""), Bytes: 2}, {Row: ours("abc"), Bytes: 5}}, Refused: []string{"s2"}})
	d.rows("")
	if versions, err := f.History(background, ours("")); err != nil || len(versions) > 0 {
		t.Errorf("versions of a row that was purged: %v, %v", versions, err)
	}
	if purged, err := f.Purge(background, extstate.PurgeOptions{}); err != nil || len(purged.Rows) > 0 {
		t.Errorf("nothing was chosen, and purged: %v, %v", purged, err)
	}
}

func TestBackupAndMerge(t *testing.T) {
	d := newDesk(t)
	d.fill(ours(""), ours("abc"))
	f := d.maintain()
	copied := filepath.Join(t.TempDir(), "odd ?#%name.sqlite")
	if err := f.Backup(background, copied); err != nil {
		t.Fatal(err)
	}
	if err := f.Backup(background, copied); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a backup over a file: %v", err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v, %v", info.Mode(), err)
	}
	if err := f.Set(background, ours(""), jsontext.Value(`"changed"`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Drop(background, ours("abc")); err != nil {
		t.Fatal(err)
	}
	backup, err := extstate.OpenFile(copied, extstate.FileOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	merge := func(rule extstate.Conflict, want extstate.Merged, rows string) {
		t.Helper()
		merged, err := f.Merge(background, backup, rule)
		if err != nil {
			t.Fatal(err)
		}
		same(t, string(rule), merged, want)
		d.rows(rows)
	}
	merge(extstate.KeepOurs, extstate.Merged{Added: 1, Kept: 1}, `="changed" abc="abc"`)
	merge(extstate.KeepTheirs, extstate.Merged{Replaced: 1, Same: 1}, `="" abc="abc"`)
	merge(extstate.KeepTheirs, extstate.Merged{Same: 2}, `="" abc="abc"`)
	if _, err := f.Merge(background, f, extstate.KeepOurs); err == nil {
		t.Error("a file was merged into itself")
	}
	if _, err := f.Merge(background, backup, "newest"); err == nil {
		t.Error("a rule that does not exist")
	}
	d.now = time.Now()
	d.lock(living(), 0)
	merge(extstate.KeepTheirs, extstate.Merged{Refused: []string{"s1"}}, `="" abc="abc"`)
}

func TestCheck(t *testing.T) {
	d := newDesk(t)
	d.fill(ours(""))
	f := d.maintain()
	if problems, err := f.Check(background); err != nil || len(problems) > 0 {
		t.Errorf("a sound file: %v, %v", problems, err)
	}
	d.fill(extstate.Row{PluginID: "Bad", SessionID: "s1"})
	if err := d.file().put("role", "s1", "x", "{secret"); err != nil {
		t.Fatal(err)
	}
	d.lock(fmt.Sprintf("pid:%d", d.deadPID()), 0)
	problems, err := f.Check(background)
	if err != nil {
		t.Fatal(err)
	}
	var where []extstate.Row
	for _, p := range problems {
		where = append(where, p.Row)
		if strings.Contains(p.Message, "secret") {
			t.Errorf("a value shows: %s", p.Message)
		}
	}
	same(t, "problems", where, []extstate.Row{{PluginID: "Bad", SessionID: "s1"}, ours("x"), {SessionID: "s1"}})

	d.copyOver("states-v0.sqlite")
}

// copyOver checks a file of an old version, in a place of its own.
func (d *desk) copyOver(fixture string) {
	d.Helper()
	old := newDesk(d.T)
	old.copyFile(fixture)
	f, err := extstate.OpenFile(old.path, extstate.FileOptions{ReadOnly: true})
	if err != nil {
		d.Fatal(err)
	}
	defer f.Close()
	if problems, err := f.Check(background); err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "schema") {
		d.Errorf("%s: %v, %v", fixture, problems, err)
	}
}

func TestFileAfterClose(t *testing.T) {
	d := newDesk(t)
	d.fill(ours(""))
	f := d.maintain()
	f.Close()
	if _, err := f.Locks(background); !errors.Is(err, extstate.ErrClosed) {
		t.Errorf("%v", err)
	}
}
