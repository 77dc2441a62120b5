package state

import (
	"context"
	"sync"

	"github.com/sessile-dev/sessile"
)

// watchers are those who want to hear that entries changed. The zero value is ready.
type watchers struct {
	mu       sync.Mutex
	accounts map[string]map[chan struct{}]string // to the session key watched
}

// Watch tells through a channel that entries of a session key were changed through this value, under whatever key that
// shares them. Changes that come faster than they are received are told once; what changed has to be read. Who watches
// calls stop when it is enough, which may be called more than once.
func (e *Entries) Watch(account, sessionKey string) (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.watched.add(account, sessionKey, ch)
	return ch, func() { e.watched.remove(account, ch) }
}

// tell tells everyone who watches a key that leads to a home. The change was committed already; what goes wrong here
// leaves it unsaid.
func (e *Entries) tell(ctx context.Context, account string, home int64) {
	if !e.watched.any(account) {
		return
	}
	_ = e.store.View(context.WithoutCancel(ctx), func(tx sessile.ReadTx) error {
		keys, err := tx.HomeKeys(home)
		for _, key := range keys {
			e.watched.changed(account, key)
		}
		return err
	})
}

func (w *watchers) add(account, sessionKey string, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.accounts == nil {
		w.accounts = map[string]map[chan struct{}]string{}
	}
	if w.accounts[account] == nil {
		w.accounts[account] = map[chan struct{}]string{}
	}
	w.accounts[account][ch] = sessionKey
}

func (w *watchers) remove(account string, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.accounts[account], ch)
	if len(w.accounts[account]) == 0 {
		delete(w.accounts, account)
	}
}

func (w *watchers) any(account string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.accounts[account]) > 0
}

// changed tells everyone who watches a key. It never waits.
func (w *watchers) changed(account, sessionKey string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch, key := range w.accounts[account] {
		if key != sessionKey {
			continue
		}
		select {
		case ch <- struct{}{}:
		default: // it has yet to hear of an earlier change
		}
	}
}
