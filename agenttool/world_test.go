package agenttool_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// settings are those of a world. The zero value is what holds when nothing is configured, but for what sessions see of each
// other: here they see all.
type settings struct {
	runs       agentrun.Options
	visibility *session.Visibility
	policy     agenttool.Policy
	sandboxed  []string // agents
	turns      turn.Options
	rest       bool // queued runs wait until somebody calls work
	faults     *faults
}

// faults makes updates of a store fail; nil for none.
type faults struct {
	mu   sync.Mutex
	left int
}

// next has that many of the next updates fail, as they do when too many wait.
func (f *faults) next(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = n
}

func (f *faults) hit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 {
		f.left--
		return true
	}
	return false
}

// faultyStore is a store whose updates fail when faults say so.
type faultyStore struct {
	sessile.Store
	faults *faults
}

func (s faultyStore) Update(ctx context.Context, fn func(tx sessile.Tx) error) error {
	if s.faults.hit() {
		return sessile.Errorf(sessile.CodeServerBusy, "too many writes are waiting")
	}
	return s.Store.Update(ctx, fn)
}

// world is everything that runs agents, over a real store, with a scripted model. It lives in a bubble of testing/synctest:
// time passes only while everything rests.
type world struct {
	*testing.T
	path     string
	settings settings
	model    *script

	store    *sqlite.Store
	sessions *session.Service
	changes  *changelog.Log
	turns    *turn.Service
	runs     *agentrun.Service
	tools    *agenttool.Runner
	stop     func()
}

func newWorld(t *testing.T, s settings) *world {
	t.Helper()
	w := &world{T: t, path: filepath.Join(t.TempDir(), "world.db"), settings: s, model: &script{}}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start opens the store and begins to execute runs.
func (w *world) start() {
	w.Helper()
	var err error
	if w.store, err = sqlite.Open(w.Context(), w.path, sqlite.Options{}); err != nil {
		w.Fatal(err)
	}
	var store sessile.Store = w.store
	if w.settings.faults != nil {
		store = faultyStore{w.store, w.settings.faults}
	}
	cells := state.New(store, state.Options{})
	w.changes = changelog.New(w.store, changelog.Options{})
	seen := session.Visibility{Level: session.ReadLevel("all"), CrossAgent: true}
	if w.settings.visibility != nil {
		seen = *w.settings.visibility
	}
	sandboxed := func(agent string) bool {
		for _, one := range w.settings.sandboxed {
			if one == agent {
				return true
			}
		}
		return false
	}
	policy := w.settings.policy
	keys := session.Keys{}
	w.sessions = session.New(store, cells, session.Options{
		Keys: keys, Visibility: seen, Announce: w.changes.Announce, Sandboxed: sandboxed,
		Models: session.Models{Standard: "p/standard", Agents: map[string]string{}, Allowed: []string{"p/standard", "p/other"}},
	})
	policy.Standing, policy.MaxDepth = w.sessions.Standing, w.settings.runs.MaxSpawnDepth
	w.tools = agenttool.New([]agenttool.Tool{
		agenttool.SessionState(state.NewEntries(w.store, state.EntryOptions{})), agenttool.SessionsHistory(w.sessions),
	}, agenttool.Options{Policy: policy, Normalize: keys.Normalize})
	options := w.settings.turns
	options.Announce, options.Tools = w.changes.Announce, agenttool.ForTurns(w.tools, sandboxed)
	w.turns = turn.New(store, cells, w.model, options)
	runs := w.settings.runs
	runs.Announce, runs.News = w.changes.Announce, w.changes.Next
	runs.Lacks = func(c session.Caller) []string {
		return w.tools.Lacking(agenttool.Caller{Account: c.Account, SessionKey: &c.Key, Sandboxed: c.Sandboxed})
	}
	w.runs = agentrun.New(store, w.sessions, w.turns, runs)
	w.tools.Add(
		agenttool.SessionsSend(w.runs), agenttool.SessionsSpawn(w.runs), agenttool.SessionsYield(), agenttool.Subagents(w.runs),
	)
	if err := w.turns.Recover(w.Context()); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	ended := make(chan error, 1)
	if w.settings.rest {
		ended <- nil
	} else {
		go func() { ended <- w.runs.Run(ctx) }()
	}
	w.stop = func() {
		w.stop = func() {}
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		if err := w.store.Close(); err != nil {
			w.Error(err)
		}
	}
}

// restart stops everything as a crash does, in so far as runs stay as they are, and starts it again.
func (w *world) restart() {
	w.Helper()
	w.stop()
	w.start()
}

// settle lets everything go on until nothing can but with time.
func (w *world) settle() { synctest.Wait() }

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// toolAnswer is the result of a tool.
type toolAnswer map[string]any

func (a toolAnswer) text(path ...string) string {
	var at any = map[string]any(a)
	for _, name := range path {
		members, _ := at.(map[string]any)
		at = members[name]
	}
	if at == nil {
		return ""
	}
	return fmt.Sprint(at)
}

// try calls a tool as a session; "-" is no session.
func (w *world) try(key, tool, arguments string) (toolAnswer, error) {
	c := agenttool.Caller{Account: account, SessionKey: &key}
	if key == "-" {
		c.SessionKey = nil
	}
	return w.tryAs(c, tool, arguments)
}

func (w *world) tryAs(c agenttool.Caller, tool, arguments string) (toolAnswer, error) {
	r, err := w.tools.Call(w.Context(), c, tool, []byte(arguments))
	if err != nil {
		return nil, err
	}
	var a toolAnswer
	return a, json.Unmarshal(r.Data, &a)
}

// call is try for calls that must not fail.
func (w *world) call(key, tool, arguments string) toolAnswer {
	w.Helper()
	a, err := w.try(key, tool, arguments)
	if err != nil {
		w.Fatalf("%s as %s: %v", tool, key, err)
	}
	return a
}

// session makes a session; change may give it more.
func (w *world) session(key string, change ...func(n *session.NewSession)) session.Session {
	w.Helper()
	n := session.NewSession{Key: key}
	for _, c := range change {
		c(&n)
	}
	row, err := w.sessions.Create(w.Context(), account, n)
	if err != nil {
		w.Fatal(err)
	}
	return row
}

func (w *world) archive(s session.Session) {
	w.Helper()
	if _, err := w.sessions.SetStatuses(w.Context(), account, []string{s.ID}, sessile.SessionArchived); err != nil {
		w.Fatal(err)
	}
}

// list lists runs of a session, the oldest first, as kind and status.
func (w *world) list(key string) (list []string) {
	w.Helper()
	runs, err := w.runs.Runs(w.Context(), sessile.RunFilter{Account: account, SessionKey: key, Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	for i := range runs {
		r := &runs[len(runs)-1-i]
		list = append(list, r.Kind+" "+string(r.Status))
	}
	return list
}

func (w *world) run(id string) agentrun.Details {
	w.Helper()
	d, err := w.runs.Find(w.Context(), account, id)
	if err != nil {
		w.Fatalf("run %q: %v", id, err)
	}
	return d
}

// rows is the transcript of a session: role and text, a line each.
func (w *world) rows(key string) []sessile.Message {
	w.Helper()
	var id string
	err := w.store.View(w.Context(), func(tx sessile.ReadTx) error {
		row, _, err := tx.SessionByKey(account, key)
		id = row.ID
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	if id == "" {
		return nil
	}
	rows, _, err := w.sessions.Transcript(w.Context(), account, id, sessile.MainBranch, 200, 0)
	if err != nil {
		w.Fatal(err)
	}
	return rows
}

// deliveries lists what goes out to channels: channel, address and text.
func (w *world) deliveries(key string) (list []string) {
	w.Helper()
	found, err := w.runs.Deliveries(w.Context(), sessile.DeliveryFilter{Account: account, SessionKey: key, Limit: 200})
	if err != nil {
		w.Fatal(err)
	}
	for i := range found {
		d := agentrun.ShowDelivery(&found[i])
		list = append(list, d.Route.Channel+" "+d.Route.To+" "+d.Text)
	}
	return list
}

// respond runs a turn of a person, with tools.
func (w *world) respond(key, message string) (turn.Result, error) {
	var id string
	err := w.store.View(w.Context(), func(tx sessile.ReadTx) error {
		row, _, err := tx.SessionByKey(account, key)
		id = row.ID
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return w.turns.Respond(w.Context(), account, id, turn.RespondRequest{Message: message, Request: turn.Request{OfferTools: true}})
}

// equal compares.
func (w *world) equal(what string, got, want any) {
	w.Helper()
	if g, n := fmt.Sprint(got), fmt.Sprint(want); g != n {
		w.Errorf("%s:\n got %s\nwant %s", what, g, n)
	}
}

// has looks for a part in a text.
func (w *world) has(what, text string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			w.Errorf("%s lacks %q: %s", what, part, text)
		}
	}
}

func (w *world) lacks(what, text string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			w.Errorf("%s has %q: %s", what, part, text)
		}
	}
}

// script is a model that answers by rules: the first whose text stands in the last input counts. Its answers are given one
// after the other, the last one again and again. Without a rule it says ok.
type script struct {
	mu    sync.Mutex
	rules []*rule
	asked []model.Request
}

type rule struct {
	text    string
	answers []reply
	given   int
}

// reply is what a model answers.
type reply func(ctx context.Context, r model.Request) (model.Response, error)

func (s *script) when(text string, answers ...reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, &rule{text: text, answers: answers})
}

// lastInput is the newest message of a user; system is the text of the system.
func lastInput(r model.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Content
		}
	}
	return ""
}

func system(r model.Request) string {
	var all []string
	for _, m := range r.Messages {
		if m.Role == "system" {
			all = append(all, m.Content)
		}
	}
	return strings.Join(all, "\n")
}

// Generate is part of [model.Model].
func (s *script) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	return s.choose(r)(ctx, r)
}

func (s *script) choose(r model.Request) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	text := lastInput(r)
	for _, rule := range s.rules {
		if strings.Contains(text, rule.text) {
			at := min(rule.given, len(rule.answers)-1)
			rule.given++
			return rule.answers[at]
		}
	}
	return says("ok")
}

// heard lists the requests whose last input holds a text.
func (s *script) heard(text string) (found []model.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.asked {
		if strings.Contains(lastInput(r), text) {
			found = append(found, r)
		}
	}
	return found
}

func says(text string) reply {
	return func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: text, Usage: model.Usage{InputTokens: 100, OutputTokens: 10, TotalTokens: 110}}, nil
	}
}

func calls(tool, arguments string) reply {
	return func(context.Context, model.Request) (model.Response, error) {
		return model.Response{ToolCalls: []model.ToolCall{{Name: tool, Arguments: arguments}}}, nil
	}
}

func fails(err error) reply {
	return func(context.Context, model.Request) (model.Response, error) { return model.Response{}, err }
}

// after answers when a time has passed.
func after(d time.Duration, then reply) reply {
	return func(ctx context.Context, r model.Request) (model.Response, error) {
		select {
		case <-ctx.Done():
			return model.Response{}, ctx.Err()
		case <-time.After(d):
			return then(ctx, r)
		}
	}
}

// hangs never answers.
func hangs() reply {
	return func(ctx context.Context, _ model.Request) (model.Response, error) {
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	}
}
