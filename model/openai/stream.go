package openai

import (
	"context"
	"errors"
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
	var text strings.Builder
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
			usage = model.Usage{
				InputTokens:  int64(piece.Usage.PromptTokens),
				OutputTokens: int64(piece.Usage.CompletionTokens),
				TotalTokens:  int64(piece.Usage.TotalTokens),
			}
		}
		if len(piece.Choices) == 0 {
			continue
		}
		if piece.Choices[0].FinishReason != "" {
			finished = true
		}
		if delta := piece.Choices[0].Delta.Content; delta != "" {
			text.WriteString(delta)
			onText(delta)
		}
	}
	if !finished {
		return model.Response{}, errors.New("openai: the answer broke off")
	}
	return model.Response{Text: text.String(), Usage: usage}, nil
}
