package agentrun

import (
	"context"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
)

// queueWakes queues a run for every session that got a notice (spec/session-tools.md, 7.5, and ruling 12). One that waits
// already tells of all notices.
func (s *Service) queueWakes(ctx context.Context) (queued bool, err error) {
	for {
		var unheard []sessile.UnheardNotice
		err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
			unheard, err = tx.UnheardNotices(dueBatch)
			return err
		})
		if err != nil || len(unheard) == 0 {
			return queued, err
		}
		err = s.store.Update(ctx, func(tx sessile.Tx) error {
			for i := range unheard {
				if err := s.queueWake(tx, &unheard[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return queued, err
		}
		queued = true
	}
}

func (s *Service) queueWake(tx sessile.Tx, n *sessile.UnheardNotice) error {
	if err := tx.HearNotice(n.Row); err != nil {
		return err
	}
	if session.IsSubagent(n.Watcher) && !s.options.WakeNested {
		return nil
	}
	watcher, found, err := tx.SessionByKey(n.Account, n.Watcher)
	if err != nil || !found || watcher.Status == sessile.SessionArchived {
		return err
	}
	branch, found, err := tx.Branch(watcher.Row, sessile.MainBranch)
	if err != nil || !found {
		return err
	}
	queued, err := tx.QueuedRuns(branch.Row)
	if err != nil {
		return err
	}
	for i := range queued {
		if queued[i].Kind == sessile.RunKindWake {
			return nil
		}
	}
	return s.queue(tx, &watcher, &sessile.Run{Kind: sessile.RunKindWake}, &work{})
}

// wakeMessage is what a session is woken with, "" when its notices were seen meanwhile.
func wakeMessage(tx sessile.ReadTx, target *sessile.Session) (string, error) {
	notices, err := tx.Notices(target.Account, target.Key)
	if err != nil || len(notices) == 0 {
		return "", err
	}
	lines := []string{"[System]"}
	for i := range notices {
		lines = append(lines, changelog.NoticeText(&notices[i]))
	}
	return strings.Join(lines, "\n"), nil
}
