package turn_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/statemodel"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// The oracle drives package statemodel and the real services over SQLite with the same random operations and compares
// everything that can be read after every one of them. A difference is a bug on one of the two sides; the sheet
// (spec/governed-state.md) decides on which.
//
// Run it longer with: go test ./turn -run Oracle -rapid.checks=5000 -rapid.steps=60

// TestOracle leaves the limits out of reach.
func TestOracle(t *testing.T) {
	ground := newGround(t)
	rapid.Check(t, func(rt *rapid.T) {
		newOracle(rt, ground, sessile.DefaultQuotas()).run(everyday)
	})
}

// TestOracleForks makes branches start, end and start again elsewhere, on as few names as possible. It sets out from
// where chance seldom comes.
func TestOracleForks(t *testing.T) {
	ground := newGround(t)
	rapid.Check(t, func(rt *rapid.T) {
		o := newOracle(rt, ground, sessile.DefaultQuotas())
		o.branches, o.namespaces, o.slots, o.writes = o.branches[:2], o.namespaces[:1], o.slots[:1], 1
		pick(o, "road", roads)(&walk{oracle: o, id: o.createSession()})
		o.run(weights{
			respondOnMain: 4, respond: 6, write: 3, deleteValue: 1, retry: 8, fork: 4, regenerate: 1, deleteFloor: 4, clearBranch: 3, deleteBranch: 1, bareFloor: 1,
		})
	})
}

// TestOracleQuotas lets the limits bite.
func TestOracleQuotas(t *testing.T) {
	ground := newGround(t)
	rapid.Check(t, func(rt *rapid.T) {
		among := func(label string, limits ...int64) int64 {
			return append(limits, 1<<20)[rapid.IntRange(0, len(limits)).Draw(rt, label)]
		}
		newOracle(rt, ground, sessile.Quotas{
			NamespacesPerAccount: among("namespaces per account", 2, 3),
			ItemsPerNamespace:    among("items per namespace", 3, 6, 10),
			BytesPerNamespace:    among("bytes per namespace", 150, 300, 600, 4000),
			ItemsPerAccount:      among("items per account", 8, 16, 24),
			BytesPerAccount:      among("bytes per account", 2000, 4000, 8000),
			ValueBytes:           among("value bytes", 32, 48),
			LimitBuiltIn:         rapid.Bool().Draw(rt, "limit built-in"),
		}).run(everyday)
	})
}

// ground is what all runs of a test stand on: one store, on which every run has an account of its own.
type ground struct {
	ctx      context.Context
	store    *sqlite.Store
	clock    atomic.Int64 // milliseconds
	accounts int
}

func newGround(t *testing.T) *ground {
	g := &ground{ctx: t.Context()}
	g.clock.Store(1_700_000_000_000)
	store, err := sqlite.Open(g.ctx, filepath.Join(t.TempDir(), "oracle.db"), sqlite.Options{
		Clock: func() time.Time { return time.UnixMilli(g.clock.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	g.store = store
	return g
}

// parrot is a model that always says the same, or fails.
type parrot struct{ fails bool }

func (p *parrot) Generate(context.Context, model.Request) (model.Response, error) {
	if p.fails {
		return model.Response{}, errors.New("no answer")
	}
	return model.Response{Text: "said", Usage: model.Usage{InputTokens: 3, OutputTokens: 1, TotalTokens: 4}}, nil
}

// oracle is one run: the model, the services, and which id of the one is which of the other.
type oracle struct {
	*rapid.T
	*ground
	account    string
	accountRow int64

	// Names are few, so that operations meet.
	branches, namespaces, slots []string
	writes                      int // of a turn, at most

	want     *statemodel.Model
	cells    *state.Service
	sessions *session.Service
	turns    *turn.Service
	parrot   *parrot

	sessionIDs map[statemodel.SessionID]string
	floorIDs   map[statemodel.FloorID]string
	mutations  map[statemodel.MutationID]string
	mutationOf map[string]statemodel.MutationID
	builtIn    map[string]int64 // size of the value of a built-in slot whose branch and run type are empty
	steps      int
}

func newOracle(rt *rapid.T, g *ground, quotas sessile.Quotas) *oracle {
	g.accounts++
	o := &oracle{
		T: rt, ground: g,
		account:    fmt.Sprintf("account-%d", g.accounts),
		branches:   []string{"main", "alt", "twig"},
		namespaces: []string{"bond", "notes"},
		slots:      []string{"a", "b", "c"},
		writes:     3,
		want: statemodel.New(statemodel.Quotas{
			NamespacesPerAccount: quotas.NamespacesPerAccount,
			ItemsPerNamespace:    quotas.ItemsPerNamespace,
			BytesPerNamespace:    quotas.BytesPerNamespace,
			ItemsPerAccount:      quotas.ItemsPerAccount,
			BytesPerAccount:      quotas.BytesPerAccount,
			ValueBytes:           quotas.ValueBytes,
			LimitBuiltIn:         quotas.LimitBuiltIn,
		}),
		cells:      state.New(g.store, state.Options{Quotas: quotas}),
		parrot:     &parrot{},
		sessionIDs: map[statemodel.SessionID]string{},
		floorIDs:   map[statemodel.FloorID]string{},
		mutations:  map[statemodel.MutationID]string{},
		mutationOf: map[string]statemodel.MutationID{},
	}
	o.sessions = session.New(g.store, o.cells, session.Options{})
	o.turns = turn.New(g.store, o.cells, o.parrot, turn.Options{})
	o.builtIn = o.measure()
	return o
}

// measure takes one turn of a scratch session to learn how large the values are that a turn itself writes. Their size
// depends on nothing but the names in them.
func (o *oracle) measure() map[string]int64 {
	o.tick()
	cells := state.New(o.store, state.Options{Quotas: sessile.DefaultQuotas()})
	turns := turn.New(o.store, cells, o.parrot, turn.Options{})
	scratch, err := o.sessions.Create(o.ctx, o.account+"-scratch", session.NewSession{})
	o.must(err)
	_, err = turns.Respond(o.ctx, o.account+"-scratch", scratch.ID, turn.RespondRequest{Message: "go"})
	o.must(err)
	values, err := cells.Resolve(o.ctx, o.account+"-scratch", scratch.ID, state.ResolveQuery{Branch: "main"})
	o.must(err)
	sizes := map[string]int64{}
	for _, v := range values {
		sizes[v.Slot] = statemodel.PayloadSize(true, string(v.Data)) - int64(len("main")+len(turn.RunTypeRespond))
	}
	return sizes
}

// weights say how often an operation happens, relative to the others.
type weights struct {
	respondOnMain, respond, write, deleteValue, retry, fork, regenerate         int
	deleteFloor, clearBranch, deleteBranch, bareFloor, register, manageSessions int
}

// everyday is some of everything.
var everyday = weights{
	respondOnMain: 5, respond: 5, write: 5, deleteValue: 2, retry: 5, fork: 3, regenerate: 2, deleteFloor: 2, deleteBranch: 2,
	bareFloor: 1, register: 1, manageSessions: 1,
}

// run lets operations happen and compares after every one.
func (o *oracle) run(w weights) {
	var acts []func()
	add := func(weight int, act func()) { acts = append(acts, slices.Repeat([]func(){act}, weight)...) }
	add(w.respondOnMain, func() { o.respond("main") })
	add(w.respond, func() { o.respond(o.branch()) })
	add(w.write, o.write)
	add(w.deleteValue, o.deleteValue)
	add(w.retry, o.retry)
	add(w.fork, o.fork)
	add(w.regenerate, o.regenerate)
	add(w.deleteFloor, o.deleteFloor)
	add(w.clearBranch, o.clearBranch)
	add(w.deleteBranch, o.deleteBranch)
	add(w.bareFloor, o.bareFloor)
	add(w.register, o.register)
	add(w.manageSessions, o.manageSessions)
	if len(o.want.Sessions()) == 0 {
		o.createSession()
	}
	o.Repeat(map[string]func(*rapid.T){
		"":    func(*rapid.T) { o.compare() },
		"act": func(*rapid.T) { acts[o.index("act", len(acts))]() },
	})
}

// tick lets the clock advance, or not: order in the log must not hang on it.
func (o *oracle) tick() {
	o.clock.Add(int64(o.index("clock", 2)))
	o.want.SetTime(o.clock.Load())
	o.steps++
}

func (o *oracle) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatalf("unexpected: %v", err)
	}
}

// agree compares the outcomes of one operation.
func (o *oracle) agree(err error, want statemodel.Code, format string, args ...any) (ok bool) {
	o.Helper()
	o.Logf("%s: %q", fmt.Sprintf(format, args...), want)
	if got := sessile.CodeOf(err); got != sessile.Code(want) {
		o.Fatalf("%s: got %q, want %q (%v)", fmt.Sprintf(format, args...), got, want, err)
	}
	return want == statemodel.OK
}
