package config

import (
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Agents is what the sections agents, channels, tools, session, logging, changeLog and delivery of the file say
// (conformance/WIRE.md, "Configuration"). They follow the files of other programs: what is not known is passed over, and what
// has the wrong type counts as not there.
type Agents struct {
	Agents       []Agent
	DefaultAgent string // of the list; "" when there is none
	MainKey      string // session.mainKey
	Tools        ToolRules
	Sandbox      ToolRules            // tools.sandbox.tools
	Subagents    ToolRules            // tools.subagents.tools
	Providers    map[string]ToolRules // tools.byProvider, by provider or provider/model
	Groups       map[string]ToolRules // channels.<channel>.groups.<id>.tools, by channel:id in lower case

	Global       bool   // session.scope is global
	DefaultModel string // agents.defaults.model, provider/model
	Models       []string

	Visibility      string // tools.sessions.visibility
	SandboxFree     bool   // agents.defaults.sandbox.sessionToolsVisibility is all
	CrossAgent      bool   // tools.agentToAgent.enabled
	CrossAgentAllow []string

	RedactPatterns []string // logging.redactPatterns

	MaxEvents  int           // changeLog.maxEvents; 0 is not set
	MaxAge     time.Duration // changeLog.maxAgeDays; 0 is not set
	WakeNested bool          // changeLog.wakeNested, true when it is not set

	Runs    Runs
	Webhook Webhook
}

// Agent is one configured agent.
type Agent struct {
	ID        string
	Tools     ToolRules
	Model     string // provider/model; "" for that of the defaults
	Sandboxed bool   // sandbox.mode is all
	Workspace string // "" for one in the data directory
	Spawns    Spawns
	ACP       *ExternalAgent // nil for none
}

// ToolRules are one layer of the policy of tools.
type ToolRules struct {
	Profile                string
	Allow, Deny, AlsoAllow []string
}

// ReadAgents reads the sections. Errors tell of text that is no YAML alone.
func ReadAgents(sections map[string][]byte) (Agents, error) {
	var read Agents
	parsed := map[string]section{}
	for _, name := range []string{"agents", "channels", "tools", "session", "logging", "changeLog", "delivery"} {
		one, err := parseSection(sections[name])
		if err != nil {
			return read, err
		}
		parsed[name] = one
	}
	agents, tools, session := parsed["agents"], parsed["tools"], parsed["session"]
	read.readAccess(agents.child("defaults"), tools)
	read.Global = strings.TrimSpace(session.text("scope")) == "global"
	read.RedactPatterns = parsed["logging"].texts("redactPatterns")
	read.MaxEvents = int(parsed["changeLog"].number("maxEvents"))
	read.MaxAge = time.Duration(parsed["changeLog"].number("maxAgeDays")) * 24 * time.Hour
	read.WakeNested = parsed["changeLog"].yes("wakeNested", true)
	read.readRuns(agents.child("defaults"), tools, session)
	read.Webhook = readWebhook(parsed["delivery"].child("webhook"))
	read.MainKey = strings.TrimSpace(session.text("mainKey"))
	read.readPolicy(tools, parsed["channels"])
	for _, item := range agents.list("list") {
		one := asSection(item)
		agent := Agent{ID: strings.ToLower(strings.TrimSpace(one.text("id"))), Tools: one.child("tools").rules()}
		agent.Model = one.model()
		agent.Sandboxed = strings.TrimSpace(one.child("sandbox").text("mode")) == "all"
		agent.Workspace = strings.TrimSpace(one.text("workspace"))
		agent.Spawns = one.child("subagents").spawns()
		agent.ACP = readExternal(one.child("acp"))
		if agent.ID == "" {
			continue
		}
		if byDefault, _ := one["default"].(bool); byDefault && read.DefaultAgent == "" {
			read.DefaultAgent = agent.ID
		}
		read.Agents = append(read.Agents, agent)
	}
	if read.DefaultAgent == "" && len(read.Agents) > 0 {
		read.DefaultAgent = read.Agents[0].ID
	}
	return read, nil
}

// readPolicy reads the layers of the policy of tools that are not an agent's own.
func (a *Agents) readPolicy(tools, channels section) {
	a.Tools = tools.rules()
	a.Sandbox = tools.child("sandbox").child("tools").rules()
	a.Subagents = tools.child("subagents").child("tools").rules()
	a.Providers, a.Groups = map[string]ToolRules{}, map[string]ToolRules{}
	providers := tools.child("byProvider")
	for name := range providers {
		a.Providers[name] = providers.child(name).rules()
	}
	for channel := range channels {
		groups := channels.child(channel).child("groups")
		for id := range groups {
			a.Groups[strings.ToLower(channel+":"+id)] = groups.child(id).child("tools").rules()
		}
	}
}

// readAccess reads who sees whom and which models there are.
func (a *Agents) readAccess(defaults, tools section) {
	a.DefaultModel, a.Models = defaults.model(), defaults.texts("models")
	for name := range defaults.child("models") { // a mapping from model to its settings
		a.Models = append(a.Models, name)
	}
	slices.Sort(a.Models)
	a.Visibility = tools.child("sessions").text("visibility")
	a.SandboxFree = strings.TrimSpace(defaults.child("sandbox").text("sessionToolsVisibility")) == "all"
	crossAgent := tools.child("agentToAgent")
	a.CrossAgent, _ = crossAgent["enabled"].(bool)
	for _, item := range crossAgent.list("allow") {
		if pattern, ok := item.(string); ok { // a blank one counts: it matches nothing
			a.CrossAgentAllow = append(a.CrossAgentAllow, pattern)
		}
	}
}

// model reads the member model, a text or a mapping with the text as primary.
func (s section) model() string {
	if text := strings.TrimSpace(s.text("model")); text != "" {
		return text
	}
	return strings.TrimSpace(s.child("model").text("primary"))
}

// number reads a positive number; anything else is 0.
func (s section) number(name string) float64 {
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
	}
	if n > 0 && n < 1<<31 {
		return n
	}
	return 0
}

// section is a mapping that is read without trust.
type section map[string]any

func parseSection(text []byte) (section, error) {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return asSection(value), nil
}

func asSection(value any) section {
	members, _ := value.(map[string]any)
	return members
}

func (s section) child(name string) section { return asSection(s[name]) }

func (s section) text(name string) string {
	text, _ := s[name].(string)
	return text
}

func (s section) list(name string) []any {
	items, _ := s[name].([]any)
	return items
}

// texts reads a list of texts; a single text is a list of one.
func (s section) texts(name string) []string {
	if one := s.text(name); one != "" {
		return []string{one}
	}
	var texts []string
	for _, item := range s.list(name) {
		if text, ok := item.(string); ok && strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

func (s section) rules() ToolRules {
	return ToolRules{
		Profile: strings.TrimSpace(s.text("profile")), Allow: s.texts("allow"), Deny: s.texts("deny"), AlsoAllow: s.texts("alsoAllow"),
	}
}
