package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/agenttool"
	"github.com/sessile-dev/sessile/httpapi"
	"github.com/sessile-dev/sessile/internal/apitest"
	"github.com/sessile-dev/sessile/internal/kvcases"
)

// The cases of the key-value tool's sheet over HTTP.
func TestSheetCases(t *testing.T) {
	kvcases.Run(t, func(t *testing.T, s *kvcases.System) kvcases.Call {
		handler := apitest.Check(t, httpapi.New(httpapi.Options{Tools: s.Tools}))
		return func(t *testing.T, key string, arguments jsontext.Value) kvcases.Outcome {
			body, err := json.Marshal(struct {
				SessionKey string         `json:"session_key"`
				Arguments  jsontext.Value `json:"arguments"`
			}{key, arguments})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("POST", "/tools/session_state", strings.NewReader(string(body)))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			var answer struct {
				Data  jsontext.Value `json:"data"`
				Error struct {
					Code    string         `json:"code"`
					Message string         `json:"message"`
					Details jsontext.Value `json:"details"`
				} `json:"error"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.Error.Code != "tool_arguments_invalid" {
				return kvcases.Outcome{Result: answer.Data, Err: answer.Error.Message}
			}
			var faults agenttool.Faults
			if err := json.Unmarshal(answer.Error.Details, &faults); err != nil {
				t.Fatal(err)
			}
			return kvcases.Outcome{Faults: &faults}
		}
	})
}

// What the envelope of a call gets wrong is refused before any tool is looked for.
func TestEnvelopeOfACall(t *testing.T) {
	handler := apitest.Check(t, httpapi.New(httpapi.Options{Tools: kvcases.NewSystem(t).Tools}))
	for body, want := range map[string]int{
		`{}`:                              400, // the tool misses its arguments
		`{"session_key":1}`:               400,
		`{"other":1}`:                     400,
		`{"context":{"other":1}}`:         400,
		`{"context":{"sandboxed":"yes"}}`: 400,
		`{"session_key":"","arguments":{"operation":"list","namespace":""},"context":{"sandboxed":true}}`: 200,
		`{"arguments":{"operation":"list","namespace":"n"}}`:                                              400, // no session
		`{"session_key":"k","arguments":{"operation":"list","namespace":"\ud800"}}`:                       400,
	} {
		r := httptest.NewRequest("POST", "/tools/session_state", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
