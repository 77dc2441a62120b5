//go:build unix

package extstate_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

func TestC52(t *testing.T) {
	d := newDesk(t)
	s := d.open(extstate.Options{StaleCache: true})
	d.write(s, tree(""), `"v1"`)
	if err := d.file().write("role", "s1", "", `"v2"`); err != nil {
		t.Fatal(err)
	}
	d.reads(s, tree(""), `"v1"`)
	f := d.maintain()
	if holder, found, err := f.ForceRefresh(background, "s1"); holder != "" || found || err != nil {
		t.Errorf("force refresh: %q, %v, %v", holder, found, err)
	}
	d.reads(s, tree(""), `"v2"`)
}

func TestC53(t *testing.T) {
	d := newDesk(t)
	s := d.open(extstate.Options{StaleCache: true})
	d.reads(s, tree(""), "absent")
	if err := d.file().put("role", "s1", "", `"n"`); err != nil {
		t.Fatal(err)
	}
	d.reads(s, tree(""), "absent")
}

// What other programs write is seen by the next read, unless an instance asks for the original's behaviour.
func TestFreshness(t *testing.T) {
	d := newDesk(t)
	s, b, v := d.session(), d.branch(), tree("r; x<r; z<r")
	other := d.file()
	put := func(branch, value string) {
		if err := other.put("role", "s1", branch, value); err != nil {
			t.Fatal(err)
		}
	}
	d.reads(s, v, "absent")
	put("", "1")
	d.reads(s, v, "1")
	d.write(s, v, "2")
	d.reads(s, v, "2")
	put("", "3")
	d.write(s, v.in("s2"), "0") // our own write hides nothing of what others did
	d.reads(s, v, "3")
	d.reads(b, v.at("x"), "absent")
	put("r", "4")
	d.reads(b, v.at("x"), "4")
	put("z", "5") // another process was the first to write to this branch
	d.reads(b, v.at("z"), "5")
	if err := other.conn.Exec(`DELETE FROM state WHERE branch_id = ''`); err != nil {
		t.Fatal(err)
	}
	d.reads(s, v, "absent")
}

// An inherited value that is written down never replaces what another process wrote in the meantime.
func TestMaterializeYields(t *testing.T) {
	d := newDesk(t)
	b, v := d.open(extstate.Options{Scope: extstate.ScopeBranch, StaleCache: true}), tree("r; x<r; z<r")
	d.reads(b, v.at("x"), "absent")
	d.write(b, v.at("r"), `"r"`)
	if err := d.file().put("role", "s1", "x", `"theirs"`); err != nil {
		t.Fatal(err)
	}
	d.reads(b, v.at("x"), `"theirs"`)
	d.rows(`r="r" x="theirs"`)
}

func TestC54(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.reads(s, tree(""), "absent")
	for _, text := range []string{"{bad", "", "1 2", "\uFEFF1", "NaN"} {
		if err := d.file().put("role", "s1", "", text); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var corrupt *extstate.CorruptError
			if _, found, err := s.Read(background, tree("")); found || !errors.As(err, &corrupt) || corrupt.Err == nil {
				t.Errorf("%q: %v, %v", text, found, err)
			}
		}
	}
	d.write(s, tree(""), "5")
	d.reads(s, tree(""), "5")
}

func (d *desk) cannotOpen(s *raw, path string) {
	d.Helper()
	_, found, err := s.Read(background, tree(""))
	for _, err := range []error{err, s.Write(background, tree(""), jsontext.Value("1")), s.Drop(background, tree(""))} {
		var open *extstate.OpenError
		if found || !errors.As(err, &open) || open.Path != path || open.Err == nil || !strings.HasPrefix(err.Error(), "session-state: cannot open "+path) {
			d.Errorf("%v; want cannot open %s", err, path)
		}
	}
}

func TestC55(t *testing.T) {
	d := newDesk(t)
	dir, text := t.TempDir(), filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, text, filepath.Join(text, "below")} {
		d.cannotOpen(d.open(extstate.Options{DatabasePath: path}), path)
	}
	if now, err := os.ReadFile(text); err != nil || !strings.HasPrefix(string(now), "no database") {
		t.Errorf("the text file was changed: %v", err)
	}
}

func TestC56(t *testing.T) {
	d := newDesk(t)
	parent := filepath.Dir(d.path)
	if err := os.WriteFile(parent, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := d.session()
	d.cannotOpen(s, d.path)
	if err := os.Remove(parent); err != nil {
		t.Fatal(err)
	}
	d.reads(s, tree(""), "absent")
}

// Tables of another shape are an error of opening; what else may live in the file does no harm (section 2.4).
func TestForeignTables(t *testing.T) {
	d := newDesk(t)
	other := func(sql string) {
		t.Helper()
		conn, err := sqliteconn.Open(d.path, sqliteconn.Options{})
		if err == nil {
			err = conn.Exec(sql)
		}
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
		t.Fatal(err)
	}
	other(`CREATE TABLE state (a)`)
	s := d.session()
	d.cannotOpen(s, d.path)
	other(`DROP TABLE state`)
	d.write(s, tree(""), "1")
	other(`ALTER TABLE state ADD COLUMN note TEXT DEFAULT 'none'`)
	other(`ALTER TABLE write_lock ADD COLUMN host TEXT`)
	other(`CREATE TABLE seen (value)`)
	other(`CREATE TRIGGER watch AFTER INSERT ON state BEGIN INSERT INTO seen VALUES (NEW.value); END`)
	d.write(s, tree(""), "2")
	d.reads(s, tree(""), "2")
	other(`INSERT INTO seen SELECT 1/(note = 'none') FROM state`)
}

func TestCloseAndReopen(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	same := d.open(extstate.Options{DatabasePath: filepath.Dir(d.path) + "/x/../states.sqlite"})
	d.write(s, tree(""), "1")
	d.reads(same, tree(""), "1")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := s.Read(background, tree(""))
	for _, err := range []error{err, s.Write(background, tree(""), jsontext.Value("1")), s.Drop(background, tree(""))} {
		if !errors.Is(err, extstate.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	d.write(same, tree(""), "2")
	if err := same.Close(); err != nil {
		t.Fatal(err)
	}
	d.missing(d.path + "-wal")
	d.missing(d.path + "-shm")
	d.reads(d.session(), tree(""), "2")
}

// Two spellings of one file through symbolic links are two stores over the same write-ahead log (section 2.3).
func TestSymbolicLinks(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), "1")
	if info, err := os.Stat(d.path); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	links := t.TempDir()
	dir, file := filepath.Join(links, "dir"), filepath.Join(links, "file.sqlite")
	if err := errors.Join(os.Symlink(filepath.Dir(d.path), dir), os.Symlink(d.path, file)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, filepath.Base(d.path)), file} {
		linked := d.open(extstate.Options{DatabasePath: path})
		d.reads(linked, tree(""), "1")
		d.write(linked, tree("").in("s2"), `"`+path+`"`)
		d.reads(s, tree("").in("s2"), `"`+path+`"`)
	}
	d.missing(file + "-wal")
	d.unlocked()
}

// session reads a session file of Pi far enough for its tree: blank and broken lines are skipped.
func session(t *testing.T, name string) *view {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	v := &view{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line struct {
			Type, ID string
			ParentID *string
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if line.Type == "session" {
			v.session = line.ID
			continue
		}
		v.entries = append(v.entries, extstate.Entry{ID: line.ID, ParentID: line.ParentID})
	}
	return v
}

func TestC72(t *testing.T) {
	d := newDesk(t)
	d.copyFile("states-v2.sqlite")
	v := session(t, "tree-branches.jsonl")
	demo := d.open(extstate.Options{PluginID: "demo-ext", Scope: extstate.ScopeBranch})
	other := d.open(extstate.Options{PluginID: "other.ext-2", Scope: extstate.ScopeBranch})
	d.reads(d.open(extstate.Options{PluginID: "demo-ext"}), v, "{\"mode\":\"plan\",\"note\":\"<&> \u2028 é 😀\"}")
	for _, c := range []struct{ leaf, key, demo, other string }{
		{"313c78fe", "6ed721c6", `{"plan":"A"}`, "absent"},
		{"f3ccf8da", "f3ccf8da", `{"plan":"none"}`, "null"},
		{"b04bd82f", "3b930b04", `{"plan":"none"}`, "absent"},
		{"d3a93edf", "f8dffc6a", `{"plan":"B2"}`, "null"},
		{"2e0c4b72", "16ad6d1c", "absent", "absent"},
		{"daf5a860", "cfbf2bc4", `{"plan":"none"}`, "absent"},
		{"933a3089", "ebb4346a", `{"plan":"none"}`, "null"},
		{"16ad6d1c", "16ad6d1c", "absent", "absent"},
	} {
		d.key(v.at(c.leaf), c.key)
		d.reads(demo, v.at(c.leaf), c.demo)
		d.reads(other, v.at(c.leaf), c.other)
	}
	r := d.file()
	got := map[string]string{}
	for _, plugin := range []string{"demo-ext", "other.ext-2"} {
		for _, row := range r.rows(t, plugin, v.session) {
			got[plugin+" "+row.branch] = row.value
		}
	}
	for _, branch := range []string{"3b930b04", "cfbf2bc4", "ebb4346a", "f3ccf8da"} {
		if got["demo-ext "+branch] != `{"plan":"none"}` {
			t.Errorf("demo-ext %s is %s", branch, got["demo-ext "+branch])
		}
	}
	if got["other.ext-2 f3ccf8da"] != "null" || got["other.ext-2 f8dffc6a"] != "null" || len(got) != 11 {
		t.Errorf("%d rows: %v", len(got), got)
	}
}

func TestC73(t *testing.T) {
	d := newDesk(t)
	source, fork := session(t, "tree-branches.jsonl"), session(t, "forked-session.jsonl")
	for _, id := range strings.Fields("3804945f 51eaa4f0 e4016984 2690fc0b 4f21f8d4 cfbf2bc4 daf5a860 3b930b04 c2ff8802") {
		d.key(fork.at(id), "3804945f")
	}
	d.key(source.at("cfbf2bc4"), "cfbf2bc4")
	d.key(fork.at("388da188"), "3804945f")
	d.key(fork.at("d43b8149"), "fd0b1b8b")
	d.key(fork.at("aa3ba8e8"), "59fca750")
}

func TestDamagedSessionFile(t *testing.T) {
	d := newDesk(t)
	v := session(t, "damaged.jsonl")
	for id, key := range map[string]string{
		"aaaa0001": "aaaa0001", "aaaa0002": "aaaa0001", "aaaa0003": "aaaa0003", "aaaa0004": "ffff0000", "aaaa0005": "ffff0000",
		"aaaa0006": "aaaa0006",
	} {
		d.key(v.at(id), key)
	}
}

func (d *desk) maintain() *extstate.File {
	d.Helper()
	f, err := extstate.OpenFile(d.path, extstate.FileOptions{})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		if err := f.Close(); err != nil {
			d.Error(err)
		}
	})
	return f
}
