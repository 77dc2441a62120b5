package agentrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/session"
)

// SpawnRequest asks for a child session that works on a task (spec/session-tools.md, 5.1). Text members are trimmed; values
// outside of an enumeration were replaced by the default.
type SpawnRequest struct {
	Task, TaskName, Label string
	ACP                   bool // runtime acp
	AgentID               string
	Model, Thinking       string
	Cwd                   string
	Thread                bool
	Mode                  string // run, session or ""
	DeleteAfter           bool   // cleanup delete
	RequireSandbox        bool
	Context               string // isolated, fork or ""
	Light                 bool
	Attachments           []Attachment
	MountPath             string
	ResumeSessionID       string
	// IdempotencyKey makes the second request of a session with the same key answer what the first one did; "" for none.
	IdempotencyKey string
}

// SpawnResult is what came of it.
type SpawnResult struct {
	Status           string   `json:"status"` // accepted, forbidden or error
	ChildSessionKey  string   `json:"childSessionKey,omitzero"`
	RunID            string   `json:"runId,omitzero"`
	Mode             string   `json:"mode,omitzero"`
	TaskName         string   `json:"taskName,omitzero"`
	Note             string   `json:"note,omitzero"`
	ResolvedModel    string   `json:"resolvedModel,omitzero"`
	ResolvedProvider string   `json:"resolvedProvider,omitzero"`
	ModelApplied     *bool    `json:"modelApplied,omitzero"`
	Attachments      *Receipt `json:"attachments,omitzero"`
	Error            string   `json:"error,omitzero"`
	Role             string   `json:"role,omitzero"` // the agent that was asked for, of a refusal
}

// spawn is what is kept of a child with its run.
type spawn struct {
	Task        string `json:"task"`
	TaskName    string `json:"taskName,omitzero"`
	Label       string `json:"label,omitzero"`
	Model       string `json:"model,omitzero"`
	Mode        string `json:"mode"`
	Delete      bool   `json:"delete,omitzero"` // cleanup
	Depth       int64  `json:"depth"`
	MaxDepth    int    `json:"maxDepth"`
	Channel     string `json:"channel,omitzero"` // origin of the requester
	Attachments string `json:"attachments,omitzero"`
	Cwd         string `json:"cwd,omitzero"`
	ACP         bool   `json:"acp,omitzero"`
	Note        string `json:"note,omitzero"`

	Calls     int    `json:"calls,omitzero"` // of tools, in the run that gave the result
	InTokens  int64  `json:"inTokens,omitzero"`
	OutTokens int64  `json:"outTokens,omitzero"`
	Cached    int64  `json:"cached,omitzero"`
	SessionID string `json:"sessionId,omitzero"`
	Quiet     bool   `json:"quiet,omitzero"` // nobody is to hear of its end
	Archived  bool   `json:"archived,omitzero"`
	Rowless   bool   `json:"rowless,omitzero"` // the requester had no session yet
	Files     string `json:"files,omitzero"`   // folder of the attachments until they are removed
	DropFiles bool   `json:"dropFiles,omitzero"`
	MountPath string `json:"mountPath,omitzero"`
}

// refusal ends a spawn that policy or bad input forbids.
type refusal struct{ status, text string }

func (r *refusal) Error() string { return r.text }

func forbidden(format string, args ...any) error {
	return &refusal{"forbidden", fmt.Sprintf(format, args...)}
}

func faulty(format string, args ...any) error {
	return &refusal{"error", fmt.Sprintf(format, args...)}
}

var (
	taskNames     = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	reservedNames = map[string]bool{"all": true, "last": true}
	thinkingNames = []string{"off", "minimal", "low", "medium", "high", "xhigh"}
)

const (
	modeRun     = "run"
	modeSession = "session"
	contextFork = "fork"

	// maxForkTokens is how large the transcript of a parent may be that is forked (5.6).
	maxForkTokens = 100_000
)

const (
	spawnNote = "The result will be sent to this session when the child has ended: do not ask for it again and again. " +
		"If you have nothing to say until then, answer NO_REPLY."
	largeForkNote = "The transcript of this session is too large to be forked, so the child runs isolated."
)

// plan is a spawn that passed the checks.
type plan struct {
	agent    string
	depth    int64
	model    string // "" for that of the agent
	byUser   bool   // the call named the model
	thinking string
	fork     bool
	note     string
}

// Spawn makes a child session and queues its first run (spec/session-tools.md, section 5). The number of active children is
// checked in the transaction that adds one, so that no two callers take the last place. A refusal leaves nothing behind.
func (s *Service) Spawn(ctx context.Context, c Caller, r SpawnRequest) (result SpawnResult, err error) {
	key := s.childKey(&r, c)
	c.lacks = s.options.Lacks(c.Caller)
	kept, err := s.keepAttachments(ctx, c, &r)
	if err == nil {
		err = s.store.Update(ctx, func(tx sessile.Tx) (err error) {
			result, err = s.spawn(tx, c, &r, key, kept)
			return err
		})
	}
	if err != nil || kept != nil && result.Attachments != &kept.receipt { // refused, or an earlier request made the child
		kept.discard()
	}
	if no, ok := err.(*refusal); ok { //nolint:errorlint // it is ours and wrapped by nobody
		return SpawnResult{Status: no.status, Error: no.text, Role: r.AgentID}, nil
	}
	if err != nil {
		return SpawnResult{}, err
	}
	s.wake()
	return result, nil
}

// childKey makes the key of the child; the key of an agent that is not valid is never used.
func (s *Service) childKey(r *SpawnRequest, c Caller) string {
	agent := r.AgentID
	if agent == "" {
		agent = s.sessions.Keys().Agent(c.Key)
	}
	kind := "subagent"
	if r.ACP {
		kind = "acp"
	}
	return "agent:" + strings.ToLower(agent) + ":" + kind + ":" + s.options.IDs.UUID()
}

// idempotentID is the id of the run that a request with an idempotency key makes.
func idempotentID(c Caller, key string) string {
	sum := sha256.Sum256([]byte(c.Account + "\x00" + c.Key + "\x00" + key))
	return sessile.PrefixRun + hex.EncodeToString(sum[:13])
}

// earlier finds the run that an earlier request with the same idempotency key made. Without one, the run has the id that it is to
// get; "" for any.
func (s *Service) earlier(tx sessile.ReadTx, c Caller, r *SpawnRequest) (first sessile.Run, found bool, err error) {
	if r.IdempotencyKey == "" {
		return first, false, nil
	}
	id := idempotentID(c, r.IdempotencyKey)
	first, found, err = tx.Run(c.Account, id)
	first.ID = id
	return first, found, err
}

func (s *Service) spawn(tx sessile.Tx, c Caller, r *SpawnRequest, key string, kept *attached) (SpawnResult, error) {
	run := sessile.Run{Kind: sessile.RunKindSpawn, Requester: c.Key, Parent: c.RunID, Open: true}
	first, repeats, err := s.earlier(tx, c, r)
	if err != nil {
		return SpawnResult{}, err
	}
	if repeats {
		return repeated(&first)
	}
	run.ID = first.ID
	caller, found, err := tx.SessionByKey(c.Account, c.Key)
	if err != nil {
		return SpawnResult{}, err
	}
	row := &caller
	if !found {
		row = nil
	}
	p, err := s.check(tx, c, row, r)
	if err != nil {
		return SpawnResult{}, err
	}
	child, err := s.addChild(tx, c, row, r, p, key)
	if err != nil {
		return SpawnResult{}, err
	}
	mode := modeRun
	note := spawnNote
	if strings.Contains(c.Key, ":cron:") {
		note = ""
	}
	if p.note != "" {
		note = strings.TrimSpace(note + " " + p.note)
	}
	w := &work{Spawn: &spawn{
		Task: r.Task, TaskName: r.TaskName, Label: r.Label, Model: s.sessions.ModelOf(&child), Mode: mode, Delete: r.DeleteAfter,
		Depth: p.depth, MaxDepth: s.options.MaxSpawnDepth, Channel: c.Channel, Cwd: r.Cwd, ACP: r.ACP, Note: note, SessionID: child.ID,
		Rowless: !found,
	}}
	result := SpawnResult{Status: "accepted", ChildSessionKey: child.Key, Mode: mode, TaskName: r.TaskName, Note: note}
	if kept != nil {
		w.Spawn.Attachments, w.Spawn.Files, w.Spawn.MountPath = kept.receipt.RelDir, kept.dir, r.MountPath
		result.Attachments = &kept.receipt
	}
	if err := s.queue(tx, &child, &run, w); err != nil {
		return SpawnResult{}, err
	}
	if err := changelog.ChildSpawned(tx, &child, run.ID); err != nil {
		return SpawnResult{}, err
	}
	result.RunID = run.ID
	if w.Spawn.Model != "" {
		applied := true
		result.ResolvedProvider, result.ResolvedModel = session.SplitModel(w.Spawn.Model)
		if p.model != "" {
			result.ModelApplied = &applied
		}
	}
	return result, nil
}

// repeated answers what the first request with the same idempotency key was answered.
func repeated(first *sessile.Run) (SpawnResult, error) {
	w, err := workOf(first)
	if err != nil || w.Spawn == nil {
		return SpawnResult{}, err
	}
	result := SpawnResult{
		Status: "accepted", ChildSessionKey: first.SessionKey, RunID: first.ID, Mode: w.Spawn.Mode, TaskName: w.Spawn.TaskName, Note: w.Spawn.Note,
	}
	result.ResolvedProvider, result.ResolvedModel = session.SplitModel(w.Spawn.Model)
	return result, nil
}

// check decides in the order of 5.3.
func (s *Service) check(tx sessile.ReadTx, c Caller, caller *sessile.Session, r *SpawnRequest) (p plan, err error) {
	keys := s.sessions.Keys()
	own := keys.Agent(c.Key)
	p.agent = strings.ToLower(r.AgentID)
	if p.agent == "" {
		p.agent = own
	}
	if r.ACP {
		if err := s.checkACP(c, r, p.agent); err != nil {
			return p, err
		}
	}
	switch {
	case r.TaskName != "" && (!taskNames.MatchString(r.TaskName) || reservedNames[r.TaskName]):
		return p, faulty("taskName must be 1 to 64 of a-z, 0-9, _ and -, begin with a letter, and not be all or last")
	case r.AgentID != "" && !session.ValidAgent(p.agent):
		return p, faulty("agentId is no valid id of an agent")
	case r.Mode == modeSession && !r.Thread:
		return p, faulty("mode session needs thread: true")
	}
	depth, err := session.DepthOf(tx, c.Key, caller)
	if err != nil {
		return p, err
	}
	if depth >= int64(s.options.MaxSpawnDepth) {
		return p, forbidden("this session has depth %d and may not spawn: the greatest depth is %d", depth, s.options.MaxSpawnDepth)
	}
	p.depth = depth + 1
	open, err := tx.OpenRuns(c.Account, c.Key)
	if err != nil {
		return p, err
	}
	if len(open) >= s.options.MaxChildren {
		return p, forbidden("this session has as many active children as it may have (%d/%d)", len(open), s.options.MaxChildren)
	}
	if err := s.checkAgent(r, own, p.agent); err != nil {
		return p, err
	}
	target := s.agent(p.agent)
	switch {
	case c.Sandboxed && !target.Sandboxed:
		return p, forbidden("a sandboxed session may only spawn sandboxed ones, and agent %s is not sandboxed", p.agent)
	case r.RequireSandbox && !target.Sandboxed:
		return p, forbidden("sandbox require: agent %s is not sandboxed", p.agent)
	case r.Cwd != "" && target.Sandboxed && r.Cwd != target.Workspace:
		return p, forbidden("a sandboxed child works in its workspace; cwd cannot differ")
	}
	if err := s.plan(&p, caller, r); err != nil {
		return p, err
	}
	if r.Thread {
		return p, faulty("this channel cannot bind a child to a thread")
	}
	return p, s.planContext(tx, &p, caller, r, own)
}

func (s *Service) checkACP(c Caller, r *SpawnRequest, agent string) error {
	switch {
	case !s.options.Agents[agent].ACP:
		return faulty("runtime acp is not available: agent %s has no acp command", agent)
	case c.Sandboxed:
		return faulty("runtime acp is not available from a sandboxed session")
	case r.Light:
		return faulty("lightContext is for the sub-agent runtime only")
	case r.Context == contextFork:
		return faulty("context fork is for the sub-agent runtime only")
	case len(c.lacks) > 0 && session.IsSubagent(c.Key):
		return forbidden("an external agent cannot be held to the tool limits of this session")
	}
	return nil
}

// agent is what holds for an agent, with the defaults filled in.
func (s *Service) agent(id string) Agent {
	a := s.options.Agents[id]
	if a.AllowAgents == nil {
		a.AllowAgents = s.options.Defaults.AllowAgents
	}
	if a.RequireAgent == nil {
		a.RequireAgent = s.options.Defaults.RequireAgent
	}
	return a
}

// checkAgent decides whether an agent may be spawned (5.3, 7 and 8).
func (s *Service) checkAgent(r *SpawnRequest, own, agent string) error {
	caller := s.agent(own)
	if r.AgentID == "" {
		if caller.RequireAgent != nil && *caller.RequireAgent {
			return forbidden("agentId is required (subagents.requireAgentId)")
		}
		return nil
	}
	_, configured := s.options.Agents[agent]
	if caller.AllowAgents == nil {
		if agent == own {
			return nil
		}
		return forbidden("agent %s may not be spawned; allowed: %s", agent, own)
	}
	all := slices.Contains(caller.AllowAgents, "*")
	switch {
	case all && agent == own:
		return nil
	case !all && !slices.Contains(caller.AllowAgents, agent):
		return forbidden("agent %s may not be spawned; allowed: %s", agent, orNone(caller.AllowAgents))
	case !configured:
		return forbidden("agent %s is not configured; there are: %s", agent, orNone(slices.Sorted(maps.Keys(s.options.Agents))))
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// plan decides about model and thinking (5.5).
func (s *Service) plan(p *plan, caller *sessile.Session, r *SpawnRequest) error {
	target := s.options.Agents[p.agent]
	models := s.sessions.Models()
	if asked := r.Model; asked != "" && !strings.EqualFold(asked, "default") {
		model, ok := models.Choose(asked, models.Default(p.agent))
		if !ok {
			return faulty("model %q is not known here or not allowed", asked)
		}
		p.model, p.byUser = model, true
	} else {
		p.model = target.Model
		if p.model == "" {
			p.model = s.options.Defaults.Model
		}
	}
	p.thinking = strings.ToLower(r.Thinking)
	if p.thinking != "" && !slices.Contains(thinkingNames, p.thinking) {
		return faulty("thinking must be one of %s", strings.Join(thinkingNames, ", "))
	}
	for _, level := range []string{target.Thinking, s.options.Defaults.Thinking} {
		if p.thinking == "" {
			p.thinking = level
		}
	}
	if p.thinking == "" && caller != nil {
		d, err := session.DetailsOf(caller)
		if err != nil {
			return err
		}
		p.thinking = d.Thinking
	}
	return nil
}

// planContext decides whether the child gets the transcript of its parent (5.6).
func (s *Service) planContext(tx sessile.ReadTx, p *plan, caller *sessile.Session, r *SpawnRequest, own string) error {
	if r.Context != contextFork {
		return nil
	}
	if p.agent != own {
		return faulty("context fork is for a child of the same agent")
	}
	if caller == nil {
		return faulty("context fork: this session has no transcript")
	}
	d, err := session.DetailsOf(caller)
	if err != nil {
		return err
	}
	if d.TotalTokens > maxForkTokens {
		p.note = largeForkNote
		return nil
	}
	has, err := session.HasTranscript(tx, caller)
	if err != nil {
		return err
	}
	if !has {
		return faulty("context fork: this session has no transcript")
	}
	p.fork = true
	return nil
}

func (s *Service) addChild(tx sessile.Tx, c Caller, caller *sessile.Session, r *SpawnRequest, p plan, key string) (sessile.Session, error) {
	target := s.agent(p.agent)
	d := session.Details{
		SpawnDepth: &p.depth, ModelOverride: p.model, Thinking: p.thinking, Workspace: target.Workspace, Cwd: r.Cwd,
		Role: session.RoleLeaf, ControlScope: "none", InheritedDeny: c.lacks,
	}
	if p.depth < int64(s.options.MaxSpawnDepth) {
		d.Role, d.ControlScope = session.RoleOrchestrator, "children"
	}
	if p.model != "" {
		d.ModelOverrideSource = "auto"
		if p.byUser {
			d.ModelOverrideSource = "user"
		}
	}
	if caller != nil {
		inherited, err := session.DetailsOf(caller)
		if err != nil {
			return sessile.Session{}, err
		}
		for _, tool := range inherited.InheritedDeny {
			if !slices.Contains(d.InheritedDeny, tool) {
				d.InheritedDeny = append(d.InheritedDeny, tool)
			}
		}
	}
	return s.sessions.AddChild(tx, c.Account, session.Child{Key: key, SpawnedBy: c.Key, Label: r.Label, Details: d, Fork: p.fork})
}
