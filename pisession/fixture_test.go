package pisession_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/pisession"
)

const (
	linear   = "2026-01-15T09-30-02-000Z_019bc0fd-8da8-75ed-a749-abb3dd3e8fe6.jsonl"
	branched = "2026-01-15T09-30-29-000Z_019bc0fd-f720-75ed-a749-abb5b0baf69a.jsonl"
	forked   = "2026-01-15T09-31-09-000Z_019bc0fe-9360-75ed-a749-abb7305d5c14.jsonl"
	project  = "--home-dev-demo--"
)

func sessions() fs.FS { return os.DirFS(filepath.Join("testdata", "agent", "sessions")) }

func read(t testing.TB, path ...string) *pisession.Session {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := pisession.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// What Pi 1.6.0 itself says of these files.
func TestFixtures(t *testing.T) {
	for _, c := range []struct {
		path    []string
		id      string
		entries int
		leaf    string
		version int
		faults  []pisession.Fault
	}{
		{[]string{"agent", "sessions", project, linear}, "019bc0fd-8da8-75ed-a749-abb3dd3e8fe6", 16, "11d31dac", 3, nil},
		{[]string{"agent", "sessions", project, branched}, "019bc0fd-f720-75ed-a749-abb5b0baf69a", 22, "313c78fe", 3, nil},
		{[]string{"agent", "sessions", project, forked}, "019bc0fe-9360-75ed-a749-abb7305d5c14", 15, "aa3ba8e8", 3, nil},
		{[]string{"odd", "damaged.jsonl"}, "damaged-demo", 6, "aaaa0006", 3, []pisession.Fault{
			{Kind: pisession.FaultLine, Line: 4},
			{Kind: pisession.FaultLine, Line: 10},
			{Kind: pisession.FaultMissingParent, Line: 7, ID: "aaaa0004"},
		}},
		{[]string{"odd", "legacy-v1.jsonl"}, "legacy-demo", 0, "", 1, nil},
	} {
		t.Run(c.id, func(t *testing.T) {
			s := read(t, c.path...)
			leaf, ok := s.Leaf()
			if s.SessionID() != c.id || s.Len() != c.entries || leaf != c.leaf || ok != (c.leaf != "") || s.Version != c.version {
				t.Errorf("got %s, %d entries, leaf %q, version %d; want %+v", s.ID, s.Len(), leaf, s.Version, c)
			}
			if s.WorkingDirectory != "/home/dev/demo" {
				t.Errorf("working directory %q", s.WorkingDirectory)
			}
			if diff := cmp.Diff(c.faults, s.Faults); diff != "" || s.FaultCount != len(c.faults) {
				t.Errorf("%d faults: %s", s.FaultCount, diff)
			}
		})
	}
}

func TestFork(t *testing.T) {
	s := read(t, "agent", "sessions", project, forked)
	if filepath.Base(s.ParentSession) != branched {
		t.Errorf("parent session %q", s.ParentSession)
	}
	if got := ids(s.Children("388da188")); !slices.Equal(got, []string{"fd0b1b8b", "59fca750"}) {
		t.Errorf("children %v", got)
	}
}

func TestLegacy(t *testing.T) {
	s := read(t, "odd", "legacy-v1.jsonl")
	if s.Messages != 2 || s.FirstMessage != "hi" || !s.Modified.Equal(time.UnixMilli(1730534402000)) {
		t.Errorf("got %+v", s.Summary)
	}
}

func TestTree(t *testing.T) {
	s := read(t, "agent", "sessions", project, branched)
	var outline strings.Builder
	var draw func(e pisession.Entry, depth int)
	draw = func(e pisession.Entry, depth int) {
		outline.WriteString(strings.Repeat(" ", depth) + e.ID + " " + e.Type + "\n")
		for child := range s.Children(e.ID) {
			draw(child, depth+1)
		}
	}
	for root := range s.Roots() {
		draw(root, 0)
	}
	want := `3804945f model_change
 51eaa4f0 thinking_level_change
  e4016984 message
   2690fc0b message
    4f21f8d4 message
     cfbf2bc4 message
      daf5a860 message
       6ed721c6 message
        ccaaac16 message
         ac97ca00 message
          313c78fe message
       3b930b04 message
        c2ff8802 message
         b04bd82f label
     ebb4346a branch_summary
      933a3089 message
       f3ccf8da message
       f8dffc6a message
        e8d529d9 custom
         d3a93edf custom_message
16ad6d1c message
 2e0c4b72 message
`
	if diff := cmp.Diff(want, outline.String()); diff != "" {
		t.Error(diff)
	}
	if got := ids(read(t, "odd", "damaged.jsonl").Roots()); !slices.Equal(got, []string{"aaaa0001", "aaaa0004"}) {
		t.Errorf("roots of the damaged file: %v", got)
	}
}

func ids(entries func(func(pisession.Entry) bool)) []string {
	var list []string
	for e := range entries {
		list = append(list, e.ID)
	}
	return list
}

func TestList(t *testing.T) {
	list, err := pisession.List(sessions(), pisession.ByProject)
	if err != nil {
		t.Fatal(err)
	}
	row := func(file, id, name, created, modified string, messages int, first, parent string) pisession.Summary {
		return pisession.Summary{
			Header: pisession.Header{ID: id, Version: 3, Created: at(t, created), WorkingDirectory: "/home/dev/demo", ParentSession: parent},
			Path:   project + "/" + file, Name: name, Messages: messages, FirstMessage: first, Modified: at(t, modified),
		}
	}
	want := []pisession.Summary{
		row(forked, "019bc0fe-9360-75ed-a749-abb7305d5c14", "", "2026-01-15T09:31:09Z", "2026-01-15T09:31:17Z", 11, "plan the work",
			"/home/dev/.pi/agent/sessions/--home-dev-demo--/"+branched),
		row(branched, "019bc0fd-f720-75ed-a749-abb5b0baf69a", "", "2026-01-15T09:30:29Z", "2026-01-15T09:31:06Z", 16, "plan the work", ""),
		row(linear, "019bc0fd-8da8-75ed-a749-abb3dd3e8fe6", "compaction demo", "2026-01-15T09:30:02Z", "2026-01-15T09:30:24Z", 9, "list the files", ""),
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	flat, err := fs.Sub(sessions(), project)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := pisession.List(flat, pisession.Flat); err != nil || len(list) != 3 || list[0].Path != forked {
		t.Errorf("flat: %v, %v", list, err)
	}
	if list, err := pisession.List(flat, pisession.ByProject); err != nil || len(list) != 0 {
		t.Errorf("files beside the directories are listed: %v, %v", list, err)
	}
	if list, err := pisession.List(sessions(), pisession.Flat); err != nil || len(list) != 0 {
		t.Errorf("files in directories are listed: %v, %v", list, err)
	}
}

func TestFind(t *testing.T) {
	path, err := pisession.Find(sessions(), pisession.ByProject, "019bc0fd-f720-75ed-a749-abb5b0baf69a")
	if err != nil || path != project+"/"+branched {
		t.Errorf("got %s, %v", path, err)
	}
	if _, err := pisession.Find(sessions(), pisession.ByProject, "nobody"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	renamed := fstest.MapFS{
		"x_wanted.jsonl": {Data: []byte(`{"type":"session","id":"other"}`)},
		"any.jsonl":      {Data: []byte(`{"type":"session","id":"wanted"}`)},
	}
	if path, err := pisession.Find(renamed, pisession.Flat, "wanted"); err != nil || path != "any.jsonl" {
		t.Errorf("the header counts and not the name: %s, %v", path, err)
	}
}

// A directory has more in it than sessions, and some of it cannot be read.
func TestListOddDirectory(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/1.jsonl", `{"type":"session","id":"one"}`)
	write("a/notes.txt", `{"type":"session","id":"text"}`)
	write("a/2.jsonl", `{"type":"message"}`)
	write("a/deep/3.jsonl", `{"type":"session","id":"three"}`)
	write("states.sqlite", "")
	if err := os.MkdirAll(filepath.Join(root, "a", "dir.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{"one"}
	if err := os.Symlink("a", filepath.Join(root, "linked")); err == nil {
		want = []string{"one", "one"}
		if err := os.Symlink("nowhere", filepath.Join(root, "dangling")); err != nil {
			t.Fatal(err)
		}
	}
	list, err := pisession.List(os.DirFS(root), pisession.ByProject)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, s.ID)
		if s.Modified.IsZero() {
			t.Errorf("%s: no time, although the file has one", s.Path)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	list, err = pisession.List(os.DirFS(filepath.Join(root, "missing")), pisession.ByProject)
	if err != nil || len(list) != 0 {
		t.Errorf("a directory that does not exist: %v, %v", list, err)
	}
	broken := brokenFS{os.DirFS(root)}
	list, err = pisession.List(broken, pisession.ByProject)
	if !errors.Is(err, errDisk) || len(list) == len(want) {
		t.Errorf("a file that cannot be read: %v, %v", list, err)
	}
	if headers, err := pisession.Headers(broken, pisession.ByProject); !errors.Is(err, errDisk) || len(headers) == len(want) {
		t.Errorf("a file that cannot be read: %v, %v", headers, err)
	}
}

var errDisk = errors.New("disk on fire")

// brokenFS fails to open 1.jsonl.
type brokenFS struct{ fs.FS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "1.jsonl") {
		return nil, errDisk
	}
	return b.FS.Open(name)
}

func TestReadHeader(t *testing.T) {
	for _, c := range []struct {
		name string
		text []byte
		err  error
	}{
		{"first line", []byte(`{"type":"session","id":"x"}`), nil},
		{"behind lines that are no JSON", []byte("\n{\n{\"type\":\"session\",\"id\":\"x\"}\n"), nil},
		{"beyond the first MiB", append(bytes.Repeat([]byte{'\n'}, 1<<20), `{"type":"session","id":"x"}`...), pisession.ErrNotSession},
		{"an entry first", []byte("{\"type\":\"label\"}\n{\"type\":\"session\",\"id\":\"x\"}\n"), pisession.ErrNotSession},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := pisession.ReadHeader(bytes.NewReader(c.text))
			if !errors.Is(err, c.err) || (h.ID == "x") != (c.err == nil) {
				t.Errorf("got %+v, %v", h, err)
			}
		})
	}
}
