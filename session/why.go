package session

import (
	"context"

	"github.com/sessile-dev/sessile"
)

// Why tells which layer keeps a session from using a tool on another one, nil when none does. Codes: not_found for the session
// that asks.
func (s *Service) Why(ctx context.Context, account, id, targetKey, tool string) (refusal *Refusal, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row, err := ownSession(tx, account, id)
		if err != nil {
			return err
		}
		c := Caller{Account: account, Key: row.Key, Sandboxed: s.options.Sandboxed(row.AgentID)}
		if !s.options.HasTool(c, tool) {
			refusal = forbid(LayerTools, "the policy of tools leaves this session without %s", tool)
			return nil
		}
		var t Target
		if t, refusal, err = s.resolver(tx, c).find(targetKey); err != nil || refusal != nil {
			return err
		}
		refusal = s.options.Visibility.Check(s.options.Keys, c, t.Key, t.Row, tool)
		return nil
	})
	return refusal, err
}
