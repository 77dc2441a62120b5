package agentrun

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

// Subagents is what a session sees of its children (spec/session-tools.md, 6.2).
type Subagents struct {
	Requester  string
	IsSubagent bool
	Total      int
	Active     []Subagent
	Recent     []Subagent
	Minutes    int64
	Text       string
}

// Subagent is one child. Times are milliseconds since 1970.
type Subagent struct {
	Index              int      `json:"index"`
	RunID              string   `json:"runId"`
	SessionKey         string   `json:"sessionKey"`
	TaskName           string   `json:"taskName,omitzero"`
	Label              string   `json:"label"`
	Task               string   `json:"task"`
	Status             string   `json:"status"`
	PendingDescendants int      `json:"pendingDescendants"`
	Runtime            string   `json:"runtime"`
	RuntimeMS          int64    `json:"runtimeMs"`
	ChildSessions      []string `json:"childSessions,omitempty"`
	Model              string   `json:"model,omitzero"`
	TotalTokens        int64    `json:"totalTokens"`
	StartedAt          int64    `json:"startedAt"`
	EndedAt            *int64   `json:"endedAt,omitzero"`
	Delivery           string   `json:"delivery,omitzero"`
	Active             bool     `json:"-"`
}

// Bounds of 6.2.
const (
	DefaultRecentMinutes = 30
	MaxRecentMinutes     = 1440

	maxShownLabel = 48
	maxShownTask  = 72
	maxListedRuns = 2000
)

// Subagents lists the children of a session: what is active, and what ended within the last minutes.
func (s *Service) Subagents(ctx context.Context, account, key string, minutes int64) (list Subagents, err error) {
	minutes = min(minutes, MaxRecentMinutes)
	list = Subagents{Requester: key, IsSubagent: session.IsSubagent(key), Minutes: minutes, Active: []Subagent{}, Recent: []Subagent{}}
	now := s.options.Now().UnixMilli()
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		newest, err := newestRuns(tx, account, key)
		if err != nil {
			return err
		}
		list.Total = len(newest)
		for _, r := range newest {
			pending, err := descendants(tx, account, r.child.SessionKey, 0)
			if err != nil {
				return err
			}
			one := r.show(now, pending)
			switch {
			case !r.newest.Status.Ended() || pending > 0 || r.child.Open:
				one.Active = true
				list.Active = append(list.Active, one)
			case r.newest.EndedAt != nil && *r.newest.EndedAt >= now-minutes*60_000:
				list.Recent = append(list.Recent, one)
			}
		}
		return nil
	})
	for i := range list.Active {
		list.Active[i].Index = i + 1
	}
	for i := range list.Recent {
		list.Recent[i].Index = len(list.Active) + i + 1
	}
	list.Text = list.text()
	return list, err
}

// SubagentsOf is [Service.Subagents] of a session by its id, for people. A word narrows the list to the child it names, as
// [Service.ChildOf] does; "" is all. Codes: not_found, validation_error for a word that fits several.
func (s *Service) SubagentsOf(ctx context.Context, account, sessionID, word string, minutes int64) (list Subagents, err error) {
	var key string
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, found, err := tx.Session(account, sessionID)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		key = row.Key
		return err
	})
	if err != nil {
		return list, err
	}
	if word == "" {
		return s.Subagents(ctx, account, key, minutes)
	}
	child, err := s.ChildOf(ctx, account, key, word)
	if err != nil {
		return list, err
	}
	list = Subagents{Requester: key, IsSubagent: session.IsSubagent(key), Total: 1, Active: []Subagent{}, Recent: []Subagent{}}
	if child.Active {
		list.Active = append(list.Active, child)
	} else {
		list.Recent = append(list.Recent, child)
	}
	return list, nil
}

// listedChild is a child with the newest run that its requester made in it.
type listedChild struct {
	child  sessile.Run // of kind spawn
	spawn  *spawn
	newest sessile.Run
	open   []sessile.Run
}

// newestRuns finds the children of a session, the one with the newest run first.
func newestRuns(tx sessile.ReadTx, account, key string) ([]*listedChild, error) {
	runs, err := tx.Runs(sessile.RunFilter{Account: account, Requester: key, Limit: maxListedRuns})
	if err != nil {
		return nil, err
	}
	newest := map[string]sessile.Run{}
	var order []string
	byKey := map[string]*listedChild{}
	for _, r := range runs { // the newest first
		if _, seen := newest[r.SessionKey]; !seen {
			newest[r.SessionKey] = r
			order = append(order, r.SessionKey)
		}
		if r.Kind == sessile.RunKindSpawn {
			w, err := workOf(&r)
			if err != nil {
				return nil, err
			}
			byKey[r.SessionKey] = &listedChild{child: r, spawn: w.Spawn}
		}
	}
	var list []*listedChild
	for _, key := range order {
		c := byKey[key]
		if c == nil {
			continue // a session that it sent to, no child
		}
		if c.newest = newest[key]; c.child.Open {
			c.newest = c.child // what it is active with counts more than what it was told meanwhile
		}
		if c.open, err = tx.OpenRuns(account, key); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// maxDepthListed bounds how deep descendants are counted.
const maxDepthListed = 10

// descendants counts the active children below a session.
func descendants(tx sessile.ReadTx, account, key string, depth int) (int, error) {
	if depth >= maxDepthListed {
		return 0, nil
	}
	open, err := tx.OpenRuns(account, key)
	if err != nil {
		return 0, err
	}
	n := len(open)
	for i := range open {
		below, err := descendants(tx, account, open[i].SessionKey, depth+1)
		if err != nil {
			return 0, err
		}
		n += below
	}
	return n, nil
}

func (c *listedChild) show(now int64, pending int) Subagent {
	r := &c.newest
	end := now
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	runtime := int64(0)
	started := r.StartedAt
	if started == 0 {
		started = r.CreatedAt
	}
	runtime = max(end-started, 0)
	label := c.spawn.Label
	if label == "" {
		label = c.spawn.Task
	}
	one := Subagent{
		RunID: r.ID, SessionKey: c.child.SessionKey, TaskName: c.spawn.TaskName, Label: shorten(label, maxShownLabel),
		Task: shorten(c.spawn.Task, maxShownTask), Status: statusWord(r, pending, c.child.Open), PendingDescendants: pending, Runtime: runtimeText(runtime),
		RuntimeMS: runtime, Model: c.spawn.Model, TotalTokens: c.spawn.InTokens + c.spawn.OutTokens, StartedAt: started, EndedAt: r.EndedAt,
		Delivery: string(c.child.Delivery),
	}
	for i := range c.open {
		one.ChildSessions = append(one.ChildSessions, c.open[i].SessionKey)
	}
	if pending > 0 || c.child.Open {
		one.EndedAt = nil
	}
	return one
}

func statusWord(r *sessile.Run, pending int, open bool) string {
	switch waits := r.Status.Ended() || r.Status == sessile.RunPaused; {
	case waits && pending == 1:
		return "active (waiting on 1 child)"
	case waits && pending > 1:
		return fmt.Sprintf("active (waiting on %d children)", pending)
	case waits && open: // its children have ended, and it is about to hear of them
		return "running"
	}
	switch r.Status {
	case sessile.RunQueued, sessile.RunRunning:
		return "running"
	case sessile.RunSucceeded:
		return "done"
	case sessile.RunFailed, sessile.RunCancelled:
		return "failed"
	case sessile.RunTimeout:
		return "timeout"
	}
	return "unknown"
}

// shorten puts a text on one line of at most so many UTF-16 code units.
func shorten(text string, units int) string {
	text = strings.Join(strings.Fields(text), " ")
	if cut := cutText(text, units); cut != text {
		return cutText(text, units-1) + "…"
	}
	return text
}

func (l *Subagents) text() string {
	var b strings.Builder
	section := func(title string, entries []Subagent) {
		b.WriteString(title + "\n")
		if len(entries) == 0 {
			b.WriteString("(none)\n")
		}
		for i := range entries {
			b.WriteString(entries[i].line() + "\n")
		}
	}
	section("active subagents:", l.Active)
	b.WriteString("\n")
	section(fmt.Sprintf("recent (last %dm):", l.Minutes), l.Recent)
	return strings.TrimSuffix(b.String(), "\n")
}

func (e *Subagent) line() string {
	name := ""
	if e.TaskName != "" {
		name = e.TaskName + ": "
	}
	model := e.Model
	if model == "" {
		model = "unknown model"
	}
	line := fmt.Sprintf("%d. %s%s (%s, %s, %s tokens) %s", e.Index, name, e.Label, model, e.Runtime, figure(e.TotalTokens), e.Status)
	if e.Task != e.Label {
		line += " - " + e.Task
	}
	return line
}

// runtimeText writes a time short: 12s, 3m4s, 2h5m.
func runtimeText(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// figure writes a count short: 999, 1.2k, 12k, 1.2m.
func figure(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 10_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/1_000_000, 'f', 1, 64) + "m"
}
