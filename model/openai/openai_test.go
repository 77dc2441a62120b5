package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/model/openai"
)

const key = "sesame-key"

// endpoint starts a server that answers with a status and a body, and tells what it was asked.
func endpoint(t *testing.T, status int, body string) (url string, asked func() map[string]any) {
	t.Helper()
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("asked %s %s", r.Method, r.URL.Path)
		}
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("authorization is %q", r.Header.Get("Authorization"))
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Errorf("request: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", func() map[string]any { return got }
}

func generate(t *testing.T, url, name string, params model.Params) (model.Response, error) {
	t.Helper()
	m := openai.New(openai.Options{BaseURL: url, Model: name, Key: key})
	return m.Generate(t.Context(), model.Request{
		Messages: []model.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "hi"}},
		Params:   params,
	})
}

const answer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],
	"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}`

func TestGenerate(t *testing.T) {
	url, asked := endpoint(t, http.StatusOK, answer)
	got, err := generate(t, url, "small", model.Params{})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{Text: "hello", Usage: model.Usage{InputTokens: 7, OutputTokens: 1, TotalTokens: 8}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	wantAsked := map[string]any{
		"model":  "small",
		"stream": false,
		"messages": []any{
			map[string]any{"role": "system", "content": "be brief"},
			map[string]any{"role": "user", "content": "hi"},
		},
	}
	if diff := cmp.Diff(wantAsked, asked()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestParams(t *testing.T) {
	url, asked := endpoint(t, http.StatusOK, answer)
	params := model.Params{
		Temperature: new(0.5), TopP: new(0.25), TopK: new(int64(3)), MaxOutputTokens: new(int64(100)),
		FrequencyPenalty: new(1.0), PresencePenalty: new(-1.0), RepetitionPenalty: new(1.5), MinP: new(0.125),
		StopSequences: []string{"END"}, Seed: new(int64(42)), ReasoningEffort: "low",
		LogitBias:      map[string]int64{"1639": 6},
		ResponseFormat: []byte(`{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}}`),
	}
	if _, err := generate(t, url, "small", params); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": "small", "stream": false,
		"temperature": 0.5, "top_p": 0.25, "max_tokens": 100.0, "frequency_penalty": 1.0, "presence_penalty": -1.0,
		"stop": []any{"END"}, "seed": 42.0, "reasoning_effort": "low", "logit_bias": map[string]any{"1639": 6.0},
		"response_format": map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "n", "strict": true, "schema": map[string]any{"type": "object"}},
		},
	}
	got := asked()
	delete(got, "messages")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestTemperatureZeroIsSent(t *testing.T) {
	url, asked := endpoint(t, http.StatusOK, answer)
	if _, err := generate(t, url, "small", model.Params{Temperature: new(0.0)}); err != nil {
		t.Fatal(err)
	}
	if got, ok := asked()["temperature"].(float64); !ok || got > 1e-40 {
		t.Errorf("temperature is %v", asked()["temperature"])
	}
}

func TestReasoningModelsTakeTheNewName(t *testing.T) {
	url, asked := endpoint(t, http.StatusOK, answer)
	if _, err := generate(t, url, "o3-mini", model.Params{MaxOutputTokens: new(int64(9))}); err != nil {
		t.Fatal(err)
	}
	if got := asked(); got["max_completion_tokens"] != 9.0 || got["max_tokens"] != nil {
		t.Errorf("asked %v", got)
	}
}

func TestMissingUsageIsZero(t *testing.T) {
	url, _ := endpoint(t, http.StatusOK, `{"choices":[{"message":{"role":"assistant","content":"hello"}}]}`)
	got, err := generate(t, url, "small", model.Params{})
	if err != nil || got.Usage != (model.Usage{}) || got.Text != "hello" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"no choice", http.StatusOK, `{"choices":[]}`, "without a choice"},
		{"error object", http.StatusUnauthorized, `{"error":{"message":"wrong key ` + key + `","type":"auth","code":"a private text"}}`, "status 401 (auth)"},
		{"error text", http.StatusBadGateway, `upstream of ` + key + ` is down`, "status 502"},
		{"no JSON", http.StatusOK, `hello ` + key, "openai: "},
		{"redirect", http.StatusFound, ``, "openai: "},
		{"long error", http.StatusInternalServerError, strings.Repeat("x", 5000), "status 500"},
		{"long answer", http.StatusOK, `{"choices":[{"message":{"content":"` + strings.Repeat("x", 17<<20) + `"}}]}`, "longer than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url, _ := endpoint(t, test.status, test.body)
			_, err := generate(t, url, "small", model.Params{})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("message %q lacks %q", err, test.want)
			}
			for _, secret := range []string{key, "private", "upstream", "xxx"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the message repeats the answer: %v", err)
				}
			}
		})
	}
}

func TestUnknownResponseFormat(t *testing.T) {
	m := openai.New(openai.Options{BaseURL: "http://127.0.0.1:0/v1", Model: "small"})
	_, err := m.Generate(t.Context(), model.Request{Params: model.Params{ResponseFormat: []byte(`"text"`)}})
	if err == nil || !strings.Contains(err.Error(), "response format") {
		t.Errorf("got %v", err)
	}
}

func TestTheContextRules(t *testing.T) {
	arrived := make(chan struct{})
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-release
	}))
	defer server.Close()
	defer close(release)
	m := openai.New(openai.Options{BaseURL: server.URL, Model: "small", Key: key})

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := m.Generate(ctx, model.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}

	ctx, cancel = context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := m.Generate(ctx, model.Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: got %v", err)
	}
}
