package turn_test

import (
	"github.com/sessile-dev/sessile/internal/statemodel"
	"github.com/sessile-dev/sessile/turn"
)

// roads lead to places where a fault has been or could be, and which random steps reach only in long runs.
var roads = []func(*walk){
	func(*walk) {},
	// A branch inherits its own head back over a fork of a fork, and then loses the floor through which it did.
	func(w *walk) {
		first := w.respond("main", 0, "1")
		fork := w.respond("alt", first, "")
		w.clear("main")
		w.respond("main", fork, "")
		w.clear("main")
	},
	// A branch starts again from a floor that shows nothing where the branch once inherited, and has a head since.
	func(w *walk) {
		w.respond("alt", w.respond("main", 0, "1"), "")
		w.write("alt", "2")
		w.clear("alt")
		w.clear("main")
		empty := w.respond("twig", 0, "")
		w.respond("alt", empty, "")
	},
	// A branch starts again from an earlier floor, before the slot was written.
	func(w *walk) {
		early := w.respond("main", 0, "")
		w.respond("alt", w.respond("main", 0, "1"), "")
		w.clear("alt")
		w.respond("alt", early, "")
	},
	// A retry of a floor shows what a retry of its parent wrote, and the next floor follows.
	func(w *walk) {
		first := w.respond("main", 0, "1")
		fork := w.respond("alt", first, "")
		w.retry(first, "2")
		w.retry(fork, "")
		w.respond("alt", 0, "")
	},
}

// walk goes along a road: it writes one slot, and compares after every step.
type walk struct {
	*oracle
	id statemodel.SessionID
}

var roadSlot = statemodel.Slot{Namespace: "bond", Name: "a"}

// writes is a turn's write of the value, or none.
func (w *walk) writes(value string) []statemodel.TurnWrite {
	if value == "" {
		return nil
	}
	return []statemodel.TurnWrite{{Slot: roadSlot, Value: value}}
}

func (w *walk) respond(branch string, source statemodel.FloorID, value string) statemodel.FloorID {
	w.tick()
	t, request := w.turnOf(branch, turn.RunTypeRespond, false, w.writes(value))
	floor := w.respondWith(w.id, branch, source, t, request)
	w.compare()
	return floor
}

func (w *walk) retry(floor statemodel.FloorID, value string) {
	w.tick()
	t, request := w.turnOf(w.floorOf(w.id, floor).Branch, turn.RunTypeRetry, false, w.writes(value))
	w.retryWith(w.id, floor, t, request)
	w.compare()
}

func (w *walk) write(branch, value string) {
	w.tick()
	w.writeAt(w.id, branch, roadSlot, value)
	w.compare()
}

func (w *walk) clear(branch string) {
	w.tick()
	w.oracle.clear(w.id, branch)
	w.compare()
}
