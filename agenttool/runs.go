package agenttool

import (
	"context"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
)

// Runs are the use cases that the tools around runs work on; [agentrun.Service] is one.
type Runs interface {
	Send(ctx context.Context, c agentrun.Caller, r agentrun.SendRequest) (agentrun.SendResult, error)
	Spawn(ctx context.Context, c agentrun.Caller, r agentrun.SpawnRequest) (agentrun.SpawnResult, error)
	Subagents(ctx context.Context, account, key string, minutes int64) (agentrun.Subagents, error)
	ChildOf(ctx context.Context, account, key, word string) (agentrun.Subagent, error)
	Wait(ctx context.Context, account, id string, limit time.Duration) (agentrun.Details, error)
	Cancel(ctx context.Context, account, id string) (agentrun.Details, error)
	Steer(ctx context.Context, account, id, message string) (agentrun.Details, error)
}

var _ Runs = (*agentrun.Service)(nil)

// runCaller is the session that works with others; a call without one is refused.
func runCaller(c Caller) (agentrun.Caller, error) {
	caller, err := sessionCaller(c)
	return agentrun.Caller{Caller: caller, Channel: c.Channel, RunID: c.RunID}, err
}

// refusedText is what an error that is the caller's to see says; "" for others.
func refusedText(err error) string {
	switch sessile.CodeOf(err) {
	case sessile.CodeNotFound:
		return "there is no such sub-agent of this session"
	case sessile.CodeInvalidState, sessile.CodeValidation, sessile.CodeRateLimited:
		return err.Error()
	}
	return ""
}
