package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
)

// told lists what a transcript tells.
func (s *stage) told(id, branch string, limit, offset int) (texts []string, total int) {
	s.Helper()
	rows, total, err := s.sessions.Transcript(s.Context(), owner, id, branch, limit, offset)
	s.must(err)
	texts = []string{}
	for _, m := range rows {
		texts = append(texts, m.Content)
	}
	return texts, total
}

func TestTranscript(t *testing.T) {
	s := newStage(t)
	id := s.create(owner, "")
	if texts, total := s.told(id, "main", 10, 0); len(texts) != 0 || total != 0 {
		t.Errorf("an empty session tells %q", texts)
	}
	first := s.floor(id, "main", "one", sessile.FloorCommitted)
	s.floor(id, "main", "two", sessile.FloorCommitted)
	_, err := s.sessions.ForkBranch(s.Context(), owner, first, "empty")
	s.must(err)
	_, err = s.sessions.ForkBranch(s.Context(), owner, first, "grown")
	s.must(err)
	s.floor(id, "grown", "three", sessile.FloorCommitted)
	s.floor(id, "failed", "four", sessile.FloorFailed)
	s.write(id, "written")
	tests := []struct {
		name, branch  string
		limit, offset int
		want          []string
		total         int
	}{
		{"main", "main", 10, 0, []string{"one", "answer to one", "two", "answer to two"}, 4},
		{"a page", "main", 2, 1, []string{"answer to one", "two"}, 4},
		{"the end", "main", 10, 3, []string{"answer to two"}, 4},
		{"behind the end", "main", 10, 4, []string{}, 4},
		{"far behind it", "main", 10, 1 << 40, []string{}, 4},
		{"a branch without floors tells its source", "empty", 10, 0, []string{"one", "answer to one"}, 2},
		{"a branch with floors", "grown", 10, 0, []string{"one", "answer to one", "three", "answer to three"}, 4},
		{"failed floors tell nothing", "failed", 10, 0, []string{}, 0},
		{"only written to", "written", 10, 0, []string{}, 0},
		{"unknown", "unknown", 10, 0, []string{}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			texts, total := s.told(id, test.branch, test.limit, test.offset)
			if diff := cmp.Diff(test.want, texts); diff != "" || total != test.total {
				t.Errorf("total %d, want %d (-want +got):\n%s", total, test.total, diff)
			}
		})
	}
	s.must(s.sessions.DeleteFloor(s.Context(), owner, first))
	if texts, _ := s.told(id, "empty", 10, 0); len(texts) != 0 {
		t.Errorf("a branch whose source is gone tells %q", texts)
	}
	_, _, err = s.sessions.Transcript(s.Context(), "stranger", id, "main", 10, 0)
	s.refused(err, sessile.CodeNotFound)
}

func TestTimeline(t *testing.T) {
	s := newStage(t)
	id := s.create(owner, "")
	floors := []string{
		s.floor(id, "main", "one", sessile.FloorCommitted), s.floor(id, "main", "two", sessile.FloorFailed), s.floor(id, "main", "three", sessile.FloorCommitted),
	}
	replaced := s.floor(id, "main", "replaced", sessile.FloorCommitted)
	s.supersede(replaced, floors[2])
	s.floor(id, "alt", "elsewhere", sessile.FloorCommitted)
	timeline, total, err := s.sessions.Timeline(s.Context(), owner, id, "main", 10, 0)
	s.must(err)
	if total != 3 || len(timeline) != 3 {
		t.Fatalf("got %d of %d floors, want 3", len(timeline), total)
	}
	for i, floor := range timeline {
		var said []string
		for _, page := range floor.Pages {
			for _, m := range page.Messages {
				said = append(said, m.Content)
			}
		}
		want := [][]string{{"one", "answer to one"}, {"two"}, {"three", "answer to three"}}[i]
		if floor.ID != floors[i] || floor.No != int64(i) || !cmp.Equal(said, want) {
			t.Errorf("floor %d is %s, number %d, and says %q", i, floor.ID, floor.No, said)
		}
	}
	timeline, total, err = s.sessions.Timeline(s.Context(), owner, id, "main", 1, 1)
	s.must(err)
	if total != 3 || len(timeline) != 1 || timeline[0].ID != floors[1] {
		t.Errorf("the second page is %+v of %d", timeline, total)
	}
	if timeline, total, err = s.sessions.Timeline(s.Context(), owner, id, "unknown", 1, 0); err != nil || total != 0 || len(timeline) != 0 {
		t.Errorf("an unknown branch: %+v, %v", timeline, err)
	}
	_, _, err = s.sessions.Timeline(s.Context(), "stranger", id, "main", 1, 0)
	s.refused(err, sessile.CodeNotFound)
}
