package turn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/state"
)

// Options tell how a service behaves.
type Options struct {
	// IDs makes the ids of floors, pages, messages and runs; the zero value is ready.
	IDs sessile.IDs
	// GenerationTimeout is how long the model may take; default 60 s.
	GenerationTimeout time.Duration
	// StateDisabled is the feature switch of spec/governed-state.md, 3.6: turns work but write no state.
	StateDisabled bool
	// CommitRetries is how often a commit is tried again when the database is busy; default 2, negative for never.
	CommitRetries int
	// CommitRetryDelay is the wait before the first further try, doubling with each; default 100 ms.
	CommitRetryDelay time.Duration
	// Now tells the time of the phases that a turn tells about; default time.Now. Times in the store are the store's.
	Now func() time.Time
	// Queue makes a turn wait for the one before it on its branch instead of being refused (5.2); default refuse.
	Queue bool
	// QueueTimeout is how long a turn waits at most; default 5 s.
	QueueTimeout time.Duration
	// Announce is called after the commit of what may be in the log of changes; default nothing.
	Announce func()
	// ModelOf names the model that answers in a session; default, and for "", the model's own choice.
	ModelOf func(*sessile.Session) string
	// Tools are what models may call where a turn offers them; default none.
	Tools Tools
	// MaxRounds is how often the model is asked at most with tools in one turn; default 50.
	MaxRounds int
	// MaxAnswerBytes bounds one answer of the model; default 4 MiB.
	MaxAnswerBytes int
	// ModelTries is how often a queued run asks the model again when a fault may pass, and ModelRetryDelay the wait before
	// the second try, doubling with each; default 5 tries, 1 s: faults are waited out for 15 s (spec/session-tools.md, 5.9).
	ModelTries      int
	ModelRetryDelay time.Duration
	// Lease is how long a queued run holds its branch without a sign of life; default 60 s. It gives one three times as often.
	Lease time.Duration
	// ResumeDelay is how long a queued run that was cut off waits before it is started again; default 5 s.
	ResumeDelay time.Duration
	// StoryFloors bounds how many floors of the conversation the model is told; default 200.
	StoryFloors int
}

// Service runs turns over a store and a model. It is safe for concurrent use.
type Service struct {
	store   sessile.Store
	cells   *state.Service
	model   model.Model
	options Options
	lanes   lanes
	books   books

	follower Follower
	live     live
}

func (s *Service) now() int64 { return s.options.Now().UnixMilli() }

// leaseMargin is what a lease lasts beyond the time the model may take: enough to commit.
const leaseMargin = time.Minute

// New makes a service. It does no IO.
func New(store sessile.Store, cells *state.Service, m model.Model, options Options) *Service {
	if options.GenerationTimeout == 0 {
		options.GenerationTimeout = time.Minute
	}
	if options.CommitRetries == 0 {
		options.CommitRetries = 2
	}
	if options.CommitRetryDelay == 0 {
		options.CommitRetryDelay = 100 * time.Millisecond
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.QueueTimeout == 0 {
		options.QueueTimeout = 5 * time.Second
	}
	if options.Announce == nil {
		options.Announce = func() {}
	}
	if options.ModelOf == nil {
		options.ModelOf = func(*sessile.Session) string { return "" }
	}
	if options.StoryFloors == 0 {
		options.StoryFloors = 200
	}
	options.setLimits()
	return &Service{store: store, cells: cells, model: m, options: options, follower: nobody{}}
}

func (o *Options) setLimits() {
	o.MaxRounds = cmp.Or(o.MaxRounds, 50)
	o.MaxAnswerBytes = cmp.Or(o.MaxAnswerBytes, 4<<20)
	o.ModelTries = cmp.Or(o.ModelTries, 5)
	o.ModelRetryDelay = cmp.Or(o.ModelRetryDelay, time.Second)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.ResumeDelay = cmp.Or(o.ResumeDelay, 5*time.Second)
}

// attempt is one turn on its way: what its beginning found and left in the store.
type attempt struct {
	request     Request
	runType     string
	session     sessile.Session
	branch      sessile.Branch
	floor       sessile.Floor // as it stands in the store while the model works
	run         sessile.Run
	message     string            // what the user says
	story       []sessile.Message // what was said before
	worldbook   *Worldbook        // nil for none
	notices     []sessile.Notice  // that wait for the session
	replaced    *sessile.Floor    // by a regenerate
	retryPage   int64             // number of the latest output page of a floor under retry
	edited      *editedMessage    // by an edit
	queued      bool              // it began as a queued run
	offerTools  bool              // the model may call tools
	system      string            // what else the model is told by the system
	extra       []byte            // further members of the row of the message
	toldAlready bool              // the notices are the message
	dir         string            // where the model works
	phase       Phase
	phaseSeq    int
	prompt      Prompt // set before the model is asked
	phases      []PhaseEntry
}

type editedMessage struct{ messageID, floorID string }

// isRetry reports whether the turn runs a committed floor again.
func (a *attempt) isRetry() bool { return a.runType == RunTypeRetry }

// Respond answers a message with a new floor on a branch (spec/governed-state.md, 5.2 and 5.3). It returns when the
// floor is committed, or when the turn has failed: then its floor stays as failed and nothing it meant to write is
// visible. A context that ends cancels the turn. Codes: those of 5.5.
func (s *Service) Respond(ctx context.Context, account, sessionID string, r RespondRequest) (Result, error) {
	leave, err := s.queue(ctx, lane{sessionID, cmp.Or(r.BranchID, sessile.MainBranch)})
	if err != nil {
		return Result{}, err
	}
	defer leave()
	return s.run(ctx, &r.Request, func(tx sessile.Tx) (*attempt, error) {
		return s.beginRespond(tx, account, sessionID, &r)
	})
}

// Regenerate replaces the latest committed floor of main by a new one of the same number (5.3). When it fails the old
// floor is still there. Codes: those of 5.5.
func (s *Service) Regenerate(ctx context.Context, account, sessionID string, r Request) (Result, error) {
	meant, err := s.regenerateTarget(ctx, account, sessionID)
	if err != nil {
		return Result{}, err
	}
	leave, err := s.queue(ctx, lane{sessionID, sessile.MainBranch})
	if err != nil {
		return Result{}, err
	}
	defer leave()
	return s.run(ctx, &r, func(tx sessile.Tx) (*attempt, error) {
		return s.beginRegenerate(tx, account, sessionID, meant, &r)
	})
}

// Retry runs a committed floor again in place (5.3): same id, number and parent, a new output page. When it fails the
// floor is committed again with its old output. Codes: those of 5.5.
func (s *Service) Retry(ctx context.Context, account, floorID string, r Request) (Result, error) {
	where, live, err := s.retryLane(ctx, account, floorID)
	if err != nil {
		return Result{}, err
	}
	leave, err := s.queue(ctx, where)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	return s.run(ctx, &r, func(tx sessile.Tx) (*attempt, error) {
		return s.beginRetry(tx, account, floorID, live, &r)
	})
}

// Edit says a user message differently on a new branch (5.3): a new floor behind the message's own, which stays as it is.
// Codes: those of 5.5.
func (s *Service) Edit(ctx context.Context, account, messageID string, r EditRequest) (Result, error) {
	if r.BranchID == "" {
		r.BranchID = "branch-" + s.options.IDs.Suffix()
	}
	return s.run(ctx, &r.Request, func(tx sessile.Tx) (*attempt, error) {
		return s.beginEdit(tx, account, messageID, &r)
	})
}

// run is the pipeline of 5.2: begin, generate, commit.
func (s *Service) run(ctx context.Context, r *Request, begin func(sessile.Tx) (*attempt, error)) (Result, error) {
	if s.options.StateDisabled && len(r.Writes) > 0 {
		return Result{}, errFeature()
	}
	var a *attempt
	err := s.store.Update(ctx, func(tx sessile.Tx) (err error) {
		if a, err = begin(tx); err != nil {
			return err
		}
		return hear(tx, a)
	})
	if err != nil {
		return Result{}, err
	}
	return s.carryOn(ctx, a)
}

// carryOn takes a turn that has begun to its end.
func (s *Service) carryOn(ctx context.Context, a *attempt) (Result, error) {
	ctx, stop := s.alive(ctx, a)
	defer stop()
	settled := []int64{a.run.Row}
	defer func() { s.follower.Settled(settled...) }()
	s.options.Announce()
	a.tell(Event{Start: &Start{FloorID: a.floor.ID, FloorNo: a.floor.No, BranchID: a.branch.Name}})
	a.enter(PhaseInputRecorded, a.run.StartedAt)
	var err error
	if a.worldbook, err = s.activate(ctx, &a.session, a.story, a.message); err != nil {
		return Result{}, s.fail(ctx, a, nil, named(ctx, err))
	}
	answer, err := s.generate(ctx, a)
	if err != nil {
		return Result{}, s.fail(ctx, a, nil, err)
	}
	settled = append(settled, answer.joined...)
	result, err := s.commit(ctx, a, answer)
	if err != nil {
		return result, err
	}
	if len(a.notices) > 0 {
		s.options.Announce()
	}
	if len(result.Summaries) > 0 {
		a.tell(Event{Summaries: result.Summaries})
	}
	if a.request.IncludePrompt {
		result.Prompt = &a.prompt
	}
	if a.request.IncludeTrace {
		result.Trace = &Trace{RunID: a.run.ID, Phases: a.phases}
	}
	return result, nil
}

func cancelled(cause error) error {
	return &sessile.Error{Code: sessile.CodeGenerationCancelled, Message: "the turn was cancelled", Cause: cause}
}

func errFeature() error {
	return sessile.Errorf(sessile.CodeFeatureUnavailable, "session state is switched off")
}

// answer is what the model said, taken apart.
type answer struct {
	text      string
	summaries []string
	final     bool        // there is a last answer: no tool ended the turn
	last      model.Usage // of the last answer
	usage     model.Usage // of all
	prompt    int64       // tokens of the last request
	rows      []row       // what stands before the last answer
	calls     int         // of tools
	yielded   bool
	joined    []int64 // rows of the runs whose messages joined this turn
}

// generate asks the model within the time limit and names what went wrong.
func (s *Service) generate(ctx context.Context, a *attempt) (*answer, error) {
	a.prompt = newPrompt(a.story, a.message, a.worldbook)
	if !a.toldAlready {
		a.prompt.Messages = a.tellNotices(a.prompt.Messages)
	}
	if a.system != "" {
		a.prompt.Messages = tellSystem(a.prompt.Messages, a.system)
	}
	request := model.Request{Model: s.options.ModelOf(&a.session), Messages: a.prompt.Messages, Params: a.request.Params, Dir: a.dir}
	a.enter(PhasePromptAssembled, s.now())
	var filter summaryFilter
	if a.request.Observe != nil {
		filter.out = func(text string) { a.tell(Event{Text: text}) }
		request.OnText = filter.write
	}
	a.enter(PhasePageGenerating, s.now())
	said, err := s.converse(ctx, a, request)
	if err != nil {
		return nil, named(ctx, err)
	}
	filter.end()
	a.enter(PhaseCandidateGenerated, s.now())
	return said, nil
}

// named gives an error of a generation its code.
func named(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(err, errTooSlow), errors.Is(cause, errTooSlow):
		return &sessile.Error{Code: sessile.CodeGenerationTimeout, Message: "the model took too long", Cause: err}
	case cause != nil:
		return cancelled(err)
	}
	return &sessile.Error{Code: sessile.CodeOrchestrationFailed, Message: "the model did not answer", Cause: err}
}
