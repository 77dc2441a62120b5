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
	return &Service{store: store, cells: cells, model: m, options: options}
}

// attempt is one turn on its way: what its beginning found and left in the store.
type attempt struct {
	request   Request
	runType   string
	session   sessile.Session
	branch    sessile.Branch
	floor     sessile.Floor // as it stands in the store while the model works
	run       sessile.Run
	message   string            // what the user says
	story     []sessile.Message // what was said before
	worldbook *Worldbook        // nil for none
	notices   []sessile.Notice  // that wait for the session
	replaced  *sessile.Floor    // by a regenerate
	retryPage int64             // number of the latest output page of a floor under retry
	edited    *editedMessage    // by an edit
	phase     Phase
	phaseSeq  int
	prompt    Prompt // set before the model is asked
	phases    []PhaseEntry
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
	s.options.Announce()
	a.tell(Event{Start: &Start{FloorID: a.floor.ID, FloorNo: a.floor.No, BranchID: a.branch.Name}})
	a.enter(PhaseInputRecorded, a.run.StartedAt)
	if a.worldbook, err = s.activate(ctx, &a.session, a.story, a.message); err != nil {
		if ctx.Err() != nil {
			err = cancelled(err)
		}
		return Result{}, s.fail(ctx, a, nil, err)
	}
	answer, err := s.generate(ctx, a)
	if err != nil {
		return Result{}, s.fail(ctx, a, nil, err)
	}
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
	usage     model.Usage
}

// generate asks the model within the time limit and names what went wrong.
func (s *Service) generate(ctx context.Context, a *attempt) (*answer, error) {
	limited, cancel := context.WithTimeout(ctx, s.options.GenerationTimeout)
	defer cancel()
	a.prompt = newPrompt(a.story, a.message, a.worldbook)
	a.prompt.Messages = a.tellNotices(a.prompt.Messages)
	request := model.Request{Model: s.options.ModelOf(&a.session), Messages: a.prompt.Messages, Params: a.request.Params}
	a.enter(PhasePromptAssembled, s.now())
	var filter summaryFilter
	if a.request.Observe != nil {
		filter.out = func(text string) { a.tell(Event{Text: text}) }
		request.OnText = filter.write
	}
	a.enter(PhasePageGenerating, s.now())
	response, err := s.model.Generate(limited, request)
	switch {
	case err == nil:
		filter.end()
		a.enter(PhaseCandidateGenerated, s.now())
		text, summaries := splitSummaries(response.Text)
		return &answer{text: text, summaries: summaries, usage: response.Usage}, nil
	case ctx.Err() != nil:
		return nil, cancelled(err)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return nil, &sessile.Error{Code: sessile.CodeGenerationTimeout, Message: "the model took too long", Cause: err}
	}
	return nil, &sessile.Error{Code: sessile.CodeOrchestrationFailed, Message: "the model did not answer", Cause: err}
}
