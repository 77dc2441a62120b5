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
	keySetPause     = 30 * time.Second // between two fetches for ids that are not in the set
	keySetTimeLimit = 10 * time.Second
)

// keySet is a JSON Web Key Set that is fetched when it is needed: at first, when it is old, and when a token names a key
// that it does not hold, since keys are rolled over.
type keySet struct {
	url    string
	client *http.Client

	mu      sync.Mutex // held while fetching: one fetch serves all that wait
	keys    map[string]crypto.PublicKey
	fetched time.Time
}

func newKeySet(url string, client *http.Client) *keySet {
	if client == nil {
		client = &http.Client{Timeout: keySetTimeLimit}
	}
	return &keySet{url: url, client: client}
}

// key finds a public key by its id. A token without one is served where the set holds a single key.
func (s *keySet) key(ctx context.Context, id string) (crypto.PublicKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := time.Since(s.fetched)
	key, known := s.find(id)
	if age > keySetLife || !known && age > keySetPause {
		if err := s.fetch(ctx); err != nil && !known {
			return nil, err
		}
		key, known = s.find(id)
	}
	if !known {
		return nil, errors.New("the key set has no such key")
	}
	return key, nil
}

func (s *keySet) find(id string) (crypto.PublicKey, bool) {
	if id == "" && len(s.keys) == 1 {
		for _, key := range s.keys {
			return key, true
		}
	}
	key, known := s.keys[id]
	return key, known
}

func (s *keySet) fetch(ctx context.Context) error {
	// The fetch is for everybody who waits, not for the one whose request began it.
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, s.url, nil)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("fetch the key set: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("fetch the key set: status %d", response.StatusCode)
	}
	var set struct {
		Keys []webKey `json:"keys"`
	}
	if err := json.UnmarshalRead(io.LimitReader(response.Body, maxKeySetBytes), &set); err != nil {
		return fmt.Errorf("read the key set: %w", err)
	}
	keys := make(map[string]crypto.PublicKey, len(set.Keys))
	for i := range set.Keys {
		if key, err := set.Keys[i].public(); err == nil { // keys of other kinds and uses are left out
			keys[set.Keys[i].ID] = key
		}
	}
	s.keys, s.fetched = keys, time.Now()
	return nil
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
	if errN != nil || errE != nil || len(e) == 0 || len(e) > 4 || len(n)*8 < minRSABits {
		return nil, errOtherKey
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
}

func (k *webKey) ecdsa() (crypto.PublicKey, error) {
	x, errX := base64.RawURLEncoding.DecodeString(k.X)
	y, errY := base64.RawURLEncoding.DecodeString(k.Y)
	if errX != nil || errY != nil || len(x) != 32 || len(y) != 32 {
		return nil, errOtherKey
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
}
