package session

import (
	"slices"
	"strings"
)

// Models are what sessions may have answer, as provider/model.
type Models struct {
	// Agents holds the normal models of agents that have one of their own.
	Agents map[string]string
	// Standard is the model of all others; "" for unknown.
	Standard string
	// Allowed lists what may be chosen; empty: only models that are configured somewhere.
	Allowed []string
}

// Default is the model of an agent; "" for unknown.
func (m Models) Default(agent string) string {
	if model := m.Agents[agent]; model != "" {
		return model
	}
	return m.Standard
}

// mention reports whether a text in lower case stands in a model that sessions have without choosing it.
func (m Models) mention(text string) bool {
	for _, own := range m.Agents {
		if strings.Contains(strings.ToLower(own), text) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(m.Standard), text)
}

// Choose finds the model that a text names: provider/model, or a model under the provider in force. ok is false for one
// that is not to be had.
func (m Models) Choose(text, current string) (model string, ok bool) {
	candidates := []string{text}
	if !strings.Contains(text, "/") {
		if provider, _ := SplitModel(current); provider != "" {
			candidates = append(candidates, provider+"/"+text)
		}
	}
	known := slices.Concat(m.Allowed, []string{m.Standard})
	for _, own := range m.Agents {
		known = append(known, own)
	}
	for _, candidate := range candidates {
		for _, one := range known {
			if one != "" && strings.EqualFold(one, candidate) {
				return one, true
			}
		}
	}
	return "", false
}
