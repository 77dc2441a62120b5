package storetest

import (
	"fmt"
	"math"
	"strings"

	"github.com/sessile-dev/sessile"
)

// keep writes a version; an empty value takes it away.
func (f *fixture) keep(tx sessile.Tx, branch int64, plugin, value string) sessile.ExtensionVersion {
	f.Helper()
	v := sessile.ExtensionVersion{Branch: branch, Plugin: plugin, Dropped: value == ""}
	if value != "" {
		v.Value = []byte(value)
	}
	f.ok(tx.PutExtension(&v))
	return v
}

// bases writes down what a branch inherited of each plugin.
func bases(tx sessile.ReadTx, branch int64, plugins ...string) string {
	var b strings.Builder
	for _, plugin := range plugins {
		v, known, err := tx.ExtensionBase(branch, plugin)
		switch must(v, err); {
		case known:
			fmt.Fprintf(&b, "%s=%s@%d ", plugin, v.Value, v.Revision)
		default:
			fmt.Fprintf(&b, "%s- ", plugin)
		}
	}
	return b.String()
}

// newest writes down what was written last on a branch.
func newest(tx sessile.ReadTx, branch int64, plugin string) string {
	v, known, err := tx.ExtensionAt(branch, plugin, math.MaxInt64)
	switch must(v, err); {
	case !known:
		return "-"
	case v.Dropped:
		return fmt.Sprintf("dropped@%d", v.Revision)
	}
	return fmt.Sprintf("%s@%d", v.Value, v.Revision)
}

func extensionLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		main, other := f.branch(tx, s.Row, sessile.MainBranch), f.branch(tx, s.Row, "other")
		if !missing(tx.ExtensionAt(main.Row, "p", math.MaxInt64)) {
			f.Error("there is a value before the first write")
		}
		first := f.keep(tx, main.Row, "p", `{"b":1.0,"a":"é\u0000"}`)
		dropped := f.keep(tx, main.Row, "p", "")
		last := f.keep(tx, main.Row, "p", "null")
		if first.Revision >= dropped.Revision || dropped.Revision >= last.Revision {
			f.Errorf("the revisions are %d, %d, %d", first.Revision, dropped.Revision, last.Revision)
		}
		f.same("the newest", found(tx.ExtensionAt(main.Row, "p", math.MaxInt64)), last)
		f.same("at the first", found(tx.ExtensionAt(main.Row, "p", first.Revision)), first)
		f.same("before the last", found(tx.ExtensionAt(main.Row, "p", last.Revision-1)), dropped)
		if !missing(tx.ExtensionAt(main.Row, "p", first.Revision-1)) || !missing(tx.ExtensionAt(main.Row, "P", math.MaxInt64)) ||
			!missing(tx.ExtensionAt(other.Row, "p", math.MaxInt64)) || !missing(tx.ExtensionBase(main.Row, "p")) {
			f.Error("a value is found where it is not")
		}
		f.ok(tx.RemoveExtension(main.Row, "p", last.Revision))
		f.same("after the newest was removed", newest(tx, main.Row, "p"), fmt.Sprintf("dropped@%d", dropped.Revision))
	})
}

func extensionForks(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		main := f.branch(tx, s.Row, sessile.MainBranch)
		f.keep(tx, main.Row, "old", "0")
		old := f.keep(tx, main.Row, "old", "1")
		f.keep(tx, main.Row, "gone", "2")
		f.keep(tx, main.Row, "gone", "")
		floor := f.commit(tx, f.floor(tx, main, 0, 0, sessile.FloorGenerating))
		f.keep(tx, main.Row, "old", "3")
		f.keep(tx, main.Row, "late", "4")
		all := []string{"old", "gone", "late"}

		alt := f.branch(tx, s.Row, "alt")
		own := f.keep(tx, alt.Row, "gone", "5")
		f.ok(tx.LayBase(alt.Row, &floor))
		inherited := fmt.Sprintf("old=1@%d gone- late- ", old.Revision)
		f.same("what the floor showed", bases(tx, alt.Row, all...), inherited)
		f.same("its own stays", newest(tx, alt.Row, "gone"), fmt.Sprintf("5@%d", own.Revision))
		f.ok(tx.LayBase(alt.Row, &floor))
		f.same("once more", bases(tx, alt.Row, all...), inherited)

		f.keep(tx, alt.Row, "old", "6")
		f.keep(tx, alt.Row, "old", "") // shows again what it inherited
		altFloor := f.commit(tx, f.floor(tx, alt, 1, floor.Row, sessile.FloorGenerating))
		deep := f.branch(tx, s.Row, "deep")
		f.ok(tx.LayBase(deep.Row, &altFloor))
		f.same("over two forks", bases(tx, deep.Row, all...), fmt.Sprintf("old=1@%d gone=5@%d late- ", old.Revision, own.Revision))

		f.ok(tx.RemoveExtension(main.Row, "old", old.Revision))
		must(tx.DeleteBranch(s.Row, alt.Row))
		f.same("values stay for those that inherited them", bases(tx, deep.Row, all...), fmt.Sprintf("old=1@%d gone=5@%d late- ", old.Revision, own.Revision))
		f.same("nothing is left of a deleted branch", bases(tx, alt.Row, all...)+newest(tx, alt.Row, "gone"), "old- gone- late- -")

		later := f.commit(tx, f.floor(tx, main, 1, floor.Row, sessile.FloorGenerating))
		f.ok(tx.LayBase(deep.Row, &later))
		if got := bases(tx, deep.Row, all...); !strings.HasPrefix(got, "old=3@") || !strings.Contains(got, " gone- late=4@") {
			f.Errorf("pointed elsewhere the branch shows %s", got)
		}
	})
}

func extensionFloors(f *fixture) {
	f.update(func(tx sessile.Tx) {
		s := f.session(tx, "a")
		main, other := f.branch(tx, s.Row, sessile.MainBranch), f.branch(tx, s.Row, "other")
		hidden := func() string {
			var b strings.Builder
			for _, v := range must(tx.HiddenExtensions(main.Row)) {
				fmt.Fprintf(&b, "%s@%d ", v.Plugin, v.Revision)
			}
			return b.String()
		}
		first := f.keep(tx, main.Row, "p", "1")
		f.same("shown by no floor", must(tx.ExtensionShown(main.Row, first.Revision)), false)
		floor := f.commit(tx, f.floor(tx, main, 0, 0, sessile.FloorGenerating))
		f.commit(tx, f.floor(tx, other, 0, 0, sessile.FloorGenerating))
		f.same("shown", must(tx.ExtensionShown(main.Row, first.Revision)), true)
		second := f.keep(tx, main.Row, "p", "2")
		f.same("written after it", must(tx.ExtensionShown(main.Row, second.Revision)), false)
		f.keep(tx, main.Row, "p", "3")
		f.keep(tx, main.Row, "q", "4")
		f.same("hidden", hidden(), fmt.Sprintf("p@%d ", second.Revision))
		f.ok(tx.DeleteFloor(s.Row, floor.Row))
		f.same("without the floor", hidden(), fmt.Sprintf("p@%d p@%d ", first.Revision, second.Revision))
		f.same("shown by a deleted one", must(tx.ExtensionShown(main.Row, first.Revision)), false)
	})
}

func extensionPurge(f *fixture) {
	var gone, kept sessile.Session
	var branches []int64
	f.update(func(tx sessile.Tx) {
		gone, kept = f.session(tx, "a"), f.session(tx, "a")
		for _, s := range []sessile.Session{gone, kept} {
			main := f.branch(tx, s.Row, sessile.MainBranch)
			for i := range 20 {
				f.keep(tx, main.Row, fmt.Sprint("p", i), "1")
			}
			floor := f.commit(tx, f.floor(tx, main, 0, 0, sessile.FloorGenerating))
			alt := f.branch(tx, s.Row, "alt")
			f.ok(tx.LayBase(alt.Row, &floor))
			branches = append(branches, main.Row, alt.Row)
		}
		f.ok(tx.DeleteSession(&gone))
	})
	rounds := 0
	for more := true; more; rounds++ {
		f.update(func(tx sessile.Tx) { more = must(tx.PurgeDeleted(7)) })
		if rounds > 1000 {
			f.Fatal("the purge does not end")
		}
	}
	f.view(func(tx sessile.ReadTx) {
		for i := range 20 {
			plugin := fmt.Sprint("p", i)
			f.same("of the deleted one", bases(tx, branches[1], plugin)+newest(tx, branches[0], plugin), plugin+"- -")
			if missing(tx.ExtensionBase(branches[3], plugin)) || missing(tx.ExtensionAt(branches[2], plugin, math.MaxInt64)) {
				f.Errorf("%s of another session is gone", plugin)
			}
		}
	})
}

func extensionNumbers(f *fixture) {
	revision := int64(0)
	branch := int64(0)
	f.update(func(tx sessile.Tx) {
		branch = f.branch(tx, f.session(tx, "a").Row, sessile.MainBranch).Row
		revision = f.keep(tx, branch, "p", "1").Revision
		f.ok(tx.RemoveExtension(branch, "p", revision))
	})
	f.reopen()
	f.update(func(tx sessile.Tx) {
		if again := f.keep(tx, branch, "p", "2").Revision; again <= revision {
			f.Errorf("revision %d was given again as %d", revision, again)
		}
	})
}
