package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/transcript"
)

// Tools are what a model may call while it works on a turn; package agenttool has them.
type Tools interface {
	// Offer lists what the session may call.
	Offer(c ToolCaller) []model.Tool
	// Use runs a call. A call that fails is an answer for the model too.
	Use(ctx context.Context, c ToolCaller, call model.ToolCall) ToolResult
}

// ToolCaller is the run that calls a tool.
type ToolCaller struct {
	Account    string
	SessionKey string
	AgentID    string
	Channel    string // of the session; "" for none
	RunID      string
}

// ToolResult is what the model is told of a call. Yields ends the turn.
type ToolResult struct {
	Text   string
	Failed bool
	Yields bool
}

// row is a transcript row that a turn writes before its last answer.
type row struct {
	role    string
	content string
	blocks  bool
	extra   []byte
	tokens  int64
}

func (r *row) shown() transcript.Row {
	content := jsontext.Value(r.content)
	if !r.blocks {
		content = transcript.Text(r.content)
	}
	return transcript.Row{Role: r.role, Content: content, Extra: r.extra}
}

// converse asks the model, runs the tools it calls and asks again, until it answers without a call, a tool ends the turn, or
// the rounds are used up: then it must answer without tools.
func (s *Service) converse(ctx context.Context, a *attempt, request model.Request) (*answer, error) {
	said := &answer{summaries: []string{}}
	caller := ToolCaller{Account: a.session.Account, SessionKey: a.session.Key, AgentID: a.session.AgentID, Channel: a.session.Channel, RunID: a.run.ID}
	if a.offerTools && s.options.Tools != nil {
		request.Tools = s.options.Tools.Offer(caller)
	}
	for round := 1; ; round++ {
		if round > s.options.MaxRounds {
			request.Tools = nil
		}
		response, err := s.ask(ctx, a, request)
		if err != nil {
			return nil, err
		}
		said.usage.Add(response.Usage)
		said.prompt = response.Usage.InputTokens
		if len(response.ToolCalls) == 0 || len(request.Tools) == 0 {
			return said, said.take(response)
		}
		name(response.ToolCalls)
		asked, err := assistantRow(&response)
		if err != nil {
			return nil, err
		}
		said.rows = append(said.rows, asked)
		request.Messages = append(request.Messages, model.Message{Role: "assistant", Content: response.Text, ToolCalls: response.ToolCalls})
		for _, call := range response.ToolCalls {
			result := s.options.Tools.Use(ctx, caller, call)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			answered, err := toolRow(call, result)
			if err != nil {
				return nil, err
			}
			said.rows = append(said.rows, answered)
			said.calls++
			request.Messages = append(request.Messages, model.Message{Role: "tool", Content: result.Text, ToolCallID: call.ID})
			if result.Yields {
				said.yielded = true
				return said, nil
			}
		}
		if request.Messages, err = s.steer(ctx, a, said, request.Messages); err != nil {
			return nil, err
		}
	}
}

// steer lets queued messages join the running turn.
func (s *Service) steer(ctx context.Context, a *attempt, said *answer, messages []model.Message) ([]model.Message, error) {
	joined, err := s.follower.Join(ctx, &a.run)
	if err != nil {
		return nil, err
	}
	for _, j := range joined {
		if slices.Contains(said.joined, j.Run) {
			continue
		}
		said.joined = append(said.joined, j.Run)
		said.rows = append(said.rows, row{role: "user", content: j.Input.Message, extra: j.Input.Extra})
		messages = append(messages, model.Message{Role: "user", Content: j.Input.Message})
	}
	return messages, nil
}

// ask asks the model once, and again after a pause where the run may wait and the fault may pass.
func (s *Service) ask(ctx context.Context, a *attempt, request model.Request) (model.Response, error) {
	delay := s.options.ModelRetryDelay
	for try := 1; ; try++ {
		response, err := s.askOnce(ctx, a, request)
		if err == nil || !a.queued || try >= s.options.ModelTries || ctx.Err() != nil || !errors.Is(err, model.ErrTransient) {
			return response, err
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return model.Response{}, err
		case <-timer.C:
		}
		delay *= 2
	}
}

func (s *Service) askOnce(ctx context.Context, a *attempt, request model.Request) (model.Response, error) {
	if !a.queued { // a queued run has a limit as a whole
		limited, cancel := context.WithTimeoutCause(ctx, s.options.GenerationTimeout, errTooSlow)
		defer cancel()
		ctx = limited
	}
	response, err := s.model.Generate(ctx, request)
	if err != nil && ctx.Err() != nil {
		return response, context.Cause(ctx)
	}
	if err == nil && len(response.Text) > s.options.MaxAnswerBytes {
		return response, errTooLong
	}
	return response, err
}

var (
	errTooSlow = errors.New("the model took too long")
	errTooLong = errors.New("the model's answer is too long")
)

// name gives calls that came without an id one, so that their results can be told apart.
func name(calls []model.ToolCall) {
	for i := range calls {
		calls[i].ID = cmp.Or(calls[i].ID, "call_"+string(rune('a'+i%26)))
	}
}

type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitzero"`
	Thinking  string         `json:"thinking,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
}

type rowUsage struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	CacheRead int64 `json:"cacheRead,omitzero"`
	Total     int64 `json:"total"`
}

func usageExtra(u model.Usage) ([]byte, error) {
	return json.Marshal(struct {
		Usage rowUsage `json:"usage"`
	}{rowUsage{u.InputTokens, u.OutputTokens, u.CacheRead, u.TotalTokens}})
}

// assistantRow keeps what the model said with its calls. Reasoning is a block of its own, which no reader takes for text.
func assistantRow(r *model.Response) (row, error) {
	var blocks []block
	if r.Reasoning != "" {
		blocks = append(blocks, block{Type: "thinking", Thinking: r.Reasoning})
	}
	if r.Text != "" {
		blocks = append(blocks, block{Type: "text", Text: r.Text})
	}
	for _, call := range r.ToolCalls {
		arguments := jsontext.Value(call.Arguments)
		switch {
		case strings.TrimSpace(call.Arguments) == "":
			arguments = jsontext.Value("{}")
		case !arguments.IsValid():
			arguments = transcript.Text(call.Arguments)
		}
		blocks = append(blocks, block{Type: "toolCall", ID: call.ID, Name: call.Name, Arguments: arguments})
	}
	content, err := json.Marshal(blocks, jsontext.AllowDuplicateNames(true))
	if err != nil {
		return row{}, err
	}
	extra, err := usageExtra(r.Usage)
	return row{role: "assistant", content: string(content), blocks: true, extra: extra, tokens: r.Usage.OutputTokens}, err
}

func toolRow(call model.ToolCall, result ToolResult) (row, error) {
	extra, err := json.Marshal(struct {
		ID     string `json:"toolCallId"`
		Name   string `json:"toolName"`
		Failed bool   `json:"isError,omitzero"`
	}{call.ID, call.Name, result.Failed})
	return row{role: "toolResult", content: result.Text, extra: extra}, err
}

// take makes the last response the answer. Its reasoning becomes a row of its own, apart from the text.
func (said *answer) take(r model.Response) error {
	said.text, said.summaries = splitSummaries(r.Text)
	said.final, said.last = true, r.Usage
	if r.Reasoning == "" {
		return nil
	}
	thought, err := assistantRow(&model.Response{Reasoning: r.Reasoning})
	thought.extra = nil
	said.rows = append(said.rows, thought)
	return err
}

// reply is the text that the turn says to others: what a reader sees of its newest answer.
func (said *answer) reply() string {
	rows := make([]transcript.Row, 0, len(said.rows)+1)
	for i := range said.rows {
		rows = append(rows, said.rows[i].shown())
	}
	if said.final {
		rows = append(rows, transcript.Row{Role: "assistant", Content: transcript.Text(said.text)})
	}
	return transcript.Reply(rows)
}
