package session

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// Why tells which layer keeps a session from another one, nil when none does. Sandboxed asks for the sandbox that the agent
// of the session is configured with to count. Codes: not_found for the session that asks.
func (s *Service) Why(ctx context.Context, account, id, targetKey, action string, sandboxed bool) (refusal *Refusal, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		c := Caller{Account: account, Key: row.Key, Sandboxed: sandboxed}
		var t Target
		if t, refusal, err = s.resolver(tx, c).find(targetKey); err != nil || refusal != nil {
			return err
		}
		refusal = s.options.Visibility.Check(s.options.Keys, c, t.Key, t.Row, action)
		return nil
	})
	return refusal, err
}
