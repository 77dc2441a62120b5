package sessile_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sessile-dev/sessile"
)

func TestIDs(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	g := sessile.IDs{Now: func() time.Time { return now }, Rand: bytes.NewReader(bytes.Repeat([]byte{0xa5}, 1000))}
	first := g.New(sessile.PrefixSession)
	if again := g.New(sessile.PrefixSession); again != first {
		t.Errorf("the same time and randomness made %s and %s", first, again)
	}
	if !strings.HasPrefix(first, "ses_") || len(first) != len("ses_")+26 || first != strings.ToLower(first) {
		t.Errorf("an id is %q", first)
	}
	var ids []string
	for range 50 {
		now = now.Add(time.Millisecond)
		ids = append(ids, sessile.IDs{Now: func() time.Time { return now }}.New("x_"))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids are not in the order of their time")
	}
	if len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(ids) {
		t.Error("ids repeat")
	}
	if suffix := (sessile.IDs{}).Suffix(); len(suffix) != 8 {
		t.Errorf("a suffix is %q", suffix)
	}
}

func TestMutationIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(1, math.MaxInt64).Draw(t, "a")
		b := rapid.Int64Range(1, math.MaxInt64).Draw(t, "b")
		id := sessile.MutationID(a)
		if seq, ok := sessile.ParseMutationID(id); !ok || seq != a {
			t.Fatalf("%d became %s and then %d, %v", a, id, seq, ok)
		}
		if (a < b) != (id < sessile.MutationID(b)) {
			t.Fatalf("the ids of %d and %d are not in their order", a, b)
		}
	})
	good := sessile.MutationID(7)
	for _, id := range []string{"", "mut_", "7", good + "0", good[:len(good)-1], strings.ToUpper(good), "flr" + good[3:], sessile.MutationID(0), sessile.MutationID(-1), "mut_zzzzzzzzzzzzz", "mut_00000000000e1"} {
		if seq, ok := sessile.ParseMutationID(id); ok && (id != good) && sessile.MutationID(seq) != id {
			t.Errorf("%q was read as %d", id, seq)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("a secret")
	e := &sessile.Error{Code: sessile.CodeInvalidState, Message: "not now", Cause: cause}
	wrapped := fmt.Errorf("somewhere: %w", e)
	if sessile.CodeOf(wrapped) != sessile.CodeInvalidState || !errors.Is(wrapped, cause) {
		t.Errorf("code %q of %v", sessile.CodeOf(wrapped), wrapped)
	}
	if sessile.CodeOf(nil) != "" || sessile.CodeOf(cause) != sessile.CodeInternal {
		t.Error("an error without a code has one")
	}
	if a, b := sessile.NotFound(), sessile.NotFound(); a.Message != b.Message || a.Code != sessile.CodeNotFound {
		t.Error("what is not found does not answer alike")
	}
	if e := sessile.Invalid(sessile.FieldError{Path: "a.b", Message: "is wrong", Code: "wrong"}); e.Message != "a.b: is wrong" || e.Details == nil {
		t.Errorf("a validation error: %v, %v", e, e.Details)
	}
}
