package storetest

import "github.com/sessile-dev/sessile"

func apiKeyLife(f *fixture) {
	f.update(func(tx sessile.Tx) {
		k := sessile.APIKey{ID: "abc", Account: "a", Name: "laptop", Digest: []byte{0, 1, 255}, CreatedAt: 5}
		f.ok(tx.AddAPIKey(&k))
		f.same("key", found(tx.APIKey("abc")), k)
		if !missing(tx.APIKey("abd")) {
			f.Error("a key that does not exist is found")
		}
		if tx.AddAPIKey(&k) == nil {
			f.Error("two keys have one id")
		}
		f.same("listed", must(tx.APIKeys()), []sessile.APIKey{k})
		f.same("revoked", must(tx.RevokeAPIKey("abc")), true)
		f.same("revoked again", must(tx.RevokeAPIKey("abc")), false)
		if found(tx.APIKey("abc")).RevokedAt == nil {
			f.Error("a revoked key does not say so")
		}
	})
}
