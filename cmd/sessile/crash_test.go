package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// TestKill kills the server ten times over while 64 clients write, half of them directly and half with turns, and looks
// after each restart at what they had been told. SESSILE_CRASH_ROUNDS sets another number of rounds. Under the race
// detector a round ends after about as many writes as there are clients: the kill still meets all of them at work.
func TestKill(t *testing.T) {
	rounds := envNumber(t, "SESSILE_CRASH_ROUNDS", 10)
	dir := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.Getenv("TMPDIR")}
	k := &killed{T: t}
	for round := range rounds {
		p, err := startServer(dir, env, "--db", filepath.Join(dir, "state.db"),
			"--quota-items-per-account", "1000000000", "--quota-items-per-namespace", "1000000000", "--quota-bytes-per-namespace", "1000000000000")
		if err != nil {
			t.Fatal(err)
		}
		k.connect(p.url)
		if round == 0 {
			k.prepare()
		} else {
			k.verify()
		}
		enough := 300 + 41*round
		if raceDetector {
			enough = crashClients + 5*round
		}
		k.writeUntil(int64(enough), p.kill)
		k.client.Close()
		if t.Failed() {
			t.Fatalf("after round %d; the server said: %s", round, p.log())
		}
		t.Logf("round %d: %d writes answered", round, k.answered.Load())
	}
}

const crashClients = 64

// killed is what the clients remember over the restarts.
type killed struct {
	*testing.T
	client   *client.Client
	session  string
	acked    [crashClients]int64 // the last number each client was told is written
	tried    [crashClients]int64 // the last number it asked to write
	answered atomic.Int64        // in this round
}

func (k *killed) connect(url string) {
	k.Helper()
	var err error
	k.client, err = client.New(client.Options{
		URL: url, Retries: -1, HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crashClients}},
	})
	if err != nil {
		k.Fatal(err)
	}
}

func (k *killed) prepare() {
	k.Helper()
	s, err := k.client.CreateSession(k.Context(), client.SessionInput{})
	if err != nil {
		k.Fatal(err)
	}
	k.session = s.ID
	_, err = k.client.RegisterNamespace(k.Context(), s.ID, client.Registration{Namespace: "crash", LogicalOwnerType: "app", LogicalOwnerID: "test"})
	if err != nil {
		k.Fatal(err)
	}
}

// writeUntil lets all clients write until the server is gone, which it is once enough writes have been answered.
func (k *killed) writeUntil(enough int64, kill func()) {
	k.answered.Store(0)
	var once sync.Once
	var group sync.WaitGroup
	for i := range crashClients {
		group.Go(func() {
			for {
				k.tried[i]++
				if err := k.write(i, k.tried[i]); err != nil {
					if code := sessile.CodeOf(err); code != sessile.CodeInternal { // an answer: the server was alive
						k.Errorf("client %d: %v", i, err)
					}
					return
				}
				k.acked[i] = k.tried[i]
				if k.answered.Add(1) >= enough {
					once.Do(kill)
				}
			}
		})
	}
	group.Wait()
}

// write writes one number: even clients directly, odd ones in two slots by a turn on a branch of their own.
func (k *killed) write(i int, n int64) error {
	value := jsontext.Value(strconv.FormatInt(n, 10))
	if i%2 == 0 {
		_, err := k.client.WriteValue(context.Background(), k.session, k.cell(i, "x"), value)
		return err
	}
	_, err := k.client.Respond(context.Background(), k.session, client.RespondRequest{
		Message: string(value), BranchID: k.cell(i, "x").BranchID,
		TurnOptions: client.TurnOptions{SessionStateWrites: []client.TurnWrite{
			{Namespace: "crash", Slot: k.cell(i, "x").Slot, Value: value},
			{Namespace: "crash", Slot: k.cell(i, "y").Slot, Value: value},
		}},
	})
	return err
}

func (k *killed) cell(i int, kind string) client.Address {
	return client.Address{BranchID: fmt.Sprintf("branch-%d", i), Namespace: "crash", Slot: fmt.Sprintf("%s%d", kind, i)}
}

// verify looks for writes that were answered and are lost, and for turns of which only a part is there.
func (k *killed) verify() {
	k.Helper()
	for i := range crashClients {
		x, floor := k.read(i, "x")
		if x < k.acked[i] || x > k.tried[i] {
			k.Errorf("client %d reads %d, was told of %d and asked for %d", i, x, k.acked[i], k.tried[i])
		}
		k.tried[i] = max(k.tried[i], x)
		if i%2 == 0 {
			continue
		}
		y, floorOfY := k.read(i, "y")
		if x != y || floor != floorOfY {
			k.Errorf("client %d: the turn is torn: %d of floor %s, %d of floor %s", i, x, floor, y, floorOfY)
		}
		k.verifyFloors(i, floor)
	}
	for _, state := range []sessile.FloorState{sessile.FloorGenerating, sessile.FloorDraft} {
		floors, err := k.client.ListFloors(k.Context(), client.FloorQuery{SessionID: k.session, State: state})
		if err != nil {
			k.Fatal(err)
		}
		if len(floors.Items) > 0 {
			k.Errorf("%d floors are still %s", len(floors.Items), state)
		}
	}
}

// verifyFloors checks that the newest committed floor of a branch is the one its head came from, with its answer.
func (k *killed) verifyFloors(i int, head string) {
	k.Helper()
	floors, err := k.client.ListFloors(k.Context(), client.FloorQuery{
		SessionID: k.session, BranchID: k.cell(i, "x").BranchID, State: sessile.FloorCommitted,
		Paging: client.Paging{SortBy: "floor_no", SortOrder: "desc", Limit: 1},
	})
	if err != nil {
		k.Fatal(err)
	}
	latest := ""
	if len(floors.Items) > 0 {
		latest = floors.Items[0].ID
		if result, err := k.client.FloorResult(k.Context(), latest); err != nil || result.GeneratedText == "" {
			k.Errorf("client %d: a committed floor without answer: %v", i, err)
		}
	}
	if latest != head {
		k.Errorf("client %d: the newest committed floor is %q, the head is of %q", i, latest, head)
	}
}

func (k *killed) read(i int, kind string) (n int64, floor string) {
	k.Helper()
	cell := k.cell(i, kind)
	values, err := k.client.Resolve(k.Context(), k.session, client.ResolveQuery{
		BranchID: cell.BranchID, Filter: client.Filter{Namespace: cell.Namespace, Slot: cell.Slot},
	})
	if err != nil {
		k.Fatal(err)
	}
	if len(values) == 0 || !values[0].Present {
		return 0, ""
	}
	n, err = strconv.ParseInt(string(values[0].Value), 10, 64)
	if err != nil {
		k.Fatal(err)
	}
	if values[0].FloorID != nil {
		floor = *values[0].FloorID
	}
	return n, floor
}
