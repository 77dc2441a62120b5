package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/extstate"
)

// harbour is a directory of Pi and a database of ours.
type harbour struct {
	*testing.T
	agent, db string
}

func newHarbour(t *testing.T) *harbour {
	h := &harbour{t, t.TempDir(), filepath.Join(t.TempDir(), "state.db")}
	t.Setenv("PI_CODING_AGENT_DIR", h.agent)
	t.Setenv(envSessionDir, "")
	t.Setenv(envSession, "")
	return h
}

func (h *harbour) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *harbour) states() string { return filepath.Join(h.agent, "sessions", "states.sqlite") }

// load imports everything and returns the answer.
func (h *harbour) load() (answer imported) {
	h.Helper()
	var out, warnings bytes.Buffer
	if code := run(h.Context(), []string{"ext", "import", "--db", h.db, "--json"}, streams{out: &out, err: &warnings}); code != exitDone {
		h.Fatalf("exit code %d: %s", code, &warnings)
	}
	h.must(json.Unmarshal(out.Bytes(), &answer))
	return answer
}

// ask hands out the server with the sessions that an import made, by their ids in Pi.
func (h *harbour) ask(a imported, fn func(ctx context.Context, s *shell, sessions map[string]string)) {
	h.Helper()
	sessions := map[string]string{}
	for _, s := range a.Sessions {
		sessions[s.Session] = s.ID
	}
	h.must((&connection{DB: h.db}).run(h.Context(), streams{out: io.Discard, err: io.Discard}, false, func(ctx context.Context, s *shell) error {
		fn(ctx, s, sessions)
		return nil
	}))
}

// read is a value on a branch, "" for none.
func (h *harbour) read(ctx context.Context, s *shell, id, plugin, branch string) string {
	h.Helper()
	v, err := s.GetExtension(ctx, id, client.Extension{Plugin: plugin, BranchID: branch})
	if sessile.CodeOf(err) == sessile.CodeNotFound {
		return ""
	}
	h.must(err)
	return string(v.Value)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The file of the fixtures reads on the server as Pi's own store reads it.
func TestImportGivesWhatPiReads(t *testing.T) {
	h := newHarbour(t)
	const project = "sessions/--home-dev-demo--"
	for _, name := range []string{
		"2026-01-15T09-30-02-000Z_019bc0fd-8da8-75ed-a749-abb3dd3e8fe6.jsonl",
		"2026-01-15T09-30-29-000Z_019bc0fd-f720-75ed-a749-abb5b0baf69a.jsonl",
	} {
		copyFile(t, filepath.Join("../../pisession/testdata/agent", project, name), filepath.Join(h.agent, project, name))
	}
	copyFile(t, "../../extstate/testdata/states-v2.sqlite", h.states())
	const none, a, b2 = `{"plan":"none"}`, `{"plan":"A"}`, `{"plan":"B2"}`
	want := []struct{ branch, demo, other string }{
		{"", "{\"mode\":\"plan\",\"note\":\"<&> \u2028 é 😀\"}", ""},
		{"main", a, ""}, // the leaf after loading is 313c78fe
		{"3804945f", none, ""},
		{"6ed721c6", a, ""},
		{"f3ccf8da", none, "null"},
		{"3b930b04", none, ""},
		{"f8dffc6a", b2, "null"},
		{"16ad6d1c", "", ""},
		{"cfbf2bc4", none, ""},
		{"ebb4346a", none, "null"},
	}
	first := h.load()
	if first.Written != 12 || first.Same != 0 || len(first.Sessions) != 1 {
		t.Errorf("the first import says %+v", first)
	}
	h.ask(first, func(ctx context.Context, s *shell, sessions map[string]string) {
		id := sessions["019bc0fd-f720-75ed-a749-abb5b0baf69a"]
		for _, w := range want {
			if demo, other := h.read(ctx, s, id, "demo-ext", w.branch), h.read(ctx, s, id, "other.ext-2", w.branch); demo != w.demo || other != w.other {
				t.Errorf("branch %q reads %s and %s, want %s and %s", w.branch, demo, other, w.demo, w.other)
			}
		}
	})
	second := h.load()
	if second.Written != 0 || second.Same != 12 || second.Kept != 0 {
		t.Errorf("the second import says %+v", second)
	}
}

// Whatever the trees and the rows, every entry reads on the server what it reads in the file, and an import changes neither
// the file nor, the second time, the server.
func TestImportAgreesWithTheFile(t *testing.T) {
	h := newHarbour(t)
	random := rand.New(rand.NewPCG(6, 5)) //nolint:gosec // a test
	plugins := []string{"p", "q"}
	views := map[string]*piView{}
	for i := range 25 {
		session := fmt.Sprintf("s%d", i)
		view := &piView{session: session}
		var lines strings.Builder
		fmt.Fprintf(&lines, "{\"type\":\"session\",\"version\":3,\"id\":%q,\"cwd\":\"/w\"}\n", session)
		for n := range 1 + random.IntN(14) {
			id, parent := fmt.Sprintf("e%d", n), "null"
			e := extstate.Entry{ID: id}
			if n > 0 && random.IntN(8) > 0 {
				above := fmt.Sprintf("e%d", random.IntN(n))
				e.ParentID, parent = &above, `"`+above+`"`
			}
			view.entries = append(view.entries, e)
			view.leaf = &e.ID
			fmt.Fprintf(&lines, "{\"type\":\"custom\",\"id\":%q,\"parentId\":%s}\n", id, parent)
		}
		views[session] = view
		path := filepath.Join(h.agent, "sessions", "--w--", session+".jsonl")
		h.must(os.MkdirAll(filepath.Dir(path), 0o755))
		h.must(os.WriteFile(path, []byte(lines.String()), 0o644))
	}
	for _, plugin := range plugins {
		state, err := extstate.Open[jsontext.Value](extstate.Options{PluginID: plugin, Scope: extstate.ScopeBranch, DatabasePath: h.states()})
		h.must(err)
		for session, view := range views {
			for range random.IntN(5) {
				leaf := view.entries[random.IntN(len(view.entries))].ID
				at := &piView{session: session, leaf: &leaf, entries: view.entries}
				h.must(state.Write(t.Context(), at, jsontext.Value(fmt.Sprint(random.IntN(1000)))))
			}
		}
		h.must(state.Close())
	}
	file, err := extstate.OpenFile(h.states(), extstate.FileOptions{ReadOnly: true})
	h.must(err)
	defer func() { h.must(file.Close()) }()
	before, err := file.Rows(t.Context(), extstate.Filter{})
	h.must(err)

	first := h.load()
	h.ask(first, func(ctx context.Context, s *shell, sessions map[string]string) {
		for session, view := range views {
			if sessions[session] == "" {
				continue // nothing is kept of it
			}
			for _, entry := range view.entries {
				at := &piView{session: session, leaf: &entry.ID, entries: view.entries}
				key, _, err := extstate.BranchKey(at)
				h.must(err)
				for _, plugin := range plugins {
					e, err := file.Explain(ctx, plugin, extstate.ScopeBranch, at)
					h.must(err)
					if got := h.read(ctx, s, sessions[session], plugin, key); got != string(e.Value) {
						t.Errorf("%s at %s in %s reads %q, want %q", plugin, entry.ID, session, got, e.Value)
					}
					if main := h.read(ctx, s, sessions[session], plugin, "main"); entry.ID == *view.leaf && main != string(e.Value) {
						t.Errorf("%s on main in %s reads %q, want %q", plugin, session, main, e.Value)
					}
				}
			}
		}
	})
	after, err := file.Rows(t.Context(), extstate.Filter{})
	h.must(err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the import changed the file (-before +after):\n%s", diff)
	}
	if second := h.load(); second.Written != 0 || second.Kept != 0 || second.Same != first.Written || first.Written == 0 {
		t.Errorf("%d values were written first; the second time %d, %d the same, %d kept", first.Written, second.Written, second.Same, second.Kept)
	}
}

func TestTitlesAreCut(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  one\ntwo": "one", strings.Repeat("x", 201): strings.Repeat("x", 200),
		strings.Repeat("x", 199) + "😀": strings.Repeat("x", 199), strings.Repeat("é", 300): strings.Repeat("é", 200),
	} {
		if got := cutTitle(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}
