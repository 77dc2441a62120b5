package session

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// Why tells which layer keeps a session from using a tool on another one, nil when none does. Codes: not_found for the session
// that asks.
func (s *Service) Why(ctx context.Context, account, id, targetKey, tool string) (refusal *Refusal, err error) {
	var c Caller
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, err := ownSession(tx, account, id)
		c = Caller{Account: account, Key: row.Key, Sandboxed: s.options.Sandboxed(row.AgentID)}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !s.options.HasTool(c, tool) { // it may read the store itself
		return forbid(LayerTools, "the policy of tools leaves this session without %s", tool), nil
	}
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		var t Target
		if t, refusal, err = s.resolver(tx, c).find(targetKey); err != nil || refusal != nil {
			return err
		}
		refusal = s.options.Visibility.Check(s.options.Keys, c, t.Key, t.Row, tool)
		return nil
	})
	return refusal, err
}
