// Package echo is a model that needs nothing: it answers with what it was told. It serves first steps, tests and
// servers that are used for their state alone.
package echo

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile/model"
)

// Model answers "echo: " and the last user message. Tokens are words between white space: those of all messages that
// were sent, and those of the answer. The same request always gets the same answer; parameters change nothing.
type Model struct{}

var _ model.Model = Model{}

// New makes the model.
func New() Model { return Model{} }

// Generate answers at once, unless the context has ended; streamed, word by word.
func (Model) Generate(ctx context.Context, request model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, fmt.Errorf("echo: %w", err)
	}
	var last string
	var usage model.Usage
	for _, message := range request.Messages {
		if message.Role == "user" {
			last = message.Content
		}
		usage.InputTokens += words(message.Content)
	}
	text := "echo: " + last
	if request.OnText != nil {
		for piece := range strings.SplitAfterSeq(text, " ") {
			request.OnText(piece)
		}
	}
	usage.OutputTokens = words(text)
	usage.TotalTokens = usage.InputTokens + usage.OutputTokens
	return model.Response{Text: text, Usage: usage}, nil
}

func words(text string) int64 { return int64(len(strings.Fields(text))) }
