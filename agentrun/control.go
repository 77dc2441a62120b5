package agentrun

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessile-dev/sessile"
)

// Runs lists runs, the newest first.
func (s *Service) Runs(ctx context.Context, f sessile.RunFilter) (runs []sessile.Run, err error) {
	if f.SessionKey != "" {
		f.SessionKey = s.sessions.Keys().Normalize(f.SessionKey)
	}
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		runs, err = tx.Runs(f)
		return err
	})
	return runs, err
}

// Details are what a run tells beside its row.
type Details struct {
	sessile.Run
	FloorID  string // "" for none
	BranchID string
}

// Find finds a run. Codes: not_found.
func (s *Service) Find(ctx context.Context, account, id string) (d Details, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		var found bool
		if d.Run, found, err = tx.Run(account, id); err == nil && !found {
			err = sessile.NotFound()
		}
		if err != nil {
			return err
		}
		return fillDetails(tx, &d)
	})
	return d, err
}

// Describe adds to runs what [Service.Find] tells of each.
func (s *Service) Describe(ctx context.Context, runs []sessile.Run) (list []Details, err error) {
	list = make([]Details, len(runs))
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		for i := range runs {
			list[i].Run = runs[i]
			if err := fillDetails(tx, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

func fillDetails(tx sessile.ReadTx, d *Details) error {
	d.BranchID = sessile.MainBranch
	if d.Floor == 0 {
		return nil
	}
	floor, found, err := tx.FloorByRow(d.Floor)
	if err == nil && found {
		d.FloorID, d.BranchID = floor.ID, floor.BranchName
	}
	return err
}

// Wait finds a run and waits until it has ended, for a time at most. Codes: not_found.
func (s *Service) Wait(ctx context.Context, account, id string, limit time.Duration) (Details, error) {
	d, err := s.Find(ctx, account, id)
	if err != nil || limit <= 0 || d.Status.Ended() {
		return d, err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		changed := s.changed.next()
		if d, err = s.Find(ctx, account, id); err != nil || d.Status.Ended() {
			return d, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return d, nil
		case <-ctx.Done():
			return d, ctx.Err()
		}
	}
}

// Cancel ends a run that is not over, and everything below it: the children of its session, and theirs (spec/session-tools.md,
// 5.12). A run that is over stays as it is. Codes: not_found.
func (s *Service) Cancel(ctx context.Context, account, id string) (Details, error) {
	var ended []int64
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		run, found, err := tx.Run(account, id)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		if err != nil || run.Status.Ended() && !run.Open {
			return err
		}
		ended, err = s.cancelTree(tx, &run)
		return err
	})
	if err != nil {
		return Details{}, err
	}
	s.interrupt(ended)
	return s.Find(ctx, account, id)
}

func (s *Service) interrupt(rows []int64) {
	for _, row := range rows {
		s.turns.Interrupt(row)
	}
	s.Settled(rows...)
}

const cancelReason = "the run was cancelled"

// cancelTree ends a run and what is below it.
func (s *Service) cancelTree(tx sessile.Tx, run *sessile.Run) (ended []int64, err error) {
	switch run.Kind {
	case sessile.RunKindSpawn:
		return s.cancelChild(tx, run, false, 0)
	case sessile.RunKindTurn:
		if ended, err = s.cancelChildren(tx, run.Account, run.SessionKey, 0); err != nil {
			return nil, err
		}
	}
	again, found, err := tx.RunByRow(run.Row)
	if err != nil || !found || again.Status.Ended() {
		return ended, err
	}
	return append(ended, again.Row), s.turns.Cancel(tx, &again, cancelReason)
}

// cancelChildren ends the active children of a session without telling anybody: who would hear of them is cancelled too.
func (s *Service) cancelChildren(tx sessile.Tx, account, key string, depth int) (ended []int64, err error) {
	if depth > maxDepthListed {
		return nil, nil
	}
	open, err := tx.OpenRuns(account, key)
	if err != nil {
		return nil, err
	}
	for i := range open {
		below, err := s.cancelChild(tx, &open[i], true, depth)
		if err != nil {
			return nil, err
		}
		ended = append(ended, below...)
	}
	return ended, nil
}

// cancelChild ends an active child. What is below it ends first, and what is on its way to it, so that nothing wakes it any
// more.
func (s *Service) cancelChild(tx sessile.Tx, child *sessile.Run, quiet bool, depth int) (ended []int64, err error) {
	if quiet {
		w, err := workOf(child)
		if err != nil {
			return nil, err
		}
		w.Spawn.Quiet = true
		if err := w.store(child); err != nil {
			return nil, err
		}
		if err := tx.UpdateRun(child); err != nil {
			return nil, err
		}
	}
	if ended, err = s.cancelChildren(tx, child.Account, child.SessionKey, depth+1); err != nil {
		return nil, err
	}
	stopped, err := s.stopWork(tx, child)
	if err != nil {
		return nil, err
	}
	ended = append(ended, stopped...)
	again, found, err := tx.RunByRow(child.Row)
	if err != nil || !found || !again.Open {
		return ended, err
	}
	ended = append(ended, again.Row)
	if !again.Status.Ended() {
		return ended, s.turns.Cancel(tx, &again, cancelReason)
	}
	// It had ended, and waited for children that are cancelled now.
	again.Status, again.ErrorCode, again.Error = sessile.RunCancelled, string(sessile.CodeGenerationCancelled), cancelReason
	return ended, s.closeChild(tx, &again)
}

// stopWork ends what a child works on beside its own run, and takes back the results that are on their way to it. They can be
// had from their runs. Messages of others that wait for it stay.
func (s *Service) stopWork(tx sessile.Tx, child *sessile.Run) (ended []int64, err error) {
	row, found, err := tx.SessionByKey(child.Account, child.SessionKey)
	if err != nil || !found {
		return nil, err
	}
	running, err := tx.RunningRuns(row.Row)
	if err != nil {
		return nil, err
	}
	queued, err := tx.QueuedRuns(child.Branch)
	if err != nil {
		return nil, err
	}
	for _, run := range slices.Concat(running, queued) {
		if run.Row == child.Row || run.Status == sessile.RunQueued && run.Kind != sessile.RunKindAnnouncement && run.Kind != sessile.RunKindWake {
			continue
		}
		if err := s.takeBack(tx, &run); err != nil {
			return nil, err
		}
		if err := s.turns.Cancel(tx, &run, cancelReason); err != nil {
			return nil, err
		}
		ended = append(ended, run.Row)
	}
	return ended, nil
}

// takeBack discards the results that an announcement was to tell of.
func (s *Service) takeBack(tx sessile.Tx, announcement *sessile.Run) error {
	w, err := workOf(announcement)
	if err != nil {
		return err
	}
	for _, row := range w.Children {
		r, found, err := tx.RunByRow(row)
		if err != nil {
			return err
		}
		if found && r.Delivery == sessile.DeliveryInProgress {
			if err := s.discard(tx, &r); err != nil {
				return err
			}
		}
	}
	return nil
}

// steerPause is how long a child is left alone that has just been steered (spec/session-tools.md, 6.2).
const steerPause = 2 * time.Second

// Steer has a child stop what it does and go on with a message instead. Codes: not_found, invalid_state for a run that is
// over or is no child's, rate_limited within two seconds of the last time.
func (s *Service) Steer(ctx context.Context, account, id, message string) (Details, error) {
	var row int64
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		run, found, err := tx.Run(account, id)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		if err != nil {
			return err
		}
		if run.Kind != sessile.RunKindSpawn {
			return sessile.Errorf(sessile.CodeInvalidState, "only the run of a sub-agent can be steered")
		}
		if run.Status.Ended() {
			return sessile.Errorf(sessile.CodeInvalidState, "the run is over")
		}
		w, err := workOf(&run)
		if err != nil {
			return err
		}
		if w.SteeredAt > tx.Now()-steerPause.Milliseconds() {
			return sessile.Errorf(sessile.CodeRateLimited, "the run was steered a moment ago, try again in two seconds")
		}
		w.Message, w.Steered, w.SteeredAt = message, true, tx.Now()
		if err := w.store(&run); err != nil {
			return err
		}
		row = run.Row
		return s.turns.Restart(tx, &run)
	})
	if err != nil {
		return Details{}, err
	}
	s.turns.Interrupt(row)
	s.wake()
	return s.Find(ctx, account, id)
}

// Announce hands a suspended or discarded result over again. Codes: not_found, invalid_state for any other run.
func (s *Service) Announce(ctx context.Context, account, id string) (Details, error) {
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		run, found, err := tx.Run(account, id)
		if err == nil && !found {
			err = sessile.NotFound()
		}
		if err != nil {
			return err
		}
		switch run.Delivery {
		case sessile.DeliverySuspended, sessile.DeliveryDiscarded, sessile.DeliveryFailed:
		default:
			return sessile.Errorf(sessile.CodeInvalidState, "the result of this run is not suspended or discarded")
		}
		return s.announce(tx, &run)
	})
	if err != nil {
		return Details{}, err
	}
	s.wake()
	return s.Find(ctx, account, id)
}

// ChildOf finds the child of a session that a word names: last, an index of the list, a session key, an exact task name or
// label, or an unambiguous beginning of one of these or of a run id (spec/session-tools.md, 6.2). Codes: not_found,
// validation_error for a word that fits several.
func (s *Service) ChildOf(ctx context.Context, account, key, word string) (Subagent, error) {
	list, err := s.Subagents(ctx, account, key, MaxRecentMinutes)
	if err != nil {
		return Subagent{}, err
	}
	all := slices.Concat(list.Active, list.Recent)
	word = strings.TrimSpace(word)
	if word == "last" && len(all) > 0 {
		return slices.MaxFunc(all, func(a, b Subagent) int { return int(a.StartedAt - b.StartedAt) }), nil
	}
	if index, err := strconv.Atoi(word); err == nil && index >= 1 && index <= len(all) {
		return all[index-1], nil
	}
	exact := func(one *Subagent) bool {
		return word == one.SessionKey || word == one.TaskName && word != "" || word == one.Label || word == one.RunID
	}
	begins := func(one *Subagent) bool {
		return word != "" && slices.ContainsFunc([]string{one.SessionKey, one.TaskName, one.Label, one.RunID}, func(name string) bool {
			return strings.HasPrefix(name, word)
		})
	}
	for _, fits := range []func(*Subagent) bool{exact, begins} {
		var found []Subagent
		for i := range all {
			if fits(&all[i]) {
				found = append(found, all[i])
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Subagent{}, sessile.Errorf(sessile.CodeValidation, "%q fits several sub-agents", word)
		}
	}
	return Subagent{}, sessile.NotFound()
}
