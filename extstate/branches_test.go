//go:build unix

package extstate_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile/extstate"
)

func TestBranchKeys(t *testing.T) {
	for _, c := range []struct{ name, nodes, leaf, want string }{
		{"C18", "a; b<a; c<b", "c", "a"},
		{"C19", "a; b<a; c<b; d<c; e<b", "d", "c"},
		{"C19", "a; b<a; c<b; d<c; e<b", "e", "e"},
		{"C19", "a; b<a; c<b; d<c; e<b", "b", "a"},
		{"C20", "a; b<a; c<b; d<c; e<b; f<a", "d", "c"},
		{"C20", "a; b<a; c<b; d<c; e<b; f<a", "b", "b"},
		{"C20", "a; b<a; c<b; d<c; e<b; f<a", "f", "f"},
		{"C21", "a; b<a; q", "q", "q"},
		{"C21", "a; b<a; q", "b", "a"},
		{"C22", "a", "", ""},
		{"C22", "", "", ""},
		{"leaf that is not listed", "a; b<a", "x", "x"},
		{"missing parent", "b<a; c<b", "c", "a"},
		{"missing parent of two", "b<a; c<a", "c", "c"},
		{"listed twice counts twice", "a; b<a; b<a; c<b", "c", "b"},
		{"last parent wins", "a; q; b<a; b<q; c<b", "c", "q"},
	} {
		t.Run(c.name, func(t *testing.T) { (&desk{T: t}).key(tree(c.nodes).at(c.leaf), c.want) })
	}
}

// Damaged trees are reported, wherever they are met, and never walked for ever (section 4.2).
func TestDamagedTrees(t *testing.T) {
	d := newDesk(t)
	b := d.branch()
	for _, c := range []struct{ nodes, leaf string }{
		{"a<a", "a"}, {"a<b; b<a", "a"}, {"a<b; b<a; c<b", "c"}, {"a<", "a"}, {"a<; b<", "b"}, {"a<c; b<a; c<b; d<b", "d"},
	} {
		var damage *extstate.TreeError
		v := tree(c.nodes).at(c.leaf)
		if _, found, err := b.Read(background, v); found || !errors.As(err, &damage) {
			t.Errorf("%q at %s: %v, %v", c.nodes, c.leaf, found, err)
		}
	}
	d.rows("")
	v := tree("a<b; b<a; c<b").at("c")
	d.write(b, v, "1") // what can be keyed can be written
	d.reads(b, v, "1")
	empty := leafless{tree("a")}
	if _, ok, err := extstate.BranchKey(empty); ok || err == nil {
		t.Error("an empty leaf is a key")
	}
}

// leafless stands on an entry with an empty id.
type leafless struct{ *view }

func (leafless) Leaf() (string, bool) { return "", true }

// followed counts sessions: a version is a promise about a session in all of the process, so each try has its own.
var followed atomic.Int64

// An index that has followed a tree as it grew answers as one that was made anew, whichever way the tree was handed over.
func TestIndexFollowsTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		session := fmt.Sprintf("follow-%d", followed.Add(1))
		versioned := &versionedView{view: view{session: session}}
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			entry := extstate.Entry{ID: fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "id"))}
			if rapid.IntRange(0, 5).Draw(t, "root") > 0 {
				parent := fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "parent"))
				entry.ParentID = &parent
			}
			switch rapid.IntRange(0, 6).Draw(t, "way") {
			case 0: // handed over in a new slice
				versioned.entries = append(append([]extstate.Entry(nil), versioned.entries...), entry)
			case 1: // something else than an append
				versioned.entries = append([]extstate.Entry{entry}, versioned.entries...)
			default:
				versioned.entries = append(versioned.entries, entry)
			}
			if versioned.version = uint64(step + 1); rapid.Bool().Draw(t, "no version") {
				versioned.version = 0
			}
			for range 3 {
				versioned.leaf = fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "leaf"))
				checkKey(t, versioned)
			}
		}
	})
}

type versionedView struct {
	view
	version uint64
}

func (v *versionedView) Version() uint64 { return v.version }

// checkKey compares a key with what the words of section 4 say.
func checkKey(t *rapid.T, v *versionedView) {
	t.Helper()
	parents, children := map[string]*string{}, map[string]int{}
	for _, e := range v.entries {
		parents[e.ID] = e.ParentID
		if e.ParentID != nil {
			children[*e.ParentID]++
		}
	}
	want, cycle := v.leaf, true
	for range len(v.entries) + 2 {
		parent := parents[want]
		if parent == nil || children[*parent] != 1 {
			cycle = false
			break
		}
		want = *parent
	}
	key, ok, err := extstate.BranchKey(v)
	if cycle != (err != nil) || ok == cycle || !cycle && key != want {
		t.Fatalf("key of %s is %q, %v, %v; want %q, cycle %v", v.leaf, key, ok, err, want, cycle)
	}
}

// C23 to C27 are one story.
func TestC23ToC27(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; x<r; y<x")
	d.write(b, v.at("y"), `"V1"`)
	v.add("z<r")
	d.reads(b, v.at("z"), `"V1"`) // C23
	d.rows(`r="V1" z="V1"`)
	d.reads(b, v.at("y"), `"V1"`) // C24
	d.rows(`r="V1" x="V1" z="V1"`)
	d.write(b, v.at("z"), `"V2"`) // C25
	d.reads(b, v.at("y"), `"V1"`)
	d.reads(b, v.at("z"), `"V2"`)
	d.reads(b, v.at("r"), `"V1"`)
	d.rows(`r="V1" x="V1" z="V2"`)
	d.drop(b, v.at("z")) // C26
	d.rows(`r="V1" x="V1"`)
	d.reads(b, v.at("z"), `"V1"`)
	d.rows(`r="V1" x="V1" z="V1"`)
	d.drop(b, v.at("r")) // C27
	d.reads(b, v.at("r"), "absent")
	d.reads(b, v.at("z"), `"V1"`)
	d.drop(b, v.at("z"))
	d.reads(b, v.at("z"), "absent")
	d.rows(`x="V1"`)
}

func TestC28(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; x<r")
	d.write(b, v.at("x"), `"early"`)
	v.add("y<x")
	d.write(b, v.at("y"), `"late"`)
	v.add("q<x")
	d.reads(b, v.at("q"), `"late"`)
}

func TestC29(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; x<r; z<r")
	d.write(b, v.at("r"), `"v1"`)
	d.reads(b, v.at("x"), `"v1"`)
	d.write(b, v.at("r"), `"v2"`)
	d.reads(b, v.at("x"), `"v1"`)
	d.reads(b, v.at("z"), `"v2"`)
}

func TestC30(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; x<r; z<r")
	d.reads(b, v.at("x"), "absent")
	d.write(b, v.at("r"), `"v"`)
	d.reads(b, v.at("x"), `"v"`)
}

func TestC31(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; a<r; b<a; c<b; d<c; e<c; f<e; g<r")
	d.write(b, v.at("r"), `"root"`)
	d.reads(b, v.at("f"), `"root"`)
	d.rows(`e="root" r="root"`)
}

func TestC32(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; x<r; z<r")
	d.write(b, v.at("r"), `"v"`)
	d.write(b, v.at("x"), "null")
	d.reads(b, v.at("x"), "null")
}

func TestC33(t *testing.T) {
	d := newDesk(t)
	b, v := d.branch(), tree("r; x<r; q")
	d.write(b, v.at("r"), `"v"`)
	d.reads(b, v.at("q"), "absent")
	d.rows(`r="v"`)
}

func TestC34AndC35(t *testing.T) {
	d := newDesk(t)
	b, none := d.branch(), tree("")
	d.write(b, none, `{"v":1}`)
	d.reads(b, none, `{"v":1}`)
	d.write(b, none, `{"v":2}`)
	d.reads(b, none, `{"v":2}`)
	d.missing(d.path)

	d.reads(d.branch(), tree("a").at("a"), `{"v":2}`) // another instance: they share what is pending
	d.rows(`a={"v":2}`)
	d.reads(b, tree("a"), "absent")
}

// What is pending lands although another process holds the session's lock.
func TestC35WithoutTheLock(t *testing.T) {
	d := newDesk(t)
	b := d.branch()
	d.reads(d.session(), tree(""), "absent") // makes the file
	d.lock("host-a", 0)
	d.write(b, tree(""), "7")
	d.reads(b, tree("a").at("a"), "7")
	d.rows("a=7")
}

func TestC36(t *testing.T) {
	d := newDesk(t)
	b := d.branch()
	d.write(b, tree(""), `"p"`)
	d.write(b, tree("a").at("a"), `"k"`)
	d.reads(b, tree("a").at("a"), `"k"`)
	d.reads(b, tree("a"), "absent")
	d.rows(`a="k"`)
}

func TestC37(t *testing.T) {
	d := newDesk(t)
	b := d.branch()
	d.write(b, tree(""), `"p"`)
	d.drop(b, tree(""))
	d.reads(b, tree(""), "absent")
}

func TestC38(t *testing.T) {
	d := newDesk(t)
	if got := d.runWorker("pending"); got != `"p"` {
		t.Fatalf("the worker's pending value is %s", got)
	}
	d.reads(d.branch(), tree("a").at("a"), "absent")
}

func TestTree(t *testing.T) {
	d := newDesk(t)
	v := extstate.NewTree("s1")
	d.key(v, "")
	v.Append("a")
	v.Append("b")
	d.key(v, "a")
	v.Goto("a")
	v.Append("c")
	d.key(v, "c")
	v.Goto("b")
	d.key(v, "b")
	v.GotoNone()
	v.Append("q")
	d.key(v, "q")
}
