package config

import (
	"math"
	"strings"
	"time"
)

// Runs is what a file says of runs of agents (spec/session-tools.md, 4.5, 5.7 and 5.8; conformance/WIRE.md). Numbers out of
// their range are moved to its nearest end; what is not there or has the wrong type has its default.
type Runs struct {
	RunLimit     time.Duration // agents.defaults.timeoutSeconds; 0 is not set
	SpawnLimit   time.Duration // agents.defaults.subagents.runTimeoutSeconds; 0 is none
	MaxDepth     int           // maxSpawnDepth, 1 to 5
	MaxChildren  int           // maxChildrenPerAgent, 1 to 20
	MaxAtWork    int           // maxConcurrent
	ArchiveAfter time.Duration // archiveAfterMinutes; 0 is never
	AnnounceTime time.Duration // announceTimeoutMs
	MaxPingPong  int           // session.agentToAgent.maxPingPongTurns, 0 to 20
	Heartbeats   bool          // agents.defaults.heartbeat.enabled
	Actions      []string      // tools.subagents.actions: what agents may do with their children beside listing them
	Spawns       Spawns        // agents.defaults.subagents
	Attachments  Attachments   // tools.sessions_spawn.attachments
}

// Spawns is what an agent, or all by default, may spawn.
type Spawns struct {
	AllowAgents     []string // nil is not set
	RequireAgent    *bool    // nil is not set
	Model, Thinking string
}

// Attachments are the limits of files for sub-agents; a limit of 0 is not set.
type Attachments struct {
	Enabled                bool
	MaxTotalBytes, MaxFile int64
	MaxFiles               int
	RetainWithKept         bool
}

// ExternalAgent is the program that an agent with an acp section runs.
type ExternalAgent struct {
	Command string
	Args    []string
	Env     map[string]string
}

// Webhook is where texts for channels are posted; without a URL nowhere.
type Webhook struct {
	URL    string
	Secret Secret
}

const (
	defaultPingPong = 5
	maxPingPong     = 20
)

func (a *Agents) readRuns(defaults, tools, session section) {
	sub := defaults.child("subagents")
	r := &a.Runs
	r.RunLimit = seconds(defaults.number("timeoutSeconds"))
	r.SpawnLimit = seconds(sub.number("runTimeoutSeconds"))
	r.MaxDepth = sub.within("maxSpawnDepth", 1, 1, 5)
	r.MaxChildren = sub.within("maxChildrenPerAgent", 5, 1, 20)
	r.MaxAtWork = sub.within("maxConcurrent", 8, 1, 1000)
	r.ArchiveAfter = time.Duration(sub.within("archiveAfterMinutes", 60, 0, 1<<30)) * time.Minute
	r.AnnounceTime = time.Duration(sub.within("announceTimeoutMs", 120_000, 1, 1<<30)) * time.Millisecond
	r.MaxPingPong = session.child("agentToAgent").within("maxPingPongTurns", defaultPingPong, 0, maxPingPong)
	r.Heartbeats = defaults.child("heartbeat").yes("enabled", true)
	r.Actions = tools.child("subagents").texts("actions")
	r.Spawns = sub.spawns()
	files := tools.child("sessions_spawn").child("attachments")
	r.Attachments = Attachments{
		Enabled: files.yes("enabled", false), MaxTotalBytes: int64(files.number("maxTotalBytes")), MaxFile: int64(files.number("maxFileBytes")),
		MaxFiles: int(files.number("maxFiles")), RetainWithKept: files.yes("retainOnSessionKeep", false),
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// spawns reads a section subagents.
func (s section) spawns() Spawns {
	own := Spawns{Model: s.model(), Thinking: strings.ToLower(strings.TrimSpace(s.text("thinking")))}
	if _, given := s["allowAgents"]; given {
		own.AllowAgents = []string{}
		for _, id := range s.texts("allowAgents") {
			own.AllowAgents = append(own.AllowAgents, strings.ToLower(strings.TrimSpace(id)))
		}
	}
	if require, ok := s["requireAgentId"].(bool); ok {
		own.RequireAgent = &require
	}
	return own
}

func readExternal(s section) *ExternalAgent {
	command := strings.TrimSpace(s.text("command"))
	if command == "" {
		return nil
	}
	agent := &ExternalAgent{Command: command, Env: map[string]string{}}
	for _, item := range s.list("args") {
		if text, ok := item.(string); ok {
			agent.Args = append(agent.Args, text)
		}
	}
	for name := range s.child("env") {
		agent.Env[name] = s.child("env").text(name)
	}
	return agent
}

func readWebhook(s section) Webhook {
	return Webhook{URL: strings.TrimSpace(s.text("url")), Secret: NewSecret(s.text("secret"))}
}

// within reads a number, without its fraction and moved into a range.
func (s section) within(name string, byDefault, least, most int) int {
	var n float64
	switch value := s[name].(type) {
	case uint64:
		n = float64(value)
	case int64:
		n = float64(value)
	case int:
		n = float64(value)
	case float64:
		n = value
	default:
		return byDefault
	}
	if math.IsNaN(n) {
		return byDefault
	}
	return int(min(max(math.Floor(n), float64(least)), float64(most)))
}

func (s section) yes(name string, byDefault bool) bool {
	if yes, ok := s[name].(bool); ok {
		return yes
	}
	return byDefault
}
