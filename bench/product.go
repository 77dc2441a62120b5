package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/httpapi"
	"github.com/sessile-dev/sessile/model/echo"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

const (
	clients = 64
	slots   = 4096 // that the loads write to
	account = "default"
)

// bench is a server with everything that is measured on it.
type bench struct {
	span   time.Duration
	dir    string
	store  *sqlite.Store
	cells  *state.Service
	sess   *session.Service
	turns  *turn.Service
	server *http.Server
	addr   string
	bare   *bare
	raw    *raw
	load   string // the session of the loads
	next   atomic.Int64
	depth  *depthGround // grown when it is first asked for
}

func newBench(ctx context.Context, dir string, span time.Duration) (*bench, error) {
	store, err := sqlite.Open(ctx, filepath.Join(dir, "product.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	b := &bench{span: span, dir: dir, store: store}
	quotas := sessile.DefaultQuotas()
	quotas.ItemsPerNamespace, quotas.BytesPerNamespace = 1<<40, 1<<50
	quotas.ItemsPerAccount, quotas.BytesPerAccount = 1<<40, 1<<50
	b.cells = state.New(store, state.Options{Quotas: quotas})
	b.sess = session.New(store, b.cells, session.Options{})
	b.turns = turn.New(store, b.cells, echo.New(), turn.Options{})
	handler := httpapi.New(httpapi.Options{
		States: b.cells, Observation: b.cells, Sessions: b.sess, Branches: b.sess, Floors: b.sess, Turns: b.turns, CheckHost: true,
	})
	if b.server, b.addr, err = serve(handler); err != nil {
		return nil, err
	}
	if b.raw, err = openRaw(ctx, dir); err != nil {
		return nil, err
	}
	if b.load, err = b.newSession(ctx); err != nil {
		return nil, err
	}
	for i := range 256 {
		if _, err := b.cells.Write(ctx, account, b.load, address(int64(i)), jsontext.Value(value(int64(i))), ""); err != nil {
			return nil, err
		}
	}
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, b.headPath(1), nil)
	request.Host = "localhost"
	handler.ServeHTTP(answer, request)
	body, _ := io.ReadAll(answer.Body)
	if b.bare, err = startBare(body); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	_ = errors.Join(b.server.Close(), b.bare.server.Close(), b.raw.conn.Close(), b.store.Close())
}

func (b *bench) newSession(ctx context.Context) (string, error) {
	s, err := b.sess.Create(ctx, account, session.NewSession{})
	if err != nil {
		return "", err
	}
	_, err = b.cells.Register(ctx, account, s.ID, state.Registration{Namespace: "bench", OwnerType: "app", OwnerID: "bench"})
	return s.ID, err
}

func address(n int64) state.Address {
	return state.Address{Branch: "main", Namespace: "bench", Slot: fmt.Sprintf("slot-%d", n%slots)}
}

func (b *bench) headPath(n int) string {
	return fmt.Sprintf("/sessions/%s/state/resolve?branch_id=main&namespace=bench&slot=slot-%d", b.load, n)
}

// write makes the next request of a load of writers.
func (b *bench) write(int, int) []byte {
	n := b.next.Add(1)
	body := fmt.Sprintf(`{"branch_id":"main","namespace":"bench","slot":"slot-%d","value":%s}`, n%slots, value(n))
	return post("/sessions/"+b.load+"/state/values/write", []byte(body))
}

// reads makes the requests of a load of readers, which are the same again and again.
func (b *bench) reads() func(client, i int) []byte {
	var requests [256][]byte
	for i := range requests {
		requests[i] = get(b.headPath(i))
	}
	return func(client, i int) []byte { return requests[(client*31+i)%len(requests)] }
}

// parts are what a round is made of, by the names of the flag. Each brings its own baselines.
var parts = map[string]func(*bench, context.Context, *report) error{
	"writes": (*bench).writeRound,
	"reads":  (*bench).readRound,
	"depth":  (*bench).depthRound,
}

// round measures everything once, or one part.
func (b *bench) round(ctx context.Context, r *report, peers []peer, only string) error {
	for _, part := range []string{"writes", "reads", "depth"} {
		if only != "" && only != part {
			continue
		}
		if err := parts[part](b, ctx, r); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return b.peerRound(ctx, r, peers)
}

func (b *bench) writeRound(ctx context.Context, r *report) error {
	b1, err := b.raw.groupCommit(ctx, b.span)
	if err != nil {
		return err
	}
	writes, err := drive(ctx, b.addr, clients, b.span, b.write)
	if err != nil {
		return err
	}
	b4, err := b.raw.single(ctx, b.span/2)
	if err != nil {
		return err
	}
	one, err := drive(ctx, b.addr, 1, b.span/2, b.write)
	if err != nil {
		return err
	}
	r.add("B1 raw group commit", "puts/s", b1)
	r.add("B4 one put", "µs", micros(b4))
	r.add("writes, 64 clients", "requests/s", writes.perSecond)
	r.add("processor time of a write, 64 clients", "µs", micros(writes.cpu))
	r.ratio(goal{name: "writes, 64 clients / B1", atLeast: 0.45}, writes.perSecond/b1)
	r.ratio(goal{name: "write p50, 1 client / B4", atMost: 1.6}, float64(one.p50)/float64(b4))
	r.ratio(goal{name: "write p99 / p50, 64 clients", atMost: 5}, float64(writes.p99)/float64(writes.p50))
	return nil
}

func (b *bench) readRound(ctx context.Context, r *report) error {
	b2, err := drive(ctx, b.bare.addr, clients, b.span, b.reads())
	if err != nil {
		return err
	}
	reads, err := drive(ctx, b.addr, clients, b.span, b.reads())
	if err != nil {
		return err
	}
	beside, mixed, err := b.readsBesideWrites(ctx, reads.perSecond)
	if err != nil {
		return err
	}
	r.add("B2 bare handler", "requests/s", b2.perSecond)
	r.add("reads of heads, 64 clients", "requests/s", reads.perSecond)
	r.add("processor time of a read, 64 clients", "µs", micros(reads.cpu))
	r.ratio(goal{name: "reads, 64 clients / B2", atLeast: 0.85}, reads.perSecond/b2.perSecond)
	r.ratio(goal{name: "reads beside 64 writers / alone, per reader CPU", atLeast: 0.8}, beside)
	r.add("reads beside 64 writers / alone, shared machine", "ratio", mixed)
	return nil
}

func (b *bench) depthRound(ctx context.Context, r *report) error {
	b4, err := b.raw.single(ctx, b.span/2)
	if err != nil {
		return err
	}
	if b.depth == nil {
		if b.depth, err = b.growDepth(ctx); err != nil {
			return err
		}
	}
	return b.depth.round(ctx, b, r, b4)
}

func (b *bench) peerRound(ctx context.Context, r *report, peers []peer) error {
	for _, p := range peers {
		rate, err := p.writes(ctx, b.span)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
		writes, err := drive(ctx, b.addr, clients, b.span, b.write)
		if err != nil {
			return err
		}
		r.add(p.name()+", 64 clients", "writes/s", rate)
		r.ratio(goal{name: "writes / " + p.name(), atLeast: p.goal()}, writes.perSecond/rate)
	}
	return nil
}

// readsPerCPU is how many heads one reader reads in a second of its own processor time, through the use case and locked to
// a thread: what writers take of the processors does not count, what readers wait or work more because of them does.
func (b *bench) readsPerCPU(ctx context.Context, span time.Duration) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	start, n := threadTime(), 0
	for ; ctx.Err() == nil; n++ {
		a := address(int64(n % 256))
		_, err := b.cells.Resolve(context.Background(), account, b.load, state.ResolveQuery{
			Branch: a.Branch, Filter: sessile.SlotFilter{Namespace: a.Namespace, Slot: a.Slot},
		})
		if err != nil {
			return 0, err
		}
	}
	return float64(n) / (threadTime() - start).Seconds(), nil
}

// readsBesideWrites compares a reader beside 64 writers with one alone; also, without a goal, what is left of the rate of
// 64 readers over HTTP when the writers take their part of the processors.
func (b *bench) readsBesideWrites(ctx context.Context, alone float64) (perCPU, rate float64, err error) {
	quiet, err := b.readsPerCPU(ctx, b.span/2)
	if err != nil {
		return 0, 0, err
	}
	var busy float64
	err = b.besideWriters(ctx, func() (err error) {
		busy, err = b.readsPerCPU(ctx, b.span/2)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	var mixed load
	err = b.besideWriters(ctx, func() (err error) {
		mixed, err = drive(ctx, b.addr, clients, b.span/2, b.reads())
		return err
	})
	return busy / quiet, mixed.perSecond / alone, err
}

// besideWriters runs fn while 64 clients write.
func (b *bench) besideWriters(ctx context.Context, fn func() error) error {
	written := make(chan error, 1)
	go func() {
		_, err := drive(ctx, b.addr, clients, b.span/2, b.write)
		written <- err
	}()
	return errors.Join(fn(), <-written)
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
