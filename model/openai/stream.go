package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	client "github.com/sashabaranov/go-openai"

	"github.com/sessile-dev/sessile/model"
)

// stream asks for the answer in pieces and hands each on. Usage comes in the last piece, where the endpoint sends it. An
// answer that breaks off before the endpoint said that it is done is an error, never half an answer.
func (m *Model) stream(ctx context.Context, asked client.ChatCompletionRequest, onText func(string)) (model.Response, error) {
	asked.Stream = true
	asked.StreamOptions = &client.StreamOptions{IncludeUsage: true}
	stream, err := m.client.CreateChatCompletionStream(ctx, asked)
	if err != nil {
		return model.Response{}, m.problem(ctx, err)
	}
	defer func() { _ = stream.Close() }() // what was read stands
	var text, reasoning strings.Builder
	var calls []model.ToolCall
	var usage model.Usage
	finished := false
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return model.Response{}, m.problem(ctx, err)
		}
		if piece.Usage != nil {
			usage = usageOf(piece.Usage)
		}
		if len(piece.Choices) == 0 {
			continue
		}
		if piece.Choices[0].FinishReason != "" {
			finished = true
		}
		delta := &piece.Choices[0].Delta
		if delta.Content != "" {
			text.WriteString(delta.Content)
			onText(delta.Content)
		}
		reasoning.WriteString(delta.ReasoningContent)
		if calls, err = gather(calls, delta.ToolCalls); err != nil {
			return model.Response{}, err
		}
	}
	if !finished {
		return model.Response{}, fmt.Errorf("openai: the answer broke off (%w)", model.ErrTransient)
	}
	return model.Response{Text: text.String(), Reasoning: reasoning.String(), ToolCalls: calls, Usage: usage}, nil
}

// maxToolCalls bounds the calls of one answer.
const maxToolCalls = 128

// gather puts pieces of calls to the calls they belong to: a piece names its place, else it belongs to the last one.
func gather(calls []model.ToolCall, pieces []client.ToolCall) ([]model.ToolCall, error) {
	for _, piece := range pieces {
		at := max(len(calls)-1, 0)
		switch {
		case piece.Index != nil:
			at = *piece.Index
		case piece.ID != "":
			at = len(calls)
		}
		if at < 0 || at >= maxToolCalls {
			return nil, errors.New("openai: the answer calls too many tools")
		}
		for len(calls) <= at {
			calls = append(calls, model.ToolCall{})
		}
		call := &calls[at]
		call.ID = cmp.Or(call.ID, piece.ID)
		call.Name += piece.Function.Name
		call.Arguments += piece.Function.Arguments
	}
	return calls, nil
}
