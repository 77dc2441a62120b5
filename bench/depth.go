package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// depthGround holds sessions with chains of forks, for what must not grow with them.
type depthGround struct {
	hundred  string // 100 slots; a chain of 64 branches, the i-th named depth-i
	thousand string // 1,000 slots of 60 versions on main, and a chain of 8 branches
	oldFloor string // of the deepest branch, with further versions behind it
	head     string // the latest committed floor of main in thousand
	forks    int
}

const (
	deep      = 64
	versions  = 60
	deepFloor = 8
)

func (b *bench) growDepth(ctx context.Context) (*depthGround, error) {
	g := &depthGround{}
	var err error
	if g.hundred, err = b.newSession(ctx); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, g.hundred, "main", 100, 0); err != nil {
		return nil, err
	}
	if _, _, err := b.chain(ctx, g.hundred, deep, func(int, string) error { return nil }); err != nil {
		return nil, err
	}
	if g.thousand, err = b.newSession(ctx); err != nil {
		return nil, err
	}
	for version := range versions {
		if err := b.fill(ctx, g.thousand, "main", 1000, version); err != nil {
			return nil, err
		}
	}
	g.head, g.oldFloor, err = b.chain(ctx, g.thousand, deepFloor, func(_ int, branch string) error {
		return b.fill(ctx, g.thousand, branch, 100, versions) // each branch writes a part of the slots itself
	})
	if err != nil {
		return nil, err
	}
	return g, b.fill(ctx, g.thousand, fmt.Sprintf("depth-%d", deepFloor), 1000, versions+1)
}

// fill writes the slots of a branch in large steps: it is not what is measured.
func (b *bench) fill(ctx context.Context, sessionID, branch string, n, version int) error {
	writes := make(chan int)
	errs := make(chan error, 32)
	for range cap(errs) {
		go func() {
			var err error
			for i := range writes {
				if err == nil {
					a := state.Address{Branch: branch, Namespace: "bench", Slot: fmt.Sprintf("slot-%d", i)}
					_, err = b.cells.Write(ctx, account, sessionID, a, jsontext.Value(value(int64(version*10_000+i))), "")
				}
			}
			errs <- err
		}()
	}
	for i := range n {
		writes <- i
	}
	close(writes)
	var first error
	for range cap(errs) {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// chain forks a branch from a floor of main, commits a floor on it, forks the next from that, and so on.
func (b *bench) chain(ctx context.Context, sessionID string, n int, grow func(i int, branch string) error) (first, last string, err error) {
	t, err := b.turns.Respond(ctx, account, sessionID, turn.RespondRequest{Message: "go"})
	if err != nil {
		return "", "", err
	}
	first, last = t.FloorID, t.FloorID
	for i := 1; i <= n; i++ {
		branch := fmt.Sprintf("depth-%d", i)
		if _, err := b.sess.ForkBranch(ctx, account, last, branch); err != nil {
			return "", "", err
		}
		if err := grow(i, branch); err != nil {
			return "", "", err
		}
		t, err := b.turns.Respond(ctx, account, sessionID, turn.RespondRequest{Message: "go", BranchID: branch})
		if err != nil {
			return "", "", err
		}
		last = t.FloorID
	}
	return first, last, nil
}

func (g *depthGround) round(ctx context.Context, b *bench, r *report, b4 time.Duration) error {
	shallow, err := g.resolve(ctx, b, g.hundred, "depth-1", "", 102)
	if err != nil {
		return err
	}
	deepest, err := g.resolve(ctx, b, g.hundred, fmt.Sprintf("depth-%d", deep), "", 102)
	if err != nil {
		return err
	}
	join, err := b.raw.join(ctx, b.span/3)
	if err != nil {
		return err
	}
	old, err := g.resolve(ctx, b, g.thousand, fmt.Sprintf("depth-%d", deepFloor), g.oldFloor, 1002)
	if err != nil {
		return err
	}
	r.add("join of 1,000 heads", "µs", micros(join))
	r.ratio(goal{name: "resolve of 100 slots, depth 64 / 1", atMost: 1.3}, float64(deepest)/float64(shallow))
	r.ratio(goal{name: "1,000 slots at an old floor, depth 8 / join", atMost: 1.6}, float64(old)/float64(join))
	return g.fork(ctx, b, r, b4)
}

func (g *depthGround) resolve(ctx context.Context, b *bench, sessionID, branch, floor string, want int) (time.Duration, error) {
	l, err := repeat(ctx, 1, b.span/3, func(int) (func(int) error, func(), error) {
		return func(int) error {
			values, err := b.cells.Resolve(ctx, account, sessionID, state.ResolveQuery{Branch: branch, SourceFloorID: floor})
			if err == nil && len(values) != want {
				err = fmt.Errorf("%d values, want %d", len(values), want)
			}
			return err
		}, func() {}, nil
	})
	return l.p50, err
}

// fork measures registering a branch from a floor with 1,000 slots, and the first commit on it: the transaction that lays
// its pointers and makes the floor a point in the log, without the model and without what every turn costs besides.
func (g *depthGround) fork(ctx context.Context, b *bench, r *report, b4 time.Duration) error {
	var registered, committed []time.Duration
	for range 20 {
		g.forks++
		branch := fmt.Sprintf("fork-%d", g.forks)
		start := time.Now()
		if _, err := b.sess.ForkBranch(ctx, account, g.head, branch); err != nil {
			return err
		}
		registered = append(registered, time.Since(start))
		start = time.Now()
		if _, err := b.turns.Ingest(ctx, account, g.thousand, turn.IngestRequest{
			BranchID: branch, Messages: []turn.IngestedMessage{{Role: "user", Content: "go"}},
		}); err != nil {
			return err
		}
		committed = append(committed, time.Since(start))
		if _, err := b.sess.DeleteBranch(ctx, account, g.thousand, branch); err != nil {
			return err
		}
	}
	r.ratio(goal{name: "registering a fork of 1,000 slots / B4", atMost: 1.5}, float64(median(registered))/float64(b4))
	r.ratio(goal{name: "first commit of a fork of 1,000 slots / B4", atMost: 6}, float64(median(committed))/float64(b4))
	return nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
