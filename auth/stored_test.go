package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/auth"
	"github.com/sessile-dev/sessile/sqlite"
)

func newStore(t *testing.T) *sqlite.Store {
	t.Helper()
	return storeAt(t, noon)
}

func storeAt(t *testing.T, now func() time.Time) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "keys.db"), sqlite.Options{Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func create(t *testing.T, k *auth.Keys, account, name string) (string, sessile.APIKey) {
	t.Helper()
	key, kept, err := k.Create(t.Context(), account, name)
	if err != nil {
		t.Fatal(err)
	}
	return key, kept
}

func TestKeysCreate(t *testing.T) {
	k := auth.NewKeys(newStore(t))
	key, kept := create(t, k, "alice", "laptop")
	shape := regexp.MustCompile(`^sessile_[a-z2-7]{8}_[a-z2-7]{52}$`) // 5 and 32 bytes
	if !shape.MatchString(key) || !strings.Contains(key, "_"+kept.ID+"_") {
		t.Errorf("key %d characters long does not look like one, or not like that of id %s", len(key), kept.ID)
	}
	if kept.Account != "alice" || kept.Name != "laptop" || kept.CreatedAt != noon().UnixMilli() || kept.RevokedAt != nil {
		t.Errorf("got %+v", kept)
	}
	secret := key[strings.LastIndexByte(key, '_')+1:]
	if strings.Contains(string(kept.Digest), secret) || len(kept.Digest) != 32 {
		t.Error("what is kept is not a digest")
	}
	other, _ := create(t, k, "alice", "laptop")
	if other == key {
		t.Error("two keys are the same")
	}
}

func TestKeysListAndRevoke(t *testing.T) {
	c := &clock{time: noon()}
	k := auth.NewKeys(storeAt(t, c.now))
	list := func() []sessile.APIKey {
		t.Helper()
		keys, err := k.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if keys := list(); len(keys) != 0 {
		t.Errorf("a new store has the keys %+v", keys)
	}
	key, first := create(t, k, "alice", "first")
	c.pass(time.Millisecond)
	_, second := create(t, k, "bob", "second")
	shown := func() []string {
		var names []string
		for _, key := range list() {
			text := key.ID + " " + key.Account + " " + key.Name
			if key.RevokedAt != nil {
				text += " revoked"
			}
			names = append(names, text)
		}
		return names
	}
	want := []string{first.ID + " alice first", second.ID + " bob second"}
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}

	holders := auth.KeyHolders(nil, k)
	if account, code := show(holders, key); account != "alice" {
		t.Errorf("before: %q", code)
	}
	if err := k.Revoke(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if _, code := show(holders, key); code != sessile.CodeAuthInvalidCredentials {
		t.Errorf("a revoked key: %q", code)
	}
	want[0] += " revoked"
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for _, id := range []string{first.ID, "nobody", ""} {
		if err := k.Revoke(t.Context(), id); sessile.CodeOf(err) != sessile.CodeNotFound {
			t.Errorf("revoke %q: %v", id, err)
		}
	}
}

func TestKeyHolders(t *testing.T) {
	k := auth.NewKeys(newStore(t))
	key, kept := create(t, k, "alice", "")
	other, _ := create(t, k, "bob", "")
	secretOf := func(key string) string { return key[strings.LastIndexByte(key, '_')+1:] }
	holders := auth.KeyHolders([]auth.Key{{Text: "given", Account: "carol"}, {Text: "sessile_like_a_kept_one", Account: "dave"}, {Text: "none"}}, k)
	tests := []struct {
		name, key, account string
		code               sessile.Code
	}{
		{"kept", key, "alice", ""},
		{"another kept", other, "bob", ""},
		{"given", "given", "carol", ""},
		{"given, in the shape of a kept one", "sessile_like_a_kept_one", "dave", ""},
		{"given without account", "none", "", sessile.CodeAuthAccountUnresolved},
		{"the right id with the secret of another", "sessile_" + kept.ID + "_" + secretOf(other), "", sessile.CodeAuthInvalidCredentials},
		{"the right id with no secret", "sessile_" + kept.ID + "_", "", sessile.CodeAuthInvalidCredentials},
		{"the right id alone", "sessile_" + kept.ID, "", sessile.CodeAuthInvalidCredentials},
		{"an unknown id with a right secret", "sessile_aaaaaaaa_" + secretOf(key), "", sessile.CodeAuthInvalidCredentials},
		{"no id", "sessile__" + secretOf(key), "", sessile.CodeAuthInvalidCredentials},
		{"without prefix", strings.TrimPrefix(key, "sessile_"), "", sessile.CodeAuthInvalidCredentials},
		{"another prefix", "Sessile_" + strings.TrimPrefix(key, "sessile_"), "", sessile.CodeAuthInvalidCredentials},
		{"a character too few", key[:len(key)-1], "", sessile.CodeAuthInvalidCredentials},
		{"a character too many", key + "a", "", sessile.CodeAuthInvalidCredentials},
		{"upper case", strings.ToUpper(key), "", sessile.CodeAuthInvalidCredentials},
		{"the prefix alone", "sessile_", "", sessile.CodeAuthInvalidCredentials},
		{"nothing", "", "", sessile.CodeAuthRequired},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if account, code := show(holders, test.key); account != test.account || code != test.code {
				t.Errorf("got %q and %q, want %q and %q", account, code, test.account, test.code)
			}
		})
	}

	t.Run("as x-api-key", func(t *testing.T) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Api-Key", key)
		if account, err := holders.Account(r); account != "alice" {
			t.Errorf("got %q, %v", account, err)
		}
	})
}

// A key that cannot be looked up is neither right nor wrong, and lets nobody in.
func TestKeyHoldersStoreBroken(t *testing.T) {
	store := newStore(t)
	k := auth.NewKeys(store)
	key, _ := create(t, k, "alice", "")
	holders := auth.KeyHolders([]auth.Key{{Text: "given", Account: "carol"}}, auth.NewKeys(broken{store}))
	if account, code := show(holders, key); account != "" || code != sessile.CodeInternal {
		t.Errorf("got %q and %q", account, code)
	}
	if account, code := show(holders, "given"); account != "carol" {
		t.Errorf("a given key needs no store: %q", code)
	}
}

type broken struct{ sessile.Store }

func (broken) View(context.Context, func(sessile.ReadTx) error) error {
	return errors.New("the disk is gone")
}
