//go:build unix

package extstate_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile/extstate"
)

// model is section 5 in plain words: rows by branch, and what is pending.
type model struct {
	rows    map[string]string
	pending string
	parents map[string]string
}

func (m *model) key(at string) string {
	for m.parents[at] != "" && m.onlyChild(at) {
		at = m.parents[at]
	}
	return at
}

func (m *model) onlyChild(id string) bool {
	children := 0
	for _, parent := range m.parents {
		if parent == m.parents[id] {
			children++
		}
	}
	return children == 1
}

func (m *model) read(leaf string) string {
	if leaf == "" {
		return m.pending
	}
	key := m.key(leaf)
	if m.pending != "" {
		m.rows[key], m.pending = m.pending, ""
	}
	for at := key; ; at = m.key(m.parents[at]) {
		if value, ok := m.rows[at]; ok {
			m.rows[key] = value
			return value
		}
		if m.parents[at] == "" {
			return ""
		}
	}
}

// An instance does what the model does, whatever is done to it, also when the reference writes to the same rows.
func TestModel(t *testing.T) {
	dir, files := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		files++
		path := filepath.Join(dir, strconv.Itoa(files))
		s, err := extstate.Open[jsontext.Value](extstate.Options{PluginID: "role", Scope: extstate.ScopeBranch, DatabasePath: path})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		other, err := openReference(path)
		if err != nil {
			t.Fatal(err)
		}
		defer other.conn.Close()
		v := &view{session: "s1"}
		m := &model{rows: map[string]string{}, parents: map[string]string{}}
		for step := range rapid.IntRange(1, 25).Draw(t, "steps") {
			value := strconv.Itoa(step)
			leaf := v.leaf
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1: // an entry below the leaf
				id := fmt.Sprintf("e%d", step)
				if leaf == "" {
					v.add(id)
				} else {
					v.add(id + "<" + leaf)
				}
				m.parents[id], v.leaf = leaf, id
			case 2: // somewhere else
				v.leaf = ""
				if n := len(v.entries); n > 0 && rapid.IntRange(0, 5).Draw(t, "leave") > 0 {
					v.leaf = v.entries[rapid.IntRange(0, n-1).Draw(t, "leaf")].ID
				}
			case 3:
				must(t, s.Write(background, v, jsontext.Value(value)))
				if m.pending = ""; leaf == "" {
					m.pending = value
				} else {
					m.rows[m.key(leaf)] = value
				}
			case 4:
				must(t, s.Drop(background, v))
				if m.pending = ""; leaf != "" {
					delete(m.rows, m.key(leaf))
				}
			case 5: // the reference writes
				if leaf != "" {
					must(t, other.write("role", "s1", m.key(leaf), value))
					m.rows[m.key(leaf)] = value
				}
			default:
				got, found, err := s.Read(background, v)
				must(t, err)
				if want := m.read(leaf); string(got) != want || found != (want != "") {
					t.Fatalf("read at %q is %q, %v; want %q", leaf, got, found, want)
				}
			}
		}
		checkRows(t, other, m.rows)
	})
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func checkRows(t *rapid.T, r *reference, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	rows := r.conn.Query(`SELECT branch_id, value FROM state`)
	for rows.Next() {
		got[rows.Text(0)] = rows.Text(1)
	}
	must(t, rows.Close())
	if !maps.Equal(got, want) {
		t.Fatalf("rows %v, want %v", got, want)
	}
}

// Many goroutines use two instances of one file, and every one finds what it wrote last.
func TestConcurrentUse(t *testing.T) {
	d := newDesk(t)
	s, b := d.session(), d.branch()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			v := extstate.NewTree(fmt.Sprintf("s%d", i%3))
			v.Append("root")
			v.Append(fmt.Sprintf("leaf-%d", i))
			own := v.SessionID() + strings.Repeat("x", i)
			mine := extstate.NewTree(own)
			for n := range 20 {
				text := jsontext.Value(strconv.Itoa(n))
				for _, step := range []error{s.Write(background, mine, text), b.Write(background, v, text)} {
					if step != nil {
						t.Error(step)
					}
				}
				got, found, err := s.Read(background, mine)
				if !found || err != nil || !slices.Equal(got, text) {
					t.Errorf("read %s, %v, %v; want %s", got, found, err, text)
				}
				if _, found, err := b.Read(background, v); !found || err != nil {
					t.Errorf("branch: %v, %v", found, err)
				}
			}
		})
	}
	wait.Wait()
	d.unlocked()
}
