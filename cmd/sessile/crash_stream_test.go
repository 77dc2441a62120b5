package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// TestKillStreams kills the server at fifty random moments of streamed turns that run on four branches at once, and looks
// after each restart for turns of which only a part is there, floors that nobody works on any more, and branches that take
// no further turn. Under the race detector it is five moments.
//
// SESSILE_CRASH_KILLS sets another number of moments, and SESSILE_CRASH_SEED draws others; a failure names the seed.
func TestKillStreams(t *testing.T) {
	kills := 50
	if raceDetector || testing.Short() {
		kills = 5
	}
	kills = envNumber(t, "SESSILE_CRASH_KILLS", kills)
	seed := envNumber(t, "SESSILE_CRASH_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 0))

	s := &talkers{killed: killed{T: t}, model: newScriptedModel(t)}
	dir := t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.Getenv("TMPDIR"),
		"SESSILE_MODEL_PROVIDER=openai", "SESSILE_MODEL_NAME=scripted", "SESSILE_MODEL_BASE_URL=" + s.model.url,
	}
	for round := range kills {
		p, err := startServer(dir, env, "--db", filepath.Join(dir, "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		s.connect(p.url)
		if round == 0 {
			s.prepare()
		}
		s.verify()
		s.goOn()
		m := drawMoment(random)
		s.streamUntil(m, p.kill)
		s.client.Close()
		if t.Failed() {
			t.Fatalf("seed %d, after kill %d (%v); the server said: %s", seed, round, m, p.log())
		}
	}
	p, err := startServer(dir, env, "--db", filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	s.connect(p.url)
	defer s.client.Close()
	s.verify()
	s.goOn()
	t.Logf("%d kills: %d turns were on their way, %d of them are there", kills, s.open, s.kept)
}

// envNumber is the number that a variable of the environment sets, if it does.
func envNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// killAt is when the server is killed: when an event has come for the nth time, whatever the branch, and so many further
// requests have been answered. These spread the moments over the time that what follows the event takes.
type killAt struct {
	event    string
	nth      int
	requests int
}

// moments are the events of a turn as the stream tells them, those around the commit more often.
var moments = []string{
	"start", "input_recorded", "prompt_assembled", "page_generating", "chunk", "chunk", "candidate_generated",
	"transaction_prepared", "transaction_prepared", "transaction_prepared", "transaction_committed", "summary",
}

func drawMoment(random *rand.Rand) killAt {
	return killAt{
		event:    moments[random.IntN(len(moments))],
		nth:      1 + random.IntN(3*streamClients),
		requests: random.IntN(8),
	}
}

const streamClients = 4

// talkers are clients that talk on a branch of their own each, and what they remember over the restarts. The numbers of
// the turns are kept in the first places of killed.
type talkers struct {
	killed
	model *scriptedModel
	open  int // turns that were on their way when the server was killed
	kept  int // those of them that are there after it
}

func (s *talkers) message(i int, n int64) string { return fmt.Sprintf("turn %d on branch %d", n, i) }

// streamUntil lets all clients take turns until the server is gone, which it is from the moment m on.
func (s *talkers) streamUntil(m killAt, kill func()) {
	var mu sync.Mutex
	seen := 0
	reached := make(chan struct{})
	heard := func(event string) {
		mu.Lock()
		defer mu.Unlock()
		if event != m.event {
			return
		}
		if seen++; seen == m.nth {
			close(reached)
		}
	}
	var group sync.WaitGroup
	for i := range streamClients {
		group.Go(func() {
			for {
				if err := s.turn(i, heard); err != nil {
					if code := sessile.CodeOf(err); code != sessile.CodeInternal { // an answer: the server was alive
						s.Errorf("client %d: %v", i, err)
					}
					return
				}
			}
		})
	}
	// Clients that all fail before that moment would leave the killer waiting.
	gone := make(chan struct{})
	go func() {
		group.Wait()
		close(gone)
	}()
	select {
	case <-reached:
		for range m.requests {
			if _, err := s.client.Health(s.Context()); err != nil {
				s.Errorf("before the kill: %v", err)
			}
		}
	case <-gone:
		s.Error("the clients were refused")
	}
	kill()
	<-gone
}

// turn takes one streamed turn that writes its number into two slots. The model says its next piece when the client has
// heard the one before.
func (s *talkers) turn(i int, heard func(event string)) error {
	s.tried[i]++
	n := s.tried[i]
	message := s.message(i, n)
	next := s.model.expect(message)
	value := jsontext.Value(strconv.FormatInt(n, 10))
	done, err := s.client.RespondStream(s.Context(), s.session, client.RespondRequest{
		Message: message, BranchID: s.cell(i, "x").BranchID,
		TurnOptions: client.TurnOptions{SessionStateWrites: []client.TurnWrite{
			{Namespace: "crash", Slot: s.cell(i, "x").Slot, Value: value},
			{Namespace: "crash", Slot: s.cell(i, "y").Slot, Value: value},
		}},
	}, func(e client.StreamEvent) error {
		name := e.Name
		if e.Run != nil {
			name = e.Run.Phase
		}
		if name == "page_generating" || name == "chunk" {
			next()
		}
		heard(name)
		return nil
	})
	if err != nil {
		return err
	}
	if done.GeneratedText != scriptedAnswer(message) || !slices.Equal(done.Summaries, []string{scriptedSummary(message)}) {
		s.Errorf("client %d: turn %d answered %q with summaries %q", i, n, done.GeneratedText, done.Summaries)
	}
	s.acked[i] = n
	return nil
}

// verify looks for turns that are there in part, or not at all though they were answered.
func (s *talkers) verify() {
	s.Helper()
	for i := range streamClients {
		n := s.verifyState(i)
		if n < s.acked[i] || n > s.tried[i] {
			s.Errorf("client %d reads %d, was told of %d and asked for %d", i, n, s.acked[i], s.tried[i])
		}
		if s.acked[i] < s.tried[i] {
			s.open++
			if n == s.tried[i] {
				s.kept++
			}
		}
		s.acked[i] = n
	}
	for _, state := range []sessile.FloorState{sessile.FloorGenerating, sessile.FloorDraft} {
		floors, err := s.client.ListFloors(s.Context(), client.FloorQuery{SessionID: s.session, State: state})
		if err != nil {
			s.Fatal(err)
		}
		if len(floors.Items) > 0 {
			s.Errorf("%d floors are still %s", len(floors.Items), state)
		}
	}
	active, err := s.client.ActiveRun(s.Context(), s.session)
	if err != nil {
		s.Fatal(err)
	}
	if active.ActiveRun != nil {
		s.Errorf("a run is still active: %+v", active.ActiveRun)
	}
}

// verifyState checks that the slots, the snapshot and the floors of a branch tell of the same turn, and returns its
// number.
func (s *talkers) verifyState(i int) int64 {
	s.Helper()
	x, floor := s.read(i, "x")
	y, floorOfY := s.read(i, "y")
	if x != y || floor != floorOfY {
		s.Errorf("client %d: the turn is torn: %d of floor %s, %d of floor %s", i, x, floor, y, floorOfY)
	}
	if latest := s.verifyFloors(i, x); latest != floor {
		s.Errorf("client %d: the newest committed floor is %q, the head is of %q", i, latest, floor)
	}
	if floor == "" {
		return x
	}
	for _, kind := range []string{"x", "y"} {
		values, err := s.client.Snapshot(s.Context(), s.session, floor, client.Filter{Namespace: "crash", Slot: s.cell(i, kind).Slot})
		if err != nil {
			s.Fatal(err)
		}
		if len(values) != 1 || string(values[0].Value) != strconv.FormatInt(x, 10) {
			s.Errorf("client %d: turn %d left the snapshot %+v", i, x, values)
		}
	}
	return x
}

// verifyFloors checks the latest floors of a branch: what is committed has its answer, what failed has none. It returns
// the newest committed floor, which must be that of turn n.
func (s *talkers) verifyFloors(i int, n int64) (latest string) {
	s.Helper()
	const few = 6
	query := client.TimelineQuery{BranchID: s.cell(i, "x").BranchID, Limit: few}
	page, err := s.client.Timeline(s.Context(), s.session, query)
	if err != nil {
		s.Fatal(err)
	}
	if page.Meta.Total > few {
		query.Offset = page.Meta.Total - few
		if page, err = s.client.Timeline(s.Context(), s.session, query); err != nil {
			s.Fatal(err)
		}
	}
	for _, floor := range page.Items {
		said := map[string]string{}
		for _, content := range floor.Pages {
			for _, m := range content.Messages {
				said[m.Role] += m.Content
			}
		}
		switch answer := said["assistant"]; {
		case said["user"] == "":
			s.Errorf("client %d: floor %s holds no message of the user", i, floor.ID)
		case floor.State == sessile.FloorCommitted && answer != scriptedAnswer(said["user"]):
			s.Errorf("client %d: floor %s is committed with the answer %q to %q", i, floor.ID, answer, said["user"])
		case floor.State == sessile.FloorFailed && answer != "":
			s.Errorf("client %d: floor %s has failed with the answer %q", i, floor.ID, answer)
		case floor.State == sessile.FloorCommitted:
			latest = floor.ID
			if floor.ID == page.Items[len(page.Items)-1].ID && said["user"] != s.message(i, n) {
				s.Errorf("client %d: the newest floor answers %q, the slots are of turn %d", i, said["user"], n)
			}
		}
	}
	return latest
}

// goOn takes a turn on every branch, which must commit.
func (s *talkers) goOn() {
	s.Helper()
	for i := range streamClients {
		if err := s.turn(i, func(string) {}); err != nil {
			s.Fatalf("client %d: the branch takes no turn: %v", i, err)
		}
	}
}
