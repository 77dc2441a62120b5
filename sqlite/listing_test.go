package sqlite

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// Sessions that are older than the lists are found in them.
func TestListingOfOlderSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db, err := driver.Open(sqliteconn.FileURI(path), sqliteconn.Extend)
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithTableName("schema_version"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	type place struct {
		lane sessile.Lane
		name string
	}
	want := map[string]place{
		"agent:main:main": {sessile.LaneOther, "main"}, "agent:main:cron:1": {sessile.LaneCron, ""}, "hook:x": {sessile.LaneHook, ""},
		"agent:work:node-1": {sessile.LaneNode, "node-1"}, "node:7": {sessile.LaneNode, ""}, "global": {sessile.LaneOther, "global"},
		"agent:main:telegram:group:9": {sessile.LaneGroup, ""}, "agent:main:x:direct:1": {sessile.LaneOther, ""},
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO account (id, name, created_at) VALUES (1, 'a', 0)"); err != nil {
		t.Fatal(err)
	}
	for key := range want {
		_, err := db.ExecContext(t.Context(), `INSERT INTO session (public_id, account, status, settings, created_at, updated_at, key, agent, subject)
VALUES (?1, 1, 'active', '{}', 0, 0, ?1, 'main', 'Harbour')`, key)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.View(t.Context(), func(tx sessile.ReadTx) error {
		for _, found := range []string{"", "harbour"} {
			n := 0
			err := tx.ListSessions("a", sessile.SessionSelection{Found: found}, func(s *sessile.Session) (bool, error) {
				n++
				if got := (place{s.Lane, s.Name}); got != want[s.Key] {
					t.Errorf("%s is %+v, want %+v", s.Key, got, want[s.Key])
				}
				return true, nil
			})
			if err != nil || n != len(want) {
				t.Errorf("%d sessions, want %d: %v", n, len(want), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What the search index holds is what sessions say, whatever happened to them.
func TestSearchIndexIsSound(t *testing.T) {
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var rows []sessile.Session
	update := func(fn func(tx sessile.Tx) error) {
		t.Helper()
		if err := store.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	label := "harbour"
	update(func(tx sessile.Tx) error {
		for i := range 40 {
			s := sessile.Session{
				ID: fmt.Sprintf("ses_%d", i), Account: "a", Key: fmt.Sprintf("agent:main:direct:%d", i), AgentID: "main",
				Status: sessile.SessionActive, Settings: []byte(`{"model_name":"m","model_provider":7}`), DisplayName: "Guest",
			}
			if err := tx.AddSession(&s); err != nil {
				return err
			}
			rows = append(rows, s)
		}
		return nil
	})
	update(func(tx sessile.Tx) error {
		for i := range rows {
			s := &rows[i]
			s.Details = []byte(`{"modelOverride":"p/x"}`)
			var err error
			switch i % 5 {
			case 0:
				s.Label, s.DisplayName = &label, ""
				err = tx.UpdateSession(s)
			case 1:
				err = tx.TouchSession(s)
			case 2:
				err = tx.DeleteSession(s)
			case 3:
				if err = tx.RetireSession(s); err == nil {
					fresh := *s
					fresh.ID += "b"
					err = tx.AddSession(&fresh)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for more := true; more; {
		update(func(tx sessile.Tx) (err error) {
			more, err = tx.PurgeDeleted(100)
			return err
		})
	}
	if err := store.writer.conn.Exec("INSERT INTO session_search (session_search, rank) VALUES ('integrity-check', 1)"); err != nil {
		t.Error(err)
	}
}
