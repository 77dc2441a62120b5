//go:build unix

package extstate_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
)

// What the types of Go rule out of the cases: a plugin id or a path that is a number (C01, C04); a scope or a path that is
// null, which is the zero value and means "not given", as does the empty path (C03, C04); undefined, which only raw JSON
// has, as the empty text (C09, C41); a big integer without a JSON form, since Go's have one (C10).

// view is a view of tests: a tree that is written as in the sheet, "r; x<r; z<r".
type view struct {
	session string
	entries []extstate.Entry
	leaf    string // "" is none
	ui      *user
}

func (v *view) SessionID() string         { return v.session }
func (v *view) Leaf() (string, bool)      { return v.leaf, v.leaf != "" }
func (v *view) Entries() []extstate.Entry { return v.entries }
func (v *view) Version() uint64           { return 0 }
func (v *view) UI() extstate.UI {
	if v.ui == nil {
		return nil
	}
	return v.ui
}

// tree makes a view of session s1.
func tree(nodes string) *view {
	v := &view{session: "s1"}
	v.add(nodes)
	return v
}

func (v *view) add(nodes string) {
	for node := range strings.SplitSeq(nodes, ";") {
		id, parent, below := strings.Cut(strings.TrimSpace(node), "<")
		entry := extstate.Entry{ID: id}
		if below {
			entry.ParentID = &parent
		}
		if id != "" {
			v.entries = append(v.entries, entry)
		}
	}
}

func (v *view) at(leaf string) *view {
	moved := *v
	moved.leaf = leaf
	return &moved
}

func (v *view) in(session string) *view {
	moved := *v
	moved.session = session
	return &moved
}

func (v *view) with(ui *user) *view {
	moved := *v
	moved.ui = ui
	return &moved
}

// note is one notification.
type note struct {
	message string
	level   extstate.Level
}

// user is a UI that remembers what it was told.
type user struct {
	notes  []note
	asked  []string
	answer bool
	fails  error
}

func (u *user) Notify(message string, level extstate.Level) error {
	u.notes = append(u.notes, note{message, level})
	return u.fails
}

func (u *user) Confirm(question string) (bool, error) {
	u.asked = append(u.asked, question)
	return u.answer, nil
}

type raw = extstate.State[jsontext.Value]

// desk is a test's file with instances on it.
type desk struct {
	*testing.T
	path string
	now  time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{T: t, path: filepath.Join(t.TempDir(), "deep", "states.sqlite"), now: time.UnixMilli(1_800_000_000_000)}
}

func (d *desk) open(options extstate.Options) *raw {
	d.Helper()
	return open[jsontext.Value](d, options)
}

func open[T any](d *desk, options extstate.Options) *extstate.State[T] {
	d.Helper()
	if options.PluginID == "" {
		options.PluginID = "role"
	}
	if options.DatabasePath == "" {
		options.DatabasePath = d.path
	}
	options.Now = func() time.Time { return d.now }
	s, err := extstate.Open[T](options)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		if err := s.Close(); err != nil {
			d.Error(err)
		}
	})
	return s
}

func (d *desk) session() *raw { d.Helper(); return d.open(extstate.Options{}) }
func (d *desk) branch() *raw {
	d.Helper()
	return d.open(extstate.Options{Scope: extstate.ScopeBranch})
}

func (d *desk) write(s *raw, v extstate.View, text string) {
	d.Helper()
	if err := s.Write(d.Context(), v, jsontext.Value(text)); err != nil {
		d.Fatalf("write %s: %v", text, err)
	}
}

func (d *desk) drop(s *raw, v extstate.View) {
	d.Helper()
	if err := s.Drop(d.Context(), v); err != nil {
		d.Fatalf("drop: %v", err)
	}
}

// reads expects a value, as text; "absent" when there is to be none.
func (d *desk) reads(s *raw, v extstate.View, want string) {
	d.Helper()
	value, found, err := s.Read(d.Context(), v)
	got := string(value)
	if !found {
		got = "absent"
	}
	if err != nil || got != want {
		d.Errorf("read is %s, %v; want %s", got, err, want)
	}
}

func (d *desk) key(v extstate.View, want string) {
	d.Helper()
	key, ok, err := extstate.BranchKey(v)
	if err != nil || ok != (want != "") || key != want {
		d.Errorf("branch key %q, %v, %v; want %q", key, ok, err, want)
	}
}

// file is the file in the eyes of the reference.
func (d *desk) file() *reference {
	d.Helper()
	return startReference(d.T, d.path)
}

// rows expects the rows of plugin role in session s1, written "branch=text branch=text".
func (d *desk) rows(want string) {
	d.Helper()
	var got []string
	for _, row := range d.file().rows(d.T, "role", "s1") {
		got = append(got, row.branch+"="+row.value)
	}
	if strings.Join(got, " ") != want {
		d.Errorf("rows %q, want %q", strings.Join(got, " "), want)
	}
}

func (d *desk) unlocked() {
	d.Helper()
	if held := d.file().locks(d.T); len(held) > 0 {
		d.Errorf("lock rows left: %v", held)
	}
}

// lock puts a lock row of session s1 into the file.
func (d *desk) lock(holder string, age time.Duration) {
	d.Helper()
	if ok, err := d.file().insertLock("s1", holder, d.now.Add(-age).UnixMilli()); !ok || err != nil {
		d.Fatalf("lock row: %v, %v", ok, err)
	}
}

func (d *desk) missing(path string) {
	d.Helper()
	if _, err := os.Stat(path); err == nil {
		d.Errorf("%s was made", path)
	}
}

// copyFile copies a fixture into place.
func (d *desk) copyFile(fixture string) {
	d.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", fixture))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(d.path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(d.path, text, 0o644)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// deadPID is the id of a process that has ended.
func (d *desk) deadPID() int {
	d.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		d.Fatal(err)
	}
	return cmd.Process.Pid
}

// runWorker runs a worker to its end and returns what it said.
func (d *desk) runWorker(role string, args ...string) string {
	d.Helper()
	out, err := startWorker(d.Context(), role, append([]string{d.path}, args...)...).CombinedOutput()
	if err != nil {
		d.Fatalf("%s: %v: %s", role, err, out)
	}
	return strings.TrimSpace(string(out))
}

// keepLocked keeps a write transaction open from another connection, until release.
func (d *desk) keepLocked() (release func()) {
	d.Helper()
	other, err := openReference(d.path)
	if err == nil {
		err = other.conn.Exec("BEGIN IMMEDIATE")
	}
	if err != nil {
		d.Fatal(err)
	}
	return func() {
		if err := other.conn.Exec("COMMIT"); err != nil {
			d.Error(err)
		}
		other.conn.Close()
	}
}

var background = context.Background()
