package echo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/model/echo"
)

func TestGenerate(t *testing.T) {
	tests := []struct {
		name     string
		messages []model.Message
		want     model.Response
	}{
		{
			"one message",
			[]model.Message{{Role: "user", Content: "hello  there"}},
			model.Response{Text: "echo: hello  there", Usage: model.Usage{InputTokens: 2, OutputTokens: 3, TotalTokens: 5}},
		},
		{
			"the last user message counts, all are read",
			[]model.Message{
				{Role: "system", Content: "be brief"},
				{Role: "user", Content: "first"},
				{Role: "assistant", Content: "echo: first"},
				{Role: "user", Content: "and\nsecond"},
				{Role: "system", Content: "now"},
			},
			model.Response{Text: "echo: and\nsecond", Usage: model.Usage{InputTokens: 8, OutputTokens: 3, TotalTokens: 11}},
		},
		{
			"nothing",
			nil,
			model.Response{Text: "echo: ", Usage: model.Usage{OutputTokens: 1, TotalTokens: 1}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				got, err := echo.New().Generate(t.Context(), model.Request{Messages: test.messages})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestGenerateStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := echo.New().Generate(ctx, model.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
