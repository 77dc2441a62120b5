package pisession_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/pisession"
)

// naive reads entries the simple way: all at once, with the JSON package of the standard library.
func naive(content []byte) (id string, entries []pisession.Entry, ok bool) {
	version := 1.0
	for line := range bytes.SplitSeq(content, []byte{'\n'}) {
		if !json.Valid(line) {
			continue
		}
		var parsed any
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber() // a number may be out of range
		if err := decoder.Decode(&parsed); err != nil {
			panic(err)
		}
		switch v := parsed.(type) {
		case json.Number:
			if n, err := v.Float64(); err == nil && n == 0 {
				continue
			}
		case nil:
			continue
		}
		if parsed == false || parsed == "" {
			continue
		}
		members, isObject := parsed.(map[string]any)
		kind, _ := members["type"].(string)
		if !ok {
			if id, ok = members["id"].(string); !ok || kind != "session" {
				return "", nil, false
			}
			if v, isNumber := members["version"].(json.Number); isNumber {
				if n, err := v.Float64(); err == nil {
					version = n
				}
			}
			continue
		}
		e := pisession.Entry{Type: kind}
		e.ID, _ = members["id"].(string)
		e.Parent, e.HasParent = members["parentId"].(string)
		if isObject && kind != "session" && e.ID != "" && version >= 2 {
			entries = append(entries, e)
		}
	}
	return id, entries, ok
}

// Read never fails to end, and says what the naive reader says.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"agent/sessions/*/*.jsonl", "odd/*.jsonl"} {
		files, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			f.Fatal("no files", err)
		}
		for _, name := range files {
			content, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	for _, text := range []string{
		`{"id":"a","parentId":"b"}` + "\n" + `{"id":"b","parentId":"a"}`, `{"id":"a","parentId":""}`, `{"id":"a"}` + "\n" + `{"id":"a","parentId":"a"}`,
		"{\"id\":\"\\ud83d\\ude00\xff\"}\r", `{"x":[[{"y":[1,-0.5E+3,true,null,{}]}]],"id":"a"}`, `{"id":"a",}`, "-", "[", `{"a":01}`,
	} {
		f.Add([]byte(header + text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if bytes.Count(content, []byte{'['})+bytes.Count(content, []byte{'{'}) > 5000 {
			t.Skip("too deep for the naive reader")
		}
		id, want, ok := naive(content)
		s, err := pisession.Read(bytes.NewReader(content))
		if ok != (err == nil) {
			t.Fatalf("error %v, but a session: %t", err, ok)
		}
		if err != nil {
			return
		}
		got := slices.Collect(s.All())
		for i := range got {
			got[i].Type = cutWord(got[i].Type)
		}
		for i := range want {
			want[i].Type = cutWord(want[i].Type)
		}
		if diff := cmp.Diff(want, got); diff != "" || s.ID != id {
			t.Errorf("id %q, want %q; entries: %s", s.ID, id, diff)
		}
		summary, err := pisession.ReadSummary(bytes.NewReader(content))
		if diff := cmp.Diff(s.Summary, summary); diff != "" || err != nil {
			t.Errorf("the summary alone: %v %s", err, diff)
		}
		checkTree(t, s)
	})
}

// cutWord shortens a type as far as it is sure to be kept.
func cutWord(word string) string { return word[:min(len(word), 60)] }

// Every entry is the child of its parent or a root, and nothing is both.
func checkTree(t *testing.T, s *pisession.Session) {
	t.Helper()
	seen := len(ids(s.Roots()))
	parents := map[string]bool{}
	for e := range s.All() {
		parents[e.ID] = true
	}
	for id := range parents {
		for child := range s.Children(id) {
			if seen++; child.Parent != id {
				t.Errorf("%+v is a child of %q", child, id)
			}
		}
	}
	if seen != s.Len() {
		t.Errorf("%d entries hang in the tree, of %d", seen, s.Len())
	}
}
