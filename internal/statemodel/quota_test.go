package statemodel

import "testing"

func TestItemsAreRetainedVersions(t *testing.T) {
	w := newWorld(t, Quotas{})
	size := PayloadSize(true, "1")
	w.equal(size, int64(len(`{"present":true,"value":1}`)))
	custom := func(items int64) {
		t.Helper()
		w.equal(w.NamespaceUsage(w.S, "bond_log"), Usage{Items: items, Bytes: items * size})
	}
	w.write("main", trust, "1")
	custom(1)
	w.write("main", trust, "2") // replaced: no floor shows the first
	custom(1)
	f1 := w.respond("main", 0)
	custom(1)
	w.equal(w.NamespaceUsage(w.S, GameState), Usage{Items: 2, Bytes: 700})
	f2 := w.respond("main", 0) // shown by two floors, counted once
	custom(1)
	w.write("main", trust, "3")
	custom(2)
	w.ok(w.Fork(f2, "alt"))
	custom(2)
	w.write("alt", trust, "4")
	custom(3)
	w.respond("alt", 0, TurnWrite{trust, "5"}, TurnWrite{trust, "6"}) // the head 4 goes, 5 was never shown
	custom(3)
	w.ok(w.DeleteFloor(f2))
	custom(3)
	w.ok(w.DeleteFloor(f1)) // only it showed 2
	custom(2)
	w.equal(w.NamespaceUsage(w.S, GameState), Usage{Items: 4, Bytes: 1400}) // of f2 as heads, of alt's floor
	w.want(deleteBranch(w, "alt"), OK)
	custom(1)
	w.equal(w.Usage(), Usage{Items: 3, Bytes: 700 + size})
	w.equal(w.Namespaces(), int64(1))
	w.ok(w.DeleteSession(w.S))
	w.equal(w.Usage(), Usage{})
	w.equal(w.Namespaces(), int64(0))
}

func TestRetryReplacesItsVersions(t *testing.T) {
	w := newWorld(t, Quotas{})
	f1 := w.respond("main", 0, TurnWrite{trust, "1"})
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "2"})))
	w.equal(w.Usage().Items, int64(3))
	w.respond("main", 0)
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "3"}))) // 2 is shown by the second floor, 3 by the first
	w.equal(w.Usage().Items, int64(6))
	w.write("main", trust, "4")
	w.equal(w.Usage().Items, int64(7))
	w.ok(w.Retry(f1, turn(TurnWrite{trust, "5"}))) // does not move the head, replaces 3
	w.equal(w.Usage().Items, int64(7))
	w.equal(w.live("main", trust), "live_head 4@0")
}

func TestLimits(t *testing.T) {
	one := PayloadSize(true, "1")
	for name, test := range map[string]struct {
		quotas Quotas
		want   Code
	}{
		"W16 namespace items": {Quotas{ItemsPerNamespace: 1}, NamespaceItemLimit},
		"W17 namespace bytes": {Quotas{BytesPerNamespace: one}, NamespaceByteLimit},
		"W18 account items":   {Quotas{ItemsPerAccount: 1}, AccountItemLimit},
		"W19 account bytes":   {Quotas{BytesPerAccount: one}, AccountByteLimit},
		"in order":            {Quotas{ItemsPerNamespace: 1, BytesPerNamespace: one, ItemsPerAccount: 1}, NamespaceItemLimit},
		"namespace first":     {Quotas{BytesPerNamespace: one, ItemsPerAccount: 1}, NamespaceByteLimit},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.quotas)
			first := w.write("main", trust, "1")
			before := w.Usage()
			_, code := w.Write(w.S, "main", hint, "1")
			w.want(code, test.want)
			w.equal(w.Usage(), before) // W20
			w.equal(w.live("main", hint), "unlisted")
			values, _ := w.Resolve(w.S, "main", 0)
			w.equal(values[0].Mutation, first)
			w.write("main", trust, "2")
		})
	}
	w := newWorld(t, Quotas{ValueBytes: 64}) // W15
	_, code := w.Write(w.S, "main", trust, `"`+string(make([]byte, 80))+`"`)
	w.want(code, PayloadTooLarge)
	w.equal(w.live("main", trust), "unlisted")
}

func TestLimitsInACommit(t *testing.T) {
	w := newWorld(t, Quotas{ItemsPerNamespace: 1})
	w.respond("main", 0) // game_state is not bound by default
	_, code := w.Respond(w.S, "main", 0, turn(TurnWrite{trust, "1"}, TurnWrite{hint, "1"}))
	w.want(code, NamespaceItemLimit)
	w.equal(w.floor(2).State, Failed)
	w.equal(w.live("main", trust), "unlisted")
	w.respond("main", 0, TurnWrite{trust, "1"}, TurnWrite{trust, "2"}) // tested on the result
	w.respond("main", 0)
}
