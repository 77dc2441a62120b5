package client_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/httpapi"
)

// world is what the steps of [TestRoutes] hand on.
type world struct {
	*client.Client
	session, floor, second, message, ingested, worldbook, key string
	watched                                                   string
	notices                                                   []string
	run, delivery                                             string
	work                                                      func()
}

// errEnough ends a stream.
var errEnough = errors.New("enough")

// tool calls a tool for a session and reads what it answers.
func (w *world) tool(ctx context.Context, name, key, arguments string, into any) error {
	data, err := w.CallTool(ctx, name, client.ToolCall{SessionKey: &key, Arguments: jsontext.Value(arguments)})
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// step calls one method. What it returns, written as JSON, must be the data of the answer, to the byte but for the order of
// members: so no member of the wire is missing in the result.
type step struct {
	method string // of the client, as the function is named in httpapi
	route  string
	call   func(ctx context.Context, w *world) (any, error)
}

const tricky = `{"big":12345678901234567890,"text":"\u00e9 </script>","n":1.0}`

func steps() []step {
	trust := client.Address{BranchID: "main", Namespace: "bond_log", Slot: "trust"}
	return []step{
		{"Health", "GET /health", func(ctx context.Context, w *world) (any, error) { return w.Health(ctx) }},
		{"ShowVersion", "GET /version", func(ctx context.Context, w *world) (any, error) { return w.ShowVersion(ctx) }},

		{"CreateSession", "POST /sessions", func(ctx context.Context, w *world) (any, error) {
			yes := true
			s, err := w.CreateSession(ctx, client.SessionInput{
				Title: "First", CharacterID: "c1", CharacterSnapshot: jsontext.Value(tricky), UserSnapshot: jsontext.Value(`{}`),
				PresetID: client.SetTo("p"), RegexProfileID: client.Unset(), DeepBinding: &yes, ModelName: "m",
				ModelParams: jsontext.Value(`{"a":[1]}`), PromptMode: "native", Metadata: jsontext.Value(tricky),
			})
			w.session = s.ID
			return s, err
		}},
		{"CreateSession", "POST /sessions", func(ctx context.Context, w *world) (any, error) {
			return w.CreateSession(ctx, client.SessionInput{})
		}},
		{"CreateKey", "POST /local/keys", func(ctx context.Context, w *world) (any, error) {
			k, err := w.CreateKey(ctx, client.NewKey{AccountID: "acct", Name: "laptop"})
			w.key = k.ID
			return k, err
		}},
		{"ListKeys", "GET /local/keys", func(ctx context.Context, w *world) (any, error) { return w.ListKeys(ctx) }},
		{"RevokeKey", "DELETE /local/keys/{key}", func(ctx context.Context, w *world) (any, error) { return w.RevokeKey(ctx, w.key) }},
		{"Ingest", "POST /sessions/{session}/transcript", func(ctx context.Context, w *world) (any, error) {
			s, err := w.CreateSession(ctx, client.SessionInput{Title: "Ingested"})
			if err != nil {
				return nil, err
			}
			w.ingested = s.ID
			return w.Ingest(ctx, s.ID, client.Ingest{Messages: []client.NewRow{
				{Role: "user", Content: jsontext.Value(`"hello"`), CreatedAt: 7, Extra: jsontext.Value(`{"usage":{"input":1.0}}`)},
				{Role: "assistant", Content: jsontext.Value(`[{"type":"text","text":"hi"}]`)},
			}})
		}},
		{"Transcript", "GET /sessions/{session}/transcript", func(ctx context.Context, w *world) (any, error) {
			p, err := w.Transcript(ctx, w.ingested, client.TranscriptQuery{Limit: 1})
			return p.Items, err
		}},
		{"ListMessages", "GET /messages", func(ctx context.Context, w *world) (any, error) {
			no := false
			p, err := w.ListMessages(ctx, client.MessageQuery{Role: "assistant", IsHidden: &no, Paging: client.Paging{SortBy: "seq", Limit: 1}})
			return p.Items, err
		}},
		{"ListSessions", "GET /sessions", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListSessions(ctx, client.SessionQuery{
				Status: sessile.SessionActive, Keyword: "FIRST",
				Paging: client.Paging{Limit: 1, SortBy: "updated_at", SortOrder: "asc"},
			})
			want := client.Meta{Total: 1, Limit: 1, SortBy: "updated_at", SortOrder: "asc"}
			if p.Meta != want {
				return nil, sessile.Errorf("meta", "%+v", p.Meta)
			}
			return p.Items, err
		}},
		{"GetSession", "GET /sessions/{session}", func(ctx context.Context, w *world) (any, error) {
			return w.GetSession(ctx, w.session)
		}},
		{"UpdateSession", "PATCH /sessions/{session}", func(ctx context.Context, w *world) (any, error) {
			s, err := w.UpdateSession(ctx, w.session, client.SessionInput{Title: "Second", PresetID: client.Unset()})
			if s.PresetID != nil {
				return nil, sessile.Errorf("preset", "%s is still there", *s.PresetID)
			}
			return s, err
		}},

		{"PutExtension", "PUT /sessions/{session}/extensions/{plugin}", func(ctx context.Context, w *world) (any, error) {
			return w.PutExtension(ctx, w.session, client.Extension{Plugin: "todo"}, jsontext.Value(tricky), client.Condition{Missing: true})
		}},
		{"PutExtension", "PUT /sessions/{session}/extensions/{plugin}", func(ctx context.Context, w *world) (any, error) {
			on := client.Extension{Plugin: ".", BranchID: "x y/z?#%ü"}
			first, err := w.PutExtension(ctx, w.session, on, jsontext.Value(`1`), client.Condition{})
			if err != nil {
				return nil, err
			}
			_, err = w.PutExtension(ctx, w.session, on, jsontext.Value(`2`), client.Condition{Revision: first.Revision + 1})
			if sessile.CodeOf(err) != sessile.CodePreconditionFailed {
				return nil, sessile.Errorf("condition", "%v", err)
			}
			return w.PutExtension(ctx, w.session, on, jsontext.Value(`null`), client.Condition{Revision: first.Revision})
		}},
		{"GetExtension", "GET /sessions/{session}/extensions/{plugin}", func(ctx context.Context, w *world) (any, error) {
			return w.GetExtension(ctx, w.session, client.Extension{Plugin: "todo"})
		}},
		{"GetExtension", "GET /sessions/{session}/extensions/{plugin}", func(ctx context.Context, w *world) (any, error) {
			return w.GetExtension(ctx, w.session, client.Extension{Plugin: ".", BranchID: "x y/z?#%ü"})
		}},
		{"DeleteExtension", "DELETE /sessions/{session}/extensions/{plugin}", func(ctx context.Context, w *world) (any, error) {
			_, err := w.DeleteExtension(ctx, w.session, client.Extension{Plugin: "todo"}, client.Condition{Missing: true})
			if sessile.CodeOf(err) != sessile.CodePreconditionFailed {
				return nil, sessile.Errorf("condition", "%v", err)
			}
			return w.DeleteExtension(ctx, w.session, client.Extension{Plugin: "todo"}, client.Condition{Exists: true})
		}},

		{"RegisterNamespace", "POST /sessions/{session}/state/namespaces", func(ctx context.Context, w *world) (any, error) {
			return w.RegisterNamespace(ctx, w.session, client.Registration{
				Namespace: "bond_log", LogicalOwnerType: "plugin", LogicalOwnerID: "@guild/bonds",
			})
		}},
		{"WriteValue", "POST /sessions/{session}/state/values/write", func(ctx context.Context, w *world) (any, error) {
			return w.WriteValue(ctx, w.session, trust, jsontext.Value(tricky))
		}},
		{"WriteValue", "POST /sessions/{session}/state/values/write", func(ctx context.Context, w *world) (any, error) {
			odd := client.Address{BranchID: "x y/z?#%ü", Namespace: "bond_log", Slot: "a/b: ü"}
			return w.WriteValue(ctx, w.session, odd, jsontext.Value(`null`))
		}},
		{"Resolve", "GET /sessions/{session}/state/resolve", func(ctx context.Context, w *world) (any, error) {
			v, err := w.Resolve(ctx, w.session, client.ResolveQuery{
				BranchID: "x y/z?#%ü", Filter: client.Filter{Namespace: "bond_log", Slot: "a/b: ü"},
			})
			if len(v) != 1 || !v[0].Present {
				return nil, sessile.Errorf("resolve", "%+v", v)
			}
			return v, err
		}},
		{"Respond", "POST /sessions/{session}/respond", func(ctx context.Context, w *world) (any, error) {
			temperature := 0.5
			turn, err := w.Respond(ctx, w.session, client.RespondRequest{
				Message: "hello there", PromptIntent: "normal",
				TurnOptions: client.TurnOptions{
					SessionStateWrites: []client.TurnWrite{
						{Namespace: "bond_log", Slot: "trust", Value: jsontext.Value(`{"a":1,"a":2}`)},
						{Namespace: "bond_log", Slot: "mood", Value: jsontext.Value(`null`)},
						{Namespace: "bond_log", Slot: "hint", Delete: true},
					},
					Config:           &client.TurnConfig{ToolMode: "inline"},
					GenerationParams: &client.GenerationParams{Temperature: &temperature, StopSequences: []string{"x"}},
					DebugOptions:     &client.DebugOptions{IncludeRuntimeTrace: true},
				},
			})
			w.floor = turn.FloorID
			return turn, err
		}},
		{"ListNamespaces", "GET /sessions/{session}/state/namespaces", func(ctx context.Context, w *world) (any, error) {
			return w.ListNamespaces(ctx, w.session)
		}},
		{"DeleteValue", "DELETE /sessions/{session}/state/values", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteValue(ctx, w.session, trust)
		}},
		{"Resolve", "GET /sessions/{session}/state/resolve", func(ctx context.Context, w *world) (any, error) {
			return w.Resolve(ctx, w.session, client.ResolveQuery{BranchID: "main", SourceFloorID: w.floor})
		}},
		{"Snapshot", "GET /sessions/{session}/state/floors/{floor}/snapshot", func(ctx context.Context, w *world) (any, error) {
			return w.Snapshot(ctx, w.session, w.floor, client.Filter{Namespace: "bond_log"})
		}},
		{"Diff", "GET /sessions/{session}/state/diff", func(ctx context.Context, w *world) (any, error) {
			d, err := w.Diff(ctx, w.session, client.DiffQuery{FloorID: w.floor, Against: client.LiveOf("main")})
			if !slices.ContainsFunc(d, func(e client.DiffEntry) bool { return e.Slot == "trust" && e.ChangeType == "added" }) {
				return nil, sessile.Errorf("diff", "%+v", d)
			}
			return d, err
		}},
		{"Regenerate", "POST /sessions/{session}/regenerate", func(ctx context.Context, w *world) (any, error) {
			turn, err := w.Regenerate(ctx, w.session, client.RerunRequest{
				ConfirmedExecutionIDs: []string{"e"}, ConfirmedSessionStateMutationIDs: []string{"m"},
			})
			w.second = turn.FloorID
			return turn, err
		}},
		{"Diff", "GET /sessions/{session}/state/diff", func(ctx context.Context, w *world) (any, error) {
			return w.Diff(ctx, w.session, client.DiffQuery{FloorID: w.second, Against: client.FloorOf(w.floor)})
		}},
		{"Retry", "POST /floors/{floor}/retry", func(ctx context.Context, w *world) (any, error) {
			return w.Retry(ctx, w.second, client.RerunRequest{})
		}},
		{"RespondStream", "POST /sessions/{session}/respond/stream", func(ctx context.Context, w *world) (any, error) {
			var start string
			return w.RespondStream(ctx, w.session, client.RespondRequest{Message: "and more"}, func(e client.StreamEvent) error {
				if e.Start != nil {
					start = e.Start.FloorID
				}
				if start == "" {
					return sessile.Errorf("stream", "%s comes before start", e.Name)
				}
				return nil
			})
		}},
		{"DryRun", "POST /sessions/{session}/respond/dry-run", func(ctx context.Context, w *world) (any, error) {
			most := int64(1000)
			d, err := w.DryRun(ctx, w.session, client.DryRunRequest{Message: "what if", Budget: &client.Budget{MaxInputTokens: &most}})
			if d.AvailableForReply == nil {
				return nil, sessile.Errorf("budget", "%+v", d)
			}
			return d, err
		}},
		{"ListMutations", "GET /sessions/{session}/session-state/mutations", func(ctx context.Context, w *world) (any, error) {
			var past int64
			p, err := w.ListMutations(ctx, w.session, client.MutationQuery{
				BranchID: "main", Status: "applied", WriteMode: "commit_bound", StateNamespace: "bond_log", TargetSlot: "trust",
				SourceFloorID: w.floor, CreatedAfter: &past,
			})
			if len(p.Items) != 1 {
				return nil, sessile.Errorf("mutations", "%+v", p)
			}
			return p.Items, err
		}},
		{"GetMutation", "GET /sessions/{session}/session-state/mutations/{mutation}", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListMutations(ctx, w.session, client.MutationQuery{Paging: client.Paging{Limit: 1}})
			if err != nil {
				return nil, err
			}
			return w.GetMutation(ctx, w.session, p.Items[0].ID)
		}},

		{"ListBindings", "GET /sessions/{session}/session-state/bindings", func(ctx context.Context, w *world) (any, error) {
			return w.ListBindings(ctx, w.session)
		}},
		{"ListLive", "GET /sessions/{session}/session-state/live", func(ctx context.Context, w *world) (any, error) {
			return w.ListLive(ctx, w.session, "main", "bond_log")
		}},
		{"GetLive", "GET /sessions/{session}/session-state/live/{namespace}/{slot}", func(ctx context.Context, w *world) (any, error) {
			return w.GetLive(ctx, w.session, client.Address{BranchID: "x y/z?#%ü", Namespace: "bond_log", Slot: "a/b: ü"}, "")
		}},
		{"ListFloorSnapshots", "GET /floors/{floor}/session-state/snapshots", func(ctx context.Context, w *world) (any, error) {
			return w.ListFloorSnapshots(ctx, w.floor, "bond_log")
		}},
		{"GetFloorSnapshot", "GET /floors/{floor}/session-state/snapshots/{namespace}/{slot}", func(ctx context.Context, w *world) (any, error) {
			return w.GetFloorSnapshot(ctx, w.floor, "bond_log", "mood")
		}},
		{"ReplaySafety", "GET /floors/{floor}/session-state/replay-safety", func(ctx context.Context, w *world) (any, error) {
			return w.ReplaySafety(ctx, w.floor, "mut_a", "mut_b")
		}},
		{"FloorDiff", "GET /floors/{floor}/session-state/diff", func(ctx context.Context, w *world) (any, error) {
			return w.FloorDiff(ctx, w.floor, client.FloorDiffQuery{Against: client.LiveOf("main"), IncludeValues: true})
		}},
		{"FloorDiff", "GET /floors/{floor}/session-state/diff", func(ctx context.Context, w *world) (any, error) {
			return w.FloorDiff(ctx, w.floor, client.FloorDiffQuery{Against: client.FloorOf(w.second), StateNamespace: "bond_log"})
		}},

		{"Timeline", "GET /sessions/{session}/timeline", func(ctx context.Context, w *world) (any, error) {
			p, err := w.Timeline(ctx, w.session, client.TimelineQuery{BranchID: "main", Limit: 200})
			w.message = p.Items[0].Pages[0].Messages[0].ID
			return p.Items, err
		}},
		{"Edit", "POST /messages/{message}/edit-and-regenerate", func(ctx context.Context, w *world) (any, error) {
			return w.Edit(ctx, w.message, client.EditRequest{Content: "hello instead", BranchID: "other"})
		}},
		{"GetMessage", "GET /messages/{message}", func(ctx context.Context, w *world) (any, error) {
			return w.GetMessage(ctx, w.message)
		}},
		{"ActiveRun", "GET /sessions/{session}/active-run", func(ctx context.Context, w *world) (any, error) {
			return w.ActiveRun(ctx, w.session)
		}},
		{"FloorRun", "GET /floors/{floor}/run", func(ctx context.Context, w *world) (any, error) {
			return w.FloorRun(ctx, w.second)
		}},
		{"FloorResult", "GET /floors/{floor}/result", func(ctx context.Context, w *world) (any, error) {
			return w.FloorResult(ctx, w.second)
		}},

		{"ForkBranch", "POST /floors/{floor}/branch", func(ctx context.Context, w *world) (any, error) {
			return w.ForkBranch(ctx, w.second, "..")
		}},
		{"ForkBranch", "POST /floors/{floor}/branch", func(ctx context.Context, w *world) (any, error) {
			return w.ForkBranch(ctx, w.second, "")
		}},
		{"ListBranches", "GET /sessions/{session}/branches", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListBranches(ctx, w.session, client.Paging{SortBy: "branch_id", Offset: 0})
			return p.Items, err
		}},
		{"DeleteBranch", "DELETE /branches/{branch}", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteBranch(ctx, w.session, "..")
		}},
		{"CreateFloor", "POST /floors", func(ctx context.Context, w *world) (any, error) {
			f, err := w.CreateFloor(ctx, client.NewFloor{
				SessionID: w.session, BranchID: "main", FloorNo: 9, ParentFloorID: w.second, State: sessile.FloorCommitted,
			})
			w.floor = f.ID
			return f, err
		}},
		{"GetFloor", "GET /floors/{floor}", func(ctx context.Context, w *world) (any, error) { return w.GetFloor(ctx, w.floor) }},
		{"ListFloors", "GET /floors", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListFloors(ctx, client.FloorQuery{SessionID: w.session, BranchID: "main", State: sessile.FloorCommitted})
			return p.Items, err
		}},
		{"DeleteFloor", "DELETE /floors/{floor}", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteFloor(ctx, w.floor)
		}},

		{"CreateWorldbook", "POST /worldbooks", func(ctx context.Context, w *world) (any, error) {
			b, err := w.CreateWorldbook(ctx, client.WorldbookInput{Name: "Lore", Book: jsontext.Value(`{"entries":[]}`)})
			w.worldbook = b.ID
			return b, err
		}},
		{"ReplaceWorldbook", "PUT /worldbooks/{worldbook}", func(ctx context.Context, w *world) (any, error) {
			return w.ReplaceWorldbook(ctx, w.worldbook, client.WorldbookInput{Name: "More lore", Book: jsontext.Value(`{"entries":[],"n":1.0}`)})
		}},
		{"ListWorldbooks", "GET /worldbooks", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListWorldbooks(ctx, client.Paging{SortBy: "updated_at"})
			return p.Items, err
		}},
		{"GetWorldbook", "GET /worldbooks/{worldbook}", func(ctx context.Context, w *world) (any, error) {
			return w.GetWorldbook(ctx, w.worldbook)
		}},
		{"DeleteWorldbook", "DELETE /worldbooks/{worldbook}", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteWorldbook(ctx, w.worldbook)
		}},

		{"SetStatuses", "PATCH /sessions/batch/status", func(ctx context.Context, w *world) (any, error) {
			return w.SetStatuses(ctx, []string{w.session, "nope"}, sessile.SessionArchived)
		}},
		{"ListTools", "GET /tools", func(ctx context.Context, w *world) (any, error) { return w.ListTools(ctx, "k") }},
		{"CallTool", "POST /tools/{tool}", func(ctx context.Context, w *world) (any, error) {
			key := "k"
			return w.CallTool(ctx, "session_state", client.ToolCall{
				SessionKey: &key, Arguments: jsontext.Value(`{"operation":"get","namespace":"n","key":"<k>"}`), Context: client.ToolContext{Channel: "c"},
			})
		}},
		{"SetGoal", "PUT /sessions/{session}/goal", func(ctx context.Context, w *world) (any, error) {
			budget := int64(1000)
			return w.SetGoal(ctx, w.session, client.NewGoal{Objective: "ship it", Status: "paused", TokenBudget: &budget})
		}},
		{"ListChanges", "GET /sessions/{session}/events", func(ctx context.Context, w *world) (any, error) {
			return w.ListChanges(ctx, w.session, 0)
		}},
		{"AddWatch", "POST /sessions/{session}/watches", func(ctx context.Context, w *world) (any, error) {
			s, err := w.GetSession(ctx, w.session)
			if err != nil {
				return nil, err
			}
			w.watched = s.Key
			return w.AddWatch(ctx, w.ingested, s.Key)
		}},
		{"ListWatches", "GET /sessions/{session}/watches", func(ctx context.Context, w *world) (any, error) {
			return w.ListWatches(ctx, w.ingested)
		}},
		{"ClearGoal", "DELETE /sessions/{session}/goal", func(ctx context.Context, w *world) (any, error) {
			return w.ClearGoal(ctx, w.session)
		}},
		{"ListNotices", "GET /sessions/{session}/notices", func(ctx context.Context, w *world) (any, error) {
			notices, err := w.ListNotices(ctx, w.ingested)
			for _, n := range notices {
				w.notices = append(w.notices, n.ID)
			}
			return notices, err
		}},
		{"AcknowledgeNotices", "POST /sessions/{session}/notices/ack", func(ctx context.Context, w *world) (any, error) {
			return w.AcknowledgeNotices(ctx, w.ingested, w.notices)
		}},
		{"DeleteWatch", "DELETE /sessions/{session}/watches/{target}", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteWatch(ctx, w.ingested, w.watched)
		}},
		{"Why", "GET /sessions/{session}/why", func(ctx context.Context, w *world) (any, error) {
			return w.Why(ctx, w.ingested, w.watched, "sessions_history")
		}},
		{"ListRuns", "GET /runs", func(ctx context.Context, w *world) (any, error) {
			asker, err := w.CreateSession(ctx, client.SessionInput{Key: "agent:main:direct:asker"})
			if err != nil {
				return nil, err
			}
			var spawned struct {
				RunID string `json:"runId"`
			}
			if err := w.tool(ctx, "sessions_spawn", asker.Key, `{"task":"count"}`, &spawned); err != nil {
				return nil, err
			}
			w.run = spawned.RunID
			p, err := w.ListRuns(ctx, client.RunQuery{RequesterKey: asker.Key, Kind: "spawn", Status: sessile.RunQueued, Limit: 1})
			return p.Items, err
		}},
		{"GetRun", "GET /runs/{run}", func(ctx context.Context, w *world) (any, error) { return w.GetRun(ctx, w.run, time.Millisecond) }},
		{"FollowRun", "GET /runs/{run}", func(ctx context.Context, w *world) (any, error) {
			var seen client.AgentRun
			err := w.FollowRun(ctx, w.run, func(r client.AgentRun) error { seen = r; return errEnough })
			if errors.Is(err, errEnough) {
				err = nil
			}
			return seen, err
		}},
		{"ListSubagents", "GET /sessions/{session}/subagents", func(ctx context.Context, w *world) (any, error) {
			asker, err := w.ListSessions(ctx, client.SessionQuery{Key: "agent:main:direct:asker"})
			if err != nil {
				return nil, err
			}
			p, err := w.ListSubagents(ctx, asker.Items[0].ID, "last", 5)
			return p.Items, err
		}},
		{"SteerRun", "POST /runs/{run}/steer", func(ctx context.Context, w *world) (any, error) { return w.SteerRun(ctx, w.run, "count twice") }},
		{"CancelRun", "POST /runs/{run}/cancel", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListSessions(ctx, client.SessionQuery{Key: "agent:main:direct:asker"})
			if err != nil {
				return nil, err
			}
			if _, err := w.UpdateSession(ctx, p.Items[0].ID, client.SessionInput{Status: sessile.SessionArchived}); err != nil {
				return nil, err
			}
			return w.CancelRun(ctx, w.run)
		}},
		{"AnnounceRun", "POST /runs/{run}/announce", func(ctx context.Context, w *world) (any, error) {
			p, err := w.ListSessions(ctx, client.SessionQuery{Key: "agent:main:direct:asker"})
			if err != nil {
				return nil, err
			}
			if _, err := w.UpdateSession(ctx, p.Items[0].ID, client.SessionInput{Status: sessile.SessionActive}); err != nil {
				return nil, err
			}
			return w.AnnounceRun(ctx, w.run)
		}},
		{"ListDeliveries", "GET /deliveries", func(ctx context.Context, w *world) (any, error) {
			helper, err := w.CreateSession(ctx, client.SessionInput{Key: "agent:main:telegram:direct:7"})
			if err != nil {
				return nil, err
			}
			var sent struct{}
			if err := w.tool(ctx, "sessions_send", "agent:main:direct:asker", `{"sessionKey":"`+helper.Key+`","message":"go","timeoutSeconds":0}`, &sent); err != nil {
				return nil, err
			}
			w.work()
			p, err := w.ListDeliveries(ctx, client.DeliveryQuery{SessionKey: helper.Key, Status: sessile.OutboxPending, Limit: 1})
			if len(p.Items) > 0 {
				w.delivery = p.Items[0].ID
			}
			return p.Items, err
		}},
		{"FollowDeliveries", "GET /deliveries", func(ctx context.Context, w *world) (any, error) {
			var seen client.Delivery
			err := w.FollowDeliveries(ctx, client.DeliveryQuery{}, func(d client.Delivery) error { seen = d; return errEnough })
			if errors.Is(err, errEnough) {
				err = nil
			}
			return seen, err
		}},
		{"RetryDelivery", "POST /deliveries/{delivery}/retry", func(ctx context.Context, w *world) (any, error) {
			return w.RetryDelivery(ctx, w.delivery)
		}},
		{"AcknowledgeDelivery", "POST /deliveries/{delivery}/ack", func(ctx context.Context, w *world) (any, error) {
			return w.AcknowledgeDelivery(ctx, w.delivery)
		}},
		{"ForkSession", "POST /sessions/{session}/fork", func(ctx context.Context, w *world) (any, error) {
			return w.ForkSession(ctx, w.session, client.SessionFork{State: "share", Key: "agent:main:fork", Label: "l"})
		}},
		{"ResetSession", "POST /sessions/{session}/reset", func(ctx context.Context, w *world) (any, error) {
			if _, err := w.UpdateSession(ctx, w.session, client.SessionInput{Status: sessile.SessionActive}); err != nil {
				return nil, err
			}
			s, err := w.ResetSession(ctx, w.session)
			w.session = s.ID
			return s, err
		}},
		{"DeleteSessionKey", "DELETE /sessions", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteSessionKey(ctx, "agent:main:fork")
		}},
		{"ClearSessions", "POST /sessions/clear-all", func(ctx context.Context, w *world) (any, error) {
			return w.ClearSessions(ctx)
		}},
		{"DeleteSession", "DELETE /sessions/{session}", func(ctx context.Context, w *world) (any, error) {
			s, err := w.CreateSession(ctx, client.SessionInput{})
			if err != nil {
				return nil, err
			}
			w.session = s.ID
			return w.DeleteSession(ctx, w.session)
		}},
		{"DeleteSessions", "POST /sessions/batch/delete", func(ctx context.Context, w *world) (any, error) {
			return w.DeleteSessions(ctx, []string{"nope", w.session})
		}},
	}
}

func TestRoutes(t *testing.T) {
	s := newServer(t)
	var data jsontext.Value
	w := &world{work: s.work, Client: newClient(t, client.Options{URL: s.URL, OnData: func(d jsontext.Value) { data = d }})}
	for _, step := range steps() {
		result, err := step.call(t.Context(), w)
		if err != nil {
			t.Fatalf("%s: %v", step.method, err)
		}
		if asked := s.take(); asked[len(asked)-1] != step.route {
			t.Errorf("%s asked %s, want %s", step.method, asked, step.route)
		}
		text, err := json.Marshal(result, jsontext.PreserveRawStrings(true))
		if err != nil {
			t.Fatalf("%s: %v", step.method, err)
		}
		if diff := cmp.Diff(ordered(t, data), ordered(t, text)); diff != "" {
			t.Errorf("%s does not show all that came (-wire +result):\n%s", step.method, diff)
		}
	}
}

// ordered puts the members of all objects in order and leaves everything else as it is.
func ordered(t *testing.T, v jsontext.Value) string {
	t.Helper()
	v = v.Clone()
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(true)); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// Every route has a method, and every method a route, both of which the table above knows.
func TestNothingIsMissing(t *testing.T) {
	covered := map[string]bool{}
	for _, step := range steps() {
		covered[step.route], covered[step.method] = true, true
	}
	// The document and its page are for those who write clients.
	covered["GET /openapi.json"], covered["GET /docs"] = true, true
	for _, method := range []string{"GET", "POST", "DELETE"} {
		covered[method+" /mcp"] = true // a protocol of its own, with clients of its own
	}
	for _, route := range httpapi.Routes() {
		if !covered[route.Pattern()] {
			t.Errorf("the client has no method for %s, or no step of TestRoutes calls it", route.Pattern())
		}
	}
	methods := reflect.TypeFor[*client.Client]()
	for method := range methods.Methods() {
		if !covered[method.Name] && method.Name != "Close" && method.Name != "ForAccount" {
			t.Errorf("no step of TestRoutes calls %s", method.Name)
		}
	}
	for name := range covered {
		if _, ok := methods.MethodByName(name); !ok && !strings.Contains(name, " ") {
			t.Errorf("there is no method %s", name)
		}
	}
}
