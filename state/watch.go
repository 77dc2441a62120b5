package state

import (
	"context"
	"slices"
	"sync"

	"github.com/sessile-dev/sessile"
)

// EntryWatch hears of changes to the entries of one session key, made through the same [Entries] under whatever key that
// shares them. Entries that expire or go with their session are not told.
type EntryWatch struct {
	// Changes receives when there is something for Namespaces to tell.
	Changes <-chan struct{}

	sessionKey string
	signal     chan struct{}
	stop       func()

	mu         sync.Mutex
	namespaces map[string]struct{}
}

// Namespaces tells in which namespaces something changed since it was asked last, in byte order.
func (w *EntryWatch) Namespaces() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, 0, len(w.namespaces))
	for name := range w.namespaces {
		names = append(names, name)
	}
	clear(w.namespaces)
	slices.Sort(names)
	return names
}

// Stop ends the watch. It may be called more than once.
func (w *EntryWatch) Stop() { w.stop() }

func (w *EntryWatch) changed(namespace string) {
	w.mu.Lock()
	w.namespaces[namespace] = struct{}{}
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default: // an earlier change has yet to be taken
	}
}

// Watch begins to watch the entries of a session key. Whoever watches stops it in the end.
func (e *Entries) Watch(account, sessionKey string) *EntryWatch {
	signal := make(chan struct{}, 1)
	w := &EntryWatch{Changes: signal, sessionKey: sessionKey, signal: signal, namespaces: map[string]struct{}{}}
	w.stop = func() { e.watched.remove(account, w) }
	e.watched.add(account, w)
	return w
}

// tell tells everyone who watches a key that leads to a home. The change was committed already; what goes wrong here
// leaves it unsaid.
func (e *Entries) tell(ctx context.Context, account string, home int64, namespace string) {
	if len(e.watched.of(account)) == 0 {
		return
	}
	_ = e.store.View(context.WithoutCancel(ctx), func(tx sessile.ReadTx) error {
		keys, err := tx.HomeKeys(home)
		for _, w := range e.watched.of(account) {
			if slices.Contains(keys, w.sessionKey) {
				w.changed(namespace)
			}
		}
		return err
	})
}

// watchers are all watches, by account. The zero value is ready. The lock of a watch is taken after this one's is given
// back.
type watchers struct {
	mu       sync.Mutex
	accounts map[string][]*EntryWatch
}

func (w *watchers) add(account string, watch *EntryWatch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.accounts == nil {
		w.accounts = map[string][]*EntryWatch{}
	}
	w.accounts[account] = append(slices.Clone(w.accounts[account]), watch)
}

func (w *watchers) remove(account string, watch *EntryWatch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(w.accounts[account]), func(one *EntryWatch) bool { return one == watch })
	w.accounts[account] = left
	if len(left) == 0 {
		delete(w.accounts, account)
	}
}

// of returns the watches of an account; nobody changes the list.
func (w *watchers) of(account string) []*EntryWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.accounts[account]
}
