package storetest

import "github.com/sessile-dev/sessile"

func worldbookLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		w := sessile.Worldbook{
			ID: "wbk_1", Account: "a", Name: "Book", Version: 1, Book: []byte(`{"entries":[]}`), EntryCount: 0, CreatedAt: 5, UpdatedAt: 5,
		}
		f.ok(tx.AddWorldbook(&w))
		f.same("worldbook", found(tx.Worldbook("a", "wbk_1")), w)
		f.same("by row", found(tx.WorldbookByRow(w.Row)), w)
		if !missing(tx.Worldbook("b", "wbk_1")) {
			f.Error("another account finds the worldbook")
		}
		s := f.session(tx, "a")
		s.Worldbook = w.Row
		f.ok(tx.UpdateSession(&s))
		f.same("bound", found(tx.Session("a", s.ID)).WorldbookID, "wbk_1")
		w.Name, w.Version, w.Book, w.EntryCount, w.UpdatedAt = "Other", 2, []byte(`{"entries":[{}]}`), 1, 9
		f.ok(tx.UpdateWorldbook(&w))
		f.same("changed", found(tx.Worldbook("a", "wbk_1")), w)
		second := sessile.Worldbook{ID: "wbk_2", Account: "a", Name: "Second", Version: 1, Book: []byte("{}"), CreatedAt: 7, UpdatedAt: 7}
		f.ok(tx.AddWorldbook(&second))
		listed, total, err := tx.Worldbooks("a", sessile.Page{Limit: 1, SortBy: "updated_at", Descending: true})
		f.ok(err)
		f.same("listed", []any{total, listed[0].ID, listed[0].Book == nil}, []any{2, "wbk_1", true})
		f.ok(tx.DeleteWorldbook(w.Row))
		if !missing(tx.Worldbook("a", "wbk_1")) {
			f.Error("a deleted worldbook is found")
		}
		f.same("unbound", found(tx.Session("a", s.ID)).Worldbook, int64(0))
	})
}
