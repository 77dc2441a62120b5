package sessile

// APIKey is a key that lets in for an account. The key itself is not kept: only a digest, and the part of the key that
// names it.
type APIKey struct {
	ID        string // stands in the key, before the secret
	Account   string
	Name      string // for people
	Digest    []byte // SHA-256 of the whole key
	CreatedAt int64
	RevokedAt *int64
}

// APIKeyReader finds keys.
type APIKeyReader interface {
	// APIKey finds a key by its id, revoked ones too.
	APIKey(id string) (APIKey, bool, error)
	// APIKeys lists all keys, oldest first.
	APIKeys() ([]APIKey, error)
}

// APIKeyWriter changes keys.
type APIKeyWriter interface {
	// AddAPIKey inserts a key; the account is made at first sight.
	AddAPIKey(*APIKey) error
	// RevokeAPIKey marks a key as revoked, and reports whether there was one that was not.
	RevokeAPIKey(id string) (bool, error)
}
