package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

const (
	childrenOfParent = 5
	childrenAtWork   = 8 // agents.defaults.subagents.maxConcurrent
)

// TestKillRuns kills the server twenty times over while two hundred sessions each have five sub-agents at work: every child
// ends once, every result reaches its parent once, and no more children work at once than may. SESSILE_CRASH_PARENTS and
// SESSILE_CRASH_KILLS set other numbers.
func TestKillRuns(t *testing.T) {
	parents, kills := 200, 20
	if raceDetector || testing.Short() {
		parents, kills = 20, 5
	}
	parents, kills = envNumber(t, "SESSILE_CRASH_PARENTS", parents), envNumber(t, "SESSILE_CRASH_KILLS", kills)
	m := &countingModel{}
	endpoint := httptest.NewServer(m)
	t.Cleanup(endpoint.Close)
	dir := t.TempDir()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.Getenv("TMPDIR"),
		"SESSILE_MODEL_PROVIDER=openai", "SESSILE_MODEL_BASE_URL=" + endpoint.URL + "/v1", "SESSILE_MODEL_NAME=stub",
	}
	k := &killedRuns{T: t, parents: parents}
	total := int64(parents * childrenOfParent)
	for round := 0; ; round++ {
		p, err := startServer(dir, env, "--db", filepath.Join(dir, "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(client.Options{URL: p.url, Retries: -1, HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}})
		if err != nil {
			t.Fatal(err)
		}
		k.client = c
		m.began()
		spawned := make(chan struct{})
		go func() {
			defer close(spawned)
			k.spawn()
		}()
		if round < kills {
			m.killAfter(max(total/int64(kills+1), 1), p.kill)
			<-p.done
			<-spawned
			c.Close()
			continue
		}
		<-spawned
		k.verify()
		c.Close()
		if err := p.stop(); err != nil {
			t.Error(err)
		}
		break
	}
	if most := m.most.Load(); most > childrenAtWork {
		t.Errorf("%d children were at work at once, at most %d may", most, childrenAtWork)
	}
}

// killedRuns is what the one who asks for children remembers over the restarts.
type killedRuns struct {
	*testing.T
	client  *client.Client
	parents int

	mu      sync.Mutex
	answers map[string]string // run ids that were answered, by parent and child
}

func parentKey(n int) string { return fmt.Sprintf("agent:main:direct:parent%03d", n) }

// spawn asks for all children that no answer has come for, in parallel, until it is through or the server is gone.
func (k *killedRuns) spawn() {
	var group sync.WaitGroup
	lanes := make(chan struct{}, 16)
	for n := range k.parents {
		for child := range childrenOfParent {
			name := fmt.Sprintf("%03d-%d", n, child)
			k.mu.Lock()
			_, answered := k.answers[name]
			k.mu.Unlock()
			if answered {
				continue
			}
			lanes <- struct{}{}
			group.Go(func() {
				defer func() { <-lanes }()
				k.spawnOne(parentKey(n), name)
			})
		}
	}
	group.Wait()
}

func (k *killedRuns) spawnOne(key, name string) {
	arguments := fmt.Sprintf(`{"task":"task %s","idempotencyKey":%q}`, name, name)
	data, err := k.client.CallTool(k.Context(), "sessions_spawn", client.ToolCall{SessionKey: &key, Arguments: jsontext.Value(arguments)})
	if _, gone := errors.AsType[*client.UnreachableError](err); gone {
		return
	}
	if err != nil {
		k.Errorf("child %s: %v", name, err)
		return
	}
	var answer struct{ Status, RunID, Error string }
	if err := json.Unmarshal(data, &answer, json.MatchCaseInsensitiveNames(true)); err != nil || answer.Status != "accepted" {
		k.Errorf("child %s: %s (%v)", name, data, err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answers == nil {
		k.answers = map[string]string{}
	}
	k.answers[name] = answer.RunID
}

var resultPattern = regexp.MustCompile(`result (\d+-\d)`)

// verify waits until all is done and looks at every child and every parent.
func (k *killedRuns) verify() {
	k.Helper()
	for _, name := range slices.Sorted(maps.Keys(k.answers)) {
		var last client.AgentRun
		err := k.client.FollowRun(k.Context(), k.answers[name], func(r client.AgentRun) error { last = r; return nil })
		if err != nil {
			k.Fatalf("child %s: %v", name, err)
		}
		if last.Status != sessile.RunSucceeded || last.Delivery == nil || *last.Delivery != "delivered" {
			k.Errorf("child %s: %+v", name, last)
		}
	}
	for n := range k.parents {
		key := parentKey(n)
		runs, err := k.client.ListRuns(k.Context(), client.RunQuery{RequesterKey: key, Kind: "spawn", Limit: 200})
		if err != nil || len(runs.Items) != childrenOfParent {
			k.Errorf("%s has %d children (%v)", key, len(runs.Items), err)
		}
		page, err := k.client.ListSessions(k.Context(), client.SessionQuery{Key: key})
		if err != nil || len(page.Items) != 1 {
			k.Fatalf("%s: %v", key, err)
		}
		rows, err := k.client.Transcript(k.Context(), page.Items[0].ID, client.TranscriptQuery{Limit: 200})
		if err != nil {
			k.Fatal(err)
		}
		told := map[string]int{}
		for i := range rows.Items {
			if row := &rows.Items[i]; row.Role == "user" {
				for _, found := range resultPattern.FindAllStringSubmatch(string(row.Content), -1) {
					told[found[1]]++
				}
			}
		}
		want := map[string]int{}
		for child := range childrenOfParent {
			want[fmt.Sprintf("%03d-%d", n, child)] = 1
		}
		if !maps.Equal(told, want) {
			k.Errorf("%s was told %v", key, told)
		}
	}
}

// countingModel answers children with their result and everything else with a word. It counts how many children work at once,
// and kills the server after a number of answers to children.
type countingModel struct {
	atWork, most atomic.Int64

	mu     sync.Mutex
	epoch  int64 // of the server that asks
	left   int64
	onZero func()
}

var taskPattern = regexp.MustCompile(`task (\d+-\d)`)

func (m *countingModel) began() {
	m.atWork.Store(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.onZero = nil
}

func (m *countingModel) killAfter(answers int64, kill func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left, m.onZero = answers, kill
}

// answered counts an answer to a child and reports whether the server is to go now.
func (m *countingModel) answered() (kill func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.onZero == nil {
		return nil
	}
	if m.left--; m.left > 0 {
		return nil
	}
	kill, m.onZero = m.onZero, nil
	return kill
}

func (m *countingModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said, system := "noted", ""
	last := asked.Messages[len(asked.Messages)-1].Content
	for _, message := range asked.Messages {
		if message.Role == "system" {
			system += message.Content
		}
	}
	if task := taskPattern.FindStringSubmatch(last); task != nil && strings.Contains(system, "sub-agent: another session") {
		m.mu.Lock()
		epoch := m.epoch
		m.mu.Unlock()
		for most, now := m.most.Load(), m.atWork.Add(1); now > most && !m.most.CompareAndSwap(most, now); most = m.most.Load() {
		}
		<-time.After(5 * time.Millisecond) // so long a child takes at least
		if kill := m.answered(); kill != nil {
			kill()
		}
		m.mu.Lock()
		if epoch == m.epoch {
			m.atWork.Add(-1)
		}
		m.mu.Unlock()
		said = "result " + task[1]
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`, said)
}
