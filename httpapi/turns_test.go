package httpapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile/model"
)

func TestTurnBody(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"nothing", `{}`, nil},
		{"everything", `{"config":{"enableTools":true,"enableDirector":false,"enableVerifier":false,"enableMemoryConsolidation":true,
			"verifierFailStrategy":"retry","toolMode":"both","maxRetries":5},
			"debug_options":{"include_prompt_snapshot":true,"include_runtime_trace":false,"include_worldbook_matches":true},
			"structure":{"a":1,"a":2},"delivery":[],
			"generation_params":{"temperature":2,"max_output_tokens":1,"top_p":0,"top_k":1,"frequency_penalty":-1.5,
			"presence_penalty":0,"stop_sequences":["a"],"seed":-5,"repetition_penalty":1.1,"min_p":1,"logit_bias":{"7":-3},
			"response_format":{"type":"json_object"},"stream":true,"reasoning_effort":"high"},
			"session_state_writes":[{"namespace":"a","slot":"b","value":null},{"namespace":"a","slot":"b","delete":true}]}`, nil},
		{"nulls in params", `{"generation_params":{"temperature":null,"max_output_tokens":null,"top_p":null,"top_k":null,
			"frequency_penalty":null,"presence_penalty":null,"stop_sequences":null,"seed":null,"repetition_penalty":null,
			"min_p":null,"logit_bias":null,"response_format":null,"stream":null,"reasoning_effort":null}}`, nil},
		{"no writes", `{"session_state_writes":[]}`, nil},
		{"config", `{"config":{"maxRetries":6,"verifierFailStrategy":"explode","toolMode":1,"enableTools":null,"max_retries":1}}`, []string{
			"config.enableTools wrong_type", "config.verifierFailStrategy not_a_choice", "config.toolMode wrong_type",
			"config.maxRetries out_of_range", "config.max_retries unknown_field",
		}},
		{"params", `{"generation_params":{"temperature":2.5,"top_p":-0.1,"top_k":0,"max_output_tokens":1.5,"stop_sequences":[1,""],
			"reasoning_effort":"huge","logit_bias":{"a":"b"},"response_format":[],"stream":1,"seed":"x"}}`, []string{
			"generation_params.temperature out_of_range", "generation_params.top_p out_of_range", "generation_params.top_k out_of_range",
			"generation_params.max_output_tokens wrong_type", "generation_params.seed wrong_type",
			"generation_params.stop_sequences.0 wrong_type", "generation_params.stop_sequences.1 empty",
			"generation_params.reasoning_effort not_a_choice", "generation_params.logit_bias.a wrong_type",
			"generation_params.response_format wrong_type", "generation_params.stream wrong_type",
		}},
		{"params null", `{"generation_params":null}`, []string{"generation_params wrong_type"}},
		{"writes no list", `{"session_state_writes":{}}`, []string{"session_state_writes wrong_type"}},
		{"writes", `{"session_state_writes":[
			{"namespace":"a","slot":"b","value":1,"delete":true},
			{"namespace":"a","slot":"b"},
			{"namespace":"a","slot":"b","delete":false},
			{"namespace":"a","slot":"b","delete":null},
			{"namespace":"a","slot":"b","delete":"true"},
			{"namespace":"a","slot":"b","value":1,"branch_id":"main"},
			{"namespace":"A","slot":"","value":1},
			"x",
			{"slot":"b","value":1,"value":2}]}`, []string{
			"session_state_writes.0 conflict", "session_state_writes.1 conflict", "session_state_writes.2.delete not_a_choice",
			"session_state_writes.3.delete wrong_type", "session_state_writes.4.delete wrong_type",
			"session_state_writes.5.branch_id unknown_field", "session_state_writes.6.namespace wrong_pattern",
			"session_state_writes.6.slot empty", "session_state_writes.7 wrong_type",
			"session_state_writes.8.value repeated", "session_state_writes.8.namespace required",
		}},
		{"prompt shaping", `{"structure":1,"delivery":"x"}`, []string{"structure wrong_type", "delivery wrong_type"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := openBody(&call{body: []byte(tt.body)})
			o.turn(&call{})
			if diff := cmp.Diff(tt.want, found(t, o.done())); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestParams(t *testing.T) {
	o := openBody(&call{body: []byte(`{"generation_params":{"temperature":0.5,"top_p":null,"top_k":40,"max_output_tokens":50,"stop_sequences":["\n"],
		"seed":7,"logit_bias":{"50256":-100},"response_format":{"type":"json_object"},"reasoning_effort":"low"}}`)})
	got := o.params()
	if err := o.done(); err != nil {
		t.Fatal(err)
	}
	want := model.Params{
		Temperature: new(0.5), TopK: new(int64(40)), MaxOutputTokens: new(int64(50)), StopSequences: []string{"\n"},
		Seed: new(int64(7)), LogitBias: map[string]int64{"50256": -100}, ResponseFormat: []byte(`{"type":"json_object"}`),
		ReasoningEffort: "low",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestTurnWrites(t *testing.T) {
	o := openBody(&call{body: []byte(`{"session_state_writes":[{"namespace":"a","slot":"x","value":null},{"namespace":"b","slot":"y","delete":true}]}`)})
	writes := o.turnWrites()
	if err := o.done(); err != nil {
		t.Fatal(err)
	}
	if len(writes) != 2 || string(writes[0].Data) != "null" || writes[1].Data != nil || writes[1].Slot != "y" {
		t.Fatalf("got %+v", writes)
	}
}
