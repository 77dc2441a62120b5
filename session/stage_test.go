package session_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/state"
)

const owner = "owner"

// stage is a store with the services over it. Its clock moves by a millisecond with every transaction.
type stage struct {
	*testing.T
	path     string
	store    *sqlite.Store
	cells    *state.Service
	sessions *session.Service
	clock    atomic.Int64
	made     int
}

func newStage(t *testing.T) *stage {
	s := &stage{T: t, path: filepath.Join(t.TempDir(), "session.db")}
	s.clock.Store(1_700_000_000_000)
	var err error
	s.store, err = sqlite.Open(t.Context(), s.path, sqlite.Options{
		Clock: func() time.Time { return time.UnixMilli(s.clock.Add(1)) },
	})
	s.must(err)
	t.Cleanup(func() { s.must(s.store.Close()) })
	s.cells = state.New(s.store, state.Options{Quotas: sessile.DefaultQuotas()})
	s.sessions = session.New(s.store, s.cells, session.Options{})
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected: %v", err)
	}
}

func (s *stage) refused(err error, want sessile.Code) {
	s.Helper()
	if got := sessile.CodeOf(err); got != want {
		s.Errorf("the error is %v, want the code %q", err, want)
	}
}

// create makes a session with a title, or without one for "".
func (s *stage) create(account, title string) string {
	s.Helper()
	var n session.NewSession
	if title != "" {
		n.Title = &title
	}
	created, err := s.sessions.Create(s.Context(), account, n)
	s.must(err)
	return created.ID
}

func (s *stage) get(id string) session.Session {
	s.Helper()
	found, err := s.sessions.Get(s.Context(), owner, id)
	s.must(err)
	return found
}

// floor puts a floor on a branch as a turn would: with what the user said and, committed, an answer and a snapshot.
func (s *stage) floor(sessionID, branch, said string, of sessile.FloorState) (id string) {
	s.Helper()
	s.made++
	id = fmt.Sprintf("flr_%d", s.made)
	s.must(s.store.Update(s.Context(), func(tx sessile.Tx) error {
		row, _, err := tx.Session(owner, sessionID)
		if err != nil {
			return err
		}
		b, found, err := tx.Branch(row.Row, branch)
		if err != nil {
			return err
		}
		if !found {
			b = sessile.Branch{Session: row.Row, Name: branch}
			if err := tx.AddBranch(&b); err != nil {
				return err
			}
		}
		floor := sessile.Floor{ID: id, Session: row.Row, Branch: b.Row, Parent: b.SourceFloor, State: sessile.FloorGenerating, CreatedAt: tx.Now()}
		if last, found, err := tx.LatestFloor(b.Row, false); err != nil {
			return err
		} else if found {
			floor.No, floor.Parent = last.No+1, last.Row
		}
		if err := tx.AddFloor(&floor); err != nil {
			return err
		}
		if err := s.page(tx, floor.Row, sessile.PageInput, "user", said); err != nil {
			return err
		}
		if of != sessile.FloorCommitted {
			return tx.SetFloorState(floor.Row, of)
		}
		if err := s.page(tx, floor.Row, sessile.PageOutput, "assistant", "answer to "+said); err != nil {
			return err
		}
		return s.cells.CommitFloor(tx, &state.FloorCommit{Session: &row, Branch: &b, Floor: &floor, RunType: "respond"})
	}))
	return id
}

func (s *stage) page(tx sessile.Tx, floor int64, kind sessile.PageKind, role, text string) error {
	s.made++
	page := sessile.ContentPage{ID: fmt.Sprintf("pag_%d", s.made), Floor: floor, Kind: kind, Active: true, Version: 1}
	if kind == sessile.PageOutput {
		page.Summaries = []byte(`["short"]`)
	}
	if err := tx.AddPage(&page); err != nil {
		return err
	}
	return tx.AddMessage(&sessile.Message{ID: fmt.Sprintf("msg_%d", s.made), Page: page.Row, Role: role, Content: text, ContentFormat: "text"})
}

// run lets a run work on a floor, and returns what ends it.
func (s *stage) run(floorID string) (end func()) {
	s.Helper()
	s.made++
	run := sessile.Run{ID: fmt.Sprintf("run_%d", s.made), Kind: "turn", RunType: "respond", Status: sessile.RunRunning}
	s.must(s.store.Update(s.Context(), func(tx sessile.Tx) error {
		floor, _, err := tx.Floor(owner, floorID)
		if err != nil {
			return err
		}
		run.Session, run.Branch, run.Floor = floor.Session, floor.Branch, floor.Row
		run.StartedAt, run.LeaseUntil = tx.Now(), tx.Now()+60_000
		return tx.AddRun(&run)
	}))
	return func() {
		s.Helper()
		s.must(s.store.Update(s.Context(), func(tx sessile.Tx) error {
			now := tx.Now()
			run.Status, run.EndedAt = sessile.RunSucceeded, &now
			return tx.UpdateRun(&run)
		}))
	}
}

// supersede marks a floor as replaced by another.
func (s *stage) supersede(old, by string) {
	s.Helper()
	s.must(s.store.Update(s.Context(), func(tx sessile.Tx) error {
		a, _, err := tx.Floor(owner, old)
		if err != nil {
			return err
		}
		b, _, err := tx.Floor(owner, by)
		if err != nil {
			return err
		}
		return tx.SupersedeFloor(a.Row, b.Row)
	}))
}

// write puts a value into a cell, for which the branch need not exist.
func (s *stage) write(sessionID, branch string) {
	s.Helper()
	_, err := s.cells.Register(s.Context(), owner, sessionID, state.Registration{Namespace: "bond", OwnerType: "app", OwnerID: "test"})
	if sessile.CodeOf(err) != sessile.CodeNamespaceAlreadyRegistered {
		s.must(err)
	}
	_, err = s.cells.Write(s.Context(), owner, sessionID, state.Address{Branch: branch, Namespace: "bond", Slot: "a"}, jsontext.Value("1"), "")
	s.must(err)
}
