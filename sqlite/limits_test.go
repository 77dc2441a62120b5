package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/sqlite"
)

func nothing(sessile.Tx) error { return nil }

func TestFullQueueIsRefused(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{QueueLength: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	started, release := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	update := func(fn func(sessile.Tx) error) {
		group.Go(func() {
			if err := store.Update(context.Background(), fn); err != nil {
				t.Error(err)
			}
		})
	}
	update(func(sessile.Tx) error { close(started); <-release; return nil })
	<-started // the writer is busy: everything from now on waits
	refused := 0
	answers := make(chan error, 8)
	for range cap(answers) {
		group.Go(func() { answers <- store.Update(context.Background(), nothing) })
	}
	// Two fit into the queue; the others are told at once, while the writer is still busy.
	for range cap(answers) - 2 {
		if err := <-answers; sessile.CodeOf(err) == sessile.CodeServerBusy {
			refused++
		}
	}
	close(release)
	group.Wait()
	if refused != cap(answers)-2 {
		t.Errorf("%d of %d updates were refused by a queue of 2", refused, cap(answers))
	}
	for range 2 {
		if err := <-answers; err != nil {
			t.Errorf("an update that was accepted answered %v", err)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	const limit = 2 << 20
	path := filepath.Join(t.TempDir(), "state.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{CheckpointBytes: limit / 4, LogLimitBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	settings := []byte(`{"k":"` + strings.Repeat("x", 10_000) + `"}`)
	largest := int64(0)
	for i := range 2000 { // 20 MB, ten times the limit
		err := store.Update(t.Context(), func(tx sessile.Tx) error {
			return tx.AddSession(&sessile.Session{ID: fmt.Sprint("ses_", i), Account: "a", Key: fmt.Sprint("k", i), Status: sessile.SessionActive, Settings: settings})
		})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path + "-wal"); err == nil {
			largest = max(largest, info.Size())
		}
	}
	if largest > limit+limit/2 {
		t.Errorf("the log grew to %d bytes, the limit is %d", largest, limit)
	}
}

func TestHeadsAreForgottenBeyondTheirLimit(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{HeadCacheBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	address := func(i int) sessile.CellAddress {
		return sessile.CellAddress{Account: "a", SessionID: "ses_1", Branch: "main", Namespace: "game_state", Slot: fmt.Sprint("slot-", i)}
	}
	err = store.Update(t.Context(), func(tx sessile.Tx) error {
		s := sessile.Session{ID: "ses_1", Account: "a", Status: sessile.SessionActive, Settings: []byte("{}")}
		if err := tx.AddSession(&s); err != nil {
			return err
		}
		branch, _, err := tx.Branch(s.Row, "main")
		if err != nil {
			return err
		}
		namespace, _, err := tx.Namespace(s.Row, "game_state")
		if err != nil {
			return err
		}
		for i := range 500 {
			slot := sessile.Slot{Namespace: namespace.Row, Name: address(i).Slot}
			if err := tx.AddSlot(&slot); err != nil {
				return err
			}
			m := sessile.Mutation{
				Address: address(i), Branch: branch.Row, Slot: slot.Row, Present: true, Value: fmt.Append(nil, i), OnLine: true,
				Materialises: true, Kind: sessile.KindDirect, Status: sessile.StatusApplied,
			}
			if err := tx.AppendMutation(&m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range 500 { // far more than fit: those that were forgotten are read again
			err := store.View(t.Context(), func(tx sessile.ReadTx) error {
				v, found, err := tx.Head(address(i))
				if err == nil && (!found || string(v.Value) != fmt.Sprint(i)) {
					err = fmt.Errorf("slot %d reads %q, found %v", i, v.Value, found)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
