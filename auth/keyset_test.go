package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/auth"
)

// keys are private keys, one of each kind.
type keys struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

func newKeys(t *testing.T) (k keys) {
	t.Helper()
	var err error
	if k.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if k.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, k.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	return k
}

// set is the key set of the public keys, with the ids rsa, ec and ed.
func (k keys) set() string {
	return keySet(rsaKey("rsa", k.rsa.N.Bytes()), ecKey(k.ec), edKey("ed", k.ed))
}

func keySet(members ...string) string { return `{"keys":[` + strings.Join(members, ",") + `]}` }

func rsaKey(id string, n []byte) string {
	return fmt.Sprintf(`{"kty":"RSA","kid":%q,"use":"sig","alg":"RS256","n":%q,"e":"AQAB"}`, id, b64(n))
}

func ecKey(key *ecdsa.PrivateKey) string {
	point, _ := key.PublicKey.Bytes() // never fails for P-256
	return fmt.Sprintf(`{"kty":"EC","kid":"ec","crv":"P-256","x":%q,"y":%q}`, b64(point[1:33]), b64(point[33:]))
}

func edKey(id string, key ed25519.PrivateKey) string {
	return fmt.Sprintf(`{"kty":"OKP","kid":%q,"crv":"Ed25519","x":%q}`, id, b64(key.Public().(ed25519.PublicKey)))
}

// keyServer serves a key set and counts how often it is fetched.
type keyServer struct {
	URL string

	mu      sync.Mutex
	status  int
	body    string
	fetched int
	gate    chan struct{} // when set, answers wait for it
}

func newKeyServer(t *testing.T) *keyServer {
	s := &keyServer{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *keyServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	status, body, gate := s.status, s.body, s.gate
	s.fetched++
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

func (s *keyServer) serve(body string) { s.answer(http.StatusOK, body) }

func (s *keyServer) answer(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body = status, body
}

func (s *keyServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetched
}

// clock is a time that stands still until it is moved.
type clock struct {
	mu   sync.Mutex
	time time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

// A set is read for what is in it: keys that are of no use are left out, and do no harm to the others.
func TestKeySetMembers(t *testing.T) {
	pair := newKeys(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	point, err := pair.ec.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	ed := sign(t, jwt.SigningMethodEdDSA, "ed", pair.ed, alice())
	tests := []struct {
		name   string
		member string
		token  string
		good   bool
	}{
		{"RSA of 2048 bits", rsaKey("a", pair.rsa.N.Bytes()), sign(t, jwt.SigningMethodRS256, "a", pair.rsa, alice()), true},
		{"RSA of 2048 bits behind a zero", rsaKey("a", append([]byte{0}, pair.rsa.N.Bytes()...)), sign(t, jwt.SigningMethodRS256, "a", pair.rsa, alice()), true},
		{"RSA of 1024 bits", rsaKey("a", weak.N.Bytes()), sign(t, jwt.SigningMethodRS256, "a", weak, alice()), false},
		{"RSA of 1024 bits behind zeros", rsaKey("a", append(make([]byte, 128), weak.N.Bytes()...)), sign(t, jwt.SigningMethodRS256, "a", weak, alice()), false},
		{"RSA for encryption", strings.Replace(rsaKey("a", pair.rsa.N.Bytes()), `"sig"`, `"enc"`, 1), sign(t, jwt.SigningMethodRS256, "a", pair.rsa, alice()), false},
		{"RSA with a modulus that is no text of bytes", `{"kty":"RSA","kid":"a","n":"*","e":"AQAB"}`, sign(t, jwt.SigningMethodRS256, "a", pair.rsa, alice()), false},
		{"RSA without exponent", fmt.Sprintf(`{"kty":"RSA","kid":"a","n":%q}`, b64(pair.rsa.N.Bytes())), sign(t, jwt.SigningMethodRS256, "a", pair.rsa, alice()), false},
		{"EC", ecKey(pair.ec), sign(t, jwt.SigningMethodES256, "ec", pair.ec, alice()), true},
		{"EC off the curve", fmt.Sprintf(`{"kty":"EC","kid":"ec","crv":"P-256","x":%q,"y":%q}`, b64(point[1:33]), b64(point[1:33])), sign(t, jwt.SigningMethodES256, "ec", pair.ec, alice()), false},
		{"EC of another curve", strings.Replace(ecKey(pair.ec), "P-256", "P-384", 1), sign(t, jwt.SigningMethodES256, "ec", pair.ec, alice()), false},
		{"EC that is too short", fmt.Sprintf(`{"kty":"EC","kid":"ec","crv":"P-256","x":%q,"y":%q}`, b64(point[1:32]), b64(point[33:])), sign(t, jwt.SigningMethodES256, "ec", pair.ec, alice()), false},
		{"Ed25519 that is too short", `{"kty":"OKP","kid":"a","crv":"Ed25519","x":"AAAA"}`, sign(t, jwt.SigningMethodEdDSA, "a", pair.ed, alice()), false},
		{"X25519", strings.Replace(edKey("a", pair.ed), "Ed25519", "X25519", 1), sign(t, jwt.SigningMethodEdDSA, "a", pair.ed, alice()), false},
		{"a secret", `{"kty":"oct","kid":"a","k":"` + b64([]byte(secret)) + `"}`, sign(t, jwt.SigningMethodHS256, "a", nil, alice()), false},
		{"a kind that nobody knows", `{"kty":"new","kid":"a","x5c":["x"],"more":{}}`, sign(t, jwt.SigningMethodEdDSA, "a", pair.ed, alice()), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := newKeyServer(t)
			server.serve(keySet(test.member, edKey("ed", pair.ed)))
			a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL})
			if account, code := show(a, test.token); (account == "alice") != test.good {
				t.Errorf("got %q and %q, want good: %v", account, code, test.good)
			}
			if account, code := show(a, ed); account != "alice" {
				t.Errorf("the key beside it: %q", code)
			}
		})
	}
}

func TestKeySetSingleKeyNeedsNoID(t *testing.T) {
	pair := newKeys(t)
	server := newKeyServer(t)
	server.serve(keySet(edKey("whatever", pair.ed)))
	a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL})
	if account, code := show(a, sign(t, jwt.SigningMethodEdDSA, "", pair.ed, alice())); account != "alice" {
		t.Errorf("without an id: %q", code)
	}
	if _, code := show(a, sign(t, jwt.SigningMethodEdDSA, "other", pair.ed, alice())); code != sessile.CodeAuthInvalidToken {
		t.Errorf("with another id: %q", code)
	}
}

// A key that is not known makes the set be fetched again, but not more than once in the pause, whoever asks.
func TestKeySetRollover(t *testing.T) {
	first, second := newKeys(t), newKeys(t)
	server := newKeyServer(t)
	server.serve(keySet(edKey("first", first.ed)))
	c := &clock{time: noon()}
	a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL, Now: c.now})
	if server.count() != 0 {
		t.Error("the set was fetched before it was needed")
	}
	old := sign(t, jwt.SigningMethodEdDSA, "first", first.ed, alice())
	rolled := sign(t, jwt.SigningMethodEdDSA, "second", second.ed, alice())
	steps := []struct {
		name    string
		pass    time.Duration
		serve   string
		token   string
		good    bool
		fetched int
	}{
		{"first use", 0, "", old, true, 1},
		{"from memory", 0, "", old, true, 1},
		{"unknown at once", 0, "", rolled, false, 1},
		{"unknown before the pause ends", 30*time.Second - 1, "", rolled, false, 1},
		{"unknown behind the pause", 1, "", rolled, false, 2},
		{"unknown again", 0, keySet(edKey("first", first.ed), edKey("second", second.ed)), rolled, false, 2},
		{"now it is there", 30 * time.Second, "", rolled, true, 3},
		{"the old one is good beside it", 0, "", old, true, 3},
		{"known ones cause nothing", 9 * time.Minute, keySet(edKey("second", second.ed)), old, true, 3},
		{"an old set is fetched again", time.Minute, "", rolled, true, 4},
		{"the old key is gone", 0, "", old, false, 4},
	}
	for _, step := range steps {
		c.pass(step.pass)
		if step.serve != "" {
			server.serve(step.serve)
		}
		if _, code := show(a, step.token); (code == "") != step.good {
			t.Errorf("%s: %q, want good: %v", step.name, code, step.good)
		}
		if server.count() != step.fetched {
			t.Errorf("%s: fetched %d times, want %d", step.name, server.count(), step.fetched)
		}
	}
}

// A server of keys that is broken is asked again after a while, not for every token, and what was fetched before is good.
func TestKeySetServerBroken(t *testing.T) {
	pair := newKeys(t)
	good := keySet(edKey("ed", pair.ed))
	tests := []struct {
		name   string
		status int
		body   string
	}{
		{"status", http.StatusInternalServerError, good},
		{"no JSON", http.StatusOK, "<html>"},
		{"half a set", http.StatusOK, good[:len(good)/2]},
		{"another type", http.StatusOK, `{"keys":"none"}`},
		{"too large", http.StatusOK, `{"keys":[],"x":"` + strings.Repeat("x", 1<<20) + `"}`},
	}
	token := sign(t, jwt.SigningMethodEdDSA, "ed", pair.ed, alice())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := newKeyServer(t)
			server.answer(test.status, test.body)
			c := &clock{time: noon()}
			a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL, Now: c.now})
			step := func(pass time.Duration, ok bool, fetched int) {
				t.Helper()
				c.pass(pass)
				if _, code := show(a, token); (code == "") != ok || !ok && code != sessile.CodeAuthInvalidToken {
					t.Errorf("got %q, want good: %v", code, ok)
				}
				if server.count() != fetched {
					t.Errorf("fetched %d times, want %d", server.count(), fetched)
				}
			}
			step(0, false, 1)
			step(0, false, 1)
			step(5*time.Second-1, false, 1)
			step(1, false, 2)
			server.serve(good)
			step(5*time.Second, true, 3)
			server.answer(test.status, test.body)
			step(10*time.Minute, true, 4)
			step(time.Second, true, 4)
			step(5*time.Second, true, 5)
		})
	}
}

func TestKeySetServerGone(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL})
	if _, code := show(a, sign(t, jwt.SigningMethodEdDSA, "ed", newKeys(t).ed, alice())); code != sessile.CodeAuthInvalidToken {
		t.Errorf("got %q", code)
	}
}

// While one request fetches an old set anew, others are served by what is there.
func TestKeySetRefreshHoldsNobodyUp(t *testing.T) {
	pair := newKeys(t)
	server := newKeyServer(t)
	server.serve(pair.set())
	c := &clock{time: noon()}
	a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL, Now: c.now})
	token := sign(t, jwt.SigningMethodEdDSA, "ed", pair.ed, alice())
	if _, code := show(a, token); code != "" {
		t.Fatal(code)
	}
	c.pass(10 * time.Minute)
	gate := make(chan struct{})
	server.mu.Lock()
	server.gate = gate
	server.mu.Unlock()
	ended := make(chan sessile.Code, 2)
	for range 2 {
		go func() {
			_, code := show(a, token)
			ended <- code
		}()
	}
	if code := <-ended; code != "" { // one of them did not wait
		t.Errorf("got %q", code)
	}
	close(gate)
	if code := <-ended; code != "" {
		t.Errorf("got %q", code)
	}
	if server.count() != 2 {
		t.Errorf("fetched %d times, want 2", server.count())
	}
}
