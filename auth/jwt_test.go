package auth_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/auth"
)

const secret = "a secret of thirty-two bytes or more"

// noon is when the tests take place.
func noon() time.Time { return time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC) }

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// sign makes a token. A key of nil signs it with the secret.
func sign(t *testing.T, method jwt.SigningMethod, kid string, key any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	if key == nil {
		key = []byte(secret)
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func alice() jwt.MapClaims { return jwt.MapClaims{"account_id": "alice"} }

// show asks which account a bearer token is let in for.
func show(a auth.Authenticator, token string) (string, sessile.Code) {
	r := httptest.NewRequest(http.MethodGet, "/sessions", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	account, err := a.Account(r)
	return account, sessile.CodeOf(err)
}

func TestTokensBySecret(t *testing.T) {
	a := auth.Tokens(auth.TokenOptions{Secret: []byte(secret), Now: at(noon())})
	hs256 := func(claims jwt.MapClaims) string { return sign(t, jwt.SigningMethodHS256, "", nil, claims) }
	with := func(name string, value any) jwt.MapClaims {
		claims := alice()
		claims[name] = value
		return claims
	}
	pair := newKeys(t)
	good := hs256(alice())
	extended := jwt.NewWithClaims(jwt.SigningMethodHS256, alice())
	extended.Header["crit"] = []string{"exp"}
	critical, err := extended.SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		token string
		code  sessile.Code
	}{
		{"good", good, ""},
		{"with an id of a key", sign(t, jwt.SigningMethodHS256, "some", nil, alice()), ""},
		{"an extension that must be understood", critical, sessile.CodeAuthInvalidToken},
		{"not yet expired", hs256(with("exp", noon().Add(time.Second).Unix())), ""},
		{"expired", hs256(with("exp", noon().Add(-time.Second).Unix())), sessile.CodeAuthInvalidToken},
		{"expires now", hs256(with("exp", noon().Unix())), sessile.CodeAuthInvalidToken},
		{"expiry that is no time", hs256(with("exp", "never")), sessile.CodeAuthInvalidToken},
		{"already valid", hs256(with("nbf", noon().Unix())), ""},
		{"not yet valid", hs256(with("nbf", noon().Add(time.Second).Unix())), sessile.CodeAuthInvalidToken},
		{"another secret", sign(t, jwt.SigningMethodHS256, "", []byte("another secret of thirty-two bytes!!"), alice()), sessile.CodeAuthInvalidToken},
		{"empty secret", sign(t, jwt.SigningMethodHS256, "", []byte{}, alice()), sessile.CodeAuthInvalidToken},
		{"HS384", sign(t, jwt.SigningMethodHS384, "", nil, alice()), sessile.CodeAuthInvalidToken},
		{"HS512", sign(t, jwt.SigningMethodHS512, "", nil, alice()), sessile.CodeAuthInvalidToken},
		{"RS256", sign(t, jwt.SigningMethodRS256, "", pair.rsa, alice()), sessile.CodeAuthInvalidToken},
		{"none", sign(t, jwt.SigningMethodNone, "", jwt.UnsafeAllowNoneSignatureType, alice()), sessile.CodeAuthInvalidToken},
		{"no signature", good[:len(good)-43], sessile.CodeAuthInvalidToken},
		{"no token", "abc", sessile.CodeAuthInvalidToken},
		{"nothing", "", sessile.CodeAuthRequired},
		{"without the claim", hs256(jwt.MapClaims{"sub": "alice"}), sessile.CodeAuthAccountUnresolved},
		{"empty claim", hs256(with("account_id", "")), sessile.CodeAuthAccountUnresolved},
		{"claim that is a number", hs256(with("account_id", 7)), sessile.CodeAuthAccountUnresolved},
		{"claim that is a list", hs256(with("account_id", []string{"alice"})), sessile.CodeAuthAccountUnresolved},
		{"claim that is null", hs256(with("account_id", nil)), sessile.CodeAuthAccountUnresolved},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := ""
			if test.code == "" {
				want = "alice"
			}
			if account, code := show(a, test.token); account != want || code != test.code {
				t.Errorf("got %q and %q, want %q and %q", account, code, want, test.code)
			}
		})
	}
}

func TestTokensClaim(t *testing.T) {
	a := auth.Tokens(auth.TokenOptions{Secret: []byte(secret), Claim: "sub"})
	token := sign(t, jwt.SigningMethodHS256, "", nil, jwt.MapClaims{"sub": "bob", "account_id": "alice"})
	if account, code := show(a, token); account != "bob" || code != "" {
		t.Errorf("got %q and %q", account, code)
	}
	if _, code := show(a, sign(t, jwt.SigningMethodHS256, "", nil, alice())); code != sessile.CodeAuthAccountUnresolved {
		t.Errorf("the default claim was looked at: %q", code)
	}
}

// The bearer token counts; x-api-key is for clients that know no other way.
func TestTokensHeaders(t *testing.T) {
	a := auth.Tokens(auth.TokenOptions{Secret: []byte(secret)})
	token := sign(t, jwt.SigningMethodHS256, "", nil, alice())
	tests := []struct {
		name    string
		headers map[string]string
		code    sessile.Code
	}{
		{"bearer", map[string]string{"Authorization": "Bearer " + token}, ""},
		{"bearer beside a key for something else", map[string]string{"Authorization": "Bearer " + token, "X-Api-Key": "other"}, ""},
		{"key", map[string]string{"X-Api-Key": token}, ""},
		{"a wrong bearer is not made good", map[string]string{"Authorization": "Bearer x", "X-Api-Key": token}, sessile.CodeAuthInvalidToken},
		{"another scheme", map[string]string{"Authorization": "Basic " + token}, sessile.CodeAuthRequired},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			for name, text := range test.headers {
				r.Header.Set(name, text)
			}
			if _, err := a.Account(r); sessile.CodeOf(err) != test.code {
				t.Errorf("got %v, want %q", err, test.code)
			}
		})
	}
}

func TestTokensByKeySet(t *testing.T) {
	pair := newKeys(t)
	server := newKeyServer(t)
	server.serve(pair.set())
	a := auth.Tokens(auth.TokenOptions{KeysURL: server.URL, Now: at(noon())})
	other := newKeys(t)
	der, err := x509.MarshalPKIXPublicKey(pair.rsa.Public())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		token string
		code  sessile.Code
	}{
		{"RS256", sign(t, jwt.SigningMethodRS256, "rsa", pair.rsa, alice()), ""},
		{"ES256", sign(t, jwt.SigningMethodES256, "ec", pair.ec, alice()), ""},
		{"EdDSA", sign(t, jwt.SigningMethodEdDSA, "ed", pair.ed, alice()), ""},
		{"expired", sign(t, jwt.SigningMethodES256, "ec", pair.ec, jwt.MapClaims{"account_id": "alice", "exp": noon().Unix() - 1}), sessile.CodeAuthInvalidToken},
		{"another RSA key", sign(t, jwt.SigningMethodRS256, "rsa", other.rsa, alice()), sessile.CodeAuthInvalidToken},
		{"another EC key", sign(t, jwt.SigningMethodES256, "ec", other.ec, alice()), sessile.CodeAuthInvalidToken},
		{"another Ed25519 key", sign(t, jwt.SigningMethodEdDSA, "ed", other.ed, alice()), sessile.CodeAuthInvalidToken},
		{"the id of a key of another kind", sign(t, jwt.SigningMethodES256, "rsa", pair.ec, alice()), sessile.CodeAuthInvalidToken},
		{"no id, several keys", sign(t, jwt.SigningMethodES256, "", pair.ec, alice()), sessile.CodeAuthInvalidToken},
		{"PS256", sign(t, jwt.SigningMethodPS256, "rsa", pair.rsa, alice()), sessile.CodeAuthInvalidToken},
		{"RS512", sign(t, jwt.SigningMethodRS512, "rsa", pair.rsa, alice()), sessile.CodeAuthInvalidToken},
		{"none", sign(t, jwt.SigningMethodNone, "rsa", jwt.UnsafeAllowNoneSignatureType, alice()), sessile.CodeAuthInvalidToken},
		{"HS256 by a secret", sign(t, jwt.SigningMethodHS256, "", nil, alice()), sessile.CodeAuthInvalidToken},
		{"HS256 by the public key", sign(t, jwt.SigningMethodHS256, "rsa", der, alice()), sessile.CodeAuthInvalidToken},
		{"HS256 by the public key as text", sign(t, jwt.SigningMethodHS256, "rsa", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), alice()), sessile.CodeAuthInvalidToken},
		{"HS256 by the modulus", sign(t, jwt.SigningMethodHS256, "rsa", pair.rsa.N.Bytes(), alice()), sessile.CodeAuthInvalidToken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, code := show(a, test.token); code != test.code {
				t.Errorf("got %q, want %q", code, test.code)
			}
		})
	}
}

// With a secret and a key set each kind of token is held against its own.
func TestTokensBySecretAndKeySet(t *testing.T) {
	pair := newKeys(t)
	server := newKeyServer(t)
	server.serve(pair.set())
	a := auth.Tokens(auth.TokenOptions{Secret: []byte(secret), KeysURL: server.URL})
	for name, token := range map[string]string{
		"secret": sign(t, jwt.SigningMethodHS256, "rsa", nil, alice()),
		"RSA":    sign(t, jwt.SigningMethodRS256, "rsa", pair.rsa, alice()),
	} {
		if account, code := show(a, token); account != "alice" {
			t.Errorf("%s: %q", name, code)
		}
	}
	if _, code := show(a, sign(t, jwt.SigningMethodHS256, "rsa", pair.rsa.N.Bytes(), alice())); code != sessile.CodeAuthInvalidToken {
		t.Errorf("signed by the public key: %q", code)
	}
}

func TestTokensWithoutKeyLetNobodyIn(t *testing.T) {
	a := auth.Tokens(auth.TokenOptions{})
	pair := newKeys(t)
	for name, token := range map[string]string{
		"empty secret": sign(t, jwt.SigningMethodHS256, "", []byte{}, alice()),
		"RSA":          sign(t, jwt.SigningMethodRS256, "rsa", pair.rsa, alice()),
		"none":         sign(t, jwt.SigningMethodNone, "", jwt.UnsafeAllowNoneSignatureType, alice()),
	} {
		if account, code := show(a, token); account != "" || code != sessile.CodeAuthInvalidToken {
			t.Errorf("%s: %q and %q", name, account, code)
		}
	}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
