package statemodel

import "testing"

func TestDiff(t *testing.T) {
	w := newWorld(t, Quotas{})
	w.SetTime(1)
	change := func(floor, against FloorID, slot Slot) Difference {
		t.Helper()
		differences, code := w.Diff(w.S, floor, against, "main")
		w.ok(code)
		for _, d := range differences {
			if d.Slot == slot {
				return d
			}
		}
		t.Fatalf("%v is not listed", slot)
		return Difference{}
	}
	f1 := w.respond("main", 0)
	w.write("main", trust, "1")
	w.write("alt", hint, "1")
	f2 := w.respond("main", 0)
	w.equal(change(f1, 0, scene), Difference{scene, Changed, f2, f1}) // D1
	w.equal(change(f2, 0, scene), Difference{scene, Unchanged, f2, f2})
	w.equal(change(f2, f1, trust), Difference{trust, Added, 0, f2}) // D3
	w.equal(change(f1, f2, trust), Difference{trust, Removed, f2, 0})
	w.equal(change(f1, f1, scene), Difference{scene, Unchanged, f1, f1}) // D5
	w.equal(change(f2, f1, hint), Difference{hint, Unchanged, 0, f2})    // D6
	w.equal(change(f2, 0, trust), Difference{trust, Unchanged, f2, f2})  // a direct write has no floor
	_, code := w.Diff(w.S, f1, 99, "main")                               // D4
	w.want(code, NotFound)
	_, code = w.Diff(w.S, 99, 0, "main")
	w.want(code, NotFound)
}
