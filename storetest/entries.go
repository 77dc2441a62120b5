package storetest

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
)

func (f *fixture) home(tx sessile.Tx, key string) sessile.Home {
	f.Helper()
	return must(tx.AddHome("a", key))
}

func (f *fixture) put(tx sessile.Tx, home sessile.Home, namespace, key, value string) sessile.Entry {
	f.Helper()
	e := sessile.Entry{Namespace: namespace, Key: key, Value: value}
	f.ok(tx.PutEntry(home.Row, &e))
	return e
}

// keys writes down what a list of entries shows.
func keys(entries []sessile.Entry, err error) string {
	var b strings.Builder
	for _, e := range must(entries, err) {
		fmt.Fprintf(&b, "%q=%s ", e.Key, e.Value)
	}
	return b.String()
}

func entryLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		if !missing(tx.Home("a", "k")) {
			f.Error("there is a home before the first write")
		}
		h := f.home(tx, "k")
		first := f.put(tx, h, "n", "x", "1")
		second := f.put(tx, h, "n", "x", "22")
		if second.Revision <= first.Revision || second.UpdatedAt != tx.Now() {
			f.Errorf("the second write has revision %d after %d, at %d", second.Revision, first.Revision, second.UpdatedAt)
		}
		f.put(tx, h, "", "", "")
		f.put(tx, h, "n", "nul\x00 é e\u0301", "a\x00b")
		f.same("replaced", found(tx.Entry(h.Row, "n", "x")), second)
		f.same("empty names and value", found(tx.Entry(h.Row, "", "")).Value, "")
		f.same("odd texts", found(tx.Entry(h.Row, "n", "nul\x00 é e\u0301")).Value, "a\x00b")
		if !missing(tx.Entry(h.Row, "n", "X")) || !missing(tx.Entry(h.Row, "N", "x")) || !missing(tx.Entry(h.Row, "n", "nul")) {
			f.Error("an entry is found under another name")
		}
		f.same("namespaces", must(tx.EntryNamespaces(h.Row)), []string{"", "n"})
		counted := found(tx.Home("a", "k"))
		f.same("entries", counted.Entries, int64(3))
		f.same("bytes", counted.Bytes, int64(len("nx22")+len("nnul\x00 é e\u0301a\x00b")))

		f.same("deleted", must(tx.DeleteEntry(h.Row, "n", "x")), true)
		f.same("deleted again", must(tx.DeleteEntry(h.Row, "n", "x")), false)
		f.same("cleared", must(tx.ClearEntries(h.Row, "n", tx.Now())), int64(1))
		f.same("cleared again", must(tx.ClearEntries(h.Row, "n", tx.Now())), int64(0))
		f.same("what counts in the end", found(tx.Home("a", "k")), sessile.Home{Row: h.Row, Account: h.Account, Entries: 1})
	})
	f.view(func(tx sessile.ReadTx) {
		if !missing(tx.Home("b", "k")) || !missing(tx.Home("a", "K")) {
			f.Error("a home is found under another name")
		}
	})
}

func entryPages(f *fixture) {
	f.update(func(tx sessile.Tx) {
		h, other := f.home(tx, "k"), f.home(tx, "other")
		for _, key := range []string{"b", "a", "\U0001f600", "\ufffd", "10", "2", "", "B", "ab", "a\x00"} {
			f.put(tx, h, "n", key, "v")
		}
		f.put(tx, h, "m", "z", "v")
		f.put(tx, other, "n", "z", "v")
		read := func(filter sessile.EntryFilter) string {
			filter.Namespace = "n"
			return keys(tx.Entries(h.Row, filter))
		}
		f.same("order of bytes", read(sessile.EntryFilter{}), `""=v "10"=v "2"=v "B"=v "a"=v "a\x00"=v "ab"=v "b"=v "�"=v "😀"=v `)
		a := "a"
		f.same("after", read(sessile.EntryFilter{After: &a, Limit: 2}), `"a\x00"=v "ab"=v `)
		f.same("prefix", read(sessile.EntryFilter{Prefix: "a"}), `"a"=v "a\x00"=v "ab"=v `)
		f.same("prefix after", read(sessile.EntryFilter{Prefix: "a", After: &a}), `"a\x00"=v "ab"=v `)
		empty := ""
		f.same("behind the empty key", read(sessile.EntryFilter{After: &empty, Limit: 1}), `"10"=v `)
		f.same("prefix of several bytes", read(sessile.EntryFilter{Prefix: "\U0001f600"}), `"😀"=v `)
	})
}

func entryHomes(f *fixture) {
	f.update(func(tx sessile.Tx) {
		h := f.home(tx, "k")
		f.put(tx, h, "n", "x", "1")
		f.ok(tx.ShareHome("a", "shared", h.Row))
		f.same("shared", found(tx.Home("a", "shared")).Row, h.Row)

		f.same("keys", must(tx.HomeKeys(h.Row)), []string{"k", "shared"})

		c := f.home(tx, "copy")
		f.ok(tx.CopyEntries(h.Row, c.Row))
		f.same("copied", keys(tx.Entries(c.Row, sessile.EntryFilter{Namespace: "n"})), `"x"=1 `)
		f.same("counted", found(tx.Home("a", "copy")).Entries, int64(1))
		f.put(tx, h, "n", "x", "2")
		f.same("the copy keeps what it has", keys(tx.Entries(c.Row, sessile.EntryFilter{Namespace: "n"})), `"x"=1 `)

		f.ok(tx.LeaveHome("a", "k"))
		f.ok(tx.LeaveHome("a", "nobody"))
		if !missing(tx.Home("a", "k")) {
			f.Error("the key still leads somewhere")
		}
		f.same("others stay", keys(tx.Entries(found(tx.Home("a", "shared")).Row, sessile.EntryFilter{Namespace: "n"})), `"x"=2 `)
		f.ok(tx.LeaveHome("a", "shared"))
		if again := f.home(tx, "k"); again.Row == h.Row || len(must(tx.EntryNamespaces(again.Row))) != 0 {
			f.Errorf("a new home %d comes with what the old one %d had", again.Row, h.Row)
		}
	})
}

func entryPurge(f *fixture) {
	var gone, kept sessile.Home
	f.update(func(tx sessile.Tx) {
		gone, kept = f.home(tx, "gone"), f.home(tx, "kept")
		for i := range 30 {
			f.put(tx, gone, "n", fmt.Sprint(i), "v")
			f.put(tx, kept, "n", fmt.Sprint(i), "v")
		}
		expired := sessile.Entry{Namespace: "n", Key: "brief", Value: "v", ExpiresAt: tx.Now()}
		f.ok(tx.PutEntry(kept.Row, &expired))
		f.same("an expired entry does not count", must(tx.ClearEntries(kept.Row, "n", tx.Now())), int64(30))
		f.put(tx, kept, "n", "stays", "v")
		f.ok(tx.PutEntry(kept.Row, &expired))
		later := sessile.Entry{Namespace: "n", Key: "later", Value: "v", ExpiresAt: tx.Now() + 1_000_000}
		f.ok(tx.PutEntry(kept.Row, &later))
		f.same("left out", keys(tx.Entries(kept.Row, sessile.EntryFilter{Namespace: "n", Now: tx.Now()})), `"later"=v "stays"=v `)
		f.ok(tx.LeaveHome("a", "gone"))
	})
	f.update(func(tx sessile.Tx) {
		brief := found(tx.Entry(kept.Row, "n", "brief"))
		f.same("next expiry", must(tx.NextExpiry()), brief.ExpiresAt)
		f.ok(tx.PurgeExpired(7))
		f.same("next expiry then", must(tx.NextExpiry()), found(tx.Entry(kept.Row, "n", "later")).ExpiresAt)
	})
	rounds := 0
	for more := true; more; rounds++ {
		f.update(func(tx sessile.Tx) { more = must(tx.PurgeDeleted(7)) })
		if rounds > 1000 {
			f.Fatal("the purge does not end")
		}
	}
	f.view(func(tx sessile.ReadTx) {
		f.same("of the home that is gone", len(must(tx.EntryNamespaces(gone.Row))), 0)
		if !missing(tx.Entry(kept.Row, "n", "brief")) {
			f.Error("an expired entry was not removed")
		}
		f.same("what stays", keys(tx.Entries(kept.Row, sessile.EntryFilter{Namespace: "n"})), `"later"=v "stays"=v `)
		f.same("counted", found(tx.Home("a", "kept")).Entries, int64(2))
	})
	if rounds < 4 {
		f.Errorf("the purge of 31 rows by 7 took %d rounds", rounds)
	}
}

func entryRevisions(f *fixture) {
	revision := int64(0)
	f.update(func(tx sessile.Tx) {
		h := f.home(tx, "k")
		revision = f.put(tx, h, "n", "x", "1").Revision
		f.same("deleted", must(tx.DeleteEntry(h.Row, "n", "x")), true)
	})
	f.reopen()
	f.update(func(tx sessile.Tx) {
		if again := f.put(tx, found(tx.Home("a", "k")), "n", "x", "2").Revision; again <= revision {
			f.Errorf("revision %d was given again as %d", revision, again)
		}
	})
}
