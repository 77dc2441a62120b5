package storetest

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
)

func sessionLife(f *fixture) {
	title := "Élan"
	var s sessile.Session
	f.update(func(tx sessile.Tx) {
		s = sessile.Session{
			ID: "ses_x", Account: "a", Title: &title, Status: sessile.SessionActive, Settings: []byte(`{"k":1}`),
			CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		f.ok(tx.AddSession(&s))
		if missing(tx.Branch(s.Row, sessile.MainBranch)) {
			f.Error("a session has no main branch")
		}
		n := found(tx.Namespace(s.Row, sessile.GameState))
		f.same("built in", n.BuiltIn, true)
	})
	f.view(func(tx sessile.ReadTx) {
		f.same("session", found(tx.Session("a", "ses_x")), s)
		f.same("by row", found(tx.SessionByRow(s.Row)), s)
		names := []string{}
		for _, slot := range must(tx.Slots(s.Row)) {
			names = append(names, slot.Name)
			f.same("materialised from the start", slot.FirstSeq, int64(0))
		}
		f.same("slots", names, []string{"scene", "world"})
	})
	f.update(func(tx sessile.Tx) {
		s.Title, s.Status, s.Settings, s.UpdatedAt = nil, sessile.SessionArchived, []byte(`{}`), s.UpdatedAt+5
		f.ok(tx.UpdateSession(&s))
		f.same("changed, inside", found(tx.Session("a", "ses_x")), s)
	})
	f.view(func(tx sessile.ReadTx) { f.same("changed", found(tx.Session("a", "ses_x")), s) })
}

func sessionList(f *fixture) {
	f.update(func(tx sessile.Tx) {
		for i := range 5 {
			title := fmt.Sprintf("Ünit %d", i)
			status := sessile.SessionActive
			if i == 3 {
				status = sessile.SessionArchived
			}
			f.ok(tx.AddSession(&sessile.Session{
				ID: fmt.Sprintf("ses_%d", i), Account: "a", Key: fmt.Sprintf("key %d", i), Title: &title, Status: status, Settings: []byte("{}"),
				CreatedAt: int64(100 + i), UpdatedAt: int64(200 - i),
			}))
		}
	})
	ids := func(filter sessile.SessionFilter) (string, int) {
		out, total := []string{}, 0
		f.view(func(tx sessile.ReadTx) {
			sessions, n, err := tx.Sessions("a", filter)
			f.ok(err)
			total = n
			for _, s := range sessions {
				out = append(out, strings.TrimPrefix(s.ID, "ses_"))
			}
		})
		return strings.Join(out, ""), total
	}
	for _, c := range []struct {
		filter sessile.SessionFilter
		want   string
		total  int
	}{
		{sessile.SessionFilter{Page: sessile.Page{Limit: 10}}, "01234", 5},
		{sessile.SessionFilter{Page: sessile.Page{Limit: 10, Descending: true}}, "43210", 5},
		{sessile.SessionFilter{Page: sessile.Page{Limit: 2, Offset: 1, SortBy: "updated_at"}}, "32", 5},
		{sessile.SessionFilter{Status: sessile.SessionArchived, Page: sessile.Page{Limit: 10}}, "3", 1},
		{sessile.SessionFilter{Keyword: "üNIT 2", Page: sessile.Page{Limit: 10}}, "2", 1},
		{sessile.SessionFilter{Keyword: "%", Page: sessile.Page{Limit: 10}}, "", 0},
	} {
		got, total := ids(c.filter)
		f.same(fmt.Sprintf("%+v", c.filter), []any{got, total}, []any{c.want, c.total})
	}
}

func sessionIsolation(f *fixture) {
	var mine sessile.Session
	var floor sessile.Floor
	var message sessile.Message
	f.update(func(tx sessile.Tx) {
		mine = f.session(tx, "mine")
		f.session(tx, "theirs")
		b := found(tx.Branch(mine.Row, "main"))
		floor = f.floor(tx, b, 0, 0, sessile.FloorCommitted)
		page := sessile.ContentPage{ID: "pag_1", Floor: floor.Row, Kind: sessile.PageInput, Active: true}
		f.ok(tx.AddPage(&page))
		message = sessile.Message{ID: "msg_1", Page: page.Row, Role: "user", Content: "hi", ContentFormat: "text"}
		f.ok(tx.AddMessage(&message))
	})
	f.view(func(tx sessile.ReadTx) {
		if !missing(tx.Session("theirs", mine.ID)) || !missing(tx.Floor("theirs", floor.ID)) || !missing(tx.Message("theirs", message.ID)) {
			f.Error("another account finds what is not its own")
		}
		if missing(tx.Floor("mine", floor.ID)) || missing(tx.Message("mine", message.ID)) {
			f.Error("the account does not find its own")
		}
		cell := must(tx.Locate(sessile.CellAddress{Account: "theirs", SessionID: mine.ID, Branch: "main", Namespace: "game_state", Slot: "scene"}))
		f.same("foreign cell", cell.Session, int64(0))
		f.same("foreign branches", len(must(tx.BranchesNamed("theirs", "main"))), 1)
		floors, total, err := tx.Floors(sessile.FloorFilter{Account: "theirs", SessionID: mine.ID, Page: sessile.Page{Limit: 5}})
		f.ok(err)
		f.same("foreign floors", len(floors)+total, 0)
	})
}

func sessionDeleteAndPurge(f *fixture) {
	var gone, kept sessile.Session
	f.update(func(tx sessile.Tx) {
		gone, kept = f.session(tx, "a"), f.session(tx, "a")
		for _, s := range []sessile.Session{gone, kept} {
			b := found(tx.Branch(s.Row, "main"))
			n := f.namespace(tx, s.Row, "notes")
			f.ok(tx.AddNamespaceCount(s.AccountRow, 1))
			slot := sessile.Slot{}
			for i := range 20 {
				slot = f.slot(tx, n.Row, fmt.Sprint(i))
				f.write(tx, b.Row, slot.Row, "1")
			}
			f.ok(tx.AddUsage(s.AccountRow, n.Row, 20, 20))
			floor := f.commit(tx, f.floor(tx, b, 0, 0, sessile.FloorCommitted))
			f.ok(tx.SetOverrides(floor.Row, []sessile.Override{{Slot: 1}}))
			page := sessile.ContentPage{ID: f.id("pag_"), Floor: floor.Row, Kind: sessile.PageInput, Active: true}
			f.ok(tx.AddPage(&page))
			f.ok(tx.AddMessage(&sessile.Message{ID: f.id("msg_"), Page: page.Row, Role: "user", Content: "x", ContentFormat: "text"}))
			run := sessile.Run{ID: f.id("run_"), Session: s.Row, Branch: b.Row, Floor: floor.Row, Status: sessile.RunRunning}
			f.ok(tx.AddRun(&run))
			f.ok(tx.UpdateRun(&run))
			m := sessile.Mutation{Branch: b.Row, Slot: slot.Row, Status: sessile.StatusDiscarded}
			f.ok(tx.AppendMutation(&m))
		}
	})
	f.update(func(tx sessile.Tx) {
		f.ok(tx.DeleteSession(&gone))
		f.same("freed at once", must(tx.Usage(gone.AccountRow)), sessile.Usage{Namespaces: 1, Items: 20, Bytes: 20})
	})
	f.view(func(tx sessile.ReadTx) {
		if !missing(tx.Session("a", gone.ID)) || !missing(tx.SessionByRow(gone.Row)) {
			f.Error("a deleted session is found")
		}
	})
	rounds := 0
	for more := true; more; rounds++ {
		f.update(func(tx sessile.Tx) { more = must(tx.PurgeDeleted(7)) })
		if rounds > 1000 {
			f.Fatal("the purge does not end")
		}
	}
	if rounds < 5 {
		f.Errorf("the purge of some 50 rows by 7 took %d rounds", rounds)
	}
	f.view(func(tx sessile.ReadTx) {
		f.same("slots of the deleted one", len(must(tx.Slots(gone.Row))), 0)
		f.same("slots of the other", len(must(tx.Slots(kept.Row))), 22)
		_, total, err := tx.Mutations(kept.Row, sessile.MutationFilter{Page: sessile.Page{Limit: 1}})
		f.ok(err)
		f.same("mutations of the other", total, 21)
	})
}

func branchLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := f.branch(tx, s.Row, "x y/z?#%ü")
		f.same("branch", found(tx.Branch(s.Row, "x y/z?#%ü")), b)
		if !missing(tx.Branch(s.Row, "X")) {
			f.Error("an unknown branch is found")
		}
		floor := f.floor(tx, found(tx.Branch(s.Row, "main")), 0, 0, sessile.FloorCommitted)
		f.ok(tx.RegisterBranch(b.Row, floor.Row))
		f.same("source", found(tx.Branch(s.Row, b.Name)).SourceFloor, floor.Row)
		f.same("named", len(must(tx.BranchesNamed("a", b.Name))), 1)
		names := []string{}
		for _, one := range must(tx.SessionBranches(s.Row)) {
			names = append(names, one.Name)
		}
		f.same("of the session", names, []string{"main", b.Name})
	})
}

func branchSummaries(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		main := found(tx.Branch(s.Row, "main"))
		summaries, total, err := tx.BranchSummaries(s.Row, sessile.Page{Limit: 10})
		f.ok(err)
		if total != 1 || len(summaries) != 1 || summaries[0].Name != "main" || summaries[0].LatestFloorID != nil {
			f.Errorf("of an empty session: %d %+v", total, summaries)
		}
		f.branch(tx, s.Row, "only written to")
		first := f.floor(tx, main, 0, 0, sessile.FloorCommitted)
		last := f.floor(tx, main, 1, first.Row, sessile.FloorFailed)
		f.ok(tx.RegisterBranch(f.branch(tx, s.Row, "registered").Row, first.Row))
		f.floor(tx, f.branch(tx, s.Row, "carried"), 5, first.Row, sessile.FloorDraft)
		summaries, total, err = tx.BranchSummaries(s.Row, sessile.Page{Limit: 10, SortBy: "branch_id"})
		f.ok(err)
		names := []string{}
		for _, b := range summaries {
			names = append(names, fmt.Sprintf("%s:%d", b.Name, b.FloorCount))
		}
		f.same("branches", names, []string{"carried:1", "main:2", "registered:0"})
		f.same("total", total, 3)
		f.same("latest", []any{*summaries[1].LatestFloorID, *summaries[1].LatestFloorNo, *summaries[1].LatestState}, []any{last.ID, int64(1), sessile.FloorFailed})
	})
}

func branchTombstones(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		n := f.namespace(tx, s.Row, "notes")
		slot := f.slot(tx, n.Row, "x")
		b := f.branch(tx, s.Row, "alt")
		m := f.write(tx, b.Row, slot.Row, "1")
		floor := f.commit(tx, f.floor(tx, b, 0, 0, sessile.FloorGenerating))
		other := f.branch(tx, s.Row, "other")
		f.ok(tx.RegisterBranch(other.Row, floor.Row))
		f.same("floors", must(tx.DeleteBranch(s.Row, b.Row)), 1)
		if !missing(tx.Branch(s.Row, "alt")) || !missing(tx.Floor("a", floor.ID)) {
			f.Error("a deleted branch or its floor is found")
		}
		f.same("tombstone", found(tx.FloorByRow(floor.Row)).Deleted, true)
		f.same("source forgotten", found(tx.Branch(s.Row, "other")).SourceFloor, int64(0))
		f.same("head gone", must(tx.IsHead(m.Seq)), false)
		if missing(tx.Mutation(s.Row, m.Seq)) {
			f.Error("the mutation went with the branch")
		}
		again := f.branch(tx, s.Row, "alt")
		if again.Row == b.Row {
			f.Error("the name leads to the old branch")
		}
	})
}

func floorLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := found(tx.Branch(s.Row, "main"))
		first := f.floor(tx, b, 0, 0, sessile.FloorGenerating)
		f.same("names", []any{first.SessionID, first.BranchName, first.ParentID == nil, first.HasSnapshot()}, []any{s.ID, "main", true, false})
		f.same("generating", must(tx.HasGeneratingFloor(b.Row)), true)
		f.ok(tx.SetFloorState(first.Row, sessile.FloorFailed))
		f.same("no longer", must(tx.HasGeneratingFloor(b.Row)), false)
		f.same("state", found(tx.FloorByRow(first.Row)).State, sessile.FloorFailed)
		second := f.floor(tx, b, 1, first.Row, sessile.FloorGenerating)
		f.same("parent", *second.ParentID, first.ID)
		second.TokenIn, second.TokenOut = 3, 4
		second = f.commit(tx, second)
		f.same("committed", []any{second.State, second.TokenIn, second.TokenOut, second.HasSnapshot()}, []any{sessile.FloorCommitted, int64(3), int64(4), true})
		f.same("by id", found(tx.Floor("a", second.ID)), second)
		f.same("taken", []bool{must(tx.FloorNumberTaken(b.Row, 1)), must(tx.FloorNumberTaken(b.Row, 2))}, []bool{true, false})
		f.same("snapshot floor", must(tx.HasSnapshotFloor(b.Row)), true)
		if tx.AddFloor(&sessile.Floor{ID: "flr_twin", Session: s.Row, Branch: b.Row, No: 1, State: sessile.FloorDraft}) == nil {
			f.Error("two floors of a branch have one number")
		}
	})
}

func floorLatestAndList(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := found(tx.Branch(s.Row, "main"))
		if !missing(tx.LatestFloor(b.Row, false)) {
			f.Error("an empty branch has a latest floor")
		}
		one := f.commit(tx, f.floor(tx, b, 1, 0, sessile.FloorGenerating))
		three := f.floor(tx, b, 3, one.Row, sessile.FloorFailed)
		two := f.floor(tx, b, 2, one.Row, sessile.FloorCommitted)
		f.same("latest", found(tx.LatestFloor(b.Row, false)).Row, three.Row)
		f.same("latest committed", found(tx.LatestFloor(b.Row, true)).Row, two.Row)
		f.ok(tx.SetFloorState(one.Row, sessile.FloorGenerating)) // under retry
		f.ok(tx.DeleteFloor(s.Row, two.Row))
		f.same("a floor under retry counts as committed", found(tx.LatestFloor(b.Row, true)).Row, one.Row)

		list := func(filter sessile.FloorFilter) string {
			filter.Account = "a"
			if filter.Page.Limit == 0 {
				filter.Page.Limit = 10
			}
			floors, total, err := tx.Floors(filter)
			f.ok(err)
			out := fmt.Sprint(total, ":")
			for _, floor := range floors {
				out += fmt.Sprint(floor.No)
			}
			return out
		}
		other := f.session(tx, "a")
		f.floor(tx, found(tx.Branch(other.Row, "main")), 7, 0, sessile.FloorDraft)
		f.same("of the session", list(sessile.FloorFilter{SessionID: s.ID, Page: sessile.Page{SortBy: "floor_no", Limit: 10}}), "2:13")
		f.same("descending", list(sessile.FloorFilter{SessionID: s.ID, Page: sessile.Page{SortBy: "floor_no", Descending: true, Limit: 1}}), "2:3")
		f.same("by state", list(sessile.FloorFilter{SessionID: s.ID, State: sessile.FloorFailed}), "1:3")
		f.same("by branch", list(sessile.FloorFilter{SessionID: s.ID, Branch: "alt"}), "0:")
		f.same("of the account", list(sessile.FloorFilter{Page: sessile.Page{SortBy: "floor_no", Limit: 10}}), "3:137")
	})
}

func floorReplacement(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := found(tx.Branch(s.Row, "main"))
		old := f.commit(tx, f.floor(tx, b, 0, 0, sessile.FloorGenerating))
		next := sessile.Floor{
			ID: "flr_next", Session: s.Row, Branch: b.Row, Parent: old.Row, No: 0, State: sessile.FloorGenerating, Replaces: old.Row,
		}
		f.ok(tx.AddFloor(&next))
		f.same("until it commits the old one stands", found(tx.LatestFloor(b.Row, false)).Row, old.Row)
		f.ok(tx.SupersedeFloor(old.Row, next.Row))
		next = f.commit(tx, next)
		f.same("then the new one", found(tx.LatestFloor(b.Row, true)).Row, next.Row)
		old = found(tx.Floor("a", old.ID))
		if old.SupersededAt == nil || old.SupersededByID == nil || *old.SupersededByID != next.ID {
			f.Errorf("the old floor: %+v", old)
		}
	})
}

func floorDelete(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := found(tx.Branch(s.Row, "main"))
		floor := f.commit(tx, f.floor(tx, b, 0, 0, sessile.FloorGenerating))
		alt := f.branch(tx, s.Row, "alt")
		f.ok(tx.RegisterBranch(alt.Row, floor.Row))
		f.ok(tx.SetOverrides(floor.Row, []sessile.Override{{Slot: 1}}))
		f.ok(tx.DeleteFloor(s.Row, floor.Row))
		if !missing(tx.Floor("a", floor.ID)) {
			f.Error("a deleted floor is found by id")
		}
		f.same("row", found(tx.FloorByRow(floor.Row)).Deleted, true)
		f.same("source", found(tx.Branch(s.Row, "alt")).SourceFloor, int64(0))
		f.same("overrides", len(must(tx.Overrides(floor.Row))), 0)
		f.same("number free", must(tx.FloorNumberTaken(b.Row, 0)), false)
		f.same("no snapshot floor", must(tx.HasSnapshotFloor(b.Row)), false)
	})
}

func messagePages(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		floor := f.floor(tx, found(tx.Branch(s.Row, "main")), 0, 0, sessile.FloorCommitted)
		out := sessile.ContentPage{ID: "pag_out", Floor: floor.Row, Kind: sessile.PageOutput, No: 1, Active: true, Version: 1, Summaries: []byte(`["s"]`)}
		in := sessile.ContentPage{ID: "pag_in", Floor: floor.Row, Kind: sessile.PageInput, Active: true, Version: 1}
		f.ok(tx.AddPage(&out))
		f.ok(tx.AddPage(&in))
		f.same("pages", must(tx.Pages(floor.Row)), []sessile.ContentPage{in, out})
		f.same("page", found(tx.PageByRow(out.Row)), out)
		_, total, err := tx.Messages(sessile.MessageFilter{Account: "a", PageID: in.ID, Page: sessile.Page{Limit: 5}})
		f.ok(err)
		f.same("no messages yet", total, 0)
		source := "web"
		m := sessile.Message{
			ID: "msg_1", Page: in.Row, Seq: 1, Role: "user", Content: "a\x00b", ContentFormat: "text", TokenCount: 2, Hidden: true, Source: &source, CreatedAt: 9,
			Extra: []byte(`{"k":1}`),
		}
		f.ok(tx.AddMessage(&m))
		zero := sessile.Message{ID: "msg_0", Page: in.Row, Role: "user", ContentFormat: "text"}
		f.ok(tx.AddMessage(&zero))
		m.PageID, zero.PageID = in.ID, in.ID
		f.same("messages", must(tx.PageMessages(in.Row)), []sessile.Message{zero, m})
		f.same("message", found(tx.Message("a", "msg_1")), m)
		no, listed := false, func(filter sessile.MessageFilter) string {
			filter.Page = sessile.Page{Limit: 5, SortBy: "seq"}
			messages, total, err := tx.Messages(filter)
			f.ok(err)
			out := fmt.Sprint(total, ":")
			for _, m := range messages {
				out += m.ID[3:]
			}
			return out
		}
		f.same("of the account", listed(sessile.MessageFilter{Account: "a"}), "2:_0_1")
		f.same("of the page", listed(sessile.MessageFilter{Account: "a", PageID: in.ID, Role: "user"}), "2:_0_1")
		f.same("not hidden", listed(sessile.MessageFilter{Account: "a", Hidden: &no}), "1:_0")
		f.same("of another account", listed(sessile.MessageFilter{Account: "b", PageID: in.ID}), "0:")
		f.ok(tx.DeactivatePages(floor.Row, sessile.PageOutput))
		pages := must(tx.Pages(floor.Row))
		f.same("active", []bool{pages[0].Active, pages[1].Active}, []bool{true, false})
	})
}

// say puts a user message on a floor.
func (f *fixture) say(tx sessile.Tx, floor sessile.Floor, text string) {
	f.Helper()
	page := sessile.ContentPage{ID: f.id("pag_"), Floor: floor.Row, Kind: sessile.PageInput, Active: true}
	f.ok(tx.AddPage(&page))
	m := sessile.Message{ID: f.id("msg_"), Page: page.Row, Role: "user", Content: text, ContentFormat: "text"}
	f.ok(tx.AddMessage(&m))
}

func (f *fixture) story(tx sessile.ReadTx, floor int64, own bool, limit int) string {
	f.Helper()
	out := ""
	for _, m := range must(tx.Story(floor, own, limit)) {
		out += m.Content
	}
	return out
}

func messageStory(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := found(tx.Branch(s.Row, "main"))
		a := f.floor(tx, b, 0, 0, sessile.FloorCommitted)
		old := f.floor(tx, b, 1, a.Row, sessile.FloorCommitted)
		f.ok(tx.SupersedeFloor(old.Row, 0))
		next := f.floor(tx, b, 1, old.Row, sessile.FloorCommitted)
		f.ok(tx.SupersedeFloor(old.Row, next.Row))
		last := f.floor(tx, b, 2, next.Row, sessile.FloorCommitted)
		fork := f.floor(tx, f.branch(tx, s.Row, "alt"), 2, old.Row, sessile.FloorCommitted)
		for i, floor := range []sessile.Floor{a, old, next, last, fork} {
			f.say(tx, floor, string(rune('a'+i)))
		}
		f.same("what a child replaced is left out", f.story(tx, last.Row, true, 100), "acd")
		f.same("without its own", f.story(tx, last.Row, false, 100), "ac")
		f.same("a fork of the replaced one tells it", f.story(tx, fork.Row, true, 100), "abe")
		f.same("bounded", f.story(tx, last.Row, true, 2), "cd")
	})
}

func messageDeletedContent(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := f.branch(tx, s.Row, "alt")
		one := f.floor(tx, b, 0, 0, sessile.FloorCommitted)
		two := f.floor(tx, b, 1, one.Row, sessile.FloorCommitted)
		child := f.floor(tx, f.branch(tx, s.Row, "child"), 1, one.Row, sessile.FloorCommitted)
		for i, floor := range []sessile.Floor{one, two, child} {
			f.say(tx, floor, fmt.Sprint(i))
		}
		must(tx.DeleteBranch(s.Row, b.Row))
		f.same("the child still knows how it began", f.story(tx, child.Row, true, 9), "02")
		f.same("what nothing descends from is gone", f.story(tx, two.Row, true, 9), "0")
		must(tx.DeleteBranch(s.Row, child.Branch))
		f.same("at last all is gone", f.story(tx, child.Row, true, 9), "")
	})
}

func runLease(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		b := found(tx.Branch(s.Row, "main"))
		if !missing(tx.RunningRun(b.Row)) {
			f.Error("a fresh branch is held")
		}
		r := sessile.Run{
			ID: "run_1", Account: "a", SessionKey: s.Key, Session: s.Row, Branch: b.Row, Kind: "turn", RunType: "respond", Status: sessile.RunRunning, LeaseUntil: 50, StartedAt: 40,
		}
		f.ok(tx.AddRun(&r))
		r.Floor = 77
		f.ok(tx.UpdateRun(&r))
		f.same("holder", found(tx.RunningRun(b.Row)), r)
		f.same("by row", found(tx.RunByRow(r.Row)), r)
		f.same("of the floor", found(tx.FloorRun(77)), r)
		f.same("of the session", must(tx.RunningRuns(s.Row)), []sessile.Run{r})
		f.same("of all", must(tx.RunningRuns(0)), []sessile.Run{r})
		if tx.AddRun(&sessile.Run{ID: "run_2", Session: s.Row, Branch: b.Row, Status: sessile.RunRunning}) == nil {
			f.Error("two runs hold one branch")
		}
		ended := int64(60)
		r.Status, r.EndedAt, r.ErrorCode = sessile.RunFailed, &ended, "why"
		f.ok(tx.UpdateRun(&r))
		f.same("ended", found(tx.RunByRow(r.Row)), r)
		f.same("none running", len(must(tx.RunningRuns(0))), 0)
		next := sessile.Run{ID: "run_3", Session: s.Row, Branch: b.Row, Status: sessile.RunRunning}
		f.ok(tx.AddRun(&next))
		if next.Row <= r.Row {
			f.Error("a fencing token is not larger than the one before it")
		}
	})
}
