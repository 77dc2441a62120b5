package httpapi

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessile-dev/sessile"
)

func queryOf(raw string) *query {
	r := httptest.NewRequest("GET", "/", nil)
	r.URL.RawQuery = raw
	return openQuery(&call{r: r})
}

func TestQueries(t *testing.T) {
	resolve := func(q *query) {
		q.text("branch_id", required, anyText)
		q.text("source_floor_id", optional, anyText)
		q.slotFilter()
	}
	list := func(q *query) { q.page(50, "created_at", "updated_at") }
	against := func(q *query) { q.against() }
	mutations := func(q *query) { q.mutationFilter() }
	tests := []struct {
		raw  string
		read func(*query)
		want []string
	}{
		{"branch_id=main", resolve, nil},
		{"branch_id=x%20y%2Fz%3F%23%25%C3%BC&foo=1&foo=2&bar=", resolve, nil},
		{"branch_id=main&namespace=a&slot=x", resolve, nil},
		{"", resolve, []string{"branch_id required"}},
		{"branch_id=", resolve, []string{"branch_id empty"}},
		{"branch_id", resolve, []string{"branch_id empty"}},
		{"branch_id=main&branch_id=main", resolve, []string{"branch_id repeated"}},
		{"branch_id=main&slot=x", resolve, []string{"slot conflict"}},
		{"branch_id=main&slot=", resolve, []string{"slot empty", "slot conflict"}},
		{"branch_id=main&namespace=Bad-Name", resolve, []string{"namespace wrong_pattern"}},
		{"branch_id=main&namespace=a&slot=", resolve, []string{"slot empty"}},
		{"branch_id=main&namespace=&slot=x", resolve, []string{"namespace empty"}},
		{"branch_id=main&source_floor_id=", resolve, []string{"source_floor_id empty"}},
		{"branch_id=main&namespace=a&slot=x&slot=x", resolve, []string{"slot repeated"}},
		{"branch_id=%zz", resolve, []string{" malformed"}},
		{"branch_id=main;namespace=a", resolve, []string{" malformed"}},
		{"branch_id=%ff", resolve, []string{"branch_id malformed"}},

		{"", list, nil},
		{"limit=1&offset=0&sort_by=updated_at&sort_order=asc", list, nil},
		{"limit=0", list, []string{"limit out_of_range"}},
		{"limit=101", list, []string{"limit out_of_range"}},
		{"limit=x", list, []string{"limit wrong_type"}},
		{"limit=1.0", list, []string{"limit wrong_type"}},
		{"limit=%2B1", list, []string{"limit wrong_type"}},
		{"limit=-", list, []string{"limit wrong_type"}},
		{"limit=99999999999999999999", list, []string{"limit out_of_range"}},
		{"offset=-1", list, []string{"offset out_of_range"}},
		{"sort_order=up&sort_by=colour", list, []string{"sort_by not_a_choice", "sort_order not_a_choice"}},

		{"against=live&branch_id=main", against, nil},
		{"against=floor:x", against, nil},
		{"against=floor:x&branch_id=a", against, nil},
		{"against=floor:x&branch_id=", against, []string{"branch_id empty"}},
		{"against=live", against, []string{"branch_id required"}},
		{"", against, []string{"against required"}},
		{"against=floor:", against, []string{"against not_a_choice"}},
		{"against=LIVE&branch_id=a", against, []string{"against not_a_choice"}},
		{"against=head", against, []string{"against not_a_choice"}},

		{"status=staged&write_mode=direct&replay_safety=uncertain&created_after=1&created_before=2", mutations, nil},
		{"status=bogus&write_mode=x&limit=101&sort_order=up&created_after=x", mutations, []string{
			"created_after wrong_type", "limit out_of_range", "sort_order not_a_choice", "status not_a_choice", "write_mode not_a_choice",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			q := queryOf(tt.raw)
			tt.read(q)
			if diff := cmp.Diff(tt.want, found(t, q.done())); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestPage(t *testing.T) {
	if got, want := queryOf("").page(50, "updated_at", "branch_id"), (sessile.Page{Limit: 50, SortBy: "updated_at", Descending: true}); got != want {
		t.Errorf("defaults: %+v", got)
	}
	got := queryOf("limit=7&offset=3&sort_by=branch_id&sort_order=asc").page(50, "updated_at", "branch_id")
	if want := (sessile.Page{Limit: 7, Offset: 3, SortBy: "branch_id"}); got != want {
		t.Errorf("given: %+v", got)
	}
}

func TestMutationFilter(t *testing.T) {
	f := queryOf("").mutationFilter()
	want := sessile.MutationFilter{Page: sessile.Page{Limit: 20, SortBy: "created_at", Descending: true}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
	f = queryOf("status=discarded&replay_safety=safe&write_mode=commit_bound&target_slot=a&state_namespace=b&branch_id=c&source_floor_id=d&run_id=e&created_after=5&created_before=6").mutationFilter()
	want = sessile.MutationFilter{
		Branch: "c", Status: sessile.StatusDiscarded, FloorID: "d", RunID: "e", Namespace: "b", Slot: "a", Direct: new(false),
		CreatedAfter: new(int64(5)), CreatedBefore: new(int64(6)), Page: want.Page,
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
	for _, raw := range []string{"status=staged", "status=applied&replay_safety=uncertain", "status=blocked"} {
		if f := queryOf(raw).mutationFilter(); f.Status != neverStored {
			t.Errorf("%s: status %d", raw, f.Status)
		}
	}
}

// FuzzParseQuery holds the reader of queries against the standard library's.
func FuzzParseQuery(f *testing.F) {
	for _, raw := range []string{"", "a=1&b=2&a=3", "a", "&&a==b&", "a=%zz", "%41=b+c", "a;b", "=x"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		want, err := url.ParseQuery(raw)
		got, ok := parseQuery(raw)
		if ok != (err == nil) {
			if !ok && strings.Count(raw, "&") >= maxParameters {
				return
			}
			t.Fatalf("%q: ok is %v, the library says %v", raw, ok, err)
		}
		if !ok {
			return
		}
		values := url.Values{}
		for _, p := range got {
			values.Add(p.name, p.value)
		}
		if diff := cmp.Diff(want, values, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q: %s", raw, diff)
		}
	})
}
