// Package auth finds out for which account a request acts (spec/governed-state.md, section 8). Ownership comes from the
// credential alone: no header of the caller chooses an account.
package auth

import (
	"net/http"

	"github.com/sessile-dev/sessile"
)

// DefaultAccount owns everything when there is no authentication.
const DefaultAccount = "default"

// Authenticator finds the account of a request. Errors are of type [*sessile.Error], with a code that begins with
// "auth_". Implementations are safe for concurrent use.
type Authenticator interface {
	Account(r *http.Request) (string, error)
}

// Off lets everybody in as [DefaultAccount] and looks at no credentials.
func Off() Authenticator { return off{} }

type off struct{}

func (off) Account(*http.Request) (string, error) { return DefaultAccount, nil }

var (
	_ Authenticator = off{}
	_ Authenticator = (*apiKeys)(nil)
)

// The answers say nothing about which keys exist.
func required() error {
	return sessile.Errorf(sessile.CodeAuthRequired, "credentials are required: send a key as x-api-key or as a bearer token")
}

func invalid() error {
	return sessile.Errorf(sessile.CodeAuthInvalidCredentials, "the credentials are not valid")
}

func unresolved() error {
	return sessile.Errorf(sessile.CodeAuthAccountUnresolved, "the credentials belong to no account")
}
