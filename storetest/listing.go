package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
)

// sessionLists compares walks over sessions with what a reader of all of them would pick.
func sessionLists(f *fixture) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	var rows []sessile.Session
	f.update(func(tx sessile.Tx) {
		for i := range 200 {
			s := sessile.Session{
				ID: fmt.Sprintf("ses_%d", i), Account: "a", Key: fmt.Sprintf("k%03d", i), AgentID: pick("main", "main", "work"),
				Status: sessile.SessionActive, Settings: []byte(`{"model_provider":"` + pick("p", "q") + `","model_name":"Large"}`),
				CreatedAt: 1, UpdatedAt: int64(random.IntN(20)), DisplayName: pick("", "Harbour Master", `say "hi"`),
				Subject: pick("", "日本語の件", "Straße"), Lane: sessile.Lanes()[random.IntN(5)], Name: pick("", "main", "home"),
				SpawnedBy: pick("", "k000", "k001"), ParentKey: pick("", "", "k000"), OwnerKey: pick("", "", "k000"),
			}
			if random.IntN(5) == 0 {
				s.PinnedAt = int64(1 + random.IntN(4))
			}
			if random.IntN(4) == 0 {
				s.Status, s.ArchivedAt = sessile.SessionArchived, 7
			}
			if label := pick("", "L", "needle"); label != "" {
				s.Label = &label
			}
			if random.IntN(3) == 0 {
				s.Details = []byte(`{"modelOverride":"p/Tiny"}`)
			}
			f.ok(tx.AddSession(&s))
			rows = append(rows, s)
		}
		other := rows[0]
		other.ID, other.Account, other.Row = "ses_b", "b", 0
		f.ok(tx.AddSession(&other))
		for i := range 20 { // what was found before is not found any more
			rows[i].DisplayName, rows[i].Label = "renamed", nil
			f.ok(tx.UpdateSession(&rows[i]))
		}
		f.ok(tx.DeleteSession(&rows[199]))
		rows = rows[:199]
		slices.SortFunc(rows, func(a, b sessile.Session) int {
			return cmp.Or(cmp.Compare(b.PinnedAt, a.PinnedAt), cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.Key, b.Key))
		})
		for range 300 {
			q := sessile.SessionSelection{Archived: random.IntN(4) == 0, Since: int64(random.IntN(8))}
			switch random.IntN(4) {
			case 0:
				q.Of = pick("k000", "k001", "k007")
			case 1:
				q.Label = "L"
			case 2:
				q.Lanes = sessile.Lanes()[:1+random.IntN(4)]
			}
			if random.IntN(3) == 0 {
				q.Agent = "work"
			}
			if random.IntN(3) == 0 && q.Of == "" && q.Label == "" {
				q.Names = []string{"main", "home"}
			}
			if random.IntN(3) == 0 && q.Of == "" && q.Label == "" {
				q.Keys = []string{"k003", "k004", "nowhere"}
			}
			if random.IntN(2) == 0 {
				row := rows[random.IntN(len(rows))]
				q.After = &sessile.SessionPlace{PinnedAt: row.PinnedAt, UpdatedAt: row.UpdatedAt, Key: row.Key}
			}
			f.same(fmt.Sprintf("%+v", q), walked(f, tx, q), picked(rows, q, fits))
		}
		for _, text := range []string{"needle", "NEEDLE", "harbour m", `"hi"`, "日本語", "straße", "p/tiny", "q/large", "ses_1", "k00", "renamed", "nowhere"} {
			if !tx.Searchable(text) {
				f.Errorf("%q cannot be searched", text)
			}
			for _, q := range []sessile.SessionSelection{{}, {Archived: true}, {Agent: "work", Since: 5}, {Label: "needle"}, {After: &sessile.SessionPlace{PinnedAt: 2, UpdatedAt: 9}}} {
				q.Found = text
				f.same("search for "+text, walked(f, tx, q), picked(rows, q, holds))
			}
		}
		for _, text := range []string{"", "ab", "éàü", "a\x00b"} {
			if tx.Searchable(text) {
				f.Errorf("%q can be searched", text)
			}
		}
	})
}

func walked(f *fixture, tx sessile.ReadTx, q sessile.SessionSelection) string {
	var keys []string
	f.ok(tx.ListSessions("a", q, func(s *sessile.Session) (bool, error) {
		keys = append(keys, s.Key)
		return true, nil
	}))
	return strings.Join(keys, " ")
}

// picked are the keys of the rows, in the order of lists, that a selection holds.
func picked(rows []sessile.Session, q sessile.SessionSelection, more func(*sessile.Session, *sessile.SessionSelection) bool) string {
	var keys []string
	for i := range rows {
		s := &rows[i]
		place := sessile.SessionPlace{PinnedAt: s.PinnedAt, UpdatedAt: s.UpdatedAt, Key: s.Key}
		switch {
		case (s.ArchivedAt > 0) != q.Archived, s.UpdatedAt < q.Since, q.Agent != "" && s.AgentID != q.Agent,
			q.Label != "" && (s.Label == nil || *s.Label != q.Label), q.After != nil && !behind(place, *q.After), !more(s, &q):
		default:
			keys = append(keys, s.Key)
		}
	}
	return strings.Join(keys, " ")
}

func behind(a, b sessile.SessionPlace) bool {
	return cmp.Or(cmp.Compare(b.PinnedAt, a.PinnedAt), cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.Key, b.Key)) > 0
}

// fits reports whether a session is one of those that a selection names.
func fits(s *sessile.Session, q *sessile.SessionSelection) bool {
	if q.Of != "" {
		return slices.Contains([]string{s.Key, s.SpawnedBy, s.ParentKey, s.OwnerKey}, q.Of)
	}
	return len(q.Lanes)+len(q.Names)+len(q.Keys) == 0 ||
		slices.Contains(q.Lanes, s.Lane) || slices.Contains(q.Names, s.Name) || slices.Contains(q.Keys, s.Key)
}

// holds reports whether a search finds a session. The texts of this test have no three letters in common but those they share
// as a whole, so that an index of letters finds no more.
func holds(s *sessile.Session, q *sessile.SessionSelection) bool {
	texts := []string{s.DisplayName, s.Subject, s.ID, s.Key, string(s.Details), strings.ReplaceAll(string(s.Settings), `","model_name":"`, "/")}
	if s.Label != nil {
		texts = append(texts, *s.Label)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(q.Found)) })
}
