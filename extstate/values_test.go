//go:build unix

package extstate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

func openError(t *testing.T, options extstate.Options, part string) {
	t.Helper()
	_, err := extstate.Open[any](options)
	var argument *extstate.ArgumentError
	if !errors.As(err, &argument) || !strings.Contains(err.Error(), part) || !strings.HasPrefix(err.Error(), "session-state: ") {
		t.Errorf("%+v: %v, want an argument error with %q", options, err, part)
	}
}

func TestC01(t *testing.T) {
	for _, id := range []string{"", "Bad", "a_b", "a b", "é", "a\n"} {
		openError(t, extstate.Options{PluginID: id, DatabasePath: "/x.sqlite"}, "plugin id")
	}
}

func TestC02(t *testing.T) {
	d := newDesk(t)
	for _, id := range []string{"a.b-1", "0", "."} {
		d.open(extstate.Options{PluginID: id})
	}
	d.missing(filepath.Dir(d.path))
}

func TestC03(t *testing.T) {
	for _, scope := range []extstate.Scope{"nope", "Session"} {
		openError(t, extstate.Options{PluginID: "role", Scope: scope, DatabasePath: "/x.sqlite"}, string(scope))
	}
}

func TestC04(t *testing.T) {
	for _, path := range []string{"rel/x.sqlite", "~/x.sqlite", ":memory:"} {
		openError(t, extstate.Options{PluginID: "role", DatabasePath: path}, "path")
	}
}

func TestC05(t *testing.T) { openError(t, extstate.Options{PluginID: "X", Scope: "z"}, "plugin id") }

func TestC06(t *testing.T) {
	d := newDesk(t)
	d.reads(d.session(), tree(""), "absent")
	if _, err := os.Stat(d.path); err != nil {
		t.Fatal(err)
	}
	conn, err := sqliteconn.Open(d.path, sqliteconn.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for sql, want := range map[string]string{
		`PRAGMA journal_mode`:        "wal",
		`PRAGMA user_version`:        "0",
		`PRAGMA application_id`:      "0",
		`SELECT count(*) FROM state`: "0",
		`SELECT group_concat(name || ' ' || type || ' ' || "notnull" || pk, ', ') FROM pragma_table_info('state')`:      "plugin_id TEXT 11, session_id TEXT 12, branch_id TEXT 13, value TEXT 10",
		`SELECT group_concat(name || ' ' || type || ' ' || "notnull" || pk, ', ') FROM pragma_table_info('write_lock')`: "session_id TEXT 01, holder TEXT 10, acquired_at INTEGER 10",
		`SELECT count(*) FROM sqlite_schema WHERE type <> 'index'`:                                                      "2",
	} {
		got := ""
		if _, err := conn.One(sql, func(r *sqliteconn.Rows) { got = r.Text(0) }); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", sql, got, err, want)
		}
	}
}

func TestC07(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), `{ "a" : 1 }`)
	d.reads(s, tree(""), `{"a":1}`)
	d.rows(`={"a":1}`)
	d.unlocked()
}

func TestC08(t *testing.T) {
	d := newDesk(t)
	s := open[*int](d, extstate.Options{})
	if err := s.Write(background, tree(""), nil); err != nil {
		t.Fatal(err)
	}
	if v, found, err := s.Read(background, tree("")); v != nil || !found || err != nil {
		t.Errorf("%v, %v, %v; want null", v, found, err)
	}
	d.reads(d.session(), tree(""), "null")
	d.rows("=null")
}

func TestC09(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), "1")
	var bad *extstate.ValueError
	if err := s.Write(background, tree(""), nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "undefined") {
		t.Errorf("undefined: %v", err)
	}
	d.rows("=1")
	d.unlocked()
}

func TestC10(t *testing.T) {
	d := newDesk(t)
	s := open[any](d, extstate.Options{})
	type node struct{ Next *node }
	cycle := &node{}
	cycle.Next = cycle
	for name, value := range map[string]any{
		"a cycle": cycle, "a function": func() {}, "a channel": make(chan int), "text that is not UTF-8": "\xff",
		"raw text that is not UTF-8": jsontext.Value("\"\xff\""), "raw text that is not JSON": jsontext.Value("{bad"),
	} {
		var bad *extstate.ValueError
		err := s.Write(background, tree(""), value)
		if !errors.As(err, &bad) || bad.Err == nil || !strings.Contains(err.Error(), "not serializable") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.missing(d.path)
}

func TestC11(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), `"first"`)
	d.write(s, tree(""), `"second"`)
	d.rows(`="second"`)
}

func TestC12(t *testing.T) {
	d := newDesk(t)
	s := open[map[string][]string](d, extstate.Options{})
	mine := map[string][]string{"items": {"x"}}
	if err := s.Write(background, tree(""), mine); err != nil {
		t.Fatal(err)
	}
	mine["items"][0] = "changed"
	got, _, err := s.Read(background, tree(""))
	if err != nil {
		t.Fatal(err)
	}
	got["items"][0] = "changed too"
	d.reads(d.session(), tree(""), `{"items":["x"]}`)

	r := d.session()
	value, _, err := r.Read(background, tree(""))
	if err != nil {
		t.Fatal(err)
	}
	clear(value)
	d.reads(r, tree(""), `{"items":["x"]}`)
}

func TestC13(t *testing.T) {
	d := newDesk(t)
	s := open[string](d, extstate.Options{})
	if err := s.Write(background, tree(""), "<a&b>\u2028\u2029\x7f"); err != nil {
		t.Fatal(err)
	}
	d.rows("=\"<a&b>\u2028\u2029\x7f\"")
}

func TestC14(t *testing.T) {
	d := newDesk(t)
	s := open[float64](d, extstate.Options{})
	zero := 0.0
	for want, value := range map[string]float64{"1e+21": 1e21, "1e-7": 1e-7, "0": -zero, "100000000000000000000": 1e20, "null": zero / zero, "0.1": 0.1} {
		if err := s.Write(background, tree(""), value); err != nil {
			t.Fatal(err)
		}
		d.rows("=" + want)
	}
}

func TestC15(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), `"v"`)
	d.drop(s, tree(""))
	d.reads(s, tree(""), "absent")
	d.drop(s, tree(""))
	d.rows("")
	d.unlocked()
}

func TestC16(t *testing.T) {
	d := newDesk(t)
	s, b, v := d.session(), d.branch(), tree("a").at("a")
	d.write(s, v, `"S"`)
	d.reads(b, v, "absent")
	d.write(b, v, `"B"`)
	d.drop(s, v)
	d.reads(b, v, `"B"`)
}

func TestC17(t *testing.T) {
	d := newDesk(t)
	v := tree("a").at("a")
	b := d.branch()
	d.write(b, v, "1")
	d.reads(d.open(extstate.Options{PluginID: "other", Scope: extstate.ScopeBranch}), v, "absent")
	d.reads(b, v.in("s2"), "absent")
}

// What the caller gave as raw JSON stays as it was, but for blanks between tokens.
func TestRawJSONStaysAsItIs(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	for _, text := range []string{
		`{"z":1,"a":2,"10":3}`, `[1.0,1e2,-0,123456789012345678901234567890]`, `"\u003c\ud800"`, `{"a":1,"a":2}`, `"é"`, `true`,
	} {
		d.write(s, tree(""), " "+text+"\n")
		d.reads(s, tree(""), text)
		d.rows("=" + text)
	}
	if err := d.file().put("role", "s1", "", "\t{\"a\": 1e2} \n"); err != nil {
		t.Fatal(err)
	}
	d.reads(s, tree(""), `{"a": 1e2}`)
	m := open[map[string]float64](d, extstate.Options{})
	if v, found, err := m.Read(background, tree("")); v["a"] != 100 || !found || err != nil {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	n := open[[]string](d, extstate.Options{})
	var decode *extstate.DecodeError
	if v, found, err := n.Read(background, tree("")); v != nil || found || !errors.As(err, &decode) {
		t.Errorf("a value of another type: %v, %v, %v", v, found, err)
	}
}
