package pisession_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/pisession"
)

// view is how a session is shown to package extstate.
type view struct{ *pisession.Session }

func (v view) Entries() []extstate.Entry {
	var list []extstate.Entry
	for e := range v.All() {
		entry := extstate.Entry{ID: e.ID}
		if e.HasParent {
			entry.ParentID = &e.Parent
		}
		list = append(list, entry)
	}
	return list
}

func (view) Version() uint64 { return 0 }

// The branch keys that the original store computes on these files.
func TestBranchKeys(t *testing.T) {
	for _, c := range []struct {
		path []string
		keys map[string]string // key: entries
	}{
		{[]string{"agent", "sessions", project, linear}, map[string]string{
			"e1f33b0e": "e1f33b0e 684f0a05 e4ecaa9a c83c8e1c e02f2f3e 693265e9 6cdfc129 0e6b7267 81e3304a 83de5995 96b9eda6 3e5b0cf9 " +
				"c53610bc 8e37d703 74c30b33 11d31dac",
		}},
		{[]string{"agent", "sessions", project, branched}, map[string]string{
			"3804945f": "3804945f 51eaa4f0 e4016984 2690fc0b 4f21f8d4",
			"cfbf2bc4": "cfbf2bc4 daf5a860",
			"6ed721c6": "6ed721c6 ccaaac16 ac97ca00 313c78fe",
			"3b930b04": "3b930b04 c2ff8802 b04bd82f",
			"ebb4346a": "ebb4346a 933a3089",
			"f3ccf8da": "f3ccf8da",
			"f8dffc6a": "f8dffc6a e8d529d9 d3a93edf",
			"16ad6d1c": "16ad6d1c 2e0c4b72",
		}},
		{[]string{"agent", "sessions", project, forked}, map[string]string{
			"3804945f": "3804945f 51eaa4f0 e4016984 2690fc0b 4f21f8d4 cfbf2bc4 daf5a860 3b930b04 c2ff8802 388da188",
			"fd0b1b8b": "fd0b1b8b 07f5fe8a d43b8149",
			"59fca750": "59fca750 aa3ba8e8",
		}},
		{[]string{"odd", "damaged.jsonl"}, map[string]string{
			"aaaa0001": "aaaa0001 aaaa0002", "aaaa0003": "aaaa0003", "ffff0000": "aaaa0004 aaaa0005", "aaaa0006": "aaaa0006",
		}},
	} {
		s := read(t, c.path...)
		want, got := map[string]string{}, map[string]string{}
		for key, entries := range c.keys {
			for entry := range strings.FieldsSeq(entries) {
				want[entry] = key
			}
		}
		for e := range s.All() {
			key, ok, err := extstate.BranchKey(view{s.At(e.ID)})
			if err != nil || !ok {
				t.Errorf("%s: %v", e.ID, err)
			}
			got[e.ID] = key
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", s.ID, diff)
		}
	}
}

func TestBranchKeysOfNoTree(t *testing.T) {
	if key, ok, err := extstate.BranchKey(view{read(t, "odd", "legacy-v1.jsonl")}); ok || err != nil {
		t.Errorf("a file without ids has the key %q, %v", key, err)
	}
	for _, text := range []string{
		`{"id":"a","parentId":"b"}` + "\n" + `{"id":"b","parentId":"a"}`, `{"id":"a","parentId":""}`,
	} {
		s, err := pisession.Read(strings.NewReader(header + text))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = extstate.BranchKey(view{s})
		if damage := new(extstate.TreeError); !errors.As(err, &damage) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
