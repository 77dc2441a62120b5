package extstate

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// countingView counts how often its entries are asked for.
type countingView struct {
	*Tree
	version uint64
	asked   int
}

func (v *countingView) Version() uint64 { return v.version }
func (v *countingView) Entries() []Entry {
	v.asked++
	return v.Tree.Entries()
}

func openRaw(t *testing.T, scope Scope) *State[jsontext.Value] {
	t.Helper()
	s, err := Open[jsontext.Value](Options{PluginID: "role", Scope: scope, DatabasePath: filepath.Join(t.TempDir(), "states.sqlite")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Our own writes leave the cache as fresh as it was: nothing is read from the file again.
func TestOwnWritesKeepTheCache(t *testing.T) {
	s := openRaw(t, ScopeSession)
	a, b := NewTree("keep-a"), NewTree("keep-b")
	write := func(v View) {
		t.Helper()
		if err := s.Write(t.Context(), v, jsontext.Value("1")); err != nil {
			t.Fatal(err)
		}
	}
	read := func(v View) {
		t.Helper()
		if _, found, err := s.Read(t.Context(), v); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	write(a)
	read(a) // from here on the cache is known to be fresh
	for range 3 {
		write(b)
		read(b)
		if _, cached := s.store.cache["keep-a"]; !cached {
			t.Fatal("a write of ours emptied the cache")
		}
	}
}

// What a read costs does not depend on the length of the session, once its tree is known.
func TestReadsDoNotWalkTheTree(t *testing.T) {
	s := openRaw(t, ScopeBranch)
	grow := func(n int) *countingView {
		v := &countingView{Tree: NewTree("walk"), version: 1}
		for range n {
			v.Append(string(rune('a'+len(v.entries)%26)) + string(rune('0'+len(v.entries)/26)))
		}
		return v
	}
	v := grow(2000)
	if err := s.Write(t.Context(), v, jsontext.Value("1")); err != nil {
		t.Fatal(err)
	}
	v.asked = 0
	for range 10 {
		if _, found, err := s.Read(t.Context(), v); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	if v.asked > 0 {
		t.Errorf("the entries of a version that is known were asked for %d times", v.asked)
	}
	v.version = 0
	visited := func() int { return len(trees.indexes["walk"].keys) }
	before, index := visited(), trees.indexes["walk"]
	for range 10 {
		v.Append("more" + string(rune('a'+visited()-before)))
		if _, found, err := s.Read(t.Context(), v); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	if trees.indexes["walk"] != index || visited() != before+10 {
		t.Errorf("ten entries at the end made %d keys out of %d", visited(), before)
	}
}

func TestForestIsBounded(t *testing.T) {
	for i := range 3 * maxIndexes {
		v := NewTree("bounded-" + string(rune('a'+i)))
		v.Append("x")
		if _, ok, err := BranchKey(v); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if n := len(trees.indexes); n > maxIndexes {
		t.Errorf("%d sessions are remembered", n)
	}
}
