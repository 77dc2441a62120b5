package agentrun

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

// flow is the conversation that a message begins (spec/session-tools.md, 4.5). It travels from run to run: each is queued by
// the end of the one before it.
type flow struct {
	Requester        string `json:"requester"`
	RequesterChannel string `json:"requesterChannel,omitzero"`
	Target           string `json:"target"`
	Request          string `json:"request"`
	First            string `json:"first,omitzero"`   // reply of the target
	Latest           string `json:"latest,omitzero"`  // reply of either
	Turn             int    `json:"turn,omitzero"`    // of the conversation, from 1; the requester has the odd ones
	Turns            int    `json:"turns,omitzero"`   // how many there may be
	Told             bool   `json:"told,omitzero"`    // the sender was told that the message is accepted, and nothing since
	Skip             bool   `json:"skip,omitzero"`    // nothing follows
	Failed           bool   `json:"failed,omitzero"`  // this step tells the requester that its message failed
	Rowless          bool   `json:"rowless,omitzero"` // the requester had no session yet
	Chain            int    `json:"chain,omitzero"`   // messages before this one, each sent in a run that the one before it made
}

// maxChain bounds how many messages may follow from one another: agents that answer each message with another would never end.
const maxChain = 32

// endSend goes on from the end of the run that a message made.
func (s *Service) endSend(tx sessile.Tx, run *sessile.Run, target *sessile.Session, w *work) error {
	f := *w.Flow
	switch {
	case f.Skip:
		return nil
	case run.Status != sessile.RunSucceeded:
		if f.Requester == f.Target {
			return nil
		}
		if told, err := senderLeft(tx, run, &f); err != nil || !told {
			return err
		}
		return s.tellFailure(tx, run, &f)
	case silent(run.Result):
		return nil
	}
	f.First, f.Latest = run.Result, run.Result
	if f.Requester == f.Target {
		return s.outbox(tx, target, f.RequesterChannel, run.Result, run, "send:"+run.ID)
	}
	return s.nextStep(tx, run, &f)
}

// senderLeft reports whether whoever sent the message does not wait for its end: it was told that the message is accepted, or
// its own run was cut off.
func senderLeft(tx sessile.ReadTx, run *sessile.Run, f *flow) (bool, error) {
	if f.Told || run.Parent == "" {
		return f.Told, nil
	}
	sender, found, err := tx.Run(run.Account, run.Parent)
	return !found || sender.WaitsOn != run.Row, err
}

// requester is the session that sent the message. One that was deleted is not made again.
func (s *Service) requester(tx sessile.Tx, account string, f *flow) (row sessile.Session, found bool, err error) {
	if row, found, err = tx.SessionByKey(account, f.Requester); err != nil || found || !f.Rowless {
		return row, found, err
	}
	row, err = s.sessions.Ensure(tx, account, f.Requester)
	return row, err == nil, err
}

// tellFailure has the requester hear that its message came to nothing.
func (s *Service) tellFailure(tx sessile.Tx, run *sessile.Run, f *flow) error {
	f.Failed = true
	requester, found, err := s.requester(tx, run.Account, f)
	if err != nil || !found || requester.Status == sessile.SessionArchived {
		return err
	}
	w := &work{
		Message: fmt.Sprintf("The message to session %s could not be worked on: %s. Send it again or report this.", f.Target, failureText(run)),
		Source:  fromSession(f.Target, "", toolSend), LimitMS: s.options.StepLimit.Milliseconds(), Flow: f,
	}
	return s.queue(tx, &requester, &sessile.Run{Kind: sessile.RunKindReplyBack, Parent: run.ID}, w)
}

// endReplyBack goes on after a turn of the conversation.
func (s *Service) endReplyBack(tx sessile.Tx, run *sessile.Run, w *work) error {
	f := *w.Flow
	if f.Failed || run.Status == sessile.RunCancelled {
		return nil
	}
	if run.Status != sessile.RunSucceeded || silent(run.Result) {
		f.Turn = f.Turns // the conversation is over
		return s.nextStep(tx, run, &f)
	}
	f.Latest = run.Result
	return s.nextStep(tx, run, &f)
}

// nextStep queues the next turn of the conversation, or the announcement behind the last one.
func (s *Service) nextStep(tx sessile.Tx, after *sessile.Run, f *flow) error {
	if f.Turn >= f.Turns {
		return s.queueAnnounceStep(tx, after, f)
	}
	f.Turn++
	target, found, err := tx.SessionByKey(after.Account, f.Target)
	if err != nil || !found {
		return err
	}
	listener, from, channel := target, f.Requester, f.RequesterChannel
	if f.Turn%2 == 1 {
		from, channel = f.Target, s.channelOf(&target)
		if listener, found, err = s.requester(tx, after.Account, f); err != nil {
			return err
		}
	}
	if !found || listener.Status == sessile.SessionArchived {
		return s.queueAnnounceStep(tx, after, f)
	}
	w := &work{
		Message: f.Latest, Source: fromSession(from, channel, toolSend), Flow: f, LimitMS: s.options.StepLimit.Milliseconds(),
		System: conversationSystem(f.Requester, f.RequesterChannel, f.Target, s.channelOf(&target), true),
	}
	return s.queue(tx, &listener, &sessile.Run{Kind: sessile.RunKindReplyBack, Parent: after.ID}, w)
}

const announceInput = "The conversation between the agents is over. Announce its outcome now, as your instructions say."

func (s *Service) queueAnnounceStep(tx sessile.Tx, after *sessile.Run, f *flow) error {
	target, found, err := tx.SessionByKey(after.Account, f.Target)
	if err != nil || !found || target.Status == sessile.SessionArchived {
		return err
	}
	w := &work{
		Message: announceInput, Source: fromSession(f.Requester, f.RequesterChannel, toolSend), Flow: f,
		LimitMS: s.options.StepLimit.Milliseconds(), System: announceStepSystem(f, s.channelOf(&target)),
	}
	return s.queue(tx, &target, &sessile.Run{Kind: sessile.RunKindAnnounceStep, Parent: after.ID}, w)
}

// endAnnounceStep posts what the target wants to be posted.
func (s *Service) endAnnounceStep(tx sessile.Tx, run *sessile.Run, target *sessile.Session) error {
	if run.Status != sessile.RunSucceeded || silent(run.Result) {
		return nil
	}
	return s.outbox(tx, target, "", run.Result, run, "announce_step:"+run.ID)
}

func orUnknown(channel string) string {
	if channel == "" {
		return "unknown"
	}
	return channel
}

// conversationSystem tells a session who speaks with whom.
func conversationSystem(requester, requesterChannel, target, targetChannel string, replies bool) string {
	var b strings.Builder
	b.WriteString("Two agents exchange messages.\n")
	fmt.Fprintf(&b, "Agent 1 (requester): session %s, channel %s.\n", requester, orUnknown(requesterChannel))
	fmt.Fprintf(&b, "Agent 2 (target): session %s, channel %s.\n", target, orUnknown(targetChannel))
	if replies {
		b.WriteString("Answer what the other agent said. To end the conversation, answer exactly REPLY_SKIP.\n")
	}
	return b.String()
}

// announceStepSystem asks the target for what its channel is to hear.
func announceStepSystem(f *flow, channel string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s (Agent 1) asked session %s (Agent 2), which is you. What you answer now is posted to your channel (%s), "+
		"word for word. To post nothing, answer exactly ANNOUNCE_SKIP.\n", f.Requester, f.Target, orUnknown(channel))
	fmt.Fprintf(&b, "\nThe request:\n%s\n\nYour first reply:\n%s\n", f.Request, f.First)
	if f.Latest != f.First {
		fmt.Fprintf(&b, "\nThe latest reply:\n%s\n", f.Latest)
	}
	return b.String()
}

// outbox puts a text on its way to the channel of a session, if that has one that can be delivered to. The key makes it one
// delivery however often it is tried.
func (s *Service) outbox(tx sessile.Tx, from *sessile.Session, channel, text string, run *sessile.Run, key string) error {
	if from == nil {
		return nil
	}
	route, ok := session.RouteOf(from, channel)
	if !ok {
		return nil
	}
	return s.addDelivery(tx, from, route, text, run, key)
}
