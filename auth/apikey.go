package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Key is a secret text and the account whoever holds it acts for. An empty account is a key that resolves to none.
type Key struct {
	Text    string
	Account string
}

// ParseKeys reads a list of key:account, separated by commas, with blanks around the parts ignored. The key ends at the
// last colon, so it may hold colons itself. Messages name an entry by its position, never by what stands there.
func ParseKeys(list string) ([]Key, error) {
	if strings.TrimSpace(list) == "" {
		return nil, errors.New("no key is given; allowed is key:account, separated by commas")
	}
	var keys []Key
	accounts := map[string]string{}
	for i, part := range strings.Split(list, ",") {
		colon := strings.LastIndexByte(part, ':')
		if colon < 0 {
			return nil, fmt.Errorf("entry %d has no colon; allowed is key:account", i+1)
		}
		key := Key{Text: strings.TrimSpace(part[:colon]), Account: strings.TrimSpace(part[colon+1:])}
		switch account, seen := accounts[key.Text]; {
		case key.Text == "":
			return nil, fmt.Errorf("entry %d has no key before its last colon", i+1)
		case key.Account == "":
			return nil, fmt.Errorf("entry %d has no account after its last colon", i+1)
		case seen && account != key.Account:
			return nil, fmt.Errorf("entry %d repeats a key for another account", i+1)
		}
		accounts[key.Text] = key.Account
		keys = append(keys, key)
	}
	return keys, nil
}

type digest [sha256.Size]byte

type apiKeys struct {
	keys []keyDigest
}

type keyDigest struct {
	sum     digest
	account string
}

// APIKeys lets in who shows one of the keys, in the header x-api-key or else as a bearer token. It keeps digests only,
// and the time it takes does not depend on which key was shown or how much of it was right.
func APIKeys(keys []Key) Authenticator {
	a := &apiKeys{}
	for _, k := range keys {
		a.keys = append(a.keys, keyDigest{sum: sha256.Sum256([]byte(k.Text)), account: k.Account})
	}
	return a
}

func (a *apiKeys) Account(r *http.Request) (string, error) {
	shown, ok := credential(r.Header)
	if !ok {
		return "", required()
	}
	sum := digest(sha256.Sum256([]byte(shown)))
	found := 0
	index := 0
	for i := range a.keys {
		// No early end: every digest is compared in full.
		same := subtle.ConstantTimeCompare(sum[:], a.keys[i].sum[:])
		index = subtle.ConstantTimeSelect(same, i, index)
		found |= same
	}
	if found == 0 {
		return "", invalid()
	}
	if a.keys[index].account == "" {
		return "", unresolved()
	}
	return a.keys[index].account, nil
}

// credential takes the key out of the headers; ok is false when there is none.
func credential(h http.Header) (key string, ok bool) {
	if key := h.Get("X-Api-Key"); key != "" {
		return key, true
	}
	return bearer(h)
}

func bearer(h http.Header) (token string, ok bool) {
	scheme, token, found := strings.Cut(h.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", false
	}
	return token, true
}
