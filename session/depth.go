package session

import (
	"context"
	"strings"

	"github.com/sessile-dev/sessile"
)

// The roles of sub-agents: orchestrators may have sub-agents of their own (spec/session-tools.md, 5.14).
const (
	RoleOrchestrator = "orchestrator"
	RoleLeaf         = "leaf"
)

// Standing is what is stored of a session and counts for the policy of tools.
type Standing struct {
	Depth         int64
	Role          string // as it was given when the session was spawned; "" for none
	InheritedDeny []string
	Model         string // provider/model; "" for unknown
}

// Standing reads what is stored of the session of a key, which need not exist. When the store cannot be read, the session is
// denied everything.
func (s *Service) Standing(account, key string) (standing Standing) {
	err := s.store.View(context.Background(), func(tx sessile.ReadTx) error {
		row, found, err := tx.SessionByKey(account, key)
		if err != nil {
			return err
		}
		if !found {
			standing = Standing{Depth: Depth(key, nil), Model: s.options.Models.Default(s.options.Keys.Agent(key))}
			return nil
		}
		d, err := DetailsOf(&row)
		if err != nil {
			return err
		}
		standing = Standing{Role: d.Role, InheritedDeny: d.InheritedDeny}
		if standing.Depth, err = DepthOf(tx, key, &row); err != nil {
			return err
		}
		standing.Model, err = s.modelOf(&row, &d)
		return err
	})
	if err != nil {
		s.options.Logger.Error("what is stored of a session could not be read", "error", err)
		return Standing{Role: RoleLeaf, InheritedDeny: []string{"*"}}
	}
	return standing
}

// maxLineage bounds how far back the spawners of a session are followed: rows that name each other end there.
const maxLineage = 32

// DepthOf is how deep a session stands below the one that nobody spawned (spec/session-tools.md, 1.2): as stored, else one
// more than its spawner, else as its key says. Row is nil for a key without a session.
func DepthOf(tx sessile.ReadTx, key string, row *sessile.Session) (int64, error) {
	for above := range int64(maxLineage) {
		if row == nil {
			return above + Depth(key, nil), nil
		}
		d, err := DetailsOf(row)
		if err != nil {
			return 0, err
		}
		if d.SpawnDepth != nil || !IsSubagent(key) || row.SpawnedBy == "" {
			return above + Depth(key, row), nil
		}
		spawner, found, err := tx.SessionByKey(row.Account, row.SpawnedBy)
		if err != nil {
			return 0, err
		}
		if !found { // it tells nothing
			return above + Depth(key, nil), nil
		}
		key, row = spawner.Key, &spawner
	}
	return maxLineage, nil
}

// Depth is the depth of a session without a look at its spawner: as stored, else as its key says.
func Depth(key string, row *sessile.Session) int64 {
	if row != nil {
		if d, err := DetailsOf(row); err == nil && d.SpawnDepth != nil {
			return *d.SpawnDepth
		}
	}
	if !IsSubagent(key) {
		return 0
	}
	return int64(strings.Count(strings.ToLower(key), "subagent:"))
}

// IsSpawned reports whether a key is that of a session that an agent spawned, of whatever kind.
func IsSpawned(key string) bool {
	if IsSubagent(key) {
		return true
	}
	if _, rest, ok := SplitKey(key); ok {
		key = rest
	}
	return strings.HasPrefix(strings.ToLower(key), "acp:")
}

// GroupOf is the channel and the id of the group chat of a key, without its thread; "" for other keys.
func GroupOf(key string) (channel, id string) {
	_, rest, ok := SplitKey(key)
	if !ok {
		return "", ""
	}
	channel, rest, _ = strings.Cut(rest, ":")
	for _, word := range []string{"group:", "channel:", "room:"} {
		if id, ok := strings.CutPrefix(rest, word); ok {
			if at := strings.LastIndex(strings.ToLower(id), ":thread:"); at >= 0 {
				id = id[:at]
			}
			return channel, id
		}
	}
	return "", ""
}
