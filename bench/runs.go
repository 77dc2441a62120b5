package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// stepsOfJob are the durable steps that a job takes: it is queued, it starts, it ends.
const stepsOfJob = 3

// riverJobs is how many jobs River works in one round.
const riverJobs = 3000

// runGround is a store with a session for each worker.
type runGround struct {
	store    *sqlite.Store
	sessions [clients]sessile.Session
	branches [clients]int64
	ids      sessile.IDs
	next     atomic.Int64

	runs   *agentrun.Service
	asked  chan struct{} // the model was asked
	stop   context.CancelFunc
	stayed chan error
}

func newRunGround(ctx context.Context, dir string) (*runGround, error) {
	store, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	g := &runGround{store: store, asked: make(chan struct{}, 1), stayed: make(chan error, 1)}
	cells := state.New(store, state.Options{})
	sessions := session.New(store, cells, session.Options{Visibility: session.Visibility{Level: session.LevelAll}})
	for i := range g.sessions {
		made, err := sessions.Create(ctx, account, session.NewSession{Key: fmt.Sprintf("agent:main:direct:%d", i)})
		if err != nil {
			return nil, err
		}
		err = store.Update(ctx, func(tx sessile.Tx) error {
			row, _, err := tx.SessionByKey(account, made.Key)
			if err != nil {
				return err
			}
			branch, found, err := tx.Branch(row.Row, sessile.MainBranch)
			if err == nil && !found {
				err = fmt.Errorf("session %s has no branch", row.ID)
			}
			g.sessions[i], g.branches[i] = row, branch.Row
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	turns := turn.New(store, cells, (*askedModel)(g), turn.Options{})
	g.runs = agentrun.New(store, sessions, turns, agentrun.Options{})
	working, stop := context.WithCancel(ctx)
	g.stop = stop
	go func() { g.stayed <- g.runs.Run(working) }()
	return g, nil
}

func (g *runGround) close() {
	g.stop()
	_ = errors.Join(<-g.stayed, g.store.Close())
}

// askedModel answers at once and tells that it was asked.
type askedModel runGround

// Generate is part of [model.Model].
func (m *askedModel) Generate(context.Context, model.Request) (model.Response, error) {
	select {
	case m.asked <- struct{}{}:
	default:
	}
	return model.Response{Text: "NO_REPLY"}, nil
}

// job takes a run through its steps, each of them durable before the next.
func (g *runGround) job(ctx context.Context, worker int) error {
	run := sessile.Run{
		ID: g.ids.New(sessile.PrefixRun), Account: account, SessionKey: g.sessions[worker].Key, Session: g.sessions[worker].Row,
		Branch: g.branches[worker], Kind: sessile.RunKindSend, Status: sessile.RunQueued, Work: []byte(`{"message":"work"}`),
	}
	if err := g.store.Update(ctx, func(tx sessile.Tx) error { return tx.AddRun(&run) }); err != nil {
		return err
	}
	err := g.step(ctx, run.Row, func(tx sessile.Tx, r *sessile.Run) {
		r.Status, r.StartedAt, r.LeaseUntil = sessile.RunRunning, tx.Now(), tx.Now()+60_000
		r.Attempt++
	})
	if err != nil {
		return err
	}
	return g.step(ctx, run.Row, func(tx sessile.Tx, r *sessile.Run) {
		now := tx.Now()
		r.Status, r.EndedAt, r.Result = sessile.RunSucceeded, &now, "done"
	})
}

func (g *runGround) step(ctx context.Context, row int64, change func(tx sessile.Tx, r *sessile.Run)) error {
	return g.store.Update(ctx, func(tx sessile.Tx) error {
		r, found, err := tx.RunByRow(row)
		if err != nil || !found {
			return fmt.Errorf("run %d is gone: %w", row, err)
		}
		change(tx, &r)
		return tx.UpdateRun(&r)
	})
}

// dispatch sends a message to a session that rests, and ends when the model is asked.
func (g *runGround) dispatch(ctx context.Context) error {
	n := g.next.Add(1) % clients
	answer, err := g.runs.Send(ctx, agentrun.Caller{Caller: session.Caller{Account: account, Key: "agent:main:main"}}, agentrun.SendRequest{
		SessionKey: g.sessions[n].Key, Message: "work",
	})
	if err == nil && answer.Status != "accepted" {
		err = fmt.Errorf("the message was answered %s: %s", answer.Status, answer.Error)
	}
	if err != nil {
		return err
	}
	select {
	case <-g.asked:
		return nil
	case <-ctx.Done():
		return nil // the span is over
	}
}

// rest waits until the run that was dispatched is over.
func (g *runGround) rest(ctx context.Context) error {
	for {
		changed := g.runs.Changed()
		busy := false
		err := g.store.View(ctx, func(tx sessile.ReadTx) error {
			running, err := tx.RunningRuns(0)
			busy = len(running) > 0
			return err
		})
		if err != nil || !busy {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// measureRuns compares the steps of runs with the raw loop and with River on SQLite, in the same rounds.
func measureRuns(ctx context.Context, rounds int, span time.Duration) (*report, error) {
	dir, err := os.MkdirTemp("", "sessile-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	raw, err := openRaw(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = raw.conn.Close() }()
	g, err := newRunGround(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer g.close()
	river, err := buildRiver(ctx, dir)
	if err != nil {
		return nil, err
	}
	r := &report{}
	cpu := startCPU()
	for range rounds {
		if err := g.round(ctx, r, raw, span); err != nil {
			return nil, err
		}
		if err := riverRound(ctx, r, river, dir); err != nil {
			return nil, err
		}
	}
	r.OtherCPU = cpu.others()
	r.Void = r.OtherCPU > 0.15
	return r, nil
}

func (g *runGround) round(ctx context.Context, r *report, raw *raw, span time.Duration) error {
	b1, err := raw.groupCommit(ctx, span)
	if err != nil {
		return err
	}
	jobs, err := repeat(ctx, clients, span, func(worker int) (func(int) error, func(), error) {
		return func(int) error { return g.job(context.WithoutCancel(ctx), worker) }, func() {}, nil
	})
	if err != nil {
		return err
	}
	b4, err := raw.single(ctx, span/2)
	if err != nil {
		return err
	}
	one, err := repeat(ctx, 1, span/2, func(worker int) (func(int) error, func(), error) {
		return func(int) error { return g.job(context.WithoutCancel(ctx), worker) }, func() {}, nil
	})
	if err != nil {
		return err
	}
	var times []time.Duration
	for end := time.Now().Add(span / 2); time.Now().Before(end); {
		begin := time.Now()
		if err := g.dispatch(ctx); err != nil {
			return err
		}
		times = append(times, time.Since(begin))
		if err := g.rest(ctx); err != nil {
			return err
		}
	}
	steps := stepsOfJob * jobs.perSecond
	r.add("B1 raw group commit", "puts/s", b1)
	r.add("B4 one put", "µs", micros(b4))
	r.add("steps of runs, 64 workers", "steps/s", steps)
	r.add("jobs, 64 workers", "jobs/s", jobs.perSecond)
	r.add("the three steps of a run, idle", "µs", micros(one.p50))
	r.add("message until the model is asked, idle", "µs", micros(median(times)))
	r.ratio(goal{name: "steps of runs, 64 workers / B1", atLeast: 0.8}, steps/b1)
	r.ratio(goal{name: "the three steps of a run, idle / B4", atMost: 4}, float64(one.p50)/float64(b4))
	r.ratio(goal{name: "message until the model is asked, idle / B4", atMost: 4}, float64(median(times))/float64(b4))
	return nil
}

// buildRiver builds the peer, which is a module of its own.
func buildRiver(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "river")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("bench", "river")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building bench/river (run this from the root of the module): %w: %s", err, output)
	}
	return binary, nil
}

func riverRound(ctx context.Context, r *report, binary, dir string) error {
	own, err := os.MkdirTemp(dir, "river-")
	if err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, binary, "-dir", own, "-jobs", strconv.Itoa(riverJobs)).Output()
	if err != nil {
		return fmt.Errorf("river: %w", err)
	}
	theirs, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	if err != nil {
		return err
	}
	r.add("River on SQLite, 64 workers", "jobs/s", theirs)
	for _, one := range r.Results {
		if one.Name == "jobs, 64 workers" {
			r.ratio(goal{name: "jobs, 64 workers / River on SQLite", atLeast: 8}, one.Rounds[len(one.Rounds)-1]/theirs)
		}
	}
	return nil
}
