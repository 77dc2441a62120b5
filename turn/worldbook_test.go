package turn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/turn"
)

// bind keeps a worldbook of the given entries and binds it to the session.
func (s *stage) bind(depth int, entries ...string) sessile.Worldbook {
	s.Helper()
	book, err := s.sessions.CreateWorldbook(s.ctx, owner, session.NewWorldbook{
		Name: "book", Book: fmt.Appendf(nil, `{"scanDepth":%d,"entries":[%s]}`, depth, strings.Join(entries, ",")), EntryCount: int64(len(entries)),
	})
	s.must(err)
	_, err = s.sessions.Update(s.ctx, owner, s.id, session.Patch{
		Settings: map[string]jsontext.Value{"worldbook_profile_id": jsontext.Value(`"` + book.ID + `"`)},
	})
	s.must(err)
	return book
}

func entry(uid int, key, content string) string {
	return fmt.Sprintf(`{"uid":%d,"key":[%q],"content":%q}`, uid, key, content)
}

// worldOf is what the turn of a floor left in the slot world.
func (s *stage) worldOf(floorID string) (w struct {
	WorldbookID      *string `json:"worldbookId"`
	WorldbookVersion *int64  `json:"worldbookVersion"`
	UIDs             []int64 `json:"activatedWorldbookEntryUids"`
},
) {
	s.Helper()
	values, err := s.cells.Snapshot(s.ctx, owner, s.id, floorID, sessile.SlotFilter{Namespace: sessile.GameState, Slot: sessile.SlotWorld})
	s.must(err)
	s.must(json.Unmarshal(values[0].Data, &w))
	return w
}

func TestWorldbookReachesModelAndState(t *testing.T) {
	s := newStage(t, turn.Options{})
	book := s.bind(2, entry(7, "lantern", "The lantern is lit."), entry(3, "lantern", "  "), entry(5, "boat", "The boat leaks."))
	floor := s.respond("main", "I take the lantern.").FloorID
	want := []model.Message{{Role: "system", Content: "The lantern is lit."}, {Role: "user", Content: "I take the lantern."}}
	if got := s.script.last(); !cmp.Equal(got, want) {
		t.Errorf("the model was told %q, want %q", got, want)
	}
	w := s.worldOf(floor)
	if w.WorldbookID == nil || *w.WorldbookID != book.ID || *w.WorldbookVersion != 1 || !slices.Equal(w.UIDs, []int64{7, 3}) {
		t.Errorf("world is %+v", w)
	}

	_, err := s.sessions.ReplaceWorldbook(s.ctx, owner, book.ID, session.NewWorldbook{
		Name: "book", Book: []byte(`{"entries":[` + entry(9, "lantern", "The lantern is dark.") + "," + entry(1, "boat", "The boat sinks.") + `]}`),
	})
	s.must(err)
	floor = s.respond("main", "With the lantern to the boat.").FloorID
	if got := s.script.last()[0].Content; got != "The lantern is dark.\n\nThe boat sinks." {
		t.Errorf("the model was told %q", got)
	}
	if w := s.worldOf(floor); *w.WorldbookVersion != 2 || !slices.Equal(w.UIDs, []int64{9, 1}) {
		t.Errorf("world is %+v", w)
	}

	s.must(s.sessions.DeleteWorldbook(s.ctx, owner, book.ID))
	floor = s.respond("main", "The lantern again.").FloorID
	if got := s.script.last()[0]; got.Role == "system" {
		t.Errorf("a book that is gone still tells %q", got.Content)
	}
	if w := s.worldOf(floor); w.WorldbookID != nil || w.WorldbookVersion != nil || len(w.UIDs) != 0 {
		t.Errorf("world is %+v", w)
	}
}

// Scanned are the newest messages of committed floors on the branch, and what the user says now.
func TestWorldbookScan(t *testing.T) {
	say3 := func(s *stage) {
		for _, text := range []string{"one", "two", "three"} {
			s.script.add(say("answer to " + text))
			s.respond("main", "key-"+text)
		}
	}
	tests := []struct {
		name  string
		depth int
		key   string
		tell  func(s *stage)
		want  bool
	}{
		{"now", 1, "now", say3, true},
		{"depth 0 scans nothing", 0, "now", say3, false},
		{"depth 1 is the message alone", 1, "answer to three", say3, false},
		{"depth 2 reaches the last answer", 2, "answer to three", say3, true},
		{"and no further", 2, "key-three", say3, false},
		{"depth 3 reaches the message before", 3, "key-three", say3, true},
		{"depth 6", 6, "answer to one", say3, true},
		{"and no further than that", 6, "key-one", say3, false},
		{"depth 7", 7, "key-one", say3, true},
		{"more than there is", 99, "key-one", say3, true},
		{"an ingested text", 9, "driftwood", func(s *stage) { s.ingest("user", "driftwood", false) }, true},
		{"ingested blocks", 9, "driftwood", func(s *stage) { s.ingest("assistant", `[{"type":"text","text":"driftwood"}]`, true) }, true},
		{"the words around blocks", 9, "type", func(s *stage) { s.ingest("assistant", `[{"type":"text","text":"driftwood"}]`, true) }, false},
		{"an ingested system row", 9, "driftwood", func(s *stage) { s.ingest("system", "driftwood", false) }, false},
		{"an ingested row of a tool", 9, "driftwood", func(s *stage) { s.ingest("tool", "driftwood", false) }, false},
		{"a row of a tool takes no place", 3, "early", func(s *stage) {
			s.ingest("user", "early", false)
			s.ingest("tool", "noise", false)
			s.ingest("system", "noise", false)
			s.ingest("assistant", "late", false)
		}, true},
		{"a hidden message", 9, "secret", func(s *stage) { s.hidden("secret") }, false},
		{"a failed turn", 9, "lost", func(s *stage) {
			s.script.add(failWith(errBroken))
			_, err := s.turns.Respond(s.ctx, owner, s.id, turn.RespondRequest{Message: "lost"})
			s.refused(err, sessile.CodeOrchestrationFailed)
		}, false},
		{"another branch", 9, "elsewhere", func(s *stage) {
			s.respond("main", "root")
			s.respond("alt", "elsewhere")
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, turn.Options{})
			test.tell(s)
			s.bind(test.depth, entry(1, test.key, "it matched"))
			floor := s.respond("main", "now").FloorID
			if got := len(s.worldOf(floor).UIDs) == 1; got != test.want {
				t.Errorf("activated: %v, want %v", got, test.want)
			}
			if got := s.script.last()[0].Content == "it matched"; got != test.want {
				t.Errorf("told to the model: %v, want %v", got, test.want)
			}
		})
	}
}

// A rerun scans what stood before its own floor: neither the answer it replaces nor its message twice.
func TestWorldbookScanOfReruns(t *testing.T) {
	for _, k := range kinds()[1:] {
		t.Run(k.name, func(t *testing.T) {
			s := newStage(t, turn.Options{})
			s.script.add(say("before"))
			s.respond("main", "opening")
			s.script.add(say("replaced"))
			floor := s.respond("main", "hello").FloorID
			s.bind(9, entry(1, "replaced", "a"), entry(2, "before", "b"), entry(3, "opening", "c"))
			s.script.add(say("said"))
			result, err := k.take(s.ctx, s, floor, turn.Request{})
			s.must(err)
			if got := s.worldOf(result.FloorID).UIDs; !slices.Equal(got, []int64{2, 3}) {
				t.Errorf("activated %d, want 2 and 3", got)
			}
			told := 0
			for _, m := range s.script.last() {
				if m.Role == "user" {
					told++
				}
			}
			if told != 2 {
				t.Errorf("the model was told %q", s.script.last())
			}
		})
	}
}

func (s *stage) ingest(role, content string, blocks bool) {
	s.Helper()
	_, err := s.turns.Ingest(s.ctx, owner, s.id, turn.IngestRequest{
		Messages: []turn.IngestedMessage{{Role: role, Content: content, Blocks: blocks}},
	})
	s.must(err)
}

// hidden takes a turn and adds a hidden message to its floor.
func (s *stage) hidden(text string) {
	s.Helper()
	floorID := s.respond("main", "visible").FloorID
	s.must(s.store.Update(s.ctx, func(tx sessile.Tx) error {
		floor, _, err := tx.Floor(owner, floorID)
		if err != nil {
			return err
		}
		pages, err := tx.Pages(floor.Row)
		if err != nil {
			return err
		}
		return tx.AddMessage(&sessile.Message{
			ID: "msg_hidden", Page: pages[0].Row, Seq: 1, Role: "user", Content: text, ContentFormat: "text", Hidden: true,
		})
	}))
}
