package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strings"

	client "github.com/sashabaranov/go-openai"

	"github.com/sessile-dev/sessile/model"
)

func (m *Model) request(request model.Request) (client.ChatCompletionRequest, error) {
	p := request.Params
	asked := client.ChatCompletionRequest{
		Model:            cmp.Or(request.Model, m.name),
		Temperature:      sampling(p.Temperature),
		TopP:             sampling(p.TopP),
		FrequencyPenalty: penalty(p.FrequencyPenalty),
		PresencePenalty:  penalty(p.PresencePenalty),
		Stop:             p.StopSequences,
		ReasoningEffort:  p.ReasoningEffort,
	}
	for _, message := range request.Messages {
		sent := client.ChatCompletionMessage{Role: message.Role, Content: message.Content, ToolCallID: message.ToolCallID}
		for _, call := range message.ToolCalls {
			sent.ToolCalls = append(sent.ToolCalls, client.ToolCall{
				ID: call.ID, Type: client.ToolTypeFunction, Function: client.FunctionCall{Name: call.Name, Arguments: call.Arguments},
			})
		}
		asked.Messages = append(asked.Messages, sent)
	}
	for _, tool := range request.Tools {
		asked.Tools = append(asked.Tools, client.Tool{
			Type:     client.ToolTypeFunction,
			Function: &client.FunctionDefinition{Name: tool.Name, Description: tool.Description, Parameters: json.RawMessage(tool.Parameters)},
		})
	}
	if p.MaxOutputTokens != nil {
		// Reasoning models refuse the old name, many compatible servers know only that one.
		if reasons(m.name) {
			asked.MaxCompletionTokens = int(*p.MaxOutputTokens)
		} else {
			asked.MaxTokens = int(*p.MaxOutputTokens) //nolint:staticcheck // deprecated there, but see above
		}
	}
	if p.Seed != nil {
		seed := int(*p.Seed)
		asked.Seed = &seed
	}
	for token, bias := range p.LogitBias {
		if asked.LogitBias == nil {
			asked.LogitBias = map[string]int{}
		}
		asked.LogitBias[token] = int(bias)
	}
	if p.ResponseFormat != nil {
		asked.ResponseFormat = &client.ChatCompletionResponseFormat{}
		if err := json.Unmarshal(p.ResponseFormat, asked.ResponseFormat); err != nil {
			return client.ChatCompletionRequest{}, errors.New("openai: the response format is not one that this protocol knows")
		}
	}
	return asked, nil
}

// sampling keeps an explicit zero: the client leaves zeros out, so the smallest number above takes its place.
func sampling(value *float64) float32 {
	switch {
	case value == nil:
		return 0
	case *value == 0:
		return math.SmallestNonzeroFloat32
	}
	return float32(*value)
}

// penalty needs no such care: leaving it out means zero.
func penalty(value *float64) float32 {
	if value == nil {
		return 0
	}
	return float32(*value)
}

// reasons tells the models of OpenAI that think before they answer by their names.
func reasons(name string) bool {
	for _, series := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, series) {
			return true
		}
	}
	return false
}
