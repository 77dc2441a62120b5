package config

import (
	"strings"

	"github.com/goccy/go-yaml"
)

// Agents is what the sections agents, tools and session of the file say (conformance/WIRE.md, "Configuration"). They
// follow the files of other programs: what is not known is passed over, and what has the wrong type counts as not there.
type Agents struct {
	Agents       []Agent
	DefaultAgent string // of the list; "" when there is none
	MainKey      string // session.mainKey
	Tools        ToolRules
	Subagents    ToolRules // tools.subagents.tools
}

// Agent is one configured agent.
type Agent struct {
	ID    string
	Tools ToolRules
}

// ToolRules are one layer of the policy of tools.
type ToolRules struct {
	Profile                string
	Allow, Deny, AlsoAllow []string
}

// ReadAgents reads the sections. Errors tell of text that is no YAML alone.
func ReadAgents(sections map[string][]byte) (Agents, error) {
	var read Agents
	agents, err := parseSection(sections["agents"])
	if err != nil {
		return read, err
	}
	tools, err := parseSection(sections["tools"])
	if err != nil {
		return read, err
	}
	session, err := parseSection(sections["session"])
	if err != nil {
		return read, err
	}
	read.MainKey = strings.TrimSpace(session.text("mainKey"))
	read.Tools = tools.rules()
	read.Subagents = tools.child("subagents").child("tools").rules()
	for _, item := range agents.list("list") {
		one := asSection(item)
		agent := Agent{ID: strings.ToLower(strings.TrimSpace(one.text("id"))), Tools: one.child("tools").rules()}
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
