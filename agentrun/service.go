package agentrun

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/turn"
)

// Options tell how a service behaves.
type Options struct {
	// IDs makes the ids of runs and the keys of children; the zero value is ready.
	IDs sessile.IDs
	// Agents are the configured agents, by id; default main alone.
	Agents map[string]Agent
	// Defaults holds for agents that say nothing themselves.
	Defaults Agent
	// RunLimit is how long a run may take; default 10 minutes.
	RunLimit time.Duration
	// SpawnLimit is how long the run of a sub-agent may take; default RunLimit.
	SpawnLimit time.Duration
	// MaxSpawnDepth, MaxChildren and MaxConcurrent bound sub-agents: how deep, how many active ones of a session, how many at
	// work at once (spec/session-tools.md, 5.8); default 1, 5 and 8.
	MaxSpawnDepth, MaxChildren, MaxConcurrent int
	// ArchiveAfter is when finished children are archived; default an hour, negative for never.
	ArchiveAfter time.Duration
	// MaxPingPong is how many turns a conversation goes on after its first answer, 0 to 20 (4.5).
	MaxPingPong int
	// StepLimit bounds a step of a conversation; default 60 s.
	StepLimit time.Duration
	// AnnounceLimit bounds the turn that tells a session of a result; default 2 minutes.
	AnnounceLimit time.Duration
	// Attachments bound what a child may be given.
	Attachments Attachments
	// Heartbeats wakes sessions for notices; WakeNested sub-agents too.
	Heartbeats, WakeNested bool
	// Lacks lists which tools a session lacks, of those there are; default none.
	Lacks func(c session.Caller) []string
	// Webhook is where texts for channels are posted; the zero value keeps them until somebody acknowledges them.
	Webhook Webhook
	// Client posts; default one with a time limit that follows no redirect.
	Client *http.Client
	// Announce is called after the commit of what may be in the log of changes; default nothing.
	Announce func()
	// News gives a channel that is closed at the next change of a session that may concern runs, such as a notice or a deletion;
	// default none ever.
	News func() <-chan struct{}
	// Logger hears of what goes wrong in the background; default none.
	Logger *slog.Logger
	// Now tells the time; default time.Now.
	Now func() time.Time
}

// Agent is what is configured of an agent. Empty members are taken from the defaults.
type Agent struct {
	// AllowAgents are the agents that its sessions may spawn; nil is its own alone, * any.
	AllowAgents []string
	// RequireAgent asks for the agent to be named at a spawn.
	RequireAgent *bool
	// Model and Thinking are those of its sub-agents.
	Model, Thinking string
	Sandboxed       bool
	// ACP tells that it runs as an external program over the Agent Client Protocol.
	ACP bool
	// Workspace is the folder in which it works; "" for none.
	Workspace string
}

// Turns executes runs; [turn.Service] does.
type Turns interface {
	Execute(ctx context.Context, run int64, prepare turn.Prepare) (bool, error)
	Cancel(tx sessile.Tx, run *sessile.Run, why string) error
	Restart(tx sessile.Tx, run *sessile.Run) error
	Interrupt(run int64)
	Reap(ctx context.Context) (next int64, err error)
	Follow(f turn.Follower)
}

var _ Turns = (*turn.Service)(nil)

// Service runs agents over a store. It is safe for concurrent use. Locks are leaves: no two are held at once.
type Service struct {
	store    sessile.Store
	sessions *session.Service
	turns    Turns
	options  Options

	changed bell // something was queued, started or ended
	posted  bell // something is in the outbox

	stumbled atomic.Bool // a run could not be started: look again in a while

	mu       sync.Mutex
	starting map[int64]string // runs that this process works on, and their kind
	waiters  map[int64][]chan struct{}
}

var _ turn.Follower = (*Service)(nil)

// New makes a service, which follows the turns from then on. It does no IO.
func New(store sessile.Store, sessions *session.Service, turns Turns, o Options) *Service {
	o.RunLimit = cmp.Or(o.RunLimit, 10*time.Minute)
	o.SpawnLimit = cmp.Or(o.SpawnLimit, o.RunLimit)
	o.StepLimit = cmp.Or(o.StepLimit, time.Minute)
	o.AnnounceLimit = cmp.Or(o.AnnounceLimit, 2*time.Minute)
	o.ArchiveAfter = cmp.Or(o.ArchiveAfter, time.Hour)
	o.MaxSpawnDepth = cmp.Or(o.MaxSpawnDepth, 1)
	o.MaxChildren = cmp.Or(o.MaxChildren, 5)
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, 8)
	if o.Agents == nil {
		o.Agents = map[string]Agent{session.DefaultAgent: {}}
	}
	if o.Lacks == nil {
		o.Lacks = func(session.Caller) []string { return nil }
	}
	if o.Client == nil {
		o.Client = &http.Client{
			Timeout:       postTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if o.Announce == nil {
		o.Announce = func() {}
	}
	if o.News == nil {
		o.News = func() <-chan struct{} { return nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Service{
		store: store, sessions: sessions, turns: turns, options: o, changed: newBell(), posted: newBell(),
		starting: map[int64]string{}, waiters: map[int64][]chan struct{}{},
	}
	turns.Follow(s)
	sessions.Follow(s.removed)
	return s
}

// bell wakes all who wait for it. Who follows something takes it first, then reads, then waits.
type bell struct {
	mu *sync.Mutex
	c  *chan struct{}
}

func newBell() bell {
	c := make(chan struct{})
	return bell{&sync.Mutex{}, &c}
}

func (b bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(*b.c)
	*b.c = make(chan struct{})
}

func (b bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *b.c
}

// Changed is closed when a run is queued, starts or ends, and DeliveriesChanged when a delivery is made or changes.
func (s *Service) Changed() <-chan struct{} { return s.changed.next() }

// DeliveriesChanged is closed when a delivery is made or changes.
func (s *Service) DeliveriesChanged() <-chan struct{} { return s.posted.next() }

// wake tells of what a transaction of this service has stored.
func (s *Service) wake() {
	s.changed.ring()
	s.posted.ring()
	s.options.Announce()
}

// Settled is part of [turn.Follower].
func (s *Service) Settled(rows ...int64) {
	s.release(rows...)
	s.sessions.Purge() // a child may have been deleted with its end
	s.wake()
}

// release wakes who waits for runs.
func (s *Service) release(rows ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		for _, waiter := range s.waiters[row] {
			close(waiter)
		}
		delete(s.waiters, row)
	}
}

// await gives a channel that is closed when a run has ended. Who calls it looks at the run afterwards, and calls leave.
func (s *Service) await(row int64) (ended <-chan struct{}, leave func()) {
	waiter := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiters[row] = append(s.waiters[row], waiter)
	return waiter, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		kept := s.waiters[row][:0]
		for _, one := range s.waiters[row] {
			if one != waiter {
				kept = append(kept, one)
			}
		}
		if len(kept) == 0 {
			delete(s.waiters, row)
			return
		}
		s.waiters[row] = kept
	}
}

// startBatch bounds how many runs are looked at together.
const startBatch = 64

// retryAfter is how long the service waits after an error of the store.
const retryAfter = time.Second

// Run starts queued runs, does what is due and posts deliveries, until the context ends. Then it waits until nothing of it
// works any more: runs that are cut off go on at the next start.
func (s *Service) Run(ctx context.Context) error {
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var runs sync.WaitGroup
	var posts sync.WaitGroup
	posting, stopPosting := context.WithCancel(context.WithoutCancel(ctx))
	posts.Go(func() { s.deliver(posting) })
	defer func() {
		stop(turn.ErrStopping)
		runs.Wait()
		stopPosting()
		posts.Wait()
	}()
	for {
		if s.stumbled.Swap(false) && !rest(ctx, nil, nil, retryAfter) {
			return nil
		}
		changed, news := s.changed.next(), s.options.News()
		wait, err := s.pass(working, &runs)
		if err != nil {
			s.options.Logger.Warn("queued runs could not be looked at", "error", err)
			wait = retryAfter
		}
		if !rest(ctx, changed, news, wait) {
			return nil
		}
	}
}

// rest waits until something changes or a time has passed, 0 for no time; false when the context has ended.
func rest(ctx context.Context, changed, news <-chan struct{}, wait time.Duration) bool {
	var due <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-news:
	case <-due:
	}
	return true
}

// pass does what can be done now and tells how long it takes until something is due; 0 for nothing. What is queued goes
// first, so that it waits for nothing.
func (s *Service) pass(ctx context.Context, runs *sync.WaitGroup) (time.Duration, error) {
	if err := s.startAll(ctx, runs); err != nil {
		return 0, err
	}
	lease, err := s.turns.Reap(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.housekeep(ctx); err != nil {
		return 0, err
	}
	if s.options.Heartbeats {
		queued, err := s.queueWakes(ctx)
		if err != nil {
			return 0, err
		}
		if queued {
			s.changed.ring()
		}
	}
	var next int64
	now := s.options.Now().UnixMilli()
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		next, err = tx.NextDue(now)
		return err
	})
	if lease != 0 && (next == 0 || lease < next) {
		next = lease
	}
	if err != nil || next == 0 {
		return 0, err
	}
	return time.Duration(max(next-s.options.Now().UnixMilli(), 1)) * time.Millisecond, nil
}

func (s *Service) startAll(ctx context.Context, runs *sync.WaitGroup) error {
	for {
		if more, err := s.startSome(ctx, runs); err != nil || !more {
			return err
		}
	}
}

// startSome starts runs that can start and reports whether there may be more.
func (s *Service) startSome(ctx context.Context, runs *sync.WaitGroup) (more bool, err error) {
	spawns, all := s.working(sessile.RunKindSpawn)
	free, limit := s.options.MaxConcurrent-spawns, startBatch+all // some of those that were taken may not have begun
	var found []sessile.Run
	now := s.options.Now().UnixMilli()
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		found, err = tx.StartableRuns(now, free > 0, limit)
		return err
	})
	if err != nil {
		return false, err
	}
	for i := range found {
		run := &found[i]
		if run.Kind == sessile.RunKindSpawn && free <= 0 || !s.take(run) {
			continue
		}
		if run.Kind == sessile.RunKindSpawn {
			free--
		}
		more = len(found) == limit
		runs.Go(func() { s.execute(ctx, run) })
	}
	return more, nil
}

// take notes that this process works on a run; false when it does already.
func (s *Service) take(run *sessile.Run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.starting[run.Row]; taken {
		return false
	}
	s.starting[run.Row] = run.Kind
	return true
}

// working counts the runs that this process works on, those of a kind and all.
func (s *Service) working(kind string) (n, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.starting {
		if one == kind {
			n++
		}
	}
	return n, len(s.starting)
}

func (s *Service) execute(ctx context.Context, run *sessile.Run) {
	started, err := s.turns.Execute(ctx, run.Row, s.prepare)
	s.mu.Lock()
	delete(s.starting, run.Row)
	s.mu.Unlock()
	switch {
	case started:
		if err != nil && sessile.CodeOf(err) == sessile.CodeInternal {
			s.options.Logger.Warn("a run failed", "run", run.ID, "kind", run.Kind, "error", err)
		}
		s.changed.ring() // its place in the lane is free
	case err != nil && !errors.Is(err, context.Canceled):
		s.options.Logger.Warn("a run could not be started", "run", run.ID, "error", err)
		s.stumbled.Store(true)
		s.changed.ring()
	case err == nil:
		s.changed.ring() // whoever came before it may be gone already, and passed it over as taken
	}
}
