package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
)

// The sizes that listings are compared at, and how many times longer the large one may take: with any filter but a search, and
// with a search.
const (
	fewSessions, manySessions    = 1_000, 100_000
	maxListGrowth, maxFindGrowth = 3.0, 10.0
)

const (
	listCaller = "agent:main:main"
	rare       = 60 // sessions that a rare trait has, whatever the number of sessions: more than a page
)

// listing is a store with so many sessions.
type listing struct {
	store *sqlite.Store
	sess  *session.Service
	tree  *session.Service // the same sessions, seen by a session that sees its tree alone
}

// listed makes the i-th of n sessions, the newest first. The oldest have what is rare.
func listed(i, n int, now time.Time) session.NewSession {
	s := session.NewSession{Key: fmt.Sprintf("agent:main:telegram:direct:%d", i), DisplayName: fmt.Sprintf("Guest %d", i)}
	label := fmt.Sprintf("label %d", i%7)
	switch {
	case i == 0:
		s.Key = listCaller
	case i >= n-rare:
		s.Key, label, s.Subject = fmt.Sprintf("agent:ops:hook:%d", i), "harbour watch", "the needle"
		s.SpawnedBy = listCaller
	case i >= n-2*rare:
		s.Key = fmt.Sprintf("agent:a%d:main", i)
	case i%10 == 1:
		s.Key = fmt.Sprintf("agent:work:discord:group:%d", i)
	case i%10 == 2:
		s.Key = fmt.Sprintf("agent:main:cron:%d", i)
	case i%10 == 3:
		s.Key = fmt.Sprintf("agent:main:subagent:%d", i)
	}
	if i%4 == 0 || i >= n-rare {
		s.Label = &label
	}
	if i%50 == 7 {
		s.Status = "archived"
	}
	at := now.Add(-time.Duration(i) * time.Minute).UnixMilli()
	s.UpdatedAt = &at
	return s
}

func newListing(ctx context.Context, path string, n int) (*listing, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	cells := state.New(store, state.Options{})
	all := session.Visibility{Level: session.LevelAll, CrossAgent: true}
	l := &listing{store: store, sess: session.New(store, cells, session.Options{Visibility: all}), tree: session.New(store, cells, session.Options{})}
	now := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, clients)
	for c := range clients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[c] == nil; i = int(next.Add(1)) - 1 {
				made, err := l.sess.Create(ctx, account, listed(i, n, now))
				if pinned := true; err == nil && i%200 == 9 {
					_, err = l.sess.Update(ctx, account, made.ID, session.Patch{Pinned: &pinned})
				}
				errs[c] = err
			}
		})
	}
	group.Wait()
	return l, errors.Join(errs...)
}

// listings are what is measured.
func listings() []struct {
	name   string
	query  session.ListQuery
	tree   bool
	search bool
} {
	hour := time.Now().Add(-time.Hour).UnixMilli()
	return []struct {
		name   string
		query  session.ListQuery
		tree   bool
		search bool
	}{
		{name: "no filter"},
		{name: "the session tree", tree: true},
		{name: "kind main", query: session.ListQuery{Kinds: []string{"main"}}},
		{name: "kind cron", query: session.ListQuery{Kinds: []string{"cron"}}},
		{name: "kind hook, rare", query: session.ListQuery{Kinds: []string{"hook"}}},
		{name: "kind node, none", query: session.ListQuery{Kinds: []string{"node"}}},
		{name: "kinds other and group", query: session.ListQuery{Kinds: []string{"other", "group"}}},
		{name: "last hour", query: session.ListQuery{Since: hour}},
		{name: "label", query: session.ListQuery{Label: "label 4"}},
		{name: "label, rare", query: session.ListQuery{Label: "harbour watch"}},
		{name: "agent", query: session.ListQuery{Agent: "work"}},
		{name: "agent, rare", query: session.ListQuery{Agent: "ops"}},
		{name: "agent and kind", query: session.ListQuery{Agent: "main", Kinds: []string{"hook", "main"}}},
		{name: "archived", query: session.ListQuery{Archived: true}},
		{name: "titles, previews and messages", query: session.ListQuery{Titles: true, Previews: true, Messages: 5}},
		{name: "search, common", query: session.ListQuery{Search: "guest"}, search: true},
		{name: "search, rare", query: session.ListQuery{Search: "needle"}, search: true},
		{name: "search, one", query: session.ListQuery{Search: "Guest 777"}, search: true},
		{name: "search, none", query: session.ListQuery{Search: "nowhere"}, search: true},
		{name: "search and kind", query: session.ListQuery{Search: "needle", Kinds: []string{"hook"}}, search: true},
	}
}

// list takes the milliseconds of one listing.
func (l *listing) list(ctx context.Context, q session.ListQuery, tree bool) (float64, error) {
	service := l.sess
	if tree {
		service = l.tree
	}
	q.Limit = 50
	start := time.Now()
	_, err := service.ListFor(ctx, session.Caller{Account: account, Key: listCaller}, q)
	return float64(time.Since(start).Microseconds()) / 1000, err
}

// measureListings prints how long sessions_list takes for 50 rows out of few and out of many sessions: the least of the
// rounds, which is what it takes on a quiet machine. It fails when a filter missed the goal.
func measureListings(ctx context.Context, rounds int) error {
	dir, err := os.MkdirTemp("", "sessile-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	few, err := newListing(ctx, filepath.Join(dir, "few.db"), fewSessions)
	if err != nil {
		return err
	}
	defer func() { _ = few.store.Close() }()
	many, err := newListing(ctx, filepath.Join(dir, "many.db"), manySessions)
	if err != nil {
		return err
	}
	defer func() { _ = many.store.Close() }()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "50 rows\tms of %d\tms of %d\tgrowth\tgoal\t\n", fewSessions, manySessions)
	missed := 0
	for _, one := range listings() {
		var shorts, longs []float64
		for range 4*rounds + 1 { // the first one warms up
			short, err := few.list(ctx, one.query, one.tree)
			if err != nil {
				return err
			}
			long, err := many.list(ctx, one.query, one.tree)
			if err != nil {
				return err
			}
			shorts, longs = append(shorts, short), append(longs, long)
		}
		goal, verdict := maxListGrowth, "kept"
		if one.search {
			goal = maxFindGrowth
		}
		short, long := slices.Min(shorts[1:]), slices.Min(longs[1:])
		growth := long / short
		if growth > goal {
			verdict = "missed"
			missed++
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\tat most %.0f\t%s\n", one.name, short, long, growth, goal, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed > 0 {
		return fmt.Errorf("%d filters missed the goal", missed)
	}
	return nil
}
