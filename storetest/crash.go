package storetest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sessile-dev/sessile"
)

// Names of the variables through which a test tells its child what to do.
const (
	envCrashDir   = "SESSILE_STORETEST_CRASH_DIR"
	envCrashRound = "SESSILE_STORETEST_CRASH_ROUND"
)

// Crash kills a process while 64 writers are at work, by a signal it cannot see, and looks at what is left: everything
// that had been answered, and of what had not, all or nothing. It does so ten times over the same database, or as often
// as SESSILE_CRASH_ROUNDS says. The test that calls it must do nothing else: it is started again as the child.
func Crash(t *testing.T, open Open) {
	if dir := os.Getenv(envCrashDir); dir != "" {
		crashChild(t, open(t, dir), os.Getenv(envCrashRound))
		return
	}
	rounds := 10
	if text := os.Getenv("SESSILE_CRASH_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	acked := map[string]bool{}
	for round := range rounds {
		n := killAfter(t, dir, round, 200+37*round, acked)
		verifyCrash(t, open(t, dir), acked)
		t.Logf("round %d: %d writes answered before the kill", round, n)
	}
}

// killAfter starts the child, kills it once it has answered so many writes, and notes all it had answered.
func killAfter(t *testing.T, dir string, round, writes int, acked map[string]bool) int {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), envCrashDir+"="+dir, envCrashRound+"="+strconv.Itoa(round))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		id, isAck := strings.CutPrefix(lines.Text(), "ack ")
		if !isAck {
			continue
		}
		acked[id] = true
		if n++; n == writes {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if n < writes {
		t.Fatalf("the child ended by itself after %d writes", n)
	}
	return n
}

// crashChild writes until it is killed. Each update makes a session with two mutations and a committed floor, so that a
// torn one would show.
func crashChild(t *testing.T, store sessile.Store, round string) {
	var out sync.Mutex
	var group sync.WaitGroup
	for worker := range 64 {
		group.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("ses_%s_%d_%d", round, worker, i)
				err := store.Update(context.Background(), func(tx sessile.Tx) error { return writeWhole(tx, id) })
				if err != nil {
					t.Error(err)
					return
				}
				out.Lock()
				_, err = os.Stdout.WriteString("ack " + id + "\n")
				out.Unlock()
				if err != nil {
					return // nobody listens any more
				}
			}
		})
	}
	group.Wait()
}

func writeWhole(tx sessile.Tx, id string) error {
	s := sessile.Session{ID: id, Account: "a", Key: id, Status: sessile.SessionActive, Settings: []byte("{}"), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	if err := tx.AddSession(&s); err != nil {
		return err
	}
	b := found(tx.Branch(s.Row, sessile.MainBranch))
	n := sessile.Namespace{Session: s.Row, Name: "notes"}
	if err := tx.AddNamespace(&n); err != nil {
		return err
	}
	for _, name := range []string{"x", "y"} {
		slot := sessile.Slot{Namespace: n.Row, Name: name}
		if err := tx.AddSlot(&slot); err != nil {
			return err
		}
		m := sessile.Mutation{
			Branch: b.Row, Slot: slot.Row, Present: true, Value: []byte(`"` + id + `"`), OnLine: true, Materialises: true,
			Kind: sessile.KindTurn, Status: sessile.StatusApplied,
		}
		if err := tx.AppendMutation(&m); err != nil {
			return err
		}
	}
	if err := tx.AddUsage(s.AccountRow, n.Row, 2, 10); err != nil {
		return err
	}
	floor := sessile.Floor{ID: "flr_" + id, Session: s.Row, Branch: b.Row, State: sessile.FloorGenerating}
	if err := tx.AddFloor(&floor); err != nil {
		return err
	}
	floor.CommitSeq = must(tx.LastSeq())
	floor.SnapshotSeq, floor.FirstCommittedAt, floor.CommittedAt = floor.CommitSeq, tx.Now(), tx.Now()
	return tx.CommitFloor(&floor)
}

// verifyCrash looks at every session there is: each is whole, every one that was answered is there, and the counters are
// the sum of them.
func verifyCrash(t *testing.T, store sessile.Store, acked map[string]bool) {
	t.Helper()
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	err := store.View(context.Background(), func(tx sessile.ReadTx) error {
		sessions, total, err := tx.Sessions("a", sessile.SessionFilter{Page: sessile.Page{Limit: manySessions}})
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for i := range sessions {
			seen[sessions[i].ID] = true
			b := found(tx.Branch(sessions[i].Row, sessile.MainBranch))
			heads := must(tx.Heads(sessions[i].Row, b.Row, 0, false, sessile.SlotFilter{Namespace: "notes"}))
			if len(heads) != 2 || heads[0].Seq == 0 || heads[1].Seq == 0 || missing(tx.LatestFloor(b.Row, true)) {
				t.Errorf("%s is torn", sessions[i].ID)
			}
		}
		lost := 0
		for id := range acked {
			if !seen[id] {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("%d of %d answered writes are lost", lost, len(acked))
		}
		usage := must(tx.Usage(sessions[0].AccountRow))
		if usage.Items != int64(2*total) || usage.Bytes != int64(10*total) {
			t.Errorf("counters %+v of %d sessions", usage, total)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// manySessions is more sessions than any round makes.
const manySessions = 1 << 30
