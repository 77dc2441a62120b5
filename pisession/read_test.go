package pisession_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/pisession"
)

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-15T09:30:00.000Z","cwd":"/w"}` + "\n"

// Lines of all kinds behind a header, and what becomes of them.
func TestLines(t *testing.T) {
	kinds := func(list ...pisession.FaultKind) []pisession.FaultKind { return list }
	for _, c := range []struct {
		name, text string
		entries    []string
		faults     []pisession.FaultKind
	}{
		{"nothing", "", nil, nil},
		{"blank lines", "\n \t\r\n\r\n", nil, nil},
		{"no newline at the end", `{"id":"a"}`, []string{"a"}, nil},
		{"CRLF", "{\"id\":\"a\"}\r\n{\"id\":\"b\"}\r\n", []string{"a", "b"}, nil},
		{"white space around", " \t{ \"id\" : \"a\" } \r\n", []string{"a"}, nil},
		{"a line cut off", `{"id":"a"}` + "\n" + `{"id":"b","par`, []string{"a"}, kinds(pisession.FaultLine)},
		{"two objects on a line", `{"id":"a"}{"id":"b"}`, nil, kinds(pisession.FaultLine)},
		{"a line break in a text", "{\"id\":\"a\",\"x\":\"b\nc\"}\n{\"id\":\"d\"}\n", []string{"d"}, kinds(pisession.FaultLine, pisession.FaultLine)},
		{"a control character in a text", "{\"id\":\"a\",\"x\":\"\x01\"}", nil, kinds(pisession.FaultLine)},
		{"a line separator in a text", "{\"id\":\"a\",\"x\":\"\u2028\"}", []string{"a"}, nil},
		{"invalid UTF-8 in a text", "{\"id\":\"a\",\"x\":\"\xff\"}", []string{"a"}, nil},
		{"invalid UTF-8 outside", "{\"id\":\"a\"}\xff", nil, kinds(pisession.FaultLine)},
		{"a byte-order mark", "\ufeff{\"id\":\"a\"}", nil, kinds(pisession.FaultLine)},
		{"escapes", `{"\u0069d":"\u0061\n\ud83d\ude00\/"}`, []string{"a\n😀/"}, nil},
		{"half a surrogate pair", `{"id":"\ud83dx\ude00\ud83d"}`, []string{"\ufffdx\ufffd\ufffd"}, nil},
		{"an id of invalid UTF-8", "{\"id\":\"\xff\xfe\"}\n{\"id\":\"b\",\"parentId\":\"\xff\xfe\"}", []string{"\ufffd\ufffd", "b<\ufffd\ufffd"}, nil},
		{"a bad escape", `{"id":"\x"}`, nil, kinds(pisession.FaultLine)},
		{"a bad unicode escape", `{"id":"\u12g4"}`, nil, kinds(pisession.FaultLine)},
		{"repeated members", `{"id":"a","id":"b","parentId":5,"parentId":null}`, []string{"b"}, nil},
		{"a repeated id that is no text", `{"id":"a","id":5}`, nil, kinds(pisession.FaultNoID)},
		{"no id", `{"type":"message"}`, nil, kinds(pisession.FaultNoID)},
		{"an empty id", `{"id":""}`, nil, kinds(pisession.FaultNoID)},
		{"ids of inner objects", `{"data":{"id":"x","parentId":"y"},"id":"a","more":[{"id":"z"}]}`, []string{"a"}, nil},
		{"headers later on", `{"type":"session","id":"s2"}`, nil, nil},
		{"an unknown type", `{"type":"new","id":"a","x":[[],{},[{}],-0.5e+3,true,false,null,""]}`, []string{"a"}, nil},
		{"a number out of range", `{"id":"a","x":1e999}`, []string{"a"}, nil},
		{"numbers as JSON has none", `{"id":"a","x":01}` + "\n" + `{"id":"a","x":1.}` + "\n" + `{"id":"a","x":.5}` + "\n" + `{"id":"a","x":1e}`, nil, kinds(pisession.FaultLine, pisession.FaultLine, pisession.FaultLine, pisession.FaultLine)},
		{"no object", "[]\n5\n\"x\"\nnull\ntrue", nil, kinds(pisession.FaultLine, pisession.FaultLine, pisession.FaultLine, pisession.FaultLine, pisession.FaultLine)},
		{"a parent that is no text", `{"id":"a","parentId":7}`, []string{"a"}, kinds(pisession.FaultParent)},
		{"an empty parent", `{"id":"a","parentId":""}`, []string{"a<"}, kinds(pisession.FaultEmptyParent)},
		{"a missing parent", `{"id":"a","parentId":"b"}`, []string{"a<b"}, kinds(pisession.FaultMissingParent)},
		{"a parent that comes later", `{"id":"a","parentId":"b"}` + "\n" + `{"id":"b"}`, []string{"a<b", "b"}, nil},
		{"its own parent", `{"id":"a","parentId":"a"}`, []string{"a<a"}, kinds(pisession.FaultCycle)},
		{
			"a cycle, and what leads into it",
			`{"id":"a","parentId":"c"}` + "\n" + `{"id":"b","parentId":"a"}` + "\n" + `{"id":"c","parentId":"b"}` + "\n" + `{"id":"d","parentId":"c"}`,
			[]string{"a<c", "b<a", "c<b", "d<c"},
			kinds(pisession.FaultCycle),
		},
		{
			"an id twice", `{"id":"a"}` + "\n" + `{"id":"b","parentId":"a"}` + "\n" + `{"id":"a","parentId":"b"}`,
			[]string{"a", "b<a", "a<b"},
			kinds(pisession.FaultDuplicate, pisession.FaultCycle),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(header + c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(header + c.text)),
				"with the end": iotest.DataErrReader(strings.NewReader(header + c.text)),
			} {
				s, err := pisession.Read(r)
				if err != nil {
					t.Fatal(name, err)
				}
				var got []string
				for e := range s.All() {
					if e.HasParent {
						e.ID += "<" + e.Parent
					}
					got = append(got, e.ID)
				}
				var faults []pisession.FaultKind
				for _, f := range s.Faults {
					faults = append(faults, f.Kind)
				}
				if diff := cmp.Diff(c.entries, got); diff != "" {
					t.Errorf("%s: entries: %s", name, diff)
				}
				if diff := cmp.Diff(c.faults, faults); diff != "" {
					t.Errorf("%s: faults: %s", name, diff)
				}
				leaf, ok := s.Leaf()
				if ok != (len(got) > 0) || ok && !strings.HasPrefix(got[len(got)-1], leaf) {
					t.Errorf("%s: leaf %q of %v", name, leaf, got)
				}
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		name, text string
		want       pisession.Header
		none       bool
	}{
		{"all of it", header, pisession.Header{ID: "s1", Version: 3, Created: created, WorkingDirectory: "/w"}, false},
		{"no version", `{"type":"session","id":"x"}`, pisession.Header{ID: "x", Version: 1}, false},
		{"a version to come", `{"type":"session","id":"x","version":9}`, pisession.Header{ID: "x", Version: 9}, false},
		{"a version beyond all numbers", `{"type":"session","id":"x","version":1e300}`, pisession.Header{ID: "x", Version: math.MaxInt32}, false},
		{"an empty id", `{"type":"session","id":""}`, pisession.Header{Version: 1}, false},
		{"behind what is no JSON", "\n{\nnull\n0\n\"\"\nfalse\n" + `{"type":"session","id":"x"}`, pisession.Header{ID: "x", Version: 1}, false},
		{"members of other kinds", `{"type":"session","id":"x","version":"3","timestamp":5,"cwd":null,"parentSession":[]}`, pisession.Header{ID: "x", Version: 1}, false},
		{"nothing", "", pisession.Header{}, true},
		{"no header", `{"type":"message","id":"x"}`, pisession.Header{}, true},
		{"an id that is no text", `{"type":"session","id":5}`, pisession.Header{}, true},
		{"a number first", "1\n" + header, pisession.Header{}, true},
		{"a byte-order mark", "\ufeff" + header + `{"id":"a"}`, pisession.Header{}, true},
		{"a list", `["session"]`, pisession.Header{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := pisession.Read(strings.NewReader(c.text))
			if c.none {
				if !errors.Is(err, pisession.ErrNotSession) {
					t.Fatalf("got %+v, %v", s, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.Header); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersion1HasNoTree(t *testing.T) {
	s, err := pisession.Read(strings.NewReader(`{"type":"session","id":"x"}` + "\n" + `{"type":"label","id":"made up","parentId":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Leaf(); ok || s.Len() != 0 {
		t.Error("Pi gives all entries new ids, so that these mean nothing")
	}
	s, err = pisession.Read(strings.NewReader(`{"type":"session","id":"x","version":2}` + "\n" + `{"type":"label","id":"a","parentId":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if leaf, _ := s.Leaf(); leaf != "a" {
		t.Errorf("version 2 has ids; got leaf %q", leaf)
	}
}

func TestSummary(t *testing.T) {
	created := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	type summary struct {
		name, first string
		messages    int
		modified    time.Time
	}
	for _, c := range []struct {
		name, text string
		want       summary
	}{
		{"nothing", "", summary{modified: created}},
		{"a name", `{"type":"session_info","name":" \u00a0a b\ufeff "}`, summary{name: "a b", modified: created}},
		{"the last name", `{"type":"session_info","name":"a"}` + "\n" + `{"type":"session_info","name":"b"}`, summary{name: "b", modified: created}},
		{"a name taken away", `{"type":"session_info","name":"a"}` + "\n" + `{"type":"session_info"}`, summary{modified: created}},
		{"names of other entries", `{"type":"custom","name":"a"}`, summary{modified: created}},
		{
			"a text", `{"type":"message","message":{"role":"user","content":"hi","timestamp":1800000000000}}`,
			summary{first: "hi", messages: 1, modified: time.UnixMilli(1800000000000)},
		},
		{
			"blocks", `{"type":"message","message":{"content":[{"type":"image","text":"no"},{"text":"a","type":"text"},5,{"type":"text","text":"b"}],"role":"user"}}`,
			summary{first: "a b", messages: 1, modified: created},
		},
		{
			"the time of the entry", `{"type":"message","timestamp":"2026-01-15T09:31:00Z","message":{"role":"assistant","content":""}}`,
			summary{messages: 1, modified: created.Add(time.Minute)},
		},
		{
			"the latest time", `{"type":"message","message":{"role":"user","content":"","timestamp":1800000000000}}` + "\n" +
				`{"type":"message","message":{"role":"user","content":"later","timestamp":1700000000000}}`,
			summary{first: "later", messages: 2, modified: time.UnixMilli(1800000000000)},
		},
		{
			"other roles", `{"type":"message","message":{"role":"toolResult","content":"x","timestamp":1800000000000}}`,
			summary{messages: 1, modified: created},
		},
		{"messages without content", `{"type":"message","message":{"role":"user","timestamp":1800000000000}}`, summary{messages: 1, modified: created}},
		{"no message", `{"type":"message","message":"user"}` + "\n" + `{"type":"message"}`, summary{messages: 2, modified: created}},
		{
			"times out of range", `{"type":"message","message":{"role":"user","content":"x","timestamp":1e300}}`,
			summary{first: "x", messages: 1, modified: created},
		},
		{
			"a repeated message", `{"type":"message","message":{"role":"user","content":"a"},"message":{"role":"user"}}`,
			summary{messages: 1, modified: created},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := pisession.ReadSummary(strings.NewReader(header + c.text))
			if err != nil {
				t.Fatal(err)
			}
			got := summary{s.Name, s.FirstMessage, s.Messages, s.Modified}
			if got.name != c.want.name || got.first != c.want.first || got.messages != c.want.messages || !got.modified.Equal(c.want.modified) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("é", pisession.MaxText)
	text := header + `{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"` + long + `"}]}}`
	s, err := pisession.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := "x " + strings.Repeat("é", (pisession.MaxText-2)/2)
	if s.FirstMessage != want {
		t.Errorf("%d bytes, want %d", len(s.FirstMessage), len(want))
	}
}

func TestReadErrors(t *testing.T) {
	for _, text := range []string{"", header[:20], header, header + `{"id":"a`} {
		_, err := pisession.Read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(errDisk)))
		if !errors.Is(err, errDisk) {
			t.Errorf("behind %q: %v", text, err)
		}
	}
	if _, err := pisession.Read(stuck{}); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

// stuck never gives anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestFaultsAreBounded(t *testing.T) {
	s, err := pisession.Read(strings.NewReader(header + strings.Repeat("x\n", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Faults) != pisession.MaxFaults || s.FaultCount != 1000 {
		t.Errorf("%d told, %d counted", len(s.Faults), s.FaultCount)
	}
}

func TestAt(t *testing.T) {
	s := read(t, "odd", "damaged.jsonl")
	for _, leaf := range []string{"aaaa0002", "nowhere"} {
		seen := s.At(leaf)
		if got, ok := seen.Leaf(); !ok || got != leaf || seen.Len() != s.Len() {
			t.Errorf("got %q, %t", got, ok)
		}
	}
	if got, _ := s.Leaf(); got != "aaaa0006" {
		t.Errorf("the session itself stands at %q now", got)
	}
	if e, ok := s.Lookup("aaaa0003"); !ok || e.Type != "future_kind" {
		t.Errorf("got %+v, %t", e, ok)
	}
	if _, ok := s.Lookup("nowhere"); ok || len(ids(s.Children("nowhere"))) > 0 {
		t.Error("there is no such entry")
	}
}

func TestNames(t *testing.T) {
	created := time.Date(2026, 1, 15, 9, 30, 2, 7e6, time.UTC)
	name := pisession.FileName(created.In(time.FixedZone("", 3600)), "a.b-1")
	if name != "2026-01-15T09-30-02-007Z_a.b-1.jsonl" {
		t.Error(name)
	}
	at, id, ok := pisession.ParseFileName(name)
	if !ok || !at.Equal(created) || id != "a.b-1" {
		t.Error(at, id, ok)
	}
	for _, name := range []string{
		"", ".jsonl", "x.jsonl", "2026-01-15T09-30-02-007Z_.jsonl", "2026-01-15T09-30-02-007Z_a.json", "2026-01-15T09:30:02.007Z_a.jsonl",
		"2026-13-15T09-30-02-007Z_a.jsonl", "2026-01-15T09-30-02-007Z_-a.jsonl", "2026-01-15T09-30-02.007Z_a.jsonl",
	} {
		if _, _, ok := pisession.ParseFileName(name); ok {
			t.Errorf("%q is taken for a session's", name)
		}
	}
	for directory, want := range map[string]string{
		"/home/dev/demo": "--home-dev-demo--", `C:\work\x`: "--C--work-x--", "/": "----", "//a": "---a--", "": "----",
	} {
		if got := pisession.DirName(directory); got != want {
			t.Errorf("%q: %q, want %q", directory, got, want)
		}
	}
	for id, want := range map[string]bool{
		"a": true, "A.b_c-9": true, "": false, "-a": false, "a-": false, "a b": false, "é": false, "a/b": false, "..": false, "a\n": false,
	} {
		if got := pisession.ValidID(id); got != want {
			t.Errorf("%q: %t", id, got)
		}
	}
}
