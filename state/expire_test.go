package state

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/sqlite"
)

// What has expired gives its room back; what has not stays, and tells when to come again.
func TestExpire(t *testing.T) {
	var clock atomic.Int64
	clock.Store(1_700_000_000_000)
	now := func() time.Time { return time.UnixMilli(clock.Load()) }
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e := NewEntries(store, EntryOptions{Now: now})
	set := func(key string, ttl time.Duration) {
		t.Helper()
		name := EntryName{SessionKey: "s", Namespace: "n", Key: key}
		if _, err := e.Set(t.Context(), "a", name, EntryWrite{Value: "v", TTL: ttl}); err != nil {
			t.Fatal(err)
		}
	}
	round := func(wantWait time.Duration, wantMore bool, wantEntries int64) {
		t.Helper()
		wait, more, err := e.expire(t.Context())
		if err != nil || wait != wantWait || more != wantMore {
			t.Errorf("a round says %v %v %v, want %v %v", wait, more, err, wantWait, wantMore)
		}
		if err := store.View(t.Context(), func(tx sessile.ReadTx) error {
			home, _, err := tx.Home("a", "s")
			if home.Entries != wantEntries {
				t.Errorf("%d entries count, want %d", home.Entries, wantEntries)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	set("stays", 0)
	round(0, false, 1)
	set("minute", time.Minute)
	set("hour", time.Hour)
	select {
	case <-e.expires:
	default:
		t.Error("nobody is told that an entry expires")
	}
	round(time.Minute, true, 3)
	clock.Add(time.Minute.Milliseconds())
	round(expiryPause, true, 2)
	round(59*time.Minute, true, 2)
	set("hour", 0)
	round(0, false, 2)
}
