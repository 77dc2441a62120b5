package session_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
)

// keeper writes and reads what extensions keep in the sessions of a stage.
type keeper struct {
	*stage
	extensions *state.Extensions
}

func newKeeper(t *testing.T) *keeper {
	s := newStage(t)
	return &keeper{s, state.NewExtensions(s.store, state.NewEntries(s.store, state.EntryOptions{}))}
}

func (k *keeper) put(id, branch, value string) (revision int64) {
	k.Helper()
	a := state.ExtensionAddress{SessionID: id, Plugin: "plan", Branch: branch}
	v, err := k.extensions.Put(k.Context(), owner, a, jsontext.Value(value), state.Precondition{})
	k.must(err)
	return v.Revision
}

// shows checks what is read: "" is nothing, and a star marks what is inherited.
func (k *keeper) shows(id, branch, want string) {
	k.Helper()
	if got := k.read(state.ExtensionAddress{SessionID: id, Plugin: "plan", Branch: branch}); got != want {
		k.Errorf("%q of %s shows %q, want %q", branch, id, got, want)
	}
}

func (k *keeper) read(a state.ExtensionAddress) string {
	k.Helper()
	v, err := k.extensions.Get(k.Context(), owner, a)
	if sessile.CodeOf(err) == sessile.CodeNotFound {
		return ""
	}
	k.must(err)
	if v.Inherited {
		return string(v.Value) + "*"
	}
	return string(v.Value)
}

// The value of a session stays over a reset; a fork starts without it, copies it or shares it. That of a branch is the
// session's own.
func TestExtensionsOverTheLifeOfSessions(t *testing.T) {
	k := newKeeper(t)
	id := k.create(owner, "first")
	k.floor(id, "main", "hello", sessile.FloorCommitted)
	k.put(id, "", `"session"`)
	k.put(id, "main", `"branch"`)
	k.shows(id, "", `"session"`)
	k.shows(id, "main", `"branch"`)

	forks := map[state.EntrySharing]string{}
	for _, how := range []state.EntrySharing{state.EntriesEmpty, state.EntriesCopy, state.EntriesShare} {
		made, err := k.sessions.Fork(k.Context(), owner, id, session.ForkOptions{State: how})
		k.must(err)
		forks[how] = made.ID
		k.shows(made.ID, "main", "")
	}
	k.put(id, "", `"later"`)
	k.shows(forks[state.EntriesEmpty], "", "")
	k.shows(forks[state.EntriesCopy], "", `"session"`)
	k.shows(forks[state.EntriesShare], "", `"later"`)

	next, err := k.sessions.Reset(k.Context(), owner, id)
	k.must(err)
	k.shows(id, "", "")
	k.shows(next.ID, "", `"later"`)
	k.shows(next.ID, "main", "")

	k.put(next.ID, "main", `"again"`)
	k.must(k.sessions.Delete(k.Context(), owner, next.ID))
	k.shows(next.ID, "", "")
	k.shows(next.ID, "main", "")
	k.shows(forks[state.EntriesShare], "", `"later"`) // the last key that leads to it
}

func TestChangesOfExtensionsAreChecked(t *testing.T) {
	k := newKeeper(t)
	id := k.create(owner, "first")
	large := jsontext.Value(`"` + strings.Repeat("x", sessile.MaxExtensionBytes-1) + `"`)
	for _, branch := range []string{"", "main"} {
		a := state.ExtensionAddress{SessionID: id, Plugin: "plan", Branch: branch}
		write := func(value string, p state.Precondition) (int64, error) {
			v, err := k.extensions.Put(k.Context(), owner, a, jsontext.Value(value), p)
			return v.Revision, err
		}
		_, err := write(`1`, state.Precondition{Exists: true})
		k.refused(err, sessile.CodePreconditionFailed)
		_, err = write(`1`, state.Precondition{Revisions: []int64{}})
		k.refused(err, sessile.CodePreconditionFailed)
		first, err := write(`1`, state.Precondition{Missing: true})
		k.must(err)
		_, err = write(`2`, state.Precondition{Missing: true})
		k.refused(err, sessile.CodePreconditionFailed)
		_, err = write(`2`, state.Precondition{Revisions: []int64{first + 1}})
		k.refused(err, sessile.CodePreconditionFailed)
		second, err := write(`2`, state.Precondition{Revisions: []int64{first + 1, first}, Exists: true})
		k.must(err)
		if second <= first {
			t.Errorf("revision %d comes after %d", second, first)
		}
		_, err = k.extensions.Put(k.Context(), owner, a, large, state.Precondition{})
		k.refused(err, sessile.CodePayloadTooLarge)
		_, err = k.extensions.Put(k.Context(), owner, a, large[1:], state.Precondition{})
		k.must(err)
		_, err = k.extensions.Delete(k.Context(), owner, a, state.Precondition{Revisions: []int64{second}})
		k.refused(err, sessile.CodePreconditionFailed)
		deleted, err := k.extensions.Delete(k.Context(), owner, a, state.Precondition{})
		k.must(err)
		again, err := k.extensions.Delete(k.Context(), owner, a, state.Precondition{})
		k.must(err)
		if !deleted || again {
			t.Errorf("%q: deleted is %v, then %v", branch, deleted, again)
		}

		foreign := a
		foreign.SessionID = "ses_none"
		_, err = k.extensions.Put(k.Context(), owner, foreign, jsontext.Value(`1`), state.Precondition{})
		k.refused(err, sessile.CodeNotFound)
		_, err = k.extensions.Put(k.Context(), "other", a, jsontext.Value(`1`), state.Precondition{})
		k.refused(err, sessile.CodeNotFound)
	}
	_, err := k.sessions.Update(k.Context(), owner, id, session.Patch{Status: sessile.SessionArchived})
	k.must(err)
	a := state.ExtensionAddress{SessionID: id, Plugin: "plan"}
	_, err = k.extensions.Put(k.Context(), owner, a, jsontext.Value(`1`), state.Precondition{Exists: true})
	k.refused(err, sessile.CodeSessionArchived)
	_, err = k.extensions.Delete(k.Context(), owner, a, state.Precondition{})
	k.refused(err, sessile.CodeSessionArchived)
}

// Values of sessions take room of the home that they share with key-value entries.
func TestExtensionsKeepToTheRoomOfTheHome(t *testing.T) {
	k := newKeeper(t)
	entries := state.NewEntries(k.store, state.EntryOptions{Limits: sessile.EntryLimits{Entries: 1}})
	e := state.NewExtensions(k.store, entries)
	id := k.create(owner, "first")
	for _, step := range []struct {
		plugin string
		want   sessile.Code
	}{{"a", ""}, {"b", sessile.CodeEntryLimit}, {"a", ""}} {
		a := state.ExtensionAddress{SessionID: id, Plugin: step.plugin}
		_, err := e.Put(k.Context(), owner, a, jsontext.Value(`1`), state.Precondition{})
		k.refused(err, step.want)
	}
}

// model is what branches should show, told in the simplest way: a floor keeps a copy of everything its branch showed.
type model struct {
	branches map[string]*modelBranch
	floors   map[string]*modelFloor
}

type modelBranch struct {
	own, base map[string]string
	source    string // floor that it was registered from
}

type modelFloor struct {
	branch string
	shows  map[string]string
}

func (m *model) branch(name string) *modelBranch {
	if m.branches[name] == nil {
		m.branches[name] = &modelBranch{own: map[string]string{}, base: map[string]string{}}
	}
	return m.branches[name]
}

func (m *model) committed(name string) bool {
	for _, f := range m.floors {
		if f.branch == name {
			return true
		}
	}
	return false
}

func (m *model) exists(name string) bool {
	b := m.branches[name]
	return name == "main" || b != nil && (b.source != "" || m.committed(name))
}

func (m *model) inherited(name string) map[string]string {
	b := m.branches[name]
	if b == nil {
		return nil
	}
	if b.source != "" && !m.committed(name) {
		return m.floors[b.source].shows
	}
	return b.base
}

// shows is everything a branch shows; what is inherited has a star.
func (m *model) shows(name string) map[string]string {
	all := map[string]string{}
	for plugin, value := range m.inherited(name) {
		all[plugin] = value + "*"
	}
	if b := m.branches[name]; b != nil {
		maps.Copy(all, b.own)
	}
	return all
}

func (m *model) commit(floor, name string) {
	b := m.branch(name)
	if b.source != "" && !m.committed(name) {
		b.base = m.floors[b.source].shows
	}
	shows := maps.Clone(b.base)
	maps.Copy(shows, b.own)
	m.floors[floor] = &modelFloor{name, shows}
}

func (m *model) deleteFloor(id string) {
	delete(m.floors, id)
	for _, b := range m.branches {
		if b.source == id {
			b.source = ""
		}
	}
}

func (m *model) deleteBranch(name string) {
	for id, f := range m.floors {
		if f.branch == name {
			m.deleteFloor(id)
		}
	}
	delete(m.branches, name)
}

// leaks counts values that nothing shows, versions without their value, and branches that keep more versions than their
// floors can show.
const leaks = `SELECT (SELECT count(*) FROM extension_value v WHERE NOT EXISTS (SELECT 1 FROM extension e WHERE e.revision = v.revision))
+ (SELECT count(*) FROM extension e WHERE e.dropped = 0 AND NOT EXISTS (SELECT 1 FROM extension_value v WHERE v.revision = e.revision))
+ (SELECT count(*) FROM (SELECT 1 FROM extension e WHERE e.own = 1 GROUP BY e.branch, e.plugin
  HAVING count(*) > 1 + (SELECT count(*) FROM floor f WHERE f.branch = e.branch AND f.commit_seq IS NOT NULL AND f.deleted_at IS NULL)))`

// Whatever happens to branches and floors, a branch shows its own value, else what the branch it came from showed at the
// floor where it starts; and nothing is kept that nothing shows.
func TestExtensionsOnBranchesAgreeWithTheModel(t *testing.T) {
	names := []string{"main", "a", "b", "c"}
	plugins := []string{"p", "q"}
	k := newKeeper(t)
	conn, err := sqliteconn.Open(k.path, sqliteconn.Options{ReadOnly: true})
	k.must(err)
	defer func() { k.must(conn.Close()) }()
	rapid.Check(t, func(t *rapid.T) {
		id := k.create(owner, "")
		m := &model{branches: map[string]*modelBranch{}, floors: map[string]*modelFloor{}}
		m.branch("main")
		written := 0
		expect := func(t *rapid.T, err error, want sessile.Code) bool {
			if got := sessile.CodeOf(err); got != want {
				t.Fatalf("the error is %v, want the code %q", err, want)
			}
			return want == ""
		}
		address := func(t *rapid.T) state.ExtensionAddress {
			return state.ExtensionAddress{
				SessionID: id, Branch: rapid.SampledFrom(names).Draw(t, "branch"), Plugin: rapid.SampledFrom(plugins).Draw(t, "plugin"),
			}
		}
		anyFloor := func(t *rapid.T) string {
			if len(m.floors) == 0 {
				t.Skip("there is no floor yet")
			}
			return rapid.SampledFrom(slices.Sorted(maps.Keys(m.floors))).Draw(t, "floor")
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				a := address(t)
				written++
				value := strconv.Itoa(written)
				_, err := k.extensions.Put(k.Context(), owner, a, jsontext.Value(value), state.Precondition{})
				expect(t, err, "")
				m.branch(a.Branch).own[a.Plugin] = value
			},
			"delete": func(t *rapid.T) {
				a := address(t)
				deleted, err := k.extensions.Delete(k.Context(), owner, a, state.Precondition{})
				expect(t, err, "")
				own := ""
				if b := m.branches[a.Branch]; b != nil {
					own = b.own[a.Plugin]
					delete(b.own, a.Plugin)
				}
				if deleted != (own != "") {
					t.Fatalf("deleting %+v says %v where it has %q", a, deleted, own)
				}
			},
			"commit": func(t *rapid.T) {
				name := rapid.SampledFrom(names).Draw(t, "branch")
				m.commit(k.floor(id, name, "x", sessile.FloorCommitted), name)
			},
			"fork": func(t *rapid.T) {
				floor, name := anyFloor(t), rapid.SampledFrom(names).Draw(t, "name")
				want := sessile.Code("")
				if m.exists(name) {
					want = sessile.CodeBranchExists
				}
				_, err := k.sessions.ForkBranch(k.Context(), owner, floor, name)
				if expect(t, err, want) {
					m.branch(name).source = floor
				}
			},
			"delete branch": func(t *rapid.T) {
				name := rapid.SampledFrom(names[1:]).Draw(t, "branch")
				want := sessile.Code("")
				if !m.exists(name) {
					want = sessile.CodeNotFound
				}
				_, err := k.sessions.DeleteBranch(k.Context(), owner, id, name)
				if expect(t, err, want) {
					m.deleteBranch(name)
				}
			},
			"delete floor": func(t *rapid.T) {
				floor := anyFloor(t)
				expect(t, k.sessions.DeleteFloor(k.Context(), owner, floor), "")
				m.deleteFloor(floor)
			},
			"": func(t *rapid.T) {
				for _, name := range names {
					shows := m.shows(name)
					for _, plugin := range plugins {
						a := state.ExtensionAddress{SessionID: id, Branch: name, Plugin: plugin}
						if got := k.read(a); got != shows[plugin] {
							t.Fatalf("%s on %s shows %q, want %q", plugin, name, got, shows[plugin])
						}
					}
				}
				leaked := int64(-1)
				if _, err := conn.One(leaks, func(r *sqliteconn.Rows) { leaked = r.Int64(0) }); err != nil || leaked != 0 {
					t.Fatalf("%d rows are left over (%v)", leaked, err)
				}
			},
		})
	})
}
