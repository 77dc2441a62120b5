package session

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/transcript"
)

// Options tell how a service behaves.
type Options struct {
	// IDs makes the ids of what is created; the zero value is ready.
	IDs sessile.IDs
	// Keys are the rules of session keys; the zero value is ready.
	Keys Keys
	// Logger hears of the clean-up in the background; default none.
	Logger *slog.Logger
	// PurgeBatch is how many rows of a deleted session one transaction removes; default 500.
	PurgeBatch int
	// Visibility decides which sessions agents see of each other; the zero value is the documented default.
	Visibility Visibility
	// View shows transcripts to agents; default one that masks by the built-in rules.
	View *transcript.View
	// Models are what sessions may choose from; the zero value knows none.
	Models Models
	// Sandboxed reports whether the sessions of an agent run in a sandbox; default none does.
	Sandboxed func(agent string) bool
	// HasTool reports whether the policy of tools leaves a session a tool; default yes.
	HasTool func(c Caller, tool string) bool
	// Announce is called after the commit of what is in the log of changes; default nothing.
	Announce func()
	// Now tells the time for what is read; default time.Now.
	Now func() time.Time
	// PurgeRetry is how long the clean-up waits after an error; default one second.
	PurgeRetry time.Duration
}

// Service is the use cases around sessions over a store. It is safe for concurrent use.
type Service struct {
	store   sessile.Store
	cells   *state.Service
	options Options
	deleted chan struct{} // holds at most one signal: there is something to purge

	removed func(tx sessile.Tx, gone *sessile.Session) error
}

// New makes a service. It does no IO.
func New(store sessile.Store, cells *state.Service, options Options) *Service {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.View == nil {
		options.View = transcript.NewView(nil)
	}
	if options.Sandboxed == nil {
		options.Sandboxed = func(string) bool { return false }
	}
	if options.HasTool == nil {
		options.HasTool = func(Caller, string) bool { return true }
	}
	if options.Announce == nil {
		options.Announce = func() {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.PurgeBatch == 0 {
		options.PurgeBatch = 500
	}
	if options.PurgeRetry == 0 {
		options.PurgeRetry = time.Second
	}
	return &Service{
		store: store, cells: cells, options: options, deleted: make(chan struct{}, 1),
		removed: func(sessile.Tx, *sessile.Session) error { return nil },
	}
}

// Follow names who hears of sessions that are deleted, in the transaction that does it. It must be called before the first
// deletion. After the commit Options.Announce is called.
func (s *Service) Follow(removed func(tx sessile.Tx, gone *sessile.Session) error) {
	s.removed = removed
}

// Create makes a session with its main branch (spec/governed-state.md, section 6). A session that is given no key gets
// agent:<agent>:session:<uuid>. Codes: not_found when it names a worldbook the account does not have, session_key_taken
// when the key has a session.
func (s *Service) Create(ctx context.Context, account string, n NewSession) (Session, error) {
	row := sessile.Session{
		ID: s.options.IDs.New(sessile.PrefixSession), Account: account, Title: n.Title, Status: n.Status,
		Key: n.Key, Label: n.Label, Channel: n.Channel, DisplayName: n.DisplayName, Subject: n.Subject, ChatType: n.ChatType,
		SpawnedBy: s.keyOf(n.SpawnedBy), ParentKey: s.keyOf(n.ParentKey), OwnerKey: s.keyOf(n.OwnerKey),
	}
	if row.Status == "" {
		row.Status = sessile.SessionActive
	}
	err := s.store.Update(ctx, func(tx sessile.Tx) (err error) {
		settings := maps.Clone(n.Settings)
		if err := bindWorldbook(tx, &row, settings); err != nil {
			return err
		}
		if row.Settings, err = encodeSettings(settings); err != nil {
			return err
		}
		if err := n.Details.store(&row); err != nil {
			return err
		}
		row.CreatedAt, row.UpdatedAt = tx.Now(), tx.Now()
		if n.UpdatedAt != nil {
			row.UpdatedAt = *n.UpdatedAt
		}
		if row.Status == sessile.SessionArchived {
			row.ArchivedAt = tx.Now()
		}
		return s.add(tx, &row, n.AgentID)
	})
	if err != nil {
		return Session{}, err
	}
	return sessionOf(&row)
}

// keyOf is the stored form of a key that may be missing.
func (s *Service) keyOf(key string) string {
	if key == "" {
		return ""
	}
	return s.options.Keys.Normalize(key)
}

// add stores a session under its key, or under one that is made for it.
func (s *Service) add(tx sessile.Tx, row *sessile.Session, agent string) error {
	keys := s.options.Keys.withDefaults()
	if row.Key == "" {
		if agent == "" {
			agent = keys.DefaultAgent
		}
		row.Key = agentPrefix + agent + ":session:" + s.options.IDs.UUID()
	}
	row.Key = keys.Normalize(row.Key)
	row.AgentID = agent
	if named, _, ok := SplitKey(row.Key); ok {
		row.AgentID = named
	} else if agent == "" {
		row.AgentID = keys.DefaultAgent
	}
	_, taken, err := tx.SessionByKey(row.Account, row.Key)
	if err != nil {
		return err
	}
	if taken {
		return sessile.Errorf(sessile.CodeSessionKeyTaken, "there is a session with this key already")
	}
	row.Lane, row.Name = laneOf(row), nameOf(row)
	return tx.AddSession(row)
}

// Get finds a session. Codes: not_found.
func (s *Service) Get(ctx context.Context, account, id string) (found Session, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		found, err = sessionOf(&row)
		return err
	})
	return found, err
}

// List lists the account's sessions and tells how many pass the filter.
func (s *Service) List(ctx context.Context, account string, f sessile.SessionFilter) (sessions []Session, total int, err error) {
	if f.Key != "" {
		f.Key = s.options.Keys.Normalize(f.Key)
	}
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		rows, n, err := tx.Sessions(account, f)
		if err != nil {
			return err
		}
		total = n
		for i := range rows {
			one, err := sessionOf(&rows[i])
			if err != nil {
				return err
			}
			sessions = append(sessions, one)
		}
		return nil
	})
	return sessions, total, err
}

// Update changes a session; archiving and reviving are changes of its status. Codes: not_found.
func (s *Service) Update(ctx context.Context, account, id string, p Patch) (changed Session, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		if err := patch(tx, &row, p, tx.Now()); err != nil {
			return err
		}
		row.UpdatedAt = tx.Now()
		if err := tx.UpdateSession(&row); err != nil {
			return err
		}
		changed, err = sessionOf(&row)
		return err
	})
	return changed, err
}

func patch(tx sessile.ReadTx, row *sessile.Session, p Patch, now int64) error {
	if p.Title != nil {
		row.Title = p.Title
	}
	if p.Label != nil {
		row.Label = p.Label
		if *p.Label == "" {
			row.Label = nil
		}
	}
	if p.Status != "" {
		setStatus(row, p.Status, now)
	}
	if p.Pinned != nil {
		row.PinnedAt = markedAt(*p.Pinned, row.PinnedAt, now)
	}
	if len(p.Settings) == 0 {
		return nil
	}
	settings, err := decodeSettings(row.Settings)
	if err != nil {
		return err
	}
	maps.Copy(settings, p.Settings)
	if err := bindWorldbook(tx, row, settings); err != nil {
		return err
	}
	row.Settings, err = encodeSettings(settings)
	return err
}

// setStatus archives or revives a session.
func setStatus(row *sessile.Session, status sessile.SessionStatus, now int64) {
	row.Status = status
	row.ArchivedAt = markedAt(status == sessile.SessionArchived, row.ArchivedAt, now)
}

// markedAt is the time of a mark: it stays what it was while the mark stays, and is 0 without one.
func markedAt(marked bool, at, now int64) int64 {
	switch {
	case !marked:
		return 0
	case at != 0:
		return at
	}
	return now
}

// Delete removes a session and gives back at once what it counted for; its rows go in the background. Codes: not_found,
// active_run_in_progress.
func (s *Service) Delete(ctx context.Context, account, id string) error {
	err := s.store.Update(ctx, func(tx sessile.Tx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		return s.remove(tx, &row)
	})
	if err == nil {
		s.deletedSome()
	}
	return err
}

// remove deletes a session with all earlier ones behind its key, its key-value state and what is logged of it.
func (s *Service) remove(tx sessile.Tx, row *sessile.Session) error {
	if err := checkIdle(tx, row); err != nil {
		return err
	}
	if err := tx.DeleteSession(row); err != nil {
		return err
	}
	if err := tx.ForgetEvents(row.Account, row.Key); err != nil {
		return err
	}
	if err := tx.LeaveHome(row.Account, row.Key); err != nil {
		return err
	}
	return s.removed(tx, row)
}

// checkIdle refuses a session with a running run.
func checkIdle(tx sessile.ReadTx, row *sessile.Session) error {
	running, err := tx.RunningRuns(row.Row)
	if err == nil && len(running) > 0 {
		err = errActiveRun("session")
	}
	return err
}

// SetStatuses archives or revives many sessions in one transaction and tells for each what became of it.
func (s *Service) SetStatuses(ctx context.Context, account string, ids []string, status sessile.SessionStatus) (results []BatchResult, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		results = results[:0]
		for _, id := range ids {
			row, found, err := tx.Session(account, id)
			if err != nil {
				return err
			}
			if !found {
				results = append(results, BatchResult{ID: id, Action: "not_found"})
				continue
			}
			setStatus(&row, status, tx.Now())
			row.UpdatedAt = tx.Now()
			if err := tx.UpdateSession(&row); err != nil {
				return err
			}
			results = append(results, BatchResult{ID: id, Action: "updated"})
		}
		return nil
	})
	return results, err
}

// DeleteMany deletes many sessions in one transaction; one with a running run is a conflict and stays.
func (s *Service) DeleteMany(ctx context.Context, account string, ids []string) (results []BatchResult, err error) {
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		results = results[:0]
		for _, id := range ids {
			action := "deleted"
			row, err := ownSession(tx, account, id)
			if err == nil {
				err = s.remove(tx, &row)
			}
			switch sessile.CodeOf(err) {
			case "":
			case sessile.CodeNotFound:
				action = "not_found"
			case sessile.CodeActiveRunInProgress:
				action = "conflict"
			default:
				return err
			}
			results = append(results, BatchResult{ID: id, Action: action})
		}
		return nil
	})
	if err == nil {
		s.deletedSome()
	}
	return results, err
}

// ActiveRun finds the oldest running run of a session, nil when there is none. Codes: not_found.
func (s *Service) ActiveRun(ctx context.Context, account, sessionID string) (run *sessile.Run, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, err := ownSession(tx, account, sessionID)
		if err != nil {
			return err
		}
		runs, err := tx.RunningRuns(row.Row)
		if err == nil && len(runs) > 0 {
			run = &runs[0]
		}
		return err
	})
	return run, err
}

func ownSession(tx sessile.ReadTx, account, id string) (sessile.Session, error) {
	row, found, err := tx.Session(account, id)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	return row, err
}

func errActiveRun(what string) error {
	return sessile.Errorf(sessile.CodeActiveRunInProgress, "a run of this %s is in progress", what)
}

// encodeSettings leaves out what is null: absent and null are the same for a setting.
func encodeSettings(settings map[string]jsontext.Value) ([]byte, error) {
	kept := make(map[string]jsontext.Value, len(settings))
	for name, value := range settings {
		if value.Kind() != 'n' {
			kept[name] = value
		}
	}
	return json.Marshal(kept, json.Deterministic(true), jsontext.AllowDuplicateNames(true))
}

func decodeSettings(text []byte) (map[string]jsontext.Value, error) {
	settings := map[string]jsontext.Value{}
	err := json.Unmarshal(text, &settings, jsontext.AllowDuplicateNames(true))
	return settings, err
}

func sessionOf(row *sessile.Session) (Session, error) {
	settings, err := decodeSettings(row.Settings)
	if row.WorldbookID != "" && err == nil {
		settings[settingWorldbook], err = json.Marshal(row.WorldbookID)
	}
	return Session{
		ID: row.ID, Key: row.Key, AgentID: row.AgentID, Title: row.Title, Label: row.Label, Channel: row.Channel, Status: row.Status,
		PinnedAt: row.PinnedAt, ArchivedAt: row.ArchivedAt, Settings: settings, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}, err
}
