package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

func scriptSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	conn, err := sqliteconn.Open(ts.MkAbs(args[0]), sqliteconn.Options{})
	ts.Check(err)
	ts.Check(conn.Exec(args[1]))
	ts.Check(conn.Close())
}

// writeSession makes the file of a session of a working directory.
func writeSession(t *testing.T, path, id, workingDirectory, created string) {
	t.Helper()
	header := `{"type":"session","version":3,"id":"` + id + `","timestamp":"` + created + `","cwd":"` + filepath.ToSlash(workingDirectory) + `"}` + "\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(header+`{"type":"label","id":"a","parentId":null}`), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Where no session is named it is the newest one of this directory, in Pi's own directory or in one that was chosen.
func TestNewestSession(t *testing.T) {
	here, agent, chosen := t.TempDir(), t.TempDir(), t.TempDir()
	here, err := filepath.EvalSymlinks(here)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	t.Setenv("PI_CODING_AGENT_DIR", agent)
	t.Setenv(envSessionDir, "")
	sessions := filepath.Join(agent, "sessions")
	writeSession(t, filepath.Join(sessions, "--a--", "1.jsonl"), "older", here, "2026-01-15T09:30:00Z")
	writeSession(t, filepath.Join(sessions, "--a--", "2.jsonl"), "newer", here, "2026-01-16T09:30:00Z")
	writeSession(t, filepath.Join(sessions, "--b--", "3.jsonl"), "elsewhere", "/elsewhere", "2026-01-17T09:30:00Z")
	writeSession(t, filepath.Join(chosen, "4.jsonl"), "chosen", here, "2026-01-14T09:30:00Z")

	for want, place := range map[string]extPlace{"newer": {}, "chosen": {Sessions: chosen}} {
		view, err := (&extSession{}).view(&place, extstate.ScopeBranch, streams{err: os.Stderr})
		if err != nil {
			t.Fatal(err)
		}
		if view.session != want {
			t.Errorf("session %s, want %s", view.session, want)
		}
	}
	byEnvironment, bySetting := t.TempDir(), t.TempDir()
	t.Setenv(envSessionDir, byEnvironment)
	writeSession(t, filepath.Join(byEnvironment, "5.jsonl"), "by-environment", here, "2026-01-14T09:30:00Z")
	writeSession(t, filepath.Join(bySetting, "6.jsonl"), "by-setting", here, "2026-01-14T09:30:00Z")
	if err := os.WriteFile(filepath.Join(agent, "settings.json"), []byte(`{"sessionDir":"`+filepath.ToSlash(bySetting)+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"older", "elsewhere", "by-environment", "by-setting"} {
		if _, err := (&extPlace{}).findSession(id); err != nil {
			t.Error(err)
		}
	}
	if _, err := (&extPlace{}).findSession("chosen"); err == nil || !strings.Contains(err.Error(), "no file of session chosen") {
		t.Errorf("nobody looks there: %v", err)
	}
}

// The id of a session says when it began; one that began a moment ago may have no file yet and is spared.
func TestPurgeSparesYoungSessions(t *testing.T) {
	const old, young = "019bc0fd-f720-75ed-a749-abb5b0baf69a", "019bc5d0-0000-75ed-a749-abb5b0baf69a"
	orphans := []orphan{{Session: old, Begun: begun(old)}, {Session: young, Begun: begun(young)}, {Session: "named", Begun: begun("named")}}
	now := time.UnixMilli(*begun(young)).Add(tooYoung - time.Millisecond)
	for _, c := range []struct {
		purge          extPurge
		now            time.Time
		chosen, spared []string
		fails          bool
	}{
		{extPurge{}, now, []string{old, "named"}, []string{young}, false},
		{extPurge{}, now.Add(time.Millisecond), []string{old, young, "named"}, []string{}, false},
		{extPurge{Young: true}, now, []string{old, young, "named"}, []string{}, false},
		{extPurge{Session: []string{young}}, now, nil, []string{young}, false},
		{extPurge{Session: []string{"named"}}, now, []string{"named"}, []string{}, false},
		{extPurge{Session: []string{"named", "other"}}, now, nil, nil, true},
	} {
		chosen, spared, err := c.purge.choose(orphans, c.now)
		if !slices.Equal(chosen, c.chosen) || !slices.Equal(spared, c.spared) || (err != nil) != c.fails {
			t.Errorf("%+v: %v, %v, %v", c.purge, chosen, spared, err)
		}
	}
}

func TestBegun(t *testing.T) {
	if ms := begun("019bc0fd-f720-75ed-a749-abb5b0baf69a"); ms == nil || *ms != 1768469428000 {
		t.Errorf("%v", ms)
	}
	for _, id := range []string{"", "nobody", "019bc0fd-f720-45ed-a749-abb5b0baf69a", "019bc0fdf72075eda749abb5b0baf69a", "zz9bc0fd-f720-75ed-a749-abb5b0baf69a"} {
		if ms := begun(id); ms != nil {
			t.Errorf("%q says %d", id, *ms)
		}
	}
}
