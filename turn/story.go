package turn

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
)

// prompt makes what the model is told: the story so far, then what the user says. Rows of tools are left out, and of
// rows that were put in as blocks the texts are told.
func prompt(story []sessile.Message, message string) []model.Message {
	messages := make([]model.Message, 0, len(story)+1)
	for i := range story {
		role := story[i].Role
		switch role {
		case "system", "user", "assistant":
		case "narrator":
			role = "assistant"
		default:
			continue
		}
		if text := plainText(&story[i]); text != "" {
			messages = append(messages, model.Message{Role: role, Content: text})
		}
	}
	return append(messages, model.Message{Role: "user", Content: message})
}

func plainText(m *sessile.Message) string {
	if m.ContentFormat != "blocks" {
		return m.Content
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(m.Content), &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" && b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
