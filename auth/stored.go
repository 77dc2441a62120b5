package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"net/http"
	"strings"

	"github.com/sessile-dev/sessile"
)

// keyPrefix makes a key recognisable wherever it turns up, for people and for scanners of secrets.
const keyPrefix = "sessile_"

var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Keys makes, lists and revokes the keys that are kept in a store. It is safe for concurrent use.
type Keys struct{ store sessile.Store }

// NewKeys makes the use cases. It does no IO.
func NewKeys(store sessile.Store) *Keys { return &Keys{store: store} }

// Create makes a key of 32 random bytes for an account, and returns it: it cannot be read again. What is kept is its
// digest.
func (k *Keys) Create(ctx context.Context, account, name string) (key string, kept sessile.APIKey, err error) {
	random := make([]byte, 5+32)
	_, _ = rand.Read(random) // never fails
	id := keyEncoding.EncodeToString(random[:5])
	key = keyPrefix + id + "_" + keyEncoding.EncodeToString(random[5:])
	sum := sha256.Sum256([]byte(key))
	kept = sessile.APIKey{ID: id, Account: account, Name: name, Digest: sum[:]}
	err = k.store.Update(ctx, func(tx sessile.Tx) error {
		kept.CreatedAt = tx.Now()
		return tx.AddAPIKey(&kept)
	})
	return key, kept, err
}

// List lists all keys, revoked ones too, oldest first.
func (k *Keys) List(ctx context.Context) (keys []sessile.APIKey, err error) {
	err = k.store.View(ctx, func(tx sessile.ReadTx) error {
		keys, err = tx.APIKeys()
		return err
	})
	return keys, err
}

// Revoke makes a key useless at once. Codes: not_found, also for one that was revoked before.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	return k.store.Update(ctx, func(tx sessile.Tx) error {
		revoked, err := tx.RevokeAPIKey(id)
		if err == nil && !revoked {
			err = sessile.NotFound()
		}
		return err
	})
}

// account finds the account of a key, "" when there is no such key.
func (k *Keys) account(ctx context.Context, key string) (account string, err error) {
	id, _, found := strings.Cut(strings.TrimPrefix(key, keyPrefix), "_")
	if !found || !strings.HasPrefix(key, keyPrefix) {
		return "", nil
	}
	sum := sha256.Sum256([]byte(key))
	err = k.store.View(ctx, func(tx sessile.ReadTx) error {
		kept, found, err := tx.APIKey(id)
		if err == nil && found && kept.RevokedAt == nil && subtle.ConstantTimeCompare(sum[:], kept.Digest) == 1 {
			account = kept.Account
		}
		return err
	})
	return account, err
}

// KeyHolders lets in who shows one of the given keys or one that is kept in the store.
func KeyHolders(given []Key, kept *Keys) Authenticator {
	return keyHolders{APIKeys(given), kept}
}

type keyHolders struct {
	given Authenticator
	kept  *Keys
}

func (a keyHolders) Account(r *http.Request) (string, error) {
	account, err := a.given.Account(r)
	if sessile.CodeOf(err) != sessile.CodeAuthInvalidCredentials {
		return account, err
	}
	key, _ := credential(r.Header)
	found, lookErr := a.kept.account(r.Context(), key)
	if lookErr != nil {
		return "", lookErr
	}
	if found == "" {
		return "", err
	}
	return found, nil
}
