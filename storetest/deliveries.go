package storetest

import (
	"fmt"

	"github.com/sessile-dev/sessile"
)

func (f *fixture) delivery(tx sessile.Tx, account, session, key string, due int64) sessile.Delivery {
	f.Helper()
	d := sessile.Delivery{
		Account: account, SessionKey: session, Route: []byte(`{"channel":"slack","to":"C1"}`), Text: "t", Status: sessile.OutboxPending,
		Key: key, RunID: "run_1", RetryFrom: 3, DueAt: due,
	}
	f.same("added", must(tx.AddDelivery(&d)), true)
	return d
}

func deliveryKeys(deliveries []sessile.Delivery, err error) string {
	var all []string
	for _, d := range must(deliveries, err) {
		all = append(all, d.Key)
	}
	return fmt.Sprint(all)
}

func deliveryLife(f *fixture) {
	var d sessile.Delivery
	f.update(func(tx sessile.Tx) {
		d = f.delivery(tx, "a", "s", "k", 10)
		f.same("made now", d.CreatedAt, tx.Now())
		again := sessile.Delivery{Account: "a", SessionKey: "other", Route: []byte("{}"), Text: "u", Status: sessile.OutboxPending, Key: "k"}
		f.same("a second one with its key", must(tx.AddDelivery(&again)), false)
		f.delivery(tx, "b", "s", "k", 0) // another account has keys of its own
	})
	f.reopen()
	f.update(func(tx sessile.Tx) {
		f.same("as it was made", found(tx.Delivery("a", d.Row)), d)
		f.same("by its key", found(tx.DeliveryNamed("a", "k")), d)
		if !missing(tx.Delivery("b", d.Row)) || !missing(tx.DeliveryNamed("a", "l")) {
			f.Error("a delivery is found by another account or key")
		}
		before := d.Sequence
		d.Status, d.Attempts, d.Error, d.SettledAt, d.RetryFrom, d.DueAt = sessile.OutboxSuspended, 4, "no", 20, 5, 0
		f.ok(tx.UpdateDelivery(&d))
		if d.Sequence <= before {
			f.Errorf("the sequence went from %d to %d", before, d.Sequence)
		}
		f.same("as it was changed", found(tx.Delivery("a", d.Row)), d)
	})
}

func deliveryList(f *fixture) {
	f.update(func(tx sessile.Tx) {
		one, two := f.delivery(tx, "a", "s", "1", 0), f.delivery(tx, "a", "t", "2", 0)
		f.delivery(tx, "b", "s", "3", 0)
		three := f.delivery(tx, "a", "s", "4", 0)
		one.Status = sessile.OutboxDelivered
		f.ok(tx.UpdateDelivery(&one)) // moves to the end
		list := func(change func(*sessile.DeliveryFilter)) string {
			filter := sessile.DeliveryFilter{Account: "a", Limit: 10}
			change(&filter)
			return deliveryKeys(tx.Deliveries(filter))
		}
		f.same("all, by what changed last", list(func(*sessile.DeliveryFilter) {}), "[2 4 1]")
		f.same("a page", list(func(d *sessile.DeliveryFilter) { d.Limit = 2 }), "[2 4]")
		f.same("the next", list(func(d *sessile.DeliveryFilter) { d.After = three.Sequence }), "[1]")
		f.same("of a session", list(func(d *sessile.DeliveryFilter) { d.SessionKey = "s" }), "[4 1]")
		f.same("of a session from there on", list(func(d *sessile.DeliveryFilter) { d.SessionKey, d.After = "s", three.Sequence }), "[1]")
		f.same("of a status", list(func(d *sessile.DeliveryFilter) { d.Status = sessile.OutboxPending }), "[2 4]")
		f.same("of both", list(func(d *sessile.DeliveryFilter) { d.SessionKey, d.Status = two.SessionKey, sessile.OutboxPending }), "[2]")
	})
}

func deliveryDue(f *fixture) {
	f.update(func(tx sessile.Tx) {
		f.delivery(tx, "a", "s", "never", 0)
		f.delivery(tx, "a", "s", "later", 30)
		f.delivery(tx, "b", "s", "soon", 20)
		f.same("due", deliveryKeys(tx.DueDeliveries(30, 10)), "[soon later]")
		f.same("due before", deliveryKeys(tx.DueDeliveries(29, 10)), "[soon]")
		f.same("the most overdue", deliveryKeys(tx.DueDeliveries(99, 1)), "[soon]")
		f.same("next", fmt.Sprint(must(tx.NextDelivery(0)), must(tx.NextDelivery(20)), must(tx.NextDelivery(30))), "20 30 0")
	})
}

// Each notice is unheard until it is heard; a new one of the same pair is unheard again.
func noticesUnheard(f *fixture) {
	f.update(func(tx sessile.Tx) {
		for _, n := range []sessile.Notice{{Watcher: "w", Target: "t"}, {Watcher: "v", Target: "t"}, {Watcher: "w", Target: "u"}} {
			f.ok(tx.AddNotice("a", &n))
		}
		unheard := func(limit int) string {
			var all []string
			for _, n := range must(tx.UnheardNotices(limit)) {
				all = append(all, n.Account+":"+n.Watcher)
			}
			return fmt.Sprint(all)
		}
		f.same("the oldest first", unheard(10), "[a:w a:v a:w]")
		f.same("not more than asked for", unheard(1), "[a:w]")
		f.ok(tx.HearNotice(must(tx.UnheardNotices(1))[0].Row))
		f.same("heard", unheard(10), "[a:v a:w]")
		f.same("it waits all the same", len(must(tx.Notices("a", "w"))), 2)
		f.ok(tx.AddNotice("a", &sessile.Notice{Watcher: "w", Target: "t"}))
		f.same("one that is there already", unheard(10), "[a:v a:w]")
		f.ok(tx.DeleteNotice("a", "w", "t"))
		f.ok(tx.AddNotice("a", &sessile.Notice{Watcher: "w", Target: "t"}))
		f.same("the next of its pair", unheard(10), "[a:v a:w a:w]")
	})
}
