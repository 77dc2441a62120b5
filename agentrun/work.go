package agentrun

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/transcript"
	"github.com/sessile-dev/sessile/turn"
)

// work is what a run is to do, as it is stored with its row.
type work struct {
	Message string  `json:"message,omitzero"` // what the session is told, without annotation
	Source  *source `json:"source,omitzero"`
	System  string  `json:"system,omitzero"`
	LimitMS int64   `json:"limitMs,omitzero"`

	Flow     *flow   `json:"flow,omitzero"`      // of sends and what follows them
	Spawn    *spawn  `json:"spawn,omitzero"`     // of children
	Children []int64 `json:"children,omitempty"` // rows of the runs that an announcement tells of
	Tries    int     `json:"tries,omitzero"`     // of an announcement, that failed
	Steered  bool    `json:"steered,omitzero"`   // Message takes the place of the task

	SteeredAt int64 `json:"steeredAt,omitzero"` // last; milliseconds since 1970
}

// source says where a message comes from (spec/session-tools.md, 4.3). It is stored with the row of the message.
type source struct {
	Kind       string `json:"kind"`
	SessionKey string `json:"sourceSessionKey,omitzero"`
	Channel    string `json:"sourceChannel,omitzero"`
	Tool       string `json:"sourceTool,omitzero"`
}

const (
	kindInterSession = "inter_session"
	kindHeartbeat    = "heartbeat"

	toolSend     = "sessions_send"
	toolAnnounce = "subagent_announce"
)

func fromSession(key, channel, tool string) *source {
	return &source{Kind: kindInterSession, SessionKey: key, Channel: channel, Tool: tool}
}

func workOf(run *sessile.Run) (w work, err error) {
	if len(run.Work) > 0 {
		err = json.Unmarshal(run.Work, &w)
	}
	return w, err
}

func (w *work) store(run *sessile.Run) (err error) {
	run.Work, err = json.Marshal(w, json.Deterministic(true))
	return err
}

// queue adds a run for a session, which has to be there.
func (s *Service) queue(tx sessile.Tx, target *sessile.Session, run *sessile.Run, w *work) error {
	branch, found, err := tx.Branch(target.Row, sessile.MainBranch)
	if err != nil {
		return err
	}
	if !found {
		return sessile.Errorf(sessile.CodeInternal, "session %s has no main branch", target.ID)
	}
	if run.ID == "" {
		run.ID = s.options.IDs.New(sessile.PrefixRun)
	}
	run.Account, run.SessionKey, run.Session, run.Branch = target.Account, target.Key, target.Row, branch.Row
	run.Status = sessile.RunQueued
	if err := w.store(run); err != nil {
		return err
	}
	return tx.AddRun(run)
}

// prepare is the [turn.Prepare] of all runs of this package.
func (s *Service) prepare(tx sessile.Tx, run *sessile.Run, target *sessile.Session) (in turn.Input, err error) {
	w, err := workOf(run)
	if err != nil {
		return in, err
	}
	in.System, in.Limit = w.System, s.options.RunLimit
	if w.LimitMS > 0 {
		in.Limit = time.Duration(w.LimitMS) * time.Millisecond
	}
	in.Message = w.Message
	from := w.Source
	switch run.Kind {
	case sessile.RunKindSpawn:
		in.Limit = s.options.SpawnLimit
		err = s.prepareChild(tx, run, target, &w, &in)
	case sessile.RunKindAnnouncement:
		in.Message, from, err = s.completions(tx, w.Children)
		in.System, in.Limit = announcementSystem, s.options.AnnounceLimit
		in.Nothing = in.Message == ""
	case sessile.RunKindWake:
		in.Message, err = wakeMessage(tx, target)
		in.FromNotices, in.Nothing = true, in.Message == ""
		from = &source{Kind: kindHeartbeat}
	}
	if err != nil {
		return in, err
	}
	if from != nil {
		if from.Kind == kindInterSession {
			in.Message = transcript.Annotate(in.Message, transcript.Source{SessionKey: from.SessionKey, Channel: from.Channel, Tool: from.Tool})
		}
		in.Extra, err = json.Marshal(struct {
			Provenance *source `json:"provenance"`
		}{from})
	}
	return in, err
}

// Join is part of [turn.Follower]: results of children join a turn of their parent that is still at work.
func (s *Service) Join(ctx context.Context, run *sessile.Run) (joined []turn.Joined, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		queued, err := tx.QueuedRuns(run.Branch)
		if err != nil {
			return err
		}
		for i := range queued {
			q := &queued[i]
			if q.Kind != sessile.RunKindAnnouncement {
				continue
			}
			w, err := workOf(q)
			if err != nil {
				return err
			}
			text, from, err := s.completions(tx, w.Children)
			if err != nil {
				return err
			}
			if text == "" {
				continue
			}
			in := turn.Input{Message: transcript.Annotate(text, transcript.Source{SessionKey: from.SessionKey, Tool: from.Tool})}
			if in.Extra, err = json.Marshal(struct {
				Provenance *source `json:"provenance"`
			}{from}); err != nil {
				return err
			}
			joined = append(joined, turn.Joined{Run: q.Row, Input: in})
		}
		return nil
	})
	return joined, err
}
