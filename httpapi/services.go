package httpapi

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/session"
	"github.com/sessile-dev/sessile/state"
	"github.com/sessile-dev/sessile/turn"
)

// States are the use cases around cells. All methods answer not_found for what is not the account's.
type States interface {
	Register(ctx context.Context, account, sessionID string, r state.Registration) (state.Namespace, error)
	Namespaces(ctx context.Context, account, sessionID string) ([]state.Namespace, error)
	Write(ctx context.Context, account, sessionID string, a state.Address, data jsontext.Value, requestID string) (state.Value, error)
	Delete(ctx context.Context, account, sessionID string, a state.Address, requestID string) (state.Value, error)
	Resolve(ctx context.Context, account, sessionID string, q state.ResolveQuery) ([]state.Value, error)
	Snapshot(ctx context.Context, account, sessionID, floorID string, f sessile.SlotFilter) ([]state.SnapshotValue, error)
	Diff(ctx context.Context, account, sessionID string, q state.DiffQuery) ([]state.DiffEntry, error)
	Mutations(ctx context.Context, account, sessionID string, f sessile.MutationFilter) ([]state.Mutation, int, error)
	Mutation(ctx context.Context, account, sessionID, mutationID string) (state.Mutation, error)
}

// Extensions are the use cases of what extensions keep.
type Extensions interface {
	Get(ctx context.Context, account string, a state.ExtensionAddress) (state.ExtensionValue, error)
	Put(ctx context.Context, account string, a state.ExtensionAddress, value jsontext.Value, p state.Precondition) (state.ExtensionValue, error)
	Delete(ctx context.Context, account string, a state.ExtensionAddress, p state.Precondition) (bool, error)
}

// Sessions are the use cases around sessions.
type Sessions interface {
	Create(ctx context.Context, account string, n session.NewSession) (session.Session, error)
	Get(ctx context.Context, account, id string) (session.Session, error)
	List(ctx context.Context, account string, f sessile.SessionFilter) ([]session.Session, int, error)
	Update(ctx context.Context, account, id string, p session.Patch) (session.Session, error)
	Delete(ctx context.Context, account, id string) error
	SetStatuses(ctx context.Context, account string, ids []string, status sessile.SessionStatus) ([]session.BatchResult, error)
	Normalize(key string) string
	DeleteKey(ctx context.Context, account, key string) error
	ClearAll(ctx context.Context, account string) (int, error)
	Reset(ctx context.Context, account, id string) (session.Session, error)
	Fork(ctx context.Context, account, id string, o session.ForkOptions) (session.Session, error)
	SetGoal(ctx context.Context, account, id string, n session.NewGoal) (session.Goal, error)
	ClearGoal(ctx context.Context, account, id string) (bool, error)
	Why(ctx context.Context, account, id, targetKey, tool string) (*session.Refusal, error)
	DeleteMany(ctx context.Context, account string, ids []string) ([]session.BatchResult, error)
	ActiveRun(ctx context.Context, account, sessionID string) (*sessile.Run, error)
	Timeline(ctx context.Context, account, sessionID, branchID string, limit, offset int) ([]session.TimelineFloor, int, error)
}

// Branches are the use cases around branches. An empty branch id asks ForkBranch for a generated name; an empty session
// id asks DeleteBranch to look in all sessions of the account.
type Branches interface {
	ForkBranch(ctx context.Context, account, floorID, branchID string) (session.Fork, error)
	Branches(ctx context.Context, account, sessionID string, p sessile.Page) ([]sessile.BranchSummary, int, error)
	DeleteBranch(ctx context.Context, account, sessionID, branchID string) (session.DeletedBranch, error)
}

// Floors are the use cases around floors and their messages.
type Floors interface {
	CreateFloor(ctx context.Context, account string, n session.NewFloor) (sessile.Floor, error)
	Floor(ctx context.Context, account, id string) (sessile.Floor, error)
	Floors(ctx context.Context, f sessile.FloorFilter) ([]sessile.Floor, int, error)
	FloorResult(ctx context.Context, account, id string) (session.FloorResult, error)
	FloorRun(ctx context.Context, account, id string) (sessile.Floor, *sessile.Run, error)
	DeleteFloor(ctx context.Context, account, id string) error
	Message(ctx context.Context, account, id string) (sessile.Message, error)
	Messages(ctx context.Context, f sessile.MessageFilter) ([]sessile.Message, int, error)
	Transcript(ctx context.Context, account, sessionID, branchID string, limit, offset int) ([]sessile.Message, int, error)
}

// Turns run conversations. They stop when the context ends.
type Turns interface {
	Respond(ctx context.Context, account, sessionID string, r turn.RespondRequest) (turn.Result, error)
	Regenerate(ctx context.Context, account, sessionID string, r turn.Request) (turn.Result, error)
	Retry(ctx context.Context, account, floorID string, r turn.Request) (turn.Result, error)
	Blockers(ctx context.Context, account, floorID string, confirmed []string) ([]turn.Blocker, error)
	Edit(ctx context.Context, account, messageID string, r turn.EditRequest) (turn.Result, error)
	DryRun(ctx context.Context, account, sessionID string, r turn.DryRunRequest) (turn.DryRun, error)
	Ingest(ctx context.Context, account, sessionID string, r turn.IngestRequest) (turn.Ingested, error)
}

// Tools are the agents' tools; [agenttool.Runner] is one.
type Tools interface {
	Tools(c agenttool.Caller) []agenttool.Tool
	Call(ctx context.Context, c agenttool.Caller, name string, arguments []byte) (agenttool.Result, error)
}

// MCP answers a request of the Model Context Protocol for an account.
type MCP interface {
	ServeMCP(w http.ResponseWriter, r *http.Request, account string)
}

// Accounts tells for which account a request acts, or refuses it with one of the auth codes.
type Accounts interface {
	Account(r *http.Request) (string, error)
}
