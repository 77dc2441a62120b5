package auth

import (
	"errors"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sessile-dev/sessile"
)

// TokenOptions say which bearer tokens are believed. One of Secret and KeysURL is needed.
type TokenOptions struct {
	// Secret verifies tokens signed with HS256.
	Secret []byte
	// KeysURL is where a JSON Web Key Set stands whose keys verify tokens signed with RS256, ES256 or EdDSA.
	KeysURL string
	// Claim names the member of the token that holds the account; default account_id.
	Claim string
	// Client fetches the key set; default one of its own. A fetch takes ten seconds at most.
	Client *http.Client
	// Now tells the time; default time.Now.
	Now func() time.Time
}

// Tokens lets in who shows a valid JSON Web Token as a bearer token, or where there is none, as x-api-key. The account is a
// claim of the token, and exists from the first valid token on (spec/governed-state.md, section 8).
//
// The claims exp and nbf count where a token has them. One without exp is good as long as its key is: how long tokens live
// is for who signs them to say. Without a secret and a key set nobody is let in.
func Tokens(o TokenOptions) Authenticator {
	if o.Claim == "" {
		o.Claim = "account_id"
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &tokens{claim: o.Claim}
	methods := []string{} // nil would let every algorithm in
	if len(o.Secret) > 0 {
		methods = append(methods, "HS256")
		t.secret = o.Secret
	}
	if o.KeysURL != "" {
		methods = append(methods, "RS256", "ES256", "EdDSA")
		t.keys = newKeySet(o)
	}
	// The algorithms are pinned: a token does not choose how it is checked.
	t.parser = jwt.NewParser(jwt.WithValidMethods(methods), jwt.WithTimeFunc(o.Now))
	return t
}

// errCritical refuses tokens that name extensions which must be understood: none is.
var errCritical = errors.New("auth: the token demands an extension")

type tokens struct {
	parser *jwt.Parser
	secret []byte
	keys   *keySet
	claim  string
}

var _ Authenticator = (*tokens)(nil)

func (t *tokens) Account(r *http.Request) (string, error) {
	text, ok := bearer(r.Header)
	if !ok {
		text, ok = credential(r.Header)
	}
	if !ok {
		return "", required()
	}
	claims := jwt.MapClaims{}
	_, err := t.parser.ParseWithClaims(text, claims, func(token *jwt.Token) (any, error) {
		if _, critical := token.Header["crit"]; critical {
			return nil, errCritical
		}
		if token.Method.Alg() == "HS256" {
			return t.secret, nil
		}
		id, _ := token.Header["kid"].(string)
		return t.keys.key(r.Context(), id)
	})
	if err != nil {
		return "", &sessile.Error{Code: sessile.CodeAuthInvalidToken, Message: "the token is not valid", Cause: err}
	}
	account, _ := claims[t.claim].(string)
	if account == "" {
		return "", unresolved()
	}
	return account, nil
}
