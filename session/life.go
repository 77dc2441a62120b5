package session

import (
	"context"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// ByKey finds the session behind a key, in the form that [Keys.Normalize] gives it. Codes: not_found.
func (s *Service) ByKey(ctx context.Context, account, key string) (found Session, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, exists, err := tx.SessionByKey(account, s.options.Keys.Normalize(key))
		if err == nil && !exists {
			err = sessile.NotFound()
		}
		if err != nil {
			return err
		}
		found, err = sessionOf(&row)
		return err
	})
	return found, err
}

// Reset gives the key of a session a new session: a new id, no transcript and no governed state. Title, label, settings
// and key-value state stay (spec/kv-tool.md, section 10). The old id is not found any more. Codes: not_found,
// session_archived, active_run_in_progress.
func (s *Service) Reset(ctx context.Context, account, id string) (next Session, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		if row.Status == sessile.SessionArchived {
			return errArchived()
		}
		if err := checkIdle(tx, &row); err != nil {
			return err
		}
		if err := tx.RetireSession(&row); err != nil {
			return err
		}
		// What the session watched it watched for the sake of the conversation that ends (spec/session-tools.md, 7.8).
		if err := tx.ForgetWatcher(account, row.Key); err != nil {
			return err
		}
		fresh := row
		fresh.Row, fresh.ID = 0, s.options.IDs.New(sessile.PrefixSession)
		fresh.CreatedAt, fresh.UpdatedAt = tx.Now(), tx.Now()
		if err := dropCounters(&fresh); err != nil {
			return err
		}
		if err := tx.AddSession(&fresh); err != nil {
			return err
		}
		next, err = sessionOf(&fresh)
		return err
	})
	if err == nil {
		s.wakePurge()
	}
	return next, err
}

// dropCounters forgets what a transcript that is gone has cost.
func dropCounters(row *sessile.Session) error {
	return ChangeDetails(row, func(d *Details) {
		d.InputTokens, d.OutputTokens, d.CacheRead, d.CacheWrite, d.TotalTokens = 0, 0, 0, 0, 0
	})
}

func errArchived() error {
	return sessile.Errorf(sessile.CodeSessionArchived, "the session is archived, restore it first")
}

// ForkOptions say what a fork of a session gets. State is empty, copy or share, "" for empty; Key "" makes one.
type ForkOptions struct {
	State state.EntrySharing
	Key   string
	Label *string
}

// Fork makes a session with the transcript of another one's main branch. State decides about key-value state, and with
// copy the governed namespaces and values come along too; otherwise governed state starts empty (design.md section 5).
// The two sessions are independent from then on, but for shared key-value state. Codes: not_found, session_key_taken,
// and the limits of governed state.
func (s *Service) Fork(ctx context.Context, account, id string, o ForkOptions) (made Session, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		source, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		fork := source
		fork.Row, fork.ID, fork.Key = 0, s.options.IDs.New(sessile.PrefixSession), o.Key
		fork.Label, fork.Status, fork.PinnedAt, fork.ArchivedAt = o.Label, sessile.SessionActive, 0, 0
		fork.CreatedAt, fork.UpdatedAt = tx.Now(), tx.Now()
		fork.SpawnedBy, fork.ParentKey, fork.OwnerKey = "", "", "" // nobody's child
		if err := s.add(tx, &fork, source.AgentID); err != nil {
			return err
		}
		if err := state.ShareEntries(tx, account, source.Key, fork.Key, o.State); err != nil {
			return err
		}
		if err := s.copyTranscript(tx, &source, &fork, o.State == state.EntriesCopy); err != nil {
			return err
		}
		made, err = sessionOf(&fork)
		return err
	})
	return made, err
}

// copyTranscript puts what the main branch of the source tells into one floor of the fork, with or without its state.
func (s *Service) copyTranscript(tx sessile.Tx, source, fork *sessile.Session, withState bool) error {
	rows, err := readTranscript(tx, source, sessile.MainBranch)
	if err != nil || len(rows) == 0 && !withState {
		return err
	}
	main, _, err := tx.Branch(fork.Row, sessile.MainBranch)
	if err != nil {
		return err
	}
	floor := sessile.Floor{
		ID: s.options.IDs.New(sessile.PrefixFloor), Session: fork.Row, Branch: main.Row, State: sessile.FloorGenerating,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	if err := tx.AddFloor(&floor); err != nil {
		return err
	}
	page := sessile.ContentPage{
		ID: s.options.IDs.New(sessile.PrefixPage), Floor: floor.Row, Kind: sessile.PageMixed, Active: true, Version: 1,
	}
	if err := tx.AddPage(&page); err != nil {
		return err
	}
	for i := range rows {
		m := rows[i]
		m.ID, m.Page, m.Seq = s.options.IDs.New(sessile.PrefixMessage), page.Row, int64(i)
		if err := tx.AddMessage(&m); err != nil {
			return err
		}
	}
	c := &state.FloorCommit{Session: fork, Branch: &main, Floor: &floor, RunType: "fork"}
	if withState {
		if err := s.cells.CopyInto(tx, source, c); err != nil {
			return err
		}
	}
	return s.cells.CommitFloor(tx, c)
}

// DeleteKey deletes what a key stands for: its session, if there is one, with all earlier ones, and its key-value state.
// Codes: active_run_in_progress.
func (s *Service) DeleteKey(ctx context.Context, account, key string) error {
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		// Key-value state goes by the text that it was written under.
		stored := s.options.Keys.Normalize(key)
		row, found, err := tx.SessionByKey(account, stored)
		if err != nil {
			return err
		}
		if found {
			return s.remove(tx, &row)
		}
		return tx.LeaveHome(account, stored)
	})
	if err == nil {
		s.deletedSome()
	}
	return err
}

// ClearAll deletes every session of the account, with its state, but for main sessions, those bound to a channel, those
// whose keys begin with telegram:, msteams: or cron:, and those with a running run. It tells how many went
// (spec/kv-tool.md, section 10).
func (s *Service) ClearAll(ctx context.Context, account string) (deleted int, err error) {
	for {
		cleared, more, err := s.clearSome(ctx, account)
		if deleted += cleared; err != nil || !more {
			s.deletedSome()
			return deleted, err
		}
	}
}

// clearBatch is how many sessions one transaction looks at.
const clearBatch = 200

// clearSome deletes what is to go among the first sessions that are to go; more tells whether any were left over.
func (s *Service) clearSome(ctx context.Context, account string) (deleted int, more bool, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		deleted, more = 0, false
		for offset := 0; ; offset += clearBatch {
			rows, _, err := tx.Sessions(account, sessile.SessionFilter{Page: sessile.Page{Limit: clearBatch, Offset: offset}})
			if err != nil {
				return err
			}
			for i := range rows {
				if s.spared(&rows[i]) {
					continue
				}
				err := s.remove(tx, &rows[i])
				if sessile.CodeOf(err) == sessile.CodeActiveRunInProgress {
					continue
				}
				if err != nil {
					return err
				}
				deleted++
			}
			if len(rows) < clearBatch {
				return nil
			}
			if deleted > 0 {
				more = true
				return nil
			}
		}
	})
	return deleted, more, err
}

func (s *Service) spared(row *sessile.Session) bool {
	if s.options.Keys.IsMain(row.Key) || row.Channel != "" {
		return true
	}
	for _, prefix := range []string{"telegram:", "msteams:", "cron:"} {
		if strings.HasPrefix(row.Key, prefix) {
			return true
		}
	}
	return false
}
