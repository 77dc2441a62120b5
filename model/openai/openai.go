// Package openai is a model behind any endpoint that speaks the chat completions of OpenAI: hosted ones, gateways and
// local servers alike.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	client "github.com/sashabaranov/go-openai"

	"github.com/sessile-dev/sessile/model"
)

// maxAnswerBytes bounds what is read of one answer.
const maxAnswerBytes = 16 << 20

// maxProblemBytes bounds what an error repeats of an endpoint's own words.
const maxProblemBytes = 512

// Options say where the model is.
type Options struct {
	// BaseURL is the part of the URL before /chat/completions; default the one of OpenAI.
	BaseURL string
	// Model is its name at the endpoint; required.
	Model string
	// Key is sent as a bearer token; default none is sent.
	Key string
	// Transport carries the requests; default http.DefaultTransport.
	Transport http.RoundTripper
}

// Model asks one endpoint. It is safe for concurrent use.
type Model struct {
	name   string
	key    string
	client *client.Client
}

var _ model.Model = (*Model)(nil)

// New makes the model. It does no IO.
func New(options Options) *Model {
	config := client.DefaultConfig(options.Key)
	if options.BaseURL != "" {
		config.BaseURL = options.BaseURL
	}
	transport := options.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	// No time limit here: the context of a call says how long it may take.
	config.HTTPClient = &http.Client{
		Transport: bounded{transport},
		// A redirect could carry the conversation, and on the same host the key, to where nobody sent them.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Model{name: options.Model, key: options.Key, client: client.NewClientWithConfig(config)}
}

// Generate asks once and does not retry. TopK, MinP and RepetitionPenalty are not part of this protocol and are
// dropped. An error wraps the context's when that has ended, and never holds the key.
func (m *Model) Generate(ctx context.Context, request model.Request) (model.Response, error) {
	asked, err := m.request(request)
	if err != nil {
		return model.Response{}, err
	}
	if request.OnText != nil {
		return m.stream(ctx, asked, request.OnText)
	}
	answer, err := m.client.CreateChatCompletion(ctx, asked)
	if err != nil {
		return model.Response{}, m.problem(ctx, err)
	}
	if len(answer.Choices) == 0 {
		return model.Response{}, errors.New("openai: the endpoint answered without a choice")
	}
	said := answer.Choices[0].Message
	return model.Response{
		Text: said.Content, Reasoning: said.ReasoningContent, ToolCalls: toolCalls(said.ToolCalls), Usage: usageOf(&answer.Usage),
	}, nil
}

func toolCalls(calls []client.ToolCall) (out []model.ToolCall) {
	for _, call := range calls {
		out = append(out, model.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return out
}

func usageOf(u *client.Usage) model.Usage {
	usage := model.Usage{InputTokens: int64(u.PromptTokens), OutputTokens: int64(u.CompletionTokens), TotalTokens: int64(u.TotalTokens)}
	if u.PromptTokensDetails != nil {
		usage.CacheRead = int64(u.PromptTokensDetails.CachedTokens)
	}
	return usage
}

// problem turns an error of the client into one that may be logged. Endpoints like to repeat the key they refused or the
// conversation they were sent, so that of an answer only the status and the words for its kind are kept.
func (m *Model) problem(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("openai: the call was given up: %w", cause)
	}
	if e, ok := errors.AsType[*client.APIError](err); ok {
		return answered(e.HTTPStatusCode, kindOf(e))
	}
	if e, ok := errors.AsType[*client.RequestError](err); ok {
		return answered(e.HTTPStatusCode, "")
	}
	return fmt.Errorf("openai: %s (%w)", m.clean(err.Error()), model.ErrTransient)
}

// answered is the error of an answer with a status. Another try may help when the endpoint was too slow, too busy or broken.
func answered(status int, kind string) error {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return fmt.Errorf("openai: the endpoint answered status %d%s (%w)", status, kind, model.ErrTransient)
	}
	return fmt.Errorf("openai: the endpoint answered status %d%s", status, kind)
}

// kindOf is the type and the code of an error, such as " (invalid_request_error, model_not_found)".
func kindOf(e *client.APIError) string {
	var words []string
	for _, v := range []any{e.Type, e.Code} {
		if word, ok := v.(string); ok && kindWord.MatchString(word) {
			words = append(words, word)
		}
	}
	if words == nil {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

var kindWord = regexp.MustCompile(`^[a-z0-9_.]{1,64}$`)

func (m *Model) clean(text string) string {
	if m.key != "" {
		text = strings.ReplaceAll(text, m.key, "(key)")
	}
	if len(text) > maxProblemBytes {
		text = strings.ToValidUTF8(text[:maxProblemBytes], "") + "…"
	}
	return text
}

// bounded is a transport whose answers end with an error when they are too long.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: maxAnswerBytes}
	return response, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer is longer than %d bytes", maxAnswerBytes)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
