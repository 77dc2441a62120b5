package session

import (
	"github.com/sessile-dev/sessile"
)

// Activity is what a session is doing, or did last (spec/session-tools.md, 1.8). The zero value is a session that nothing ran in.
type Activity struct {
	Status    string // running, done, failed, killed or timeout
	StartedAt int64  // milliseconds since the Unix epoch
	EndedAt   int64  // 0 while it runs
	RuntimeMS int64  // so far, or in all
}

func activityOf(tx sessile.ReadTx, session, now int64) (a Activity, err error) {
	run, found, err := tx.LastRun(session)
	if err != nil || !found {
		return a, err
	}
	return activityOfRun(&run, now), nil
}

func activityOfRun(run *sessile.Run, now int64) Activity {
	a := Activity{Status: runWord(run.Status), StartedAt: run.StartedAt}
	if run.EndedAt != nil {
		a.EndedAt, now = *run.EndedAt, *run.EndedAt
	}
	a.RuntimeMS = max(now-run.StartedAt, 0)
	return a
}

// runWord is how the tools name the status of a run.
func runWord(status sessile.RunStatus) string {
	switch status {
	case sessile.RunSucceeded:
		return "done"
	case sessile.RunFailed:
		return "failed"
	case sessile.RunCancelled:
		return "killed"
	case sessile.RunTimeout:
		return "timeout"
	}
	return "running"
}

// Tasks are the sub-agents that a session started (spec/session-tools.md, 6.3). The zero value is none.
type Tasks struct {
	Active int
	Failed int    // within the last half hour
	Title  string // of the newest one that counts: active, else failed, else whatever it came to
	Key    string // of its session
	Detail string // code of its failure
	Activity
}

// maxTasks bounds how many of its newest tasks a status looks at.
const maxTasks = 100

// tasksOf finds the tasks that the caller owns: all of them in its own session, else those that run in the target.
func tasksOf(tx sessile.ReadTx, c Caller, target string, now int64) (t Tasks, err error) {
	filter := sessile.RunFilter{Account: c.Account, Requester: c.Key, Kind: sessile.RunKindSpawn, Limit: maxTasks}
	if target != c.Key {
		filter.SessionKey = target
	}
	runs, err := tx.Runs(filter)
	if err != nil || len(runs) == 0 {
		return t, err
	}
	var active, failed *sessile.Run
	for i := range runs { // the newest first
		r := &runs[i]
		switch {
		case r.Open, !r.Status.Ended():
			t.Active++
			if active == nil {
				active = r
			}
		case r.Status != sessile.RunSucceeded && r.EndedAt != nil && *r.EndedAt >= now-endedWindow.Milliseconds():
			t.Failed++
			if failed == nil {
				failed = r
			}
		}
	}
	shown := &runs[0]
	if active != nil {
		shown = active
	} else if failed != nil {
		shown = failed
	}
	t.Key, t.Title, t.Detail, t.Activity = shown.SessionKey, shown.SessionKey, shown.ErrorCode, activityOfRun(shown, now)
	if shown.StartedAt == 0 {
		t.RuntimeMS = 0
	}
	row, found, err := tx.SessionByKey(c.Account, shown.SessionKey)
	if err == nil && found && row.Label != nil {
		t.Title = *row.Label
	}
	return t, err
}
