package turn_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

const owner = "owner"

// stage is a session on a store of its own, with a model that follows a script.
type stage struct {
	*testing.T
	*ground
	cells    *state.Service
	sessions *session.Service
	turns    *turn.Service
	script   *script
	id       string // of the session, in which the namespace "bond" is registered
}

func newStage(t *testing.T, options turn.Options) *stage {
	return stageOver(t, options, sessile.DefaultQuotas(), func(s sessile.Store) sessile.Store { return s })
}

// stageOver makes the turns work over a store that is not quite the one that the test looks into.
func stageOver(t *testing.T, options turn.Options, quotas sessile.Quotas, wrap func(sessile.Store) sessile.Store) *stage {
	s := &stage{T: t, ground: newGround(t), script: &script{}}
	s.cells = state.New(s.store, state.Options{Quotas: quotas})
	s.sessions = session.New(s.store, s.cells, session.Options{})
	s.turns = turn.New(wrap(s.store), s.cells, s.script, options)
	created, err := s.sessions.Create(s.ctx, owner, session.NewSession{})
	s.must(err)
	s.id = created.ID
	_, err = s.cells.Register(s.ctx, owner, s.id, state.Registration{Namespace: "bond", OwnerType: "app", OwnerID: "test"})
	s.must(err)
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected: %v", err)
	}
}

// refused expects an error with a code.
func (s *stage) refused(err error, want sessile.Code) {
	s.Helper()
	if got := sessile.CodeOf(err); got != want {
		s.Fatalf("the error is %v, want the code %q", err, want)
	}
}

func (s *stage) respond(branch, message string) turn.Result {
	s.Helper()
	result, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: message, BranchID: branch})
	s.must(err)
	return result
}

func (s *stage) floor(id string) sessile.Floor {
	s.Helper()
	floor, err := s.sessions.Floor(s.ctx, owner, id)
	s.must(err)
	return floor
}

func (s *stage) wantState(floorID string, want sessile.FloorState) {
	s.Helper()
	if got := s.floor(floorID).State; got != want {
		s.Errorf("floor %s is %s, want %s", floorID, got, want)
	}
}

// userMessage is the id of what the user said on a floor of main.
func (s *stage) userMessage(floorID string) string {
	s.Helper()
	floors, _, err := s.sessions.Timeline(s.ctx, owner, s.id, sessile.MainBranch, 100, 0)
	s.must(err)
	for _, f := range floors {
		if f.ID == floorID {
			return f.Pages[0].Messages[0].ID
		}
	}
	s.Fatalf("floor %s is not on main", floorID)
	return ""
}

// answerOf is the active answer of a committed floor.
func (s *stage) answerOf(floorID string) string {
	s.Helper()
	result, err := s.sessions.FloorResult(s.ctx, owner, floorID)
	s.must(err)
	return result.GeneratedText
}

// value is what a branch shows in a slot of the namespace; "" for none.
func (s *stage) value(branch, slot string) string {
	s.Helper()
	values, err := s.cells.Resolve(s.ctx, owner, s.id, state.ResolveQuery{
		Branch: branch, Filter: sessile.SlotFilter{Namespace: "bond", Slot: slot},
	})
	s.must(err)
	if len(values) == 0 || !values[0].Present {
		return ""
	}
	return string(values[0].Data)
}

// mutations lists what the turns of a floor wrote: slot, status and, of discarded ones, the reason.
func (s *stage) mutations(floorID string) []string {
	s.Helper()
	found, _, err := s.cells.Mutations(s.ctx, owner, s.id, sessile.MutationFilter{FloorID: floorID, Page: sessile.Page{Limit: 100}})
	s.must(err)
	list := []string{}
	for _, m := range found {
		text := m.SlotName + " " + m.Status.String()
		if m.DiscardReason != "" {
			text += " " + m.DiscardReason
		}
		list = append(list, text)
	}
	return list
}

func writes(slot, value string) []state.TurnWrite {
	return []state.TurnWrite{{Namespace: "bond", Slot: slot, Data: jsontext.Value(value)}}
}

// write puts a value into a slot of a branch at once.
func (s *stage) write(branch, slot, value string) {
	s.Helper()
	_, err := s.cells.Write(s.ctx, owner, s.id, state.Address{Branch: branch, Namespace: "bond", Slot: slot}, jsontext.Value(value), "")
	s.must(err)
}

func (s *stage) archive() {
	s.Helper()
	_, err := s.sessions.Update(s.ctx, owner, s.id, session.Patch{Status: sessile.SessionArchived})
	s.must(err)
}

// script is a model that answers each call by the next of its lines, and "said" when they are used up. It remembers what
// it was asked.
type script struct {
	mu    sync.Mutex
	lines []line
	asked []model.Request
}

type line func(context.Context, model.Request) (model.Response, error)

func (s *script) add(lines ...line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, lines...)
}

func (s *script) Generate(ctx context.Context, request model.Request) (model.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, request)
	next := say("said")
	if len(s.lines) > 0 {
		next, s.lines = s.lines[0], s.lines[1:]
	}
	s.mu.Unlock()
	return next(ctx, request)
}

// last is what the model was told last.
func (s *script) last() []model.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1].Messages
}

// model is the model that was asked last.
func (s *script) model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1].Model
}

// heard lists the messages that the model was to answer, in order.
func (s *script) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, request := range s.asked {
		list = append(list, request.Messages[len(request.Messages)-1].Content)
	}
	return list
}

func say(text string) line {
	return func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: text, Usage: model.Usage{InputTokens: 2, OutputTokens: 1, TotalTokens: 3}}, nil
	}
}

func failWith(err error) line {
	return func(context.Context, model.Request) (model.Response, error) { return model.Response{}, err }
}

// stall answers nothing until the context ends.
func stall(ctx context.Context, _ model.Request) (model.Response, error) {
	<-ctx.Done()
	return model.Response{}, ctx.Err()
}

// held is a line that waits: reached is closed when it is called, and it answers once it is let go.
type held struct{ reached, letGo chan struct{} }

func hold() *held { return &held{make(chan struct{}), make(chan struct{})} }

func (h *held) line(text string) line {
	return func(ctx context.Context, request model.Request) (model.Response, error) {
		close(h.reached)
		<-h.letGo
		return say(text)(ctx, request)
	}
}

// onStage begins a turn in the background and returns when the model was asked.
func (h *held) onStage(s *stage, text string, act func() error) (ended chan error) {
	s.script.add(h.line(text))
	ended = make(chan error, 1)
	go func() { ended <- act() }()
	select {
	case <-h.reached:
	case err := <-ended:
		s.Fatalf("the turn ended before the model was asked: %v", err)
	}
	return ended
}

// startOf notes the floor that a turn starts on.
func startOf(floorID *string) func(turn.Event) {
	return func(e turn.Event) {
		if e.Start != nil {
			*floorID = e.Start.FloorID
		}
	}
}

// flaky is a store that refuses or breaks some updates.
type flaky struct {
	sessile.Store
	busy   atomic.Int32 // so many updates are refused
	broken atomic.Bool  // no floor can be committed
}

var errBroken = errors.New("the disk is broken")

func (f *flaky) Update(ctx context.Context, fn func(sessile.Tx) error) error {
	if f.busy.Load() > 0 {
		f.busy.Add(-1)
		return sessile.Errorf(sessile.CodeServerBusy, "too much is waiting")
	}
	if !f.broken.Load() {
		return f.Store.Update(ctx, fn)
	}
	return f.Store.Update(ctx, func(tx sessile.Tx) error { return fn(brokenTx{tx}) })
}

type brokenTx struct{ sessile.Tx }

func (brokenTx) CommitFloor(*sessile.Floor) error { return errBroken }

// kind is a turn of one of the four kinds. It works on a session whose floor 0 of main has committed.
type kind struct {
	name string
	take func(ctx context.Context, s *stage, floor string, r turn.Request) (turn.Result, error)
}

func kinds() []kind {
	return []kind{
		{"respond", func(ctx context.Context, s *stage, _ string, r turn.Request) (turn.Result, error) {
			return s.turns.Respond(ctx, owner, s.id, turn.RespondRequest{Request: r, Message: "more"})
		}},
		{"regenerate", func(ctx context.Context, s *stage, _ string, r turn.Request) (turn.Result, error) {
			return s.turns.Regenerate(ctx, owner, s.id, r)
		}},
		{"retry", func(ctx context.Context, s *stage, floor string, r turn.Request) (turn.Result, error) {
			return s.turns.Retry(ctx, owner, floor, r)
		}},
		{"edit", func(ctx context.Context, s *stage, floor string, r turn.Request) (turn.Result, error) {
			return s.turns.Edit(ctx, owner, s.userMessage(floor), turn.EditRequest{Request: r, Content: "other", BranchID: "alt"})
		}},
	}
}

// branch is where turns of the kind work.
func (k kind) branch() string {
	if k.name == "edit" {
		return "alt"
	}
	return sessile.MainBranch
}

// failedState is what the floor of a failed turn of the kind becomes.
func (k kind) failedState() sessile.FloorState {
	if k.name == "retry" {
		return sessile.FloorCommitted
	}
	return sessile.FloorFailed
}

func (s *stage) wantMutations(floorID string, want ...string) {
	s.Helper()
	got := s.mutations(floorID)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("floor %s left the mutations %q, want %q", floorID, got, want)
	}
}

// failing is a line that waits and then fails.
func (h *held) failing() line {
	return func(context.Context, model.Request) (model.Response, error) {
		close(h.reached)
		<-h.letGo
		return model.Response{}, errors.New("no answer")
	}
}
