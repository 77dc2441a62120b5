package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
)

// Open opens the store that lives in a folder, empty or as an earlier store left it.
type Open func(t testing.TB, dir string) sessile.Store

// Run runs the suite. Each case has a store of its own.
func Run(t *testing.T, open Open) {
	cases := []struct {
		name string
		run  func(*fixture)
	}{
		{"update/rolls back alone", rollsBackAlone},
		{"update/panic reaches the caller", panicReachesCaller},
		{"update/time never runs backwards", timeIsMonotonic},
		{"update/ended context", endedContext},
		{"view/one state", viewIsOneState},
		{"view/sees what was committed", viewSeesCommitted},
		{"close/twice", closeTwice},
		{"close/finishes what was accepted", closeFinishes},
		{"reopen/keeps everything", reopenKeeps},
		{"concurrency/lost updates", noLostUpdates},
		{"concurrency/readers beside writers", readersBesideWriters},
		{"sessions/life", sessionLife},
		{"sessions/list", sessionList},
		{"sessions/isolation", sessionIsolation},
		{"sessions/delete and purge", sessionDeleteAndPurge},
		{"branches/life", branchLife},
		{"branches/summaries", branchSummaries},
		{"branches/tombstones", branchTombstones},
		{"floors/life", floorLife},
		{"floors/latest and list", floorLatestAndList},
		{"floors/replacement", floorReplacement},
		{"floors/delete", floorDelete},
		{"messages/pages", messagePages},
		{"messages/story", messageStory},
		{"messages/deleted content", messageDeletedContent},
		{"runs/lease", runLease},
		{"runs/life", runLife},
		{"runs/list", runList},
		{"runs/queue", runQueue},
		{"runs/children", runChildren},
		{"runs/purge", runPurge},
		{"deliveries/life", deliveryLife},
		{"deliveries/list", deliveryList},
		{"deliveries/due", deliveryDue},
		{"api keys/life", apiKeyLife},
		{"worldbooks/life", worldbookLife},
		{"entries/life", entryLife},
		{"entries/order and pages", entryPages},
		{"entries/homes", entryHomes},
		{"entries/expiry and purge", entryPurge},
		{"entries/revisions are never used twice", entryRevisions},
		{"extensions/life", extensionLife},
		{"extensions/forks", extensionForks},
		{"extensions/floors", extensionFloors},
		{"extensions/purge", extensionPurge},
		{"extensions/revisions are never used twice", extensionNumbers},
		{"events/life", eventLife},
		{"events/pruning", eventPruning},
		{"events/watches and notices", eventWatches},
		{"events/unheard notices", noticesUnheard},
		{"sessions/walk", sessionWalk},
		{"sessions/lists", sessionLists},
		{"cells/namespaces and slots", cellNamespaces},
		{"cells/locate", cellLocate},
		{"cells/heads and points", cellHeadsAndPoints},
		{"cells/head by name", cellHead},
		{"cells/head by name in a race", cellHeadRace},
		{"cells/base", cellBase},
		{"cells/overrides", cellOverrides},
		{"cells/shown", cellShown},
		{"cells/usage", cellUsage},
		{"cells/odd names and values", cellOddNames},
		{"mutations/log", mutationLog},
		{"mutations/numbers are never used twice", mutationNumbers},
		{"mutations/numbers after a failure", numbersAfterFailure},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newFixture(t, open))
		})
	}
}

// fixture is a store under test with shorthands that fail the test.
type fixture struct {
	*testing.T
	open  Open
	dir   string
	store sessile.Store
	made  int
}

func newFixture(t *testing.T, open Open) *fixture {
	f := &fixture{T: t, open: open, dir: t.TempDir()}
	f.store = open(t, f.dir)
	t.Cleanup(func() {
		if err := f.store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

func (f *fixture) reopen() {
	f.Helper()
	if err := f.store.Close(); err != nil {
		f.Fatalf("close: %v", err)
	}
	f.store = f.open(f.T, f.dir)
}

func (f *fixture) update(fn func(tx sessile.Tx)) {
	f.Helper()
	err := f.store.Update(context.Background(), func(tx sessile.Tx) error {
		fn(tx)
		return nil
	})
	f.ok(err)
}

func (f *fixture) view(fn func(tx sessile.ReadTx)) {
	f.Helper()
	err := f.store.View(context.Background(), func(tx sessile.ReadTx) error {
		fn(tx)
		return nil
	})
	f.ok(err)
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// same compares and explains.
func (f *fixture) same(what string, got, want any) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (f *fixture) id(prefix string) string {
	f.made++
	return fmt.Sprintf("%s%06d", prefix, f.made)
}

// must unwraps what a port answered.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// found unwraps an answer that must be there.
func found[T any](v T, ok bool, err error) T {
	if err != nil {
		panic(err)
	}
	if !ok {
		panic(errors.New("not found"))
	}
	return v
}

// missing reports whether an answer says that there is nothing.
func missing[T any](_ T, ok bool, err error) bool {
	if err != nil {
		panic(err)
	}
	return !ok
}

// session makes a session of an account.
func (f *fixture) session(tx sessile.Tx, account string) sessile.Session {
	f.Helper()
	id := f.id(sessile.PrefixSession)
	s := sessile.Session{
		ID: id, Account: account, Key: "agent:main:session:" + id, AgentID: "main", Status: sessile.SessionActive, Settings: []byte("{}"),
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	f.ok(tx.AddSession(&s))
	return s
}

func (f *fixture) branch(tx sessile.Tx, session int64, name string) sessile.Branch {
	f.Helper()
	b, known, err := tx.Branch(session, name)
	f.ok(err)
	if known {
		return b
	}
	b = sessile.Branch{Session: session, Name: name, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	f.ok(tx.AddBranch(&b))
	return b
}

// floor makes a floor and reads it back.
func (f *fixture) floor(tx sessile.Tx, b sessile.Branch, no, parent int64, state sessile.FloorState) sessile.Floor {
	f.Helper()
	floor := sessile.Floor{
		ID: f.id(sessile.PrefixFloor), Session: b.Session, Branch: b.Row, No: no, Parent: parent, State: state,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	f.ok(tx.AddFloor(&floor))
	return found(tx.FloorByRow(floor.Row))
}

// commit gives a floor its place in the log and reads it back.
func (f *fixture) commit(tx sessile.Tx, floor sessile.Floor) sessile.Floor {
	f.Helper()
	floor.CommitSeq = must(tx.LastSeq())
	floor.SnapshotSeq, floor.FirstCommittedAt, floor.CommittedAt = floor.CommitSeq, tx.Now(), tx.Now()
	f.ok(tx.CommitFloor(&floor))
	return found(tx.FloorByRow(floor.Row))
}

// namespace makes a custom namespace, slot a slot in it.
func (f *fixture) namespace(tx sessile.Tx, session int64, name string) sessile.Namespace {
	f.Helper()
	n := sessile.Namespace{Session: session, Name: name, OwnerType: "plugin", OwnerID: "kit", CreatedAt: tx.Now()}
	f.ok(tx.AddNamespace(&n))
	return n
}

func (f *fixture) slot(tx sessile.Tx, namespace int64, name string) sessile.Slot {
	f.Helper()
	s := sessile.Slot{Namespace: namespace, Name: name}
	f.ok(tx.AddSlot(&s))
	return s
}

// write appends an applied mutation that moves the head; an empty value is a delete.
func (f *fixture) write(tx sessile.Tx, branch, slot int64, value string) sessile.Mutation {
	f.Helper()
	m := sessile.Mutation{
		Branch: branch, Slot: slot, Present: value != "", Size: int64(len(value)), OnLine: true,
		Kind: sessile.KindDirect, Status: sessile.StatusApplied, Materialises: true,
	}
	if value != "" {
		m.Value = []byte(value)
	}
	f.ok(tx.AppendMutation(&m))
	return m
}
