package session_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

func (s *stage) worldbook(account string) string {
	s.Helper()
	w, err := s.sessions.CreateWorldbook(s.Context(), account, session.NewWorldbook{Name: "book", Book: []byte(`{"entries":[]}`)})
	s.must(err)
	return w.ID
}

func binding(id string) map[string]jsontext.Value {
	if id == "" {
		return map[string]jsontext.Value{"worldbook_profile_id": jsontext.Value("null")}
	}
	return map[string]jsontext.Value{"worldbook_profile_id": jsontext.Value(`"` + id + `"`)}
}

func (s *stage) bound(id, want string) {
	s.Helper()
	got := string(s.get(id).Settings["worldbook_profile_id"])
	if want != "" {
		want = `"` + want + `"`
	}
	if got != want {
		s.Errorf("bound is %s, want %s", got, want)
	}
}

func TestWorldbookBinding(t *testing.T) {
	s := newStage(t)
	first, second, foreign := s.worldbook(owner), s.worldbook(owner), s.worldbook("stranger")
	created, err := s.sessions.Create(s.Context(), owner, session.NewSession{Settings: binding(first)})
	s.must(err)
	id := created.ID
	s.bound(id, first)
	patch := func(p session.Patch) error {
		_, err := s.sessions.Update(s.Context(), owner, id, p)
		return err
	}
	s.must(patch(session.Patch{Settings: binding(second)}))
	s.bound(id, second)
	s.must(patch(session.Patch{Settings: map[string]jsontext.Value{"prompt_mode": jsontext.Value(`"native"`)}}))
	s.bound(id, second)

	title := "not to be kept"
	for _, unknown := range []string{foreign, "wbk_none"} {
		s.refused(patch(session.Patch{Title: &title, Settings: binding(unknown)}), sessile.CodeNotFound)
		s.bound(id, second)
		if s.get(id).Title != nil {
			t.Error("a refused change was made in part")
		}
		_, err := s.sessions.Create(s.Context(), owner, session.NewSession{Settings: binding(unknown)})
		s.refused(err, sessile.CodeNotFound)
	}
	if _, total, err := s.sessions.List(s.Context(), owner, sessile.SessionFilter{Page: sessile.Page{Limit: 1}}); err != nil || total != 1 {
		t.Errorf("there are %d sessions, want 1 (%v)", total, err)
	}

	s.must(patch(session.Patch{Settings: binding("")}))
	s.bound(id, "")
	s.must(patch(session.Patch{Settings: binding(first)}))
	s.refused(s.sessions.DeleteWorldbook(s.Context(), "stranger", first), sessile.CodeNotFound)
	s.bound(id, first)
	s.must(s.sessions.DeleteWorldbook(s.Context(), owner, first))
	s.bound(id, "")
	s.refused(s.sessions.DeleteWorldbook(s.Context(), owner, first), sessile.CodeNotFound)
	s.refused(patch(session.Patch{Settings: binding(first)}), sessile.CodeNotFound)
}

func TestWorldbookVersions(t *testing.T) {
	s := newStage(t)
	id := s.worldbook(owner)
	for version := int64(2); version < 4; version++ {
		w, err := s.sessions.ReplaceWorldbook(s.Context(), owner, id, session.NewWorldbook{Name: "other", Book: []byte(`{}`), EntryCount: version})
		s.must(err)
		found, err := s.sessions.Worldbook(s.Context(), owner, id)
		s.must(err)
		if w.Version != version || found.Version != version || found.Name != "other" || found.EntryCount != version || string(found.Book) != `{}` {
			t.Errorf("got %+v and %+v, want version %d", w, found, version)
		}
	}
	_, err := s.sessions.ReplaceWorldbook(s.Context(), "stranger", id, session.NewWorldbook{Name: "x", Book: []byte(`{}`)})
	s.refused(err, sessile.CodeNotFound)
	_, err = s.sessions.Worldbook(s.Context(), "stranger", id)
	s.refused(err, sessile.CodeNotFound)
	list, total, err := s.sessions.Worldbooks(s.Context(), owner, sessile.Page{Limit: 10})
	s.must(err)
	if total != 1 || len(list) != 1 || list[0].Book != nil {
		t.Errorf("the list is %+v", list)
	}
}
