package agenttool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
)

// C110 and C127: a child, and what it is told.
func TestSpawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		a := w.call(asker, "sessions_spawn", `{"task":"Count files","taskName":"files"}`)
		w.equal("answer", a.text("status")+" "+a.text("mode")+" "+a.text("taskName"), "accepted run files")
		key := a.text("childSessionKey")
		if ok, _ := regexp.MatchString(`^agent:main:subagent:[0-9a-f-]{36}$`, key); !ok {
			t.Errorf("the key of the child is %s", key)
		}
		if a.text("runId") == "" || a.text("note") == "" || a.text("resolvedModel") != "standard" || a.text("resolvedProvider") != "p" {
			t.Errorf("the answer lacks something: %v", a)
		}
		w.settle()
		asked := w.model.heard("Count files")[0]
		text := lastInput(asked)
		w.has("the first message", text, "[Subagent Context]", "depth 1/1", "\n\n[Subagent Task]\n\nCount files\n\n")
		if strings.Index(text, "[Subagent Context]") > strings.Index(text, "[Subagent Task]") {
			t.Error("the context stands behind the task")
		}
		w.lacks("the system text", system(asked), "Count files")
		w.equal("runs of the child", w.list(key), []string{"spawn succeeded"})
		d, err := w.details(key)
		if err != nil || *d.SpawnDepth != 1 || d.Role != session.RoleLeaf || d.ControlScope != "none" {
			t.Errorf("the row of the child holds %+v (%v)", d, err)
		}
	})
}

func (w *world) details(key string) (d session.Details, err error) {
	err = w.store.View(w.Context(), func(tx sessile.ReadTx) error {
		row, _, err := tx.SessionByKey(account, key)
		if err != nil {
			return err
		}
		d, err = session.DetailsOf(&row)
		return err
	})
	return d, err
}

// Cases C111 to C125: checks, in their order (5.3).
func TestSpawnRefused(t *testing.T) {
	yes := true
	only := func(ids ...string) func(o *agentrun.Options) {
		return func(o *agentrun.Options) { o.Defaults.AllowAgents = ids }
	}
	for _, c := range []struct {
		id        string
		change    func(o *agentrun.Options)
		sandboxed []string
		caller    string
		arguments string
		status    string
		says      []string
	}{
		{"C111", nil, nil, "agent:main:subagent:x", `{"task":"t"}`, "forbidden", []string{"depth 1", "depth is 1"}},
		{"C114", nil, nil, asker, `{"task":"t","agentId":"work"}`, "forbidden", []string{"work", "main"}},
		{"C115", only("*"), nil, asker, `{"task":"t","agentId":"ghost"}`, "forbidden", []string{"not configured"}},
		{"C116", only("work"), nil, asker, `{"task":"t","agentId":"main"}`, "forbidden", []string{"allowed: work"}},
		{"C116 without a name", only("work"), nil, asker, `{"task":"t"}`, "accepted", nil},
		{"C116 by name", only("work"), nil, asker, `{"task":"t","agentId":"Work"}`, "accepted", nil},
		{"nobody", only(), nil, asker, `{"task":"t","agentId":"work"}`, "forbidden", nil},
		{"C117", func(o *agentrun.Options) { o.Defaults.RequireAgent = &yes }, nil, asker, `{"task":"t"}`, "forbidden", []string{"agentId"}},
		{"C117 with a name", func(o *agentrun.Options) { o.Defaults.RequireAgent = &yes }, nil, asker, `{"task":"t","agentId":"main"}`, "accepted", nil},
		{"C118", nil, nil, asker, `{"task":"t","agentId":"../x"}`, "error", []string{"agentId"}},
		{"C119 Build", nil, nil, asker, `{"task":"t","taskName":"Build"}`, "error", []string{"taskName"}},
		{"C119 all", nil, nil, asker, `{"task":"t","taskName":"all"}`, "error", []string{"taskName"}},
		{"C119 last", nil, nil, asker, `{"task":"t","taskName":"last"}`, "error", []string{"taskName"}},
		{"C119 b1_x-y", nil, nil, asker, `{"task":"t","taskName":"b1_x-y"}`, "accepted", nil},
		{"C120", nil, nil, asker, `{"task":"t","mode":"session"}`, "error", []string{"thread"}},
		{"another mode", nil, nil, asker, `{"task":"t","mode":"forever","cleanup":"maybe","sandbox":"x","context":"y","runtime":"z"}`, "accepted", nil},
		{"C123", nil, []string{"main"}, asker, `{"task":"t","agentId":"work"}`, "forbidden", nil},
		{"C123 allowed", only("work"), nil, "sandboxed", `{"task":"t","agentId":"work"}`, "forbidden", []string{"sandbox"}},
		{"C124", nil, nil, asker, `{"task":"t","sandbox":"require"}`, "forbidden", []string{"sandbox"}},
		{"C125", only("*"), nil, asker, `{"task":"t","agentId":"work","context":"fork"}`, "error", []string{"same agent"}},
		{"no transcript", nil, nil, asker, `{"task":"t","context":"fork"}`, "error", []string{"transcript"}},
		{"a thread", nil, nil, asker, `{"task":"t","thread":true}`, "error", []string{"thread"}},
		{"a level", nil, nil, asker, `{"task":"t","thinking":"deep"}`, "error", []string{"off, minimal, low, medium, high, xhigh"}},
		{"a model", nil, nil, asker, `{"task":"t","model":"x/y"}`, "error", []string{"x/y"}},
		{"no external agent", nil, nil, asker, `{"task":"t","runtime":"acp"}`, "error", []string{"acp"}},
		{"attachments", nil, nil, asker, `{"task":"t","attachments":[{"name":"a","content":"b"}]}`, "forbidden", []string{"disabled"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := agents(func(o *agentrun.Options) {
					if c.change != nil {
						c.change(o)
					}
				})
				w := newWorld(t, s)
				w.session(asker)
				from := agenttool.Caller{Account: account, SessionKey: &c.caller}
				if c.caller == "sandboxed" {
					from = agenttool.Caller{Account: account, SessionKey: ptr(asker), Sandboxed: true}
				}
				before := w.count()
				a, err := w.tryAs(from, "sessions_spawn", c.arguments)
				if c.id == "C111" { // a leaf has no such tool; the check stands behind it all the same
					answer, runErr := w.runs.Spawn(t.Context(), agentrun.Caller{Caller: session.Caller{Account: account, Key: c.caller}}, agentrun.SpawnRequest{Task: "t"})
					a, err = map[string]any{"status": answer.Status, "error": answer.Error}, runErr
				}
				if err != nil {
					t.Fatal(err)
				}
				w.equal("status", a.text("status"), c.status)
				w.has("error", a.text("error"), c.says...)
				if c.status == "accepted" {
					return
				}
				w.equal("sessions", w.count(), before)
				if role := a.text("role"); strings.Contains(c.arguments, `"agentId":"work"`) && role != "work" {
					t.Errorf("role is %q", role)
				}
			})
		})
	}
}

// count counts sessions and runs.
func (w *world) count() string {
	w.Helper()
	_, sessions, err := w.sessions.List(w.Context(), account, sessile.SessionFilter{Page: sessile.Page{Limit: 1, SortBy: "created_at"}})
	if err != nil {
		w.Fatal(err)
	}
	runs, err := w.runs.Runs(w.Context(), sessile.RunFilter{Account: account, Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	return fmt.Sprintf("%d sessions, %d runs", sessions, len(runs))
}

// C121 and C122: what is no parameter of this tool.
func TestSpawnParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		for arguments, want := range map[string]string{
			`{}`:                                      "task is required",
			`{"task":"  "}`:                           "task is required",
			`{"task":"t","channel":"slack"}`:          "sessions_send",
			`{"task":"t","reply_to":"x"}`:             "sessions_send",
			`{"task":"t","run_timeout_seconds":5}`:    "configuration",
			`{"task":"t","timeoutSeconds":5}`:         "configuration",
			`{"task":"t","attachments":"a"}`:          "list",
			`{"task":"t","attachments":[5]}`:          "object",
			`{"task":"t","attachments":[{"name":5}]}`: "content",
			`{"task":"t","attachments":[` + strings.Repeat(`{"name":"a","content":""},`, 50) + `{"name":"b","content":""}]}`: "50",
		} {
			if _, err := w.try(asker, "sessions_spawn", arguments); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s: %v, want %q", arguments, err, want)
			}
		}
	})
}

// C112 and C113: places are taken one by one, however many ask at once.
func TestSpawnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		w.model.when("[Subagent Task]", after(time.Minute, says("done")))
		var group sync.WaitGroup
		statuses := make([]string, 10)
		for i := range statuses {
			group.Go(func() {
				a, err := w.try(asker, "sessions_spawn", `{"task":"t"}`)
				if err != nil {
					t.Error(err)
				}
				statuses[i] = a.text("status")
			})
		}
		group.Wait()
		w.equal("accepted", strings.Count(strings.Join(statuses, " "), "accepted"), 5)
		a := w.call(asker, "sessions_spawn", `{"task":"t"}`)
		w.equal("status", a.text("status"), "forbidden")
		w.has("error", a.text("error"), "5/5")
		w.pass(2 * time.Minute)
		w.equal("status", w.call(asker, "sessions_spawn", `{"task":"t"}`).text("status"), "accepted")
	})
}

// No more sub-agents are at work at once than is configured; the others wait in line.
func TestSpawnLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents(func(o *agentrun.Options) { o.MaxConcurrent, o.MaxChildren = 2, 20 }))
		w.session(asker)
		w.model.when("[Subagent Task]", after(time.Minute, says("done")))
		for range 6 {
			w.call(asker, "sessions_spawn", `{"task":"t"}`)
		}
		for _, running := range []int{2, 2, 2, 0} {
			w.pass(30 * time.Second)
			runs, err := w.runs.Runs(t.Context(), sessile.RunFilter{Account: account, Kind: sessile.RunKindSpawn, Status: sessile.RunRunning, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			w.equal("running", len(runs), running)
			w.pass(30 * time.Second)
		}
	})
}

// C126 and the fork of a small parent (5.6).
func TestSpawnFork(t *testing.T) {
	for id, c := range map[string]struct {
		tokens int64
		forked bool
	}{"small": {100_000, true}, "C126": {100_001, false}} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, agents())
				w.session(asker)
				w.model.when("remember", func(context.Context, model.Request) (model.Response, error) {
					return model.Response{Text: "ok", Usage: model.Usage{InputTokens: c.tokens, TotalTokens: c.tokens}}, nil
				})
				if _, err := w.respond(asker, "remember the harbour"); err != nil {
					t.Fatal(err)
				}
				a := w.call(asker, "sessions_spawn", `{"task":"go on","context":"fork"}`)
				w.equal("status", a.text("status"), "accepted")
				w.settle()
				asked := w.model.heard("go on")[0]
				told := fmt.Sprint(asked.Messages)
				if strings.Contains(told, "remember the harbour") != c.forked {
					t.Errorf("the child is told %s", told)
				}
				if strings.Contains(a.text("note"), "too large") == c.forked {
					t.Errorf("the note says %q", a.text("note"))
				}
			})
		})
	}
}

// Models and levels of thinking, from the nearest to the farthest (5.5).
func TestSpawnPlan(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(o *agentrun.Options)
		arguments     string
		model, effort string
		source        string
	}{
		"by the call": {func(o *agentrun.Options) { o.Defaults.Model = "p/default" }, `"model":"p/other","thinking":"High"`, "other", "high", "user"},
		"by the agent": {func(o *agentrun.Options) {
			o.Agents["main"] = agentrun.Agent{Model: "p/own", Thinking: "low"}
			o.Defaults.Model = "p/default"
		}, `"model":"default"`, "own", "low", "auto"},
		"by the defaults": {func(o *agentrun.Options) { o.Defaults = agentrun.Agent{Model: "p/default", Thinking: "minimal"} }, `"model":" "`, "default", "minimal", "auto"},
		"as usual":        {func(*agentrun.Options) {}, `"label":"x"`, "standard", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, agents(c.change))
				w.session(asker)
				a := w.call(asker, "sessions_spawn", `{"task":"think",`+c.arguments+`}`)
				w.equal("resolved", a.text("resolvedProvider")+"/"+a.text("resolvedModel"), "p/"+c.model)
				w.settle()
				d, err := w.details(a.text("childSessionKey"))
				if err != nil || d.ModelOverrideSource != c.source || d.Thinking != c.effort {
					t.Errorf("the row holds %+v (%v)", d, err)
				}
				asked := w.model.heard("think")[0]
				if asked.Params.ReasoningEffort != c.effort && c.effort != "minimal" {
					t.Errorf("effort %q", asked.Params.ReasoningEffort)
				}
			})
		})
	}
}

// C129: a failure undoes everything before it.
func TestSpawnUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := newWorld(t, agents(func(o *agentrun.Options) {
			o.Agents["main"] = agentrun.Agent{Workspace: dir}
			o.Attachments.Enabled = true
		}))
		w.session(asker)
		before := w.count()
		a := w.call(asker, "sessions_spawn", `{"task":"t","model":"x/y","attachments":[{"name":"a.txt","content":"b"}]}`)
		w.equal("status", a.text("status"), "error")
		w.equal("what is left", w.count(), before)
		files, err := filepath.Glob(filepath.Join(dir, ".sessile", "attachments", "*"))
		if err != nil || len(files) > 0 {
			t.Errorf("files are left: %v %v", files, err)
		}
	})
}

// Attachments (5.7): what is written, and what is refused by which code.
func TestAttachments(t *testing.T) {
	for name, c := range map[string]struct{ files, code string }{
		"path":      {`{"name":"../a","content":"b"}`, "attachments_invalid_name"},
		"control":   {`{"name":"a\u0007","content":"b"}`, "attachments_invalid_name"},
		"hidden":    {`{"name":"..","content":"b"}`, "attachments_invalid_name"},
		"twice":     {`{"name":"a","content":"b"},{"name":"A","content":"c"}`, "attachments_duplicate_name"},
		"base64":    {`{"name":"a","content":"%%%","encoding":"base64"}`, "attachments_invalid_base64"},
		"too large": {`{"name":"a","content":"12345678901"}`, "attachments_file_bytes_exceeded"},
		"too much":  {`{"name":"a","content":"1234567890"},{"name":"b","content":"1234567890"}`, "attachments_total_bytes_exceeded"},
		"too many":  {`{"name":"a","content":""},{"name":"b","content":""},{"name":"c","content":""}`, "attachments_too_many"},
		"good":      {`{"name":"a.txt","content":"hello"},{"name":"b","content":"aGVsbG8=","encoding":"base64"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				w := newWorld(t, agents(func(o *agentrun.Options) {
					o.Agents["main"] = agentrun.Agent{Workspace: dir}
					o.Attachments = agentrun.Attachments{Enabled: true, MaxFiles: 2, MaxFileBytes: 10, MaxTotalBytes: 15, RetainWithKept: true}
				}))
				w.session(asker)
				a := w.call(asker, "sessions_spawn", `{"task":"t","attachments":[`+c.files+`]}`)
				if c.code != "" {
					if !strings.HasPrefix(a.text("error"), c.code) || a.text("status") != "error" {
						t.Errorf("it was answered %v, want %s", a, c.code)
					}
					return
				}
				w.equal("receipt", a.text("attachments", "count")+" "+a.text("attachments", "totalBytes"), "2 10")
				for _, file := range []string{"a.txt", "b"} {
					text, err := os.ReadFile(filepath.Join(dir, a.text("attachments", "relDir"), file))
					if err != nil || string(text) != "hello" {
						t.Errorf("%s holds %q, %v", file, text, err)
					}
				}
				w.settle()
				w.has("what the child is told", system(w.model.heard("[Subagent Task]")[0]), a.text("attachments", "relDir"))
			})
		})
	}
}

// The second request with an idempotency key starts nothing.
func TestSpawnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		first := w.call(asker, "sessions_spawn", `{"task":"t","idempotencyKey":"k"}`)
		w.settle()
		second := w.call(asker, "sessions_spawn", `{"task":"t","idempotencyKey":"k"}`)
		w.equal("the child", second.text("childSessionKey")+" "+second.text("runId"), first.text("childSessionKey")+" "+first.text("runId"))
		other := w.call(helper, "sessions_spawn", `{"task":"t","idempotencyKey":"k"}`)
		if other.text("runId") == first.text("runId") {
			t.Error("another session met the key")
		}
		w.equal("runs of the child", w.list(first.text("childSessionKey")), []string{"spawn succeeded"})
	})
}

// C130, C131 and C137: what the requester hears of the end of a child, and where it goes.
func TestCompletion(t *testing.T) {
	for id, c := range map[string]struct {
		child       []reply
		told, never []string
		posted      []string
	}{
		"C130":           {[]reply{says("done: 42")}, []string{"task: the label", "status: completed", "done: 42", "Stats: runtime ", "tokens 110 (in 100 / out 10)"}, nil, []string{"slack C1 told"}},
		"C131":           {[]reply{says("ANNOUNCE_SKIP")}, nil, nil, nil},
		"no reply":       {[]reply{says("NO_REPLY")}, nil, nil, nil},
		"C137":           {[]reply{calls("session_state", `{"operation":"set","namespace":"n","key":"secret","value":"inside"}`), says("")}, []string{"1 tool call"}, []string{"secret", "inside"}, []string{"slack C1 told"}},
		"nothing at all": {[]reply{says("")}, []string{"(no output)"}, nil, []string{"slack C1 told"}},
		"failed":         {[]reply{fails(errors.New("broken"))}, []string{"status: failed"}, nil, []string{"slack C1 told"}},
		"too slow":       {[]reply{hangs()}, []string{"status: timed out"}, nil, []string{"slack C1 told"}},
		"reasoning":      {[]reply{says("<think>secret plan</think>plain")}, []string{"plain"}, []string{"secret plan"}, []string{"slack C1 told"}},
	} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, agents(func(o *agentrun.Options) { o.SpawnLimit = time.Minute }))
				w.session(asker, routed("slack", "C1"))
				w.model.when("[Completion]", says("told"))
				w.model.when("[Subagent Task]", c.child...)
				a := w.call(asker, "sessions_spawn", `{"task":"the task","label":"the label"}`)
				w.pass(2 * time.Minute)
				heard := w.model.heard("[Completion]")
				if len(c.told) == 0 {
					w.equal("events", len(heard), 0)
					w.equal("delivery", w.run(a.text("runId")).Delivery, sessile.DeliveryUnneeded)
					return
				}
				if len(heard) != 1 {
					t.Fatalf("%d events, want one", len(heard))
				}
				text := lastInput(heard[0])
				w.has("the event", text, c.told...)
				w.lacks("the event", text, c.never...)
				w.has("the event", text, "sourceTool=subagent_announce", a.text("childSessionKey"))
				w.equal("delivery", w.run(a.text("runId")).Delivery, sessile.DeliveryDelivered)
				w.equal("what was posted", w.deliveries(asker), c.posted)
			})
		})
	}
}

// C132: a result that was announced is not announced again.
func TestAnnouncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker, routed("slack", "C1"))
		a := w.call(asker, "sessions_spawn", `{"task":"the task"}`)
		w.settle()
		if _, err := w.runs.Announce(t.Context(), account, a.text("runId")); sessile.CodeOf(err) != sessile.CodeInvalidState {
			t.Errorf("a second announcement ended with %v", err)
		}
		w.restart()
		w.pass(time.Minute)
		w.equal("events", len(w.model.heard("[Completion]")), 1)
		w.equal("what was posted", len(w.deliveries(asker)), 1)
	})
}

// C133: a child that ended waits for its own children, is woken once, and gives its last answer then.
func TestGrandchildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents(func(o *agentrun.Options) { o.MaxSpawnDepth = 2 }))
		w.session(asker)
		w.model.when("result one", says("both are in"))
		w.model.when("both are in", says("told"))
		w.model.when("the leaf one", after(time.Minute, says("result one")))
		w.model.when("the leaf two", after(2*time.Minute, says("result two")))
		w.model.when("the branch", calls("sessions_spawn", `{"task":"the leaf one"}`), calls("sessions_spawn", `{"task":"the leaf two"}`), says("not yet"))
		a := w.call(asker, "sessions_spawn", `{"task":"the branch"}`)
		w.pass(90 * time.Second)
		listed := w.call(asker, "subagents", `{}`)
		active := listed["active"].([]any)[0].(map[string]any)
		w.equal("status while it waits", active["status"], "active (waiting on 1 child)")
		w.equal("total", listed.text("total"), "1")
		w.equal("events so far", len(w.model.heard("[Completion]")), 0)
		w.pass(5 * time.Minute)
		w.equal("runs of the child", w.list(a.text("childSessionKey")), []string{"spawn succeeded", "announcement succeeded"})
		woken := w.model.heard("result one")
		w.equal("times it was woken", len(woken), 1)
		w.has("what it was woken with", lastInput(woken[0]), "result one", "result two")
		w.equal("events of the requester", w.list(asker), []string{"announcement succeeded"})
		w.has("what the requester hears", lastInput(w.model.heard("both are in")[0]), "both are in")
		w.lacks("what the requester hears", lastInput(w.model.heard("both are in")[0]), "not yet")
		w.equal("its result", w.run(a.text("runId")).Result, "both are in")
	})
}

// C134: a channel without an address is completed from the stored route.
func TestCompletedRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker, func(n *session.NewSession) { n.Details.Last = session.Route{Channel: "slack", To: "U7"} })
		c := agenttool.Caller{Account: account, SessionKey: ptr(asker), Channel: "slack"}
		if _, err := w.tryAs(c, "sessions_spawn", `{"task":"t"}`); err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.equal("what was posted", w.deliveries(asker), []string{"slack U7 ok"})
	})
}

// C135: cleanup.
func TestCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		gone := w.call(asker, "sessions_spawn", `{"task":"t","cleanup":"delete"}`).text("childSessionKey")
		kept := w.call(asker, "sessions_spawn", `{"task":"t"}`).text("childSessionKey")
		w.settle()
		w.equal("rows of the deleted child", len(w.rows(gone)), 0)
		if len(w.rows(kept)) == 0 {
			t.Error("the other child is gone too")
		}
		w.equal("events", len(w.model.heard("[Completion]")), 2)
		// Later the one that was kept is archived.
		w.pass(2 * time.Hour)
		err := w.store.View(t.Context(), func(tx sessile.ReadTx) error {
			row, found, err := tx.SessionByKey(account, kept)
			if !found || row.Status != sessile.SessionArchived {
				t.Errorf("after two hours the child is %v %s", found, row.Status)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// C136: a child that a crash cut off goes on once, ends, and is announced once.
func TestSpawnSurvivesCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		w.model.when("[Completion]", says("told"))
		w.model.when("[Subagent Task]", hangs(), says("done: 42"))
		a := w.call(asker, "sessions_spawn", `{"task":"the task"}`)
		w.settle()
		w.restart()
		w.pass(4 * time.Second)
		w.equal("run 4 s after the start", w.run(a.text("runId")).Status, sessile.RunQueued)
		w.pass(10 * time.Second)
		d := w.run(a.text("runId"))
		w.equal("run", string(d.Status)+" "+d.Result+" "+string(d.Delivery), "succeeded done: 42 delivered")
		heard := w.model.heard("[Subagent Task]")
		w.equal("times it was asked", len(heard), 2)
		w.has("what it is told then", lastInput(heard[1]), "interrupted", "the task")
		w.equal("events", len(w.model.heard("[Completion]")), 1)
	})
}

// However often the process dies, that is not the fault of the child: it is resumed each time, and announced once (5.13).
func TestCrashesAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		w.model.when("[Completion]", says("told"))
		const crashes = 12
		w.model.when("[Subagent Task]", append(slices.Repeat([]reply{hangs()}, crashes), says("done: 42"))...)
		a := w.call(asker, "sessions_spawn", `{"task":"the task"}`)
		for range crashes {
			w.settle()
			w.restart()
			w.pass(6 * time.Second)
		}
		d := w.run(a.text("runId"))
		w.equal("run", fmt.Sprint(d.Status, " ", d.Result, " ", d.Delivery, " ", d.Attempt), "succeeded done: 42 delivered 13")
		w.equal("events", len(w.model.heard("[Completion]")), 1)
	})
}

// C140 to C142: yielding.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		a := w.call("-", "sessions_yield", `{}`)
		w.equal("without a session", a.text("status"), "error")
		a = w.call(asker, "sessions_yield", `{}`)
		w.equal("outside of a turn", a.text("status"), "error")

		w.model.when("[Completion]", says("told"))
		w.model.when("[Subagent Task]", after(time.Minute, says("grown")))
		w.model.when("begin", calls("sessions_spawn", `{"task":"the task"}`), calls("sessions_yield", `{}`), says("too far"))
		if _, err := w.respond(asker, "begin"); err != nil {
			t.Fatal(err)
		}
		var tools []string
		for _, row := range w.rows(asker) {
			if row.Role == "toolResult" {
				tools = append(tools, row.Content)
			}
		}
		w.has("the last result", tools[len(tools)-1], `"status":"yielded"`, `"message":"Turn yielded."`)
		w.equal("times the model was asked", len(w.model.heard("begin")), 2)
		w.pass(2 * time.Minute)
		w.has("the next input", lastInput(w.model.heard("[Completion]")[0]), "grown")
	})
}

// A child that yields for its own children is paused, and resumed exactly once.
func TestYieldOfChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents(func(o *agentrun.Options) { o.MaxSpawnDepth = 2 }))
		w.session(asker)
		w.model.when("grown", says("the last word"))
		w.model.when("the last word", says("told"))
		w.model.when("the leaf", after(time.Minute, says("grown")))
		w.model.when("the branch", calls("sessions_spawn", `{"task":"the leaf"}`), calls("sessions_yield", `{}`), says("too far"))
		a := w.call(asker, "sessions_spawn", `{"task":"the branch"}`)
		w.pass(30 * time.Second)
		w.equal("while it waits", w.run(a.text("runId")).Status, sessile.RunPaused)
		w.restart() // a crash changes nothing
		w.pass(5 * time.Minute)
		d := w.run(a.text("runId"))
		w.equal("run", string(d.Status)+" "+d.Result+" "+string(d.Delivery), "succeeded the last word delivered")
		w.equal("times it was resumed", len(w.model.heard("grown")), 1)
		w.equal("events of the requester", w.list(asker), []string{"announcement succeeded"})
	})
}

// Results that arrive while the requester is at work join its turn; nothing is told twice.
func TestResultJoinsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		w.model.when("[Subagent Task]", says("grown"))
		w.model.when("[Completion]", says("I have it"))
		w.model.when("begin", calls("sessions_spawn", `{"task":"the task"}`), after(time.Minute, calls("session_state", `{"operation":"list"}`)), says("never"))
		if _, err := w.respond(asker, "begin"); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		w.equal("times it was told", len(w.model.heard("[Completion]")), 1)
		rows := w.rows(asker)
		w.equal("the last answer", rows[len(rows)-1].Content, "I have it")
	})
}

// C150 to C154: the list.
func TestSubagentsList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		a := w.call(asker, "subagents", `{}`)
		w.equal("C150", a.text("total")+" "+a.text("text"), "0 active subagents:\n(none)\n\nrecent (last 30m):\n(none)")
		w.equal("C151", w.call(asker, "subagents", `{"action":"kill"}`).text("status"), "error")
		w.has("C152", w.call(asker, "subagents", `{"recentMinutes":99999}`).text("text"), "recent (last 1440m):")

		w.call(asker, "sessions_spawn", `{"task":"long ago"}`)
		w.pass(115 * time.Minute)
		second := w.call(asker, "sessions_spawn", `{"task":"lately"}`).text("childSessionKey")
		w.pass(5 * time.Minute)
		w.model.when("at work", hangs())
		w.call(asker, "sessions_spawn", `{"task":"at work","taskName":"busy"}`)
		w.settle()
		a = w.call(asker, "subagents", `{}`)
		active, recent := a["active"].([]any), a["recent"].([]any)
		if len(active) != 1 || len(recent) != 1 {
			t.Fatalf("C153: %v", a)
		}
		w.equal("C153", a.text("total")+fmt.Sprint(" ", active[0].(map[string]any)["index"], " ", recent[0].(map[string]any)["index"]), "3 1 2")

		again := w.call(asker, "sessions_send", `{"sessionKey":"`+second+`","message":"once more"}`)
		w.settle()
		a = w.call(asker, "subagents", `{}`)
		entry := a["recent"].([]any)[0].(map[string]any)
		w.equal("C154", a.text("total")+" "+fmt.Sprint(entry["sessionKey"], " ", entry["runId"]), "3 "+second+" "+again.text("runId"))
	})
}

// Cancelling a run ends all below it, and nobody hears of those; the requester of the run itself does.
func TestCancelCascades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents(func(o *agentrun.Options) { o.MaxSpawnDepth = 3 }))
		w.session(asker)
		w.model.when("[Completion]", says("told"))
		w.model.when("level three", hangs())
		w.model.when("level two", calls("sessions_spawn", `{"task":"level three"}`), hangs())
		w.model.when("level one", calls("sessions_spawn", `{"task":"level two"}`), hangs())
		a := w.call(asker, "sessions_spawn", `{"task":"level one"}`)
		w.settle()
		if _, err := w.runs.Cancel(t.Context(), account, a.text("runId")); err != nil {
			t.Fatal(err)
		}
		w.settle()
		runs, err := w.runs.Runs(t.Context(), sessile.RunFilter{Account: account, Kind: sessile.RunKindSpawn, Limit: 10})
		if err != nil || len(runs) != 3 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		for i := range runs {
			w.equal("a run", runs[i].Status, sessile.RunCancelled)
		}
		w.equal("events", len(w.model.heard("[Completion]")), 1)
		w.equal("a second time", w.call(asker, "sessions_spawn", `{"task":"t"}`).text("status"), "accepted")
	})
}

// An announcement that cannot be told three times is suspended, and handed over at the next turn of its requester.
func TestSuspendedResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents())
		w.session(asker)
		w.model.when("[Completion]", fails(errors.New("no")), fails(errors.New("no")), fails(errors.New("no")), says("told at last"))
		a := w.call(asker, "sessions_spawn", `{"task":"the task"}`)
		w.pass(time.Minute)
		w.equal("delivery", w.run(a.text("runId")).Delivery, sessile.DeliverySuspended)
		w.equal("tries", w.list(asker), []string{"announcement failed", "announcement failed", "announcement failed"})
		if _, err := w.respond(asker, "hello again"); err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.equal("delivery", w.run(a.text("runId")).Delivery, sessile.DeliveryDelivered)

		// One that nobody ever takes is discarded after a day, and can still be had.
		w.model.rules = nil
		w.model.when("[Completion]", fails(errors.New("no")), fails(errors.New("no")), fails(errors.New("no")), says("told"))
		a = w.call(asker, "sessions_spawn", `{"task":"another"}`)
		w.pass(25 * time.Hour)
		w.equal("delivery", w.run(a.text("runId")).Delivery, sessile.DeliveryDiscarded)
		if _, err := w.runs.Announce(t.Context(), account, a.text("runId")); err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.equal("delivery", w.run(a.text("runId")).Delivery, sessile.DeliveryDelivered)
	})
}

// A requester that is a sub-agent and gone by the end: its own requester hears of the result.
func TestOrphanedResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents(func(o *agentrun.Options) { o.MaxSpawnDepth = 2 }))
		w.session(asker)
		w.model.when("the leaf", after(time.Minute, says("grown")))
		w.model.when("the branch", calls("sessions_spawn", `{"task":"the leaf"}`), says("done"))
		child := w.call(asker, "sessions_spawn", `{"task":"the branch"}`).text("childSessionKey")
		w.settle()
		if err := w.sessions.DeleteKey(t.Context(), account, child); err != nil {
			t.Fatal(err)
		}
		w.pass(5 * time.Minute)
		heard := w.model.heard("grown")
		if len(heard) != 1 {
			t.Fatalf("the result was told %d times", len(heard))
		}
		w.equal("runs of the requester", w.list(asker)[0], "announcement succeeded")
	})
}
