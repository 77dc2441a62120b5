package agentrun

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/transcript"
)

// Caller is the session that works with others.
type Caller struct {
	session.Caller
	Channel string // its live route; "" for none
	RunID   string // the run in which it calls; "" for none

	lacks []string // tools, of a caller that spawns
}

// SendRequest is a message to another session (spec/session-tools.md, 4.1). Text members are trimmed.
type SendRequest struct {
	SessionKey, Label, AgentID string
	Message                    string
	Wait                       time.Duration // 0 does not wait
	Watch                      bool          // also have the caller told of changes of the target
}

// Stages tell how far a message has come: times in milliseconds, 0 for not yet.
type Stages struct {
	Queued    int64 `json:"queued,omitzero"`
	Running   int64 `json:"running,omitzero"`
	Committed int64 `json:"committed,omitzero"`
	Replied   int64 `json:"replied,omitzero"`
	Announced int64 `json:"announced,omitzero"`
}

// SendDelivery tells whether what follows an answer will happen (4.4 and 4.5).
type SendDelivery struct {
	Status string `json:"status"` // pending or skipped
	Mode   string `json:"mode"`   // announce
	Stages Stages `json:"stages"`
}

// SendResult is what came of a message.
type SendResult struct {
	RunID           string        `json:"runId"`
	Status          string        `json:"status"` // ok, accepted, timeout, error or forbidden
	Reply           string        `json:"reply,omitzero"`
	SessionKey      string        `json:"sessionKey,omitzero"`
	Error           string        `json:"error,omitzero"`
	SentBeforeError bool          `json:"sentBeforeError,omitzero"`
	Delivery        *SendDelivery `json:"delivery,omitzero"`
	Watched         *bool         `json:"watched,omitzero"`
	Layer           string        `json:"layer,omitzero"` // what refused
}

// sending is a message on its way.
type sending struct {
	caller  Caller
	request SendRequest
	target  session.Target
	run     sessile.Run
	skipped bool // nothing follows the answer
	circle  bool // the target waits for the sender
	watched *bool
}

// Send gives a message to another session and waits for its answer as long as the request says (spec/session-tools.md,
// section 4). When it returns with anything but error and forbidden, or with SentBeforeError, the message is stored and will be
// worked on, whatever happens to the caller. Refusals are results; errors are faults.
func (s *Service) Send(ctx context.Context, c Caller, r SendRequest) (SendResult, error) {
	m := &sending{caller: c, request: r}
	var no *session.Refusal
	err := s.store.Update(ctx, func(tx sessile.Tx) (err error) {
		m.target, no, err = s.sendTarget(tx, c, &r)
		if err != nil || no != nil {
			return err
		}
		no, err = s.post(tx, m)
		return err
	})
	if err != nil {
		return SendResult{}, err
	}
	if no != nil {
		refused := SendResult{RunID: s.options.IDs.UUID(), Status: "error", Error: no.Reason, Layer: no.Layer, SessionKey: m.target.Display}
		if refused.SessionKey == "" {
			refused.SessionKey = r.SessionKey
		}
		if no.Forbidden {
			refused.Status = "forbidden"
		}
		return refused, nil
	}
	s.wake()
	if r.Wait <= 0 || m.circle {
		return s.accepted(m, &m.run), nil
	}
	return s.answer(ctx, m)
}

func refuse(format string, args ...any) *session.Refusal {
	return &session.Refusal{Reason: fmt.Sprintf(format, args...)}
}

// sendTarget finds who is meant; the order of the checks is that of 4.2.
func (s *Service) sendTarget(tx sessile.ReadTx, c Caller, r *SendRequest) (t session.Target, no *session.Refusal, err error) {
	keys := s.sessions.Keys()
	agent := strings.ToLower(r.AgentID)
	switch {
	case r.SessionKey != "":
		t, no, err = s.sessions.Resolve(tx, c.Caller, r.SessionKey)
	case r.Label != "":
		t, no, err = s.sessions.FindLabel(tx, c.Caller, r.Label, agent, toolSend)
	case agent != "":
		if _, configured := s.options.Agents[agent]; !configured {
			return t, refuse("agent %q was not found", r.AgentID), nil
		}
		t, no, err = s.sessions.Resolve(tx, c.Caller, keys.Main(agent))
	default:
		no = refuse("a session key or a label is needed")
	}
	if thread := strings.Index(r.SessionKey, ":thread:"); thread > 0 {
		return t, refuse("a thread cannot be sent to; use the key of its channel, %s", r.SessionKey[:thread]), nil
	}
	if err != nil || no != nil {
		return t, no, err
	}
	if thread := strings.Index(t.Key, ":thread:"); thread > 0 {
		return t, refuse("a thread cannot be sent to; use the key of its channel, %s", t.Key[:thread]), nil
	}
	return t, s.sessions.May(c.Caller, t, toolSend), nil
}

// post stores the message as a queued run.
func (s *Service) post(tx sessile.Tx, m *sending) (*session.Refusal, error) {
	c, t := m.caller, &m.target
	if t.Row == nil {
		agent := s.sessions.Keys().Agent(t.Key)
		if _, configured := s.options.Agents[agent]; !configured {
			return refuse("agent %q of session %s is not configured", agent, t.Display), nil
		}
		row, err := s.sessions.Ensure(tx, c.Account, t.Key)
		if err != nil {
			return nil, err
		}
		t.Row = &row
	}
	if t.Row.Status == sessile.SessionArchived {
		return refuse("session %s is archived; restore it first", t.Display), nil
	}
	wait := m.request.Wait > 0
	_, hasRow, err := tx.SessionByKey(c.Account, c.Key)
	if err != nil {
		return nil, err
	}
	m.skipped = wait && t.Row.SpawnedBy == c.Key && session.IsSubagent(t.Key)
	w := &work{
		Message: m.request.Message, Source: fromSession(c.Key, c.Channel, toolSend),
		System: conversationSystem(c.Key, c.Channel, t.Key, s.channelOf(t.Row), false),
		Flow: &flow{
			Requester: c.Key, RequesterChannel: c.Channel, Target: t.Key, Request: m.request.Message,
			Turns: s.options.MaxPingPong, Told: !wait, Skip: m.skipped, Rowless: !hasRow,
		},
	}
	if strings.Contains(c.Key, ":cron:") && strings.Contains(c.Key, ":run:") {
		w.Flow.Turns = 0
	}
	m.run = sessile.Run{Kind: sessile.RunKindSend, Requester: c.Key, Parent: c.RunID}
	var sender sessile.Run
	if c.RunID != "" {
		var found bool
		if sender, found, err = tx.Run(c.Account, c.RunID); err != nil {
			return nil, err
		}
		before, err := workOf(&sender)
		if err != nil {
			return nil, err
		}
		if before.Flow != nil {
			if w.Flow.Chain = before.Flow.Chain + 1; w.Flow.Chain > maxChain {
				return refuse("%d messages have followed from one another without a person or a task between them; the chain ends here", maxChain), nil
			}
		}
		if found && sender.Status == sessile.RunRunning && wait {
			if m.circle, err = s.closesCircle(tx, &sender, t.Row); err != nil {
				return nil, err
			}
			w.Flow.Told = m.circle
		}
	}
	if err := s.queue(tx, t.Row, &m.run, w); err != nil {
		return nil, err
	}
	if sender.Row != 0 && sender.Status == sessile.RunRunning && wait && !m.circle {
		sender.WaitsOn = m.run.Row
		if err := tx.UpdateRun(&sender); err != nil {
			return nil, err
		}
	}
	if m.request.Watch {
		watched, err := changelog.StartWatch(tx, c.Account, c.Key, t.Key)
		if err != nil {
			return nil, err
		}
		m.watched = &watched
	}
	return nil, nil
}

func (s *Service) channelOf(row *sessile.Session) string {
	d, err := session.DetailsOf(row)
	if err != nil {
		return ""
	}
	keys := s.sessions.Keys()
	channel := keys.ChannelOf(row, &d)
	if channel == "unknown" {
		return ""
	}
	return channel
}

// closesCircle reports whether a session works on something that waits, directly or through others, for the end of a run:
// then a run queued for it can only begin when that one has ended.
func (s *Service) closesCircle(tx sessile.ReadTx, sender *sessile.Run, target *sessile.Session) (bool, error) {
	branch, found, err := tx.Branch(target.Row, sessile.MainBranch)
	if err != nil || !found {
		return false, err
	}
	at := branch.Row
	for visited := map[int64]bool{}; !visited[at]; {
		visited[at] = true
		if at == sender.Branch {
			return true, nil
		}
		holder, held, err := tx.RunningRun(at)
		if err != nil || !held || holder.WaitsOn == 0 {
			return false, err
		}
		awaited, found, err := tx.RunByRow(holder.WaitsOn)
		if err != nil || !found || awaited.Status.Ended() {
			return false, err
		}
		at = awaited.Branch
	}
	return false, nil
}

// answer waits for the end of the run.
func (s *Service) answer(ctx context.Context, m *sending) (SendResult, error) {
	ended, leave := s.await(m.run.Row)
	defer leave()
	timer := time.NewTimer(m.request.Wait)
	defer timer.Stop()
	for {
		run, err := s.runByRow(context.WithoutCancel(ctx), m.run.Row)
		if err != nil {
			return s.unsure(m, err), nil
		}
		if run.Status.Ended() {
			return s.ended(m, &run), nil
		}
		select {
		case <-ended:
			ended = nil // it is over, or gone: the next look tells
		case <-timer.C:
			return s.stopWaiting(ctx, m), nil
		case <-ctx.Done():
			// Nobody hears what comes now, so it is as if the message had been accepted.
			s.stopWaiting(context.WithoutCancel(ctx), m)
			return SendResult{}, ctx.Err()
		}
	}
}

// unsure answers when the store does not tell what became of a message, which is stored (4.4: a retryable error state).
func (s *Service) unsure(m *sending, err error) SendResult {
	r := s.result(m, &m.run, "timeout")
	r.Error, r.SentBeforeError = "what became of the message is not known yet: "+string(sessile.CodeOf(err)), true
	return r
}

func (s *Service) runByRow(ctx context.Context, row int64) (run sessile.Run, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		var found bool
		if run, found, err = tx.RunByRow(row); err == nil && !found {
			err = sessile.NotFound()
		}
		return err
	})
	return run, err
}

// stopWaiting answers that the message was accepted, unless the run has just ended.
func (s *Service) stopWaiting(ctx context.Context, m *sending) SendResult {
	var run sessile.Run
	err := s.store.Update(ctx, func(tx sessile.Tx) (err error) {
		var found bool
		if run, found, err = tx.RunByRow(m.run.Row); err == nil && !found {
			err = sessile.NotFound()
		}
		if err != nil || run.Status.Ended() {
			return err
		}
		w, err := workOf(&run)
		if err != nil {
			return err
		}
		w.Flow.Told = true
		if err := w.store(&run); err != nil {
			return err
		}
		if err := tx.UpdateRun(&run); err != nil {
			return err
		}
		return s.noLongerWaits(tx, m)
	})
	switch {
	case err != nil:
		return s.unsure(m, err)
	case run.Status.Ended():
		return s.ended(m, &run)
	}
	return s.accepted(m, &run)
}

// noLongerWaits forgets what the run of the sender waited for.
func (s *Service) noLongerWaits(tx sessile.Tx, m *sending) error {
	if m.caller.RunID == "" {
		return nil
	}
	sender, found, err := tx.Run(m.caller.Account, m.caller.RunID)
	if err != nil || !found || sender.WaitsOn != m.run.Row {
		return err
	}
	sender.WaitsOn = 0
	return tx.UpdateRun(&sender)
}

func stagesOf(run *sessile.Run) Stages {
	st := Stages{Queued: run.CreatedAt, Running: run.StartedAt}
	if run.EndedAt != nil && run.Status == sessile.RunSucceeded {
		st.Committed = *run.EndedAt
		if run.Result != "" {
			st.Replied = *run.EndedAt
		}
	}
	return st
}

func (s *Service) result(m *sending, run *sessile.Run, status string) SendResult {
	r := SendResult{
		RunID: run.ID, Status: status, SessionKey: m.target.Display, Watched: m.watched,
		Delivery: &SendDelivery{Status: "pending", Mode: "announce", Stages: stagesOf(run)},
	}
	if m.skipped {
		r.Delivery.Status = "skipped"
	}
	return r
}

func (s *Service) accepted(m *sending, run *sessile.Run) SendResult {
	return s.result(m, run, "accepted")
}

// ended says how the run ended.
func (s *Service) ended(m *sending, run *sessile.Run) SendResult {
	if run.Status == sessile.RunSucceeded {
		r := s.result(m, run, "ok")
		r.Reply = run.Result
		return r
	}
	r := SendResult{
		RunID: run.ID, Status: "error", SessionKey: m.target.Display, Error: failureText(run), SentBeforeError: run.StartedAt != 0, Watched: m.watched,
	}
	if run.Status == sessile.RunTimeout {
		r.Status = "timeout"
		r.Delivery = s.result(m, run, "").Delivery
	}
	return r
}

func failureText(run *sessile.Run) string {
	switch {
	case run.Status == sessile.RunTimeout:
		return "the run of the session took too long"
	case run.Error != "":
		return run.Error
	}
	return "the run of the session failed"
}

// silent reports whether a reply means that nothing is to follow.
func silent(reply string) bool {
	if strings.TrimSpace(reply) == "" {
		return true
	}
	_, control := transcript.ControlWord(reply)
	return control
}
