package session_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

func TestList(t *testing.T) {
	s := newStage(t)
	titles := map[string]string{}
	for _, title := range []string{"Harbour at night", "harbour, day", "100% done", "ÜBERFAHRT", "a_b"} {
		titles[s.create(owner, title)] = title
	}
	titles[s.create(owner, "")] = "(none)"
	s.create("stranger", "Harbour of another")
	var archived, touched string
	for id, title := range titles {
		switch title {
		case "harbour, day":
			archived = id
		case "Harbour at night":
			touched = id
		}
	}
	_, err := s.sessions.Update(s.Context(), owner, archived, session.Patch{Status: sessile.SessionArchived})
	s.must(err)
	_, err = s.sessions.Update(s.Context(), owner, touched, session.Patch{Settings: map[string]jsontext.Value{"prompt_mode": jsontext.Value(`"native"`)}})
	s.must(err)

	all := sessile.Page{Limit: 50}
	tests := []struct {
		name   string
		filter sessile.SessionFilter
		want   []string
		total  int
	}{
		{"all", sessile.SessionFilter{Page: all}, []string{"Harbour at night", "harbour, day", "100% done", "ÜBERFAHRT", "a_b", "(none)"}, 6},
		{"newest first", sessile.SessionFilter{Page: sessile.Page{Limit: 2, Descending: true}}, []string{"(none)", "a_b"}, 6},
		{"by change", sessile.SessionFilter{Page: sessile.Page{Limit: 2, SortBy: "updated_at", Descending: true}}, []string{"Harbour at night", "harbour, day"}, 6},
		{"a later page", sessile.SessionFilter{Page: sessile.Page{Limit: 2, Offset: 4}}, []string{"a_b", "(none)"}, 6},
		{"behind the end", sessile.SessionFilter{Page: sessile.Page{Limit: 2, Offset: 9}}, nil, 6},
		{"archived", sessile.SessionFilter{Status: sessile.SessionArchived, Page: all}, []string{"harbour, day"}, 1},
		{"active with keyword", sessile.SessionFilter{Status: sessile.SessionActive, Keyword: "harbour", Page: all}, []string{"Harbour at night"}, 1},
		{"keyword", sessile.SessionFilter{Keyword: "HARBOUR", Page: all}, []string{"Harbour at night", "harbour, day"}, 2},
		{"part of a word", sessile.SessionFilter{Keyword: "bou", Page: all}, []string{"Harbour at night", "harbour, day"}, 2},
		{"beyond ASCII", sessile.SessionFilter{Keyword: "überf", Page: all}, []string{"ÜBERFAHRT"}, 1},
		{"a percent sign is one", sessile.SessionFilter{Keyword: "0%", Page: all}, []string{"100% done"}, 1},
		{"and no wildcard", sessile.SessionFilter{Keyword: "h%r", Page: all}, nil, 0},
		{"an underscore is one", sessile.SessionFilter{Keyword: "a_b", Page: all}, []string{"a_b"}, 1},
		{"and no wildcard either", sessile.SessionFilter{Keyword: "h_r", Page: all}, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, total, err := s.sessions.List(t.Context(), owner, test.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range found {
				got = append(got, titles[one.ID])
			}
			if !slices.Equal(got, test.want) || total != test.total {
				t.Errorf("got %q of %d, want %q of %d", got, total, test.want, test.total)
			}
		})
	}
}

func TestPatch(t *testing.T) {
	s := newStage(t)
	title := "before"
	created, err := s.sessions.Create(s.Context(), owner, session.NewSession{Title: &title, Settings: map[string]jsontext.Value{
		"model_name": jsontext.Value(`"one"`), "metadata": jsontext.Value(`{"b":1,"a":[1,2.50]}`), "preset_id": jsontext.Value("null"),
	}})
	s.must(err)
	other := "after"
	tests := []struct {
		name  string
		patch session.Patch
		title string
		want  map[string]jsontext.Value
	}{
		{"nothing", session.Patch{}, "before", map[string]jsontext.Value{"model_name": jsontext.Value(`"one"`), "metadata": jsontext.Value(`{"b":1,"a":[1,2.50]}`)}},
		{"title", session.Patch{Title: &other}, "after", map[string]jsontext.Value{"model_name": jsontext.Value(`"one"`), "metadata": jsontext.Value(`{"b":1,"a":[1,2.50]}`)}},
		{
			"null removes",
			session.Patch{Settings: map[string]jsontext.Value{"model_name": jsontext.Value("null"), "preset_id": jsontext.Value("null")}},
			"after",
			map[string]jsontext.Value{"metadata": jsontext.Value(`{"b":1,"a":[1,2.50]}`)},
		},
		{
			"a value takes the place of the whole",
			session.Patch{Settings: map[string]jsontext.Value{"metadata": jsontext.Value(`{"c":null}`)}},
			"after",
			map[string]jsontext.Value{"metadata": jsontext.Value(`{"c":null}`)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := s.get(created.ID)
			changed, err := s.sessions.Update(t.Context(), owner, created.ID, test.patch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(changed, s.get(created.ID)); diff != "" {
				t.Errorf("what was answered is not what is there:\n%s", diff)
			}
			if diff := cmp.Diff(test.want, changed.Settings); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if changed.Title == nil || *changed.Title != test.title || changed.UpdatedAt <= before.UpdatedAt || changed.CreatedAt != before.CreatedAt {
				t.Errorf("got %+v", changed)
			}
		})
	}
	for _, account := range []string{"stranger", ""} {
		_, err = s.sessions.Update(s.Context(), account, created.ID, session.Patch{Title: &title})
		s.refused(err, sessile.CodeNotFound)
	}
}

func TestBatches(t *testing.T) {
	s := newStage(t)
	one, two, busy := s.create(owner, "one"), s.create(owner, "two"), s.create(owner, "busy")
	foreign := s.create("stranger", "foreign")
	end := s.run(s.floor(busy, "main", "hello", sessile.FloorGenerating))
	ids := []string{two, "ses_none", foreign, busy, one}

	results, err := s.sessions.SetStatuses(s.Context(), owner, ids, sessile.SessionArchived)
	s.must(err)
	want := []session.BatchResult{{ID: two, Action: "updated"}, {ID: "ses_none", Action: "not_found"}, {ID: foreign, Action: "not_found"}, {ID: busy, Action: "updated"}, {ID: one, Action: "updated"}}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if got := s.get(two).Status; got != sessile.SessionArchived {
		t.Errorf("the status is %s", got)
	}

	results, err = s.sessions.DeleteMany(s.Context(), owner, ids)
	s.must(err)
	for i, action := range []string{"deleted", "not_found", "not_found", "conflict", "deleted"} {
		want[i].Action = action
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	for _, id := range []string{one, two} {
		_, err := s.sessions.Get(s.Context(), owner, id)
		s.refused(err, sessile.CodeNotFound)
	}
	s.get(busy)
	if _, err := s.sessions.Get(s.Context(), "stranger", foreign); err != nil {
		t.Errorf("the session of another account: %v", err)
	}

	s.refused(s.sessions.Delete(s.Context(), owner, busy), sessile.CodeActiveRunInProgress)
	s.refused(s.sessions.Delete(s.Context(), "stranger", busy), sessile.CodeNotFound)
	end()
	s.must(s.sessions.Delete(s.Context(), owner, busy))
	s.refused(s.sessions.Delete(s.Context(), owner, busy), sessile.CodeNotFound)
}

func TestActiveRun(t *testing.T) {
	s := newStage(t)
	id := s.create(owner, "")
	active := func() *sessile.Run {
		t.Helper()
		run, err := s.sessions.ActiveRun(s.Context(), owner, id)
		s.must(err)
		return run
	}
	if run := active(); run != nil {
		t.Errorf("a new session has the run %+v", run)
	}
	floor := s.floor(id, "main", "hello", sessile.FloorGenerating)
	end := s.run(floor)
	if run := active(); run == nil || run.Status != sessile.RunRunning {
		t.Errorf("got %+v", run)
	}
	end()
	if run := active(); run != nil {
		t.Errorf("the run has ended, got %+v", run)
	}
	_, run, err := s.sessions.FloorRun(s.Context(), owner, floor)
	s.must(err)
	if run == nil || run.Status != sessile.RunSucceeded {
		t.Errorf("the run of the floor is %+v", run)
	}
	_, err = s.sessions.ActiveRun(s.Context(), "stranger", id)
	s.refused(err, sessile.CodeNotFound)
}
