package turn

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
)

// ErrStopping is the cause with which the context of [Service.Execute] is cancelled when the program stops: the run stays as it
// is, and goes on when the program is started again.
var ErrStopping = errors.New("the program is stopping")

// Input is what a queued run tells the model.
type Input struct {
	Message string
	Extra   []byte // JSON object of further members of its row, or nil
	System  string // what the system says besides
	Dir     string // where a model that works in a folder works
	Effort  string // of the model's reasoning; "" leaves it to the model
	Limit   time.Duration
	// Notices are what the message tells of; they count as seen when the run succeeds.
	FromNotices bool
	// Nothing ends the run at once, without a floor.
	Nothing bool
}

// Joined is a queued run whose message joins a running turn.
type Joined struct {
	Run   int64
	Input Input
}

// End is how a run ends. Status may be changed to paused by the follower.
type End struct {
	Run     *sessile.Run     // as it was before
	Session *sessile.Session // nil when it is gone
	Status  sessile.RunStatus
	Reply   string // what a reader sees of the newest answer; "" for nothing
	Calls   int    // of tools
	Usage   model.Usage
	Yielded bool // a tool ended the turn
	Joined  bool // its message joined another turn, which succeeded
}

// Follower hears of runs; package agentrun has one.
type Follower interface {
	// Ended is called in the transaction that ends a run or pauses it. What it writes is part of it.
	Ended(tx sessile.Tx, e *End) error
	// Settled is called with the rows of runs that have ended, or were left as they are, after the commit.
	Settled(rows ...int64)
	// Join finds the queued runs whose messages join a running turn before the model is asked again. A run that was found
	// before and is still queued is found again.
	Join(ctx context.Context, run *sessile.Run) ([]Joined, error)
}

type nobody struct{}

func (nobody) Ended(sessile.Tx, *End) error                         { return nil }
func (nobody) Settled(...int64)                                     {}
func (nobody) Join(context.Context, *sessile.Run) ([]Joined, error) { return nil, nil }

// Follow names who hears of runs. It must be called before the first turn.
func (s *Service) Follow(f Follower) { s.follower = f }

// Prepare says what a queued run tells the model. It is called in the transaction that starts the run. An error ends the run as
// failed; its code and message are kept.
type Prepare func(tx sessile.Tx, run *sessile.Run, session *sessile.Session) (Input, error)

// Execute starts a queued run and takes it to its end. It reports whether it started it: a run that is not queued any more,
// and one whose branch is held, stay as they are. The session is found by its key, since it may have been reset while the run
// waited.
func (s *Service) Execute(ctx context.Context, row int64, prepare Prepare) (started bool, err error) {
	var a *attempt
	var limit time.Duration
	err = s.store.Update(ctx, func(tx sessile.Tx) (err error) {
		a, limit, err = s.beginQueued(tx, row, prepare)
		if err != nil || a == nil {
			return err
		}
		return hear(tx, a)
	})
	if err != nil || a == nil {
		return false, err
	}
	if a.run.Status.Ended() {
		s.options.Announce()
		s.follower.Settled(a.run.Row)
		return true, nil
	}
	if limit > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, limit, errTooSlow)
		defer cancel()
		ctx = limited
	}
	_, err = s.carryOn(ctx, a)
	return true, err
}

func (s *Service) beginQueued(tx sessile.Tx, row int64, prepare Prepare) (*attempt, time.Duration, error) {
	run, found, err := tx.RunByRow(row)
	if err != nil || !found || run.Status != sessile.RunQueued || run.DueAt > tx.Now() {
		return nil, 0, err
	}
	a := &attempt{queued: true, offerTools: true, runType: RunTypeRespond, run: run}
	session, found, err := tx.SessionByKey(run.Account, run.SessionKey)
	if err != nil {
		return nil, 0, err
	}
	if !found || session.Status == sessile.SessionArchived {
		gone := sessile.Errorf(sessile.CodeSessionArchived, "the session is archived, restore it first")
		if !found {
			gone = sessile.Errorf(sessile.CodeNotFound, "the session was deleted")
		}
		return a, 0, s.giveUp(tx, &a.run, sessile.RunFailed, gone)
	}
	if a.branch, err = ensureBranch(tx, session.Row, sessile.MainBranch); err != nil {
		return nil, 0, err
	}
	a.session = session
	if err := s.takeBranch(tx, a); err != nil {
		if sessile.CodeOf(err) != sessile.CodeGenerationConflict {
			return nil, 0, err
		}
		// It waits for whoever has the branch, in the line of the branch that it will run on.
		if run.Branch == a.branch.Row {
			return nil, 0, nil
		}
		run.Session, run.Branch = session.Row, a.branch.Row
		return nil, 0, tx.UpdateRun(&run)
	}
	a.run.Session, a.run.Branch = session.Row, a.branch.Row
	input, err := prepare(tx, &a.run, &session)
	if err != nil {
		if _, ours := errors.AsType[*sessile.Error](err); ours {
			return a, 0, s.giveUp(tx, &a.run, sessile.RunFailed, err)
		}
		return nil, 0, err
	}
	if input.Nothing {
		return a, 0, s.end(tx, &End{Run: &a.run, Session: &session, Status: sessile.RunSucceeded})
	}
	a.request.Params.ReasoningEffort = effort(input.Effort)
	a.message, a.extra, a.system, a.toldAlready, a.dir = input.Message, input.Extra, input.System, input.FromNotices, input.Dir
	no, parent, err := nextPlace(tx, &session, &a.branch, session.Account, "")
	if err != nil {
		return nil, 0, err
	}
	if parent != 0 {
		if a.story, err = tx.Story(parent, true, s.options.StoryFloors); err != nil {
			return nil, 0, err
		}
	}
	return a, input.Limit, s.addFloor(tx, a, &sessile.Floor{No: no, Parent: parent})
}

func (s *Service) startQueued(tx sessile.Tx, a *attempt) error {
	r := &a.run
	r.Floor, r.RunType, r.Status, r.DueAt = a.floor.Row, a.runType, sessile.RunRunning, 0
	r.Attempt++
	r.LeaseUntil = tx.Now() + s.options.Lease.Milliseconds()
	if r.StartedAt == 0 {
		r.StartedAt = tx.Now()
	}
	return tx.UpdateRun(r)
}

// isRun reports whether a run in the store is the one that the turn holds.
func (a *attempt) isRun(run *sessile.Run) bool {
	return run.Status == sessile.RunRunning && run.Attempt == a.run.Attempt
}

// succeed ends the run of a turn, and the runs whose messages joined it.
func (s *Service) succeed(tx sessile.Tx, a *attempt, said *answer) error {
	e := End{
		Run: &a.run, Session: &a.session, Status: sessile.RunSucceeded, Reply: said.reply(), Calls: said.calls, Usage: said.usage,
		Yielded: said.yielded,
	}
	for _, row := range said.joined {
		run, found, err := tx.RunByRow(row)
		if err != nil {
			return err
		}
		if !found || run.Status != sessile.RunQueued {
			continue
		}
		run.Floor, run.StartedAt = a.floor.Row, a.run.StartedAt
		if err := s.end(tx, &End{Run: &run, Session: &a.session, Status: sessile.RunSucceeded, Joined: true}); err != nil {
			return err
		}
	}
	return s.end(tx, &e)
}

// end asks the follower how a run ends and stores it.
func (s *Service) end(tx sessile.Tx, e *End) error {
	now := tx.Now()
	r := e.Run
	r.WaitsOn, r.DueAt = 0, 0
	r.Status = e.Status
	if e.Status.Ended() {
		r.EndedAt = &now
	}
	if err := s.follower.Ended(tx, e); err != nil {
		return err
	}
	if e.Status != r.Status { // the follower decided otherwise
		r.Status = e.Status
		r.EndedAt = nil
	}
	return tx.UpdateRun(r)
}

// live knows the turns of this process that run, so that they can be cancelled.
type live struct {
	mu      sync.Mutex
	cancels map[int64]context.CancelCauseFunc
}

// errLost cancels a turn whose lease somebody else took.
var errLost = errors.New("the branch was taken over")

// alive keeps the lease of a queued run, or of a turn with tools, while it works, and lets the turn be cancelled. stop ends
// that and waits for it.
func (s *Service) alive(ctx context.Context, a *attempt) (working context.Context, stop func()) {
	working, cancel := context.WithCancelCause(ctx)
	row := a.run.Row
	s.live.mu.Lock()
	if s.live.cancels == nil {
		s.live.cancels = map[int64]context.CancelCauseFunc{}
	}
	s.live.cancels[row] = cancel
	s.live.mu.Unlock()
	var renewing sync.WaitGroup
	if a.queued || a.offerTools {
		attempt := a.run.Attempt
		renewing.Go(func() { s.renew(working, cancel, row, attempt) })
	}
	return working, func() {
		cancel(nil)
		renewing.Wait()
		s.live.mu.Lock()
		delete(s.live.cancels, row)
		s.live.mu.Unlock()
	}
}

func (s *Service) renew(ctx context.Context, cancel context.CancelCauseFunc, row, attempt int64) {
	ticker := time.NewTicker(s.options.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		held := true
		err := s.store.Update(ctx, func(tx sessile.Tx) (err error) {
			held, err = tx.RenewRun(row, attempt, tx.Now()+s.options.Lease.Milliseconds())
			return err
		})
		if err == nil && !held {
			cancel(errLost)
			return
		}
	}
}

// Interrupt stops the work on a run in this process, if it does any: its end was stored already.
func (s *Service) Interrupt(run int64) {
	s.live.mu.Lock()
	cancel := s.live.cancels[run]
	s.live.mu.Unlock()
	if cancel != nil {
		cancel(errLost)
	}
}

// Cancel ends a run that is not over, in a transaction of the caller's, who calls [Service.Interrupt] after the commit.
func (s *Service) Cancel(tx sessile.Tx, run *sessile.Run, why string) error {
	return s.giveUp(tx, run, sessile.RunCancelled, sessile.Errorf(sessile.CodeGenerationCancelled, "%s", why))
}

// Restart queues a running or paused run again, in a transaction of the caller's, who calls [Service.Interrupt] after the
// commit.
func (s *Service) Restart(tx sessile.Tx, run *sessile.Run) error {
	if err := closeFloor(tx, run.Floor); err != nil {
		return err
	}
	run.Status, run.Floor, run.DueAt, run.WaitsOn = sessile.RunQueued, 0, 0, 0
	return tx.UpdateRun(run)
}

// effort is a level of thinking as models know it.
func effort(level string) string {
	switch level {
	case "minimal", "low", "medium", "high":
		return level
	case "xhigh":
		return "high"
	}
	return ""
}
