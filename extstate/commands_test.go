//go:build unix

package extstate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessile-dev/sessile/extstate"
)

// home is a place in a directory of its own, with settings of user and project; "-" is no file.
func home(t *testing.T, user, project string) extstate.Place {
	t.Helper()
	dir := t.TempDir()
	place := extstate.Place{AgentDir: filepath.Join(dir, "agent"), ProjectDir: filepath.Join(dir, "project"), HomeDir: filepath.Join(dir, "home")}
	for path, text := range map[string]string{place.AgentDir: user, filepath.Join(place.ProjectDir, ".pi"): project} {
		if text == "-" {
			continue
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "settings.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return place
}

// set is a settings file with a value for the path.
func set(value string) string { return `{"sessionState": {"databasePath": ` + value + `}, "theme": 1}` }

func TestLocation(t *testing.T) {
	const fallback = "agent/sessions/states.sqlite"
	for _, c := range []struct {
		name, user, project string
		trusted             bool
		want                string
		source              extstate.Source
		verdict             extstate.Verdict
	}{
		{"C57", set(`"st/x.db"`), "-", true, "agent/st/x.db", extstate.SourceUser, extstate.VerdictUsable},
		{"C57", set(`"../x/./y.db"`), "-", true, "x/y.db", extstate.SourceUser, extstate.VerdictUsable},
		{"C58", set(`"~/d/x.db"`), "-", true, "home/d/x.db", extstate.SourceUser, extstate.VerdictUsable},
		{"C58", set(`"~"`), "-", true, "home", extstate.SourceUser, extstate.VerdictUsable},
		{"C58", set(`"~bob/x"`), "-", true, fallback, extstate.SourceDefault, extstate.VerdictUnsupported},
		{"C59", set("42"), "-", true, fallback, extstate.SourceDefault, extstate.VerdictInvalid},
		{"C59", set(`""`), "-", true, fallback, extstate.SourceDefault, extstate.VerdictInvalid},
		{"C59", set("null"), "-", true, fallback, extstate.SourceDefault, extstate.VerdictInvalid},
		{"C60", "not json", "-", true, fallback, extstate.SourceDefault, extstate.VerdictMalformed},
		{"C60", "{} // comment", "-", true, fallback, extstate.SourceDefault, extstate.VerdictMalformed},
		{"C60", `{"a":1,}`, "-", true, fallback, extstate.SourceDefault, extstate.VerdictMalformed},
		{"C60", "\uFEFF{}", "-", true, fallback, extstate.SourceDefault, extstate.VerdictMalformed},
		{"C60", "", "-", true, fallback, extstate.SourceDefault, extstate.VerdictMalformed},
		{"C61", set(`"a.db"`), set(`"p.db"`), true, "project/.pi/p.db", extstate.SourceProject, extstate.VerdictUsable},
		{"C61", set(`"a.db"`), set(`"p.db"`), false, "agent/a.db", extstate.SourceUser, extstate.VerdictUsable},
		{"C62", set(`"/a.db"`), set("42"), true, "/a.db", extstate.SourceUser, extstate.VerdictUsable},
		{"C63", set("42"), "{", true, fallback, extstate.SourceDefault, extstate.VerdictMalformed},
		{"nothing set", "-", "-", true, fallback, extstate.SourceDefault, extstate.VerdictUnset},
		{"no object", "[]", `{"sessionState": 1}`, true, fallback, extstate.SourceDefault, extstate.VerdictUnset},
		{"user's when the project has none", set("42"), "{}", true, fallback, extstate.SourceDefault, extstate.VerdictInvalid},
		{"kept verbatim", set(`"/a/../b//c.db"`), "-", true, "/a/../b//c.db", extstate.SourceUser, extstate.VerdictUsable},
		{"no trimming", set(`" /x"`), "-", true, "agent/ /x", extstate.SourceUser, extstate.VerdictUsable},
		{"the last one counts", `{"sessionState":{"databasePath":"/1"},"sessionState":{"databasePath":7,"databasePath":"/2"}}`, "-", true, "/2", extstate.SourceUser, extstate.VerdictUsable},
	} {
		t.Run(c.name+"/"+c.want, func(t *testing.T) {
			place := home(t, c.user, c.project)
			place.ProjectTrusted = c.trusted
			want := c.want
			if !filepath.IsAbs(want) {
				want = filepath.Join(filepath.Dir(place.AgentDir), want)
			}
			got, err := extstate.Resolve(place)
			if err != nil || got.Path != want || got.Source != c.source || got.Verdict != c.verdict {
				t.Errorf("%+v, %v; want %s from %s, %s", got, err, want, c.source, c.verdict)
			}
			s, err := extstate.Open[any](extstate.Options{PluginID: "role", Place: place})
			if err != nil || s.Path() != filepath.Clean(want) {
				t.Fatalf("an instance is at %s, %v", s.Path(), err)
			}
			s.Close()
		})
	}
}

func TestAgentDirFromTheEnvironment(t *testing.T) {
	for variable, want := range map[string]string{"/agent": "/agent", "~/agent": "/home/me/agent", "~": "/home/me", "": "/home/me/.pi/agent"} {
		t.Setenv("PI_CODING_AGENT_DIR", variable)
		got, err := extstate.Resolve(extstate.Place{HomeDir: "/home/me"})
		if err != nil || got.Path != want+"/sessions/states.sqlite" {
			t.Errorf("%q: %+v, %v", variable, got, err)
		}
	}
}

func start(t *testing.T, place extstate.Place, ui *user) *extstate.Commands {
	t.Helper()
	place.ProjectTrusted = true
	c := extstate.NewCommands(func() time.Time { return time.UnixMilli(1_800_000_000_000) })
	for range 2 { // what was told once is not told again
		if err := c.SessionStart(tree("").with(ui), place); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestC62(t *testing.T) {
	ui := &user{}
	start(t, home(t, set(`"/a.db"`), set("42")), ui)
	if len(ui.notes) > 0 {
		t.Errorf("told %v", ui.notes)
	}
}

func TestC63(t *testing.T) {
	ui := &user{}
	place := home(t, set("42"), "{")
	start(t, place, ui)
	if len(ui.notes) != 1 || ui.notes[0].level != extstate.LevelWarning {
		t.Fatalf("told %v", ui.notes)
	}
	for _, part := range []string{filepath.Join(place.ProjectDir, ".pi", "settings.json"), filepath.Join(place.AgentDir, "sessions", "states.sqlite")} {
		if !strings.Contains(ui.notes[0].message, part) {
			t.Errorf("%q does not name %s", ui.notes[0].message, part)
		}
	}
	for _, value := range []string{"42", `"~bob/x"`} {
		ui := &user{}
		start(t, home(t, set(value), "-"), ui)
		if len(ui.notes) != 1 || !strings.Contains(ui.notes[0].message, "sessionState.databasePath") {
			t.Errorf("%s: told %v", value, ui.notes)
		}
	}
}

func TestC64(t *testing.T) { start(t, home(t, set("42"), "{"), nil) }

// command is a desk whose file is found by settings, with the commands started.
func command(t *testing.T, ui *user) (*desk, *extstate.Commands) {
	t.Helper()
	d := newDesk(t)
	return d, start(t, home(t, set(fmt.Sprintf("%q", d.path)), "-"), ui)
}

func (d *desk) told(ui *user, level extstate.Level, parts ...string) {
	d.Helper()
	if len(ui.notes) != 1 || ui.notes[0].level != level {
		d.Fatalf("told %v", ui.notes)
	}
	for _, part := range parts {
		if !strings.Contains(ui.notes[0].message, part) {
			d.Errorf("told %q, without %q", ui.notes[0].message, part)
		}
	}
	ui.notes = nil
}

func (d *desk) status(c *extstate.Commands, ui *user, lock, rows string) {
	d.Helper()
	if err := c.Status(background, tree("").with(ui)); err != nil {
		d.Fatal(err)
	}
	d.told(ui, extstate.LevelInfo, "\ndatabase: "+d.path+"\nlock: "+lock+"\nstate rows: "+rows)
}

func (d *desk) refresh(c *extstate.Commands, ui *user) {
	d.Helper()
	if err := c.ForceRefresh(background, tree("").with(ui)); err != nil {
		d.Fatal(err)
	}
}

func TestC65(t *testing.T) {
	ui := &user{}
	d, c := command(t, ui)
	d.status(c, ui, "none", "none")
	d.missing(filepath.Dir(d.path))
	if err := c.Status(background, tree("")); err != nil { // without a UI
		t.Error(err)
	}
	silent := extstate.NewCommands(nil)
	if err := silent.Status(background, tree("").with(ui)); err != nil || len(ui.notes) > 0 {
		t.Errorf("before the first start: %v, told %v", err, ui.notes)
	}
}

func TestC66(t *testing.T) {
	ui := &user{}
	d, c := command(t, ui)
	r := d.file()
	for _, row := range [][3]string{
		{"role", "s1", ""}, {"skill-tools", "s1", ""}, {"skill-tools", "s1", "b"}, {"a.b", "s1", "x"}, {"a-b", "s1", ""}, {"role", "s2", ""},
	} {
		if err := r.put(row[0], row[1], row[2], "1"); err != nil {
			t.Fatal(err)
		}
	}
	d.lock(living(), 0)
	d.status(c, ui, living()+" (alive)", "a-b: 1, a.b: 1, role: 1, skill-tools: 2")
}

func TestC67(t *testing.T) {
	for holder, state := range map[string]string{fmt.Sprintf("pid:%d", (&desk{T: t}).deadPID()): "not alive", "weird": "unknown"} {
		ui := &user{}
		d, c := command(t, ui)
		d.lock(holder, 0)
		d.status(c, ui, holder+" ("+state+")", "none")
	}
}

// The status reads files of every version and leaves them as they are.
func TestStatusOfOldFiles(t *testing.T) {
	for fixture, lock := range map[string]string{"states-v0.sqlite": "none", "states-v1.sqlite": "pid:1 (alive)", "states-v2.sqlite": "none"} {
		ui := &user{}
		d, c := command(t, ui)
		d.copyFile(fixture)
		before, err := os.ReadFile(d.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Status(background, tree("").in("s-old").with(ui)); err != nil {
			t.Fatal(err)
		}
		d.told(ui, extstate.LevelInfo, "lock: "+lock)
		if after, err := os.ReadFile(d.path); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed: %v", fixture, err)
		}
	}
}

// refreshDesk has a row that is cached as 1 and is 2 in the file, and a lock row.
func refreshDesk(t *testing.T, ui *user, holder string) (*desk, *extstate.Commands, *raw) {
	t.Helper()
	d, c := command(t, ui)
	s := d.open(extstate.Options{StaleCache: true})
	d.write(s, tree(""), "1")
	if err := d.file().put("role", "s1", "", "2"); err != nil {
		t.Fatal(err)
	}
	d.lock(holder, time.Hour)
	return d, c, s
}

func TestC68(t *testing.T) {
	ui := &user{}
	d, c, s := refreshDesk(t, ui, living())
	d.refresh(c, ui)
	if len(ui.asked) != 1 || !strings.Contains(ui.asked[0], living()+" (alive)") {
		t.Errorf("asked %v", ui.asked)
	}
	d.told(ui, extstate.LevelWarning)
	d.reads(s, tree(""), "1")
	if held := d.file().locks(t); held["s1"] != living() {
		t.Errorf("lock rows %v", held)
	}
}

func TestC69(t *testing.T) {
	ui := &user{answer: true}
	d, c, s := refreshDesk(t, ui, living())
	d.refresh(c, ui)
	d.told(ui, extstate.LevelInfo, living())
	d.unlocked()
	d.rows("=2")
	d.reads(s, tree(""), "2")
}

func TestC70(t *testing.T) {
	d, c, s := refreshDesk(t, nil, living())
	d.refresh(c, nil)
	d.reads(s, tree(""), "1")
	if held := d.file().locks(t); held["s1"] != living() {
		t.Errorf("lock rows %v", held)
	}
}

func TestC71(t *testing.T) {
	ui := &user{}
	dead := fmt.Sprintf("pid:%d", (&desk{T: t}).deadPID())
	d, c, s := refreshDesk(t, ui, dead)
	d.refresh(c, ui)
	if len(ui.asked) > 0 {
		t.Errorf("asked %v", ui.asked)
	}
	d.told(ui, extstate.LevelInfo, dead)
	d.unlocked()
	d.reads(s, tree(""), "2")
}

// Without a row nobody is asked, and what is pending stays.
func TestForceRefreshWithoutALock(t *testing.T) {
	ui := &user{}
	d, c := command(t, ui)
	b := d.branch()
	d.write(b, tree(""), "7")
	d.refresh(c, ui)
	d.told(ui, extstate.LevelInfo, "none")
	d.reads(b, tree(""), "7")
}
