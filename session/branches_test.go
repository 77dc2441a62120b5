package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

func TestForkBranch(t *testing.T) {
	s := newStage(t)
	id := s.create(owner, "")
	first := s.floor(id, "main", "one", sessile.FloorCommitted)
	second := s.floor(id, "main", "two", sessile.FloorCommitted)
	failed := s.floor(id, "main", "three", sessile.FloorFailed)
	generating := s.floor(id, "other", "four", sessile.FloorGenerating)
	s.floor(id, "carried", "five", sessile.FloorFailed)
	s.write(id, "written")
	replaced := s.floor(id, "line", "six", sessile.FloorCommitted)
	s.supersede(replaced, s.floor(id, "line", "seven", sessile.FloorCommitted))
	tests := []struct {
		name, account, floor, branch string
		want                         sessile.Code
	}{
		{"new", owner, second, "new", ""},
		{"again", owner, second, "new", sessile.CodeBranchExists},
		{"main", owner, second, "main", sessile.CodeBranchExists},
		{"carried by a failed floor", owner, second, "carried", sessile.CodeBranchExists},
		{"only written to", owner, first, "written", ""},
		{"only written to, again", owner, first, "written", sessile.CodeBranchExists},
		{"failed floor", owner, failed, "a", sessile.CodeInvalidState},
		{"generating floor", owner, generating, "b", sessile.CodeInvalidState},
		{"superseded floor", owner, replaced, "c", sessile.CodeInvalidState},
		{"no floor", owner, "flr_none", "d", sessile.CodeNotFound},
		{"foreign floor", "stranger", first, "e", sessile.CodeNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fork, err := s.sessions.ForkBranch(t.Context(), test.account, test.floor, test.branch)
			if got := sessile.CodeOf(err); got != test.want {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if err == nil && (fork.BranchID != test.branch || fork.SourceFloorID != test.floor || fork.SessionID != id) {
				t.Errorf("got %+v", fork)
			}
		})
	}
	fork, err := s.sessions.ForkBranch(s.Context(), owner, second, "")
	s.must(err)
	if !strings.HasPrefix(fork.BranchID, "branch-") || len(fork.BranchID) != len("branch-")+8 || fork.SourceFloorNo != 1 {
		t.Errorf("got %+v", fork)
	}
}

func TestBranches(t *testing.T) {
	s := newStage(t)
	id := s.create(owner, "")
	names := func() []string {
		t.Helper()
		list, total, err := s.sessions.Branches(s.Context(), owner, id, sessile.Page{Limit: 50, SortBy: "branch_id"})
		s.must(err)
		var got []string
		for _, b := range list {
			got = append(got, b.Name)
		}
		if total != len(got) {
			t.Errorf("the total is %d, want %d", total, len(got))
		}
		return got
	}
	check := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, names()); diff != "" {
			t.Errorf("branches (-want +got):\n%s", diff)
		}
	}
	check("main")
	first := s.floor(id, "main", "one", sessile.FloorCommitted)
	s.write(id, "written")
	s.floor(id, "carried", "two", sessile.FloorFailed)
	_, err := s.sessions.ForkBranch(s.Context(), owner, first, "registered")
	s.must(err)
	check("carried", "main", "registered")
	_, err = s.sessions.DeleteBranch(s.Context(), owner, id, "registered")
	s.must(err)
	check("carried", "main")
	_, err = s.sessions.ForkBranch(s.Context(), owner, first, "registered")
	s.must(err)
	check("carried", "main", "registered")
	_, _, err = s.sessions.Branches(s.Context(), "stranger", id, sessile.Page{Limit: 1})
	s.refused(err, sessile.CodeNotFound)
}

func TestDeleteBranch(t *testing.T) {
	s := newStage(t)
	one, two, foreign := s.create(owner, ""), s.create(owner, ""), s.create("stranger", "")
	root := s.floor(one, "main", "root", sessile.FloorCommitted)
	s.write(one, "written")
	for _, branch := range []string{"alone", "both", "busy", "parent"} {
		_, err := s.sessions.ForkBranch(s.Context(), owner, root, branch)
		s.must(err)
	}
	s.floor(one, "alone", "a", sessile.FloorCommitted)
	s.floor(one, "alone", "b", sessile.FloorFailed)
	s.floor(two, "both", "c", sessile.FloorCommitted)
	endBusy := s.run(s.floor(one, "busy", "d", sessile.FloorGenerating))
	source := s.floor(one, "parent", "e", sessile.FloorCommitted)
	_, err := s.sessions.ForkBranch(s.Context(), owner, source, "child")
	s.must(err)
	endChild := s.run(s.floor(one, "child", "f", sessile.FloorGenerating))

	tests := []struct {
		name, account, session, branch string
		before                         func()
		want                           sessile.Code
		floors                         int
	}{
		{"main", owner, one, "main", nil, sessile.CodeProtectedBranch, 0},
		{"main of nobody", "nobody", "ses_none", "main", nil, sessile.CodeProtectedBranch, 0},
		{"unknown", owner, one, "unknown", nil, sessile.CodeNotFound, 0},
		{"only written to", owner, one, "written", nil, sessile.CodeNotFound, 0},
		{"in the wrong session", owner, two, "alone", nil, sessile.CodeNotFound, 0},
		{"in no session", owner, "ses_none", "alone", nil, sessile.CodeNotFound, 0},
		{"in a foreign session", owner, foreign, "alone", nil, sessile.CodeNotFound, 0},
		{"of another account", "stranger", "", "alone", nil, sessile.CodeNotFound, 0},
		{"in two sessions", owner, "", "both", nil, sessile.CodeAmbiguousBranch, 0},
		{"at work", owner, one, "busy", nil, sessile.CodeActiveRunInProgress, 0},
		{"at work on what starts there", owner, one, "parent", nil, sessile.CodeActiveRunInProgress, 0},
		{"no longer at work", owner, one, "busy", endBusy, "", 1},
		{"no longer at work there", owner, one, "parent", endChild, "", 1},
		{"named alone", owner, "", "alone", nil, "", 2},
		{"twice", owner, "", "alone", nil, sessile.CodeNotFound, 0},
		{"in one of two", owner, two, "both", nil, "", 1},
		{"now alone", owner, "", "both", nil, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.before != nil {
				test.before()
			}
			deleted, err := s.sessions.DeleteBranch(t.Context(), test.account, test.session, test.branch)
			if got := sessile.CodeOf(err); got != test.want {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if deleted.Floors != test.floors || err == nil && deleted.BranchID != test.branch {
				t.Errorf("got %+v, want %d floors", deleted, test.floors)
			}
		})
	}
}

func TestFloors(t *testing.T) {
	s := newStage(t)
	one, two := s.create(owner, ""), s.create(owner, "")
	first := s.floor(one, "main", "hello", sessile.FloorCommitted)
	failed := s.floor(one, "main", "in vain", sessile.FloorFailed)
	other := s.floor(two, "main", "elsewhere", sessile.FloorCommitted)
	tests := []struct {
		name, account string
		n             session.NewFloor
		want          sessile.Code
	}{
		{"number taken", owner, session.NewFloor{SessionID: one, BranchID: "main", No: 0}, sessile.CodeFloorExists},
		{"number taken by a failed one", owner, session.NewFloor{SessionID: one, BranchID: "main", No: 1}, sessile.CodeFloorExists},
		{"free number", owner, session.NewFloor{SessionID: one, BranchID: "main", No: 9, ParentFloorID: first}, ""},
		{"parent of another session", owner, session.NewFloor{SessionID: one, BranchID: "x", ParentFloorID: other}, sessile.CodeNotFound},
		{"no such parent", owner, session.NewFloor{SessionID: one, BranchID: "x", ParentFloorID: "flr_none"}, sessile.CodeNotFound},
		{"no such session", owner, session.NewFloor{SessionID: "ses_none", BranchID: "x"}, sessile.CodeNotFound},
		{"foreign session", "stranger", session.NewFloor{SessionID: one, BranchID: "x"}, sessile.CodeNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			floor, err := s.sessions.CreateFloor(t.Context(), test.account, test.n)
			if got := sessile.CodeOf(err); got != test.want {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if err == nil && (floor.State != sessile.FloorDraft || *floor.ParentID != first || floor.No != 9) {
				t.Errorf("got %+v", floor)
			}
		})
	}

	result, err := s.sessions.FloorResult(s.Context(), owner, first)
	s.must(err)
	if result.GeneratedText != "answer to hello" || !cmp.Equal(result.Summaries, []string{"short"}) || result.OutputPageID == nil {
		t.Errorf("the result is %+v", result)
	}
	_, err = s.sessions.FloorResult(s.Context(), owner, failed)
	s.refused(err, sessile.CodeInvalidState)
	_, err = s.sessions.FloorResult(s.Context(), "stranger", first)
	s.refused(err, sessile.CodeNotFound)

	end := s.run(s.floor(one, "main", "busy", sessile.FloorGenerating))
	_, total, err := s.sessions.Floors(s.Context(), sessile.FloorFilter{Account: owner, SessionID: one, State: sessile.FloorGenerating, Page: sessile.Page{Limit: 1}})
	s.must(err)
	if total != 1 {
		t.Errorf("%d floors are generating, want 1", total)
	}
	end()
	end = s.run(first)
	s.refused(s.sessions.DeleteFloor(s.Context(), owner, first), sessile.CodeActiveRunInProgress)
	end()
	s.refused(s.sessions.DeleteFloor(s.Context(), "stranger", first), sessile.CodeNotFound)
	s.must(s.sessions.DeleteFloor(s.Context(), owner, first))
	s.refused(s.sessions.DeleteFloor(s.Context(), owner, first), sessile.CodeNotFound)
}
