package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Bounds of a key set and of how often it is fetched.
const (
	maxKeySetBytes  = 1 << 20
	keySetLife      = 10 * time.Minute
	keySetPause     = 30 * time.Second // after a fetch, before one for an id that is not in the set
	keySetRetry     = 5 * time.Second  // after a fetch that failed
	keySetTimeLimit = 10 * time.Second
)

// keySet is a JSON Web Key Set that is fetched when it is needed: at first, when it is old, and when a token names a key
// that it does not hold, since keys are rolled over. While its server is out of reach, the keys fetched last stay good.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time

	fetching sync.Mutex // held while fetching: one fetch serves all that wait

	mu      sync.Mutex
	keys    map[string]crypto.PublicKey
	fetched time.Time // when the keys came
	next    time.Time // no fetch before
}

func newKeySet(o TokenOptions) *keySet {
	return &keySet{url: o.KeysURL, client: o.Client, now: o.Now}
}

// key finds a public key by its id. A token without one is served where the set holds a single key.
func (s *keySet) key(ctx context.Context, id string) (crypto.PublicKey, error) {
	key, known, due := s.find(id)
	switch {
	case known && !due:
		return key, nil
	case known:
		// Old keys are good enough while somebody sees to new ones.
		if !s.fetching.TryLock() {
			return key, nil
		}
	default:
		s.fetching.Lock()
	}
	defer s.fetching.Unlock()
	var err error
	if _, _, due = s.find(id); due { // whoever was waited for has not fetched it
		err = s.fetch(ctx)
	}
	switch key, known, _ = s.find(id); {
	case known:
		return key, nil
	case err != nil:
		return nil, err
	}
	return nil, errors.New("the key set has no such key")
}

// find looks for a key in what was fetched last, and tells whether it is time to fetch for it.
func (s *keySet) find(id string) (key crypto.PublicKey, known, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, known = s.keys[id]
	if id == "" && len(s.keys) == 1 {
		for _, key = range s.keys {
			known = true
		}
	}
	now := s.now()
	return key, known, !now.Before(s.next) && (!known || now.Sub(s.fetched) >= keySetLife)
}

// fetch gets the set. The caller holds fetching.
func (s *keySet) fetch(ctx context.Context) error {
	// The fetch is for everybody who waits, not for the one whose request began it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keySetTimeLimit)
	defer cancel()
	keys, err := s.get(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if err != nil {
		s.next = now.Add(keySetRetry)
		return err
	}
	s.keys, s.fetched, s.next = keys, now, now.Add(keySetPause)
	return nil
}

func (s *keySet) get(ctx context.Context) (map[string]crypto.PublicKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch the key set: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the key set: status %d", response.StatusCode)
	}
	var set struct {
		Keys []webKey `json:"keys"`
	}
	if err := json.UnmarshalRead(io.LimitReader(response.Body, maxKeySetBytes), &set); err != nil {
		return nil, fmt.Errorf("read the key set: %w", err)
	}
	keys := make(map[string]crypto.PublicKey, len(set.Keys))
	for i := range set.Keys {
		if key, err := set.Keys[i].public(); err == nil { // keys of other kinds and uses are left out
			keys[set.Keys[i].ID] = key
		}
	}
	return keys, nil
}

// webKey is a public key as RFC 7517 and 7518 write it.
type webKey struct {
	ID    string `json:"kid"`
	Type  string `json:"kty"`
	Use   string `json:"use"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

var errOtherKey = errors.New("a key of another kind")

func (k *webKey) public() (crypto.PublicKey, error) {
	if k.Use != "" && k.Use != "sig" {
		return nil, errOtherKey
	}
	switch {
	case k.Type == "RSA":
		return k.rsa()
	case k.Type == "EC" && k.Curve == "P-256":
		return k.ecdsa()
	case k.Type == "OKP" && k.Curve == "Ed25519":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, errOtherKey
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, errOtherKey
}

// minRSABits is what a key must have to be worth anything.
const minRSABits = 2048

func (k *webKey) rsa() (crypto.PublicKey, error) {
	n, errN := base64.RawURLEncoding.DecodeString(k.N)
	e, errE := base64.RawURLEncoding.DecodeString(k.E)
	if errN != nil || errE != nil || len(e) == 0 || len(e) > 4 {
		return nil, errOtherKey
	}
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	if key.N.BitLen() < minRSABits { // leading zeros make no key longer
		return nil, errOtherKey
	}
	return key, nil
}

func (k *webKey) ecdsa() (crypto.PublicKey, error) {
	x, errX := base64.RawURLEncoding.DecodeString(k.X)
	y, errY := base64.RawURLEncoding.DecodeString(k.Y)
	if errX != nil || errY != nil || len(x) != 32 || len(y) != 32 {
		return nil, errOtherKey
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
}
