package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// scriptedModel is an endpoint that speaks the streams of OpenAI. It says each piece of an answer only when the test lets
// it, so that a turn can be held at any point on its way.
type scriptedModel struct {
	url string

	mu    sync.Mutex
	gates map[string]chan struct{} // by what the user said
}

// scriptedPieces are how many pieces an answer has.
const scriptedPieces = 5

func newScriptedModel(t *testing.T) *scriptedModel {
	m := &scriptedModel{gates: map[string]chan struct{}{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// expect makes the model know a message, and returns what lets it say the next piece of its answer to it, or after the
// last piece that it is done.
func (m *scriptedModel) expect(message string) (next func()) {
	gate := make(chan struct{}, scriptedPieces+1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gates[message] = gate
	return func() { gate <- struct{}{} }
}

// scriptedAnswer is the text of the whole answer, without the summary at its end.
func scriptedAnswer(message string) string { return strings.Join(scriptedWords(message), "") }

func scriptedSummary(message string) string { return "about " + message }

func scriptedWords(message string) []string {
	var words []string
	for i := range scriptedPieces {
		words = append(words, fmt.Sprintf("%s, piece %d. ", message, i))
	}
	words[scriptedPieces-1] = strings.TrimSpace(words[scriptedPieces-1])
	return words
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		Stream bool `json:"stream"`
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil || len(asked.Messages) == 0 || !asked.Stream {
		http.Error(w, "this endpoint answers to streams only", http.StatusBadRequest)
		return
	}
	message := asked.Messages[len(asked.Messages)-1].Content
	m.mu.Lock()
	gate := m.gates[message]
	m.mu.Unlock()

	words := scriptedWords(message)
	words[len(words)-1] += "<summary>" + scriptedSummary(message) + "</summary>"
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range words {
		if !opens(r, gate) {
			return
		}
		tell(w, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%s}}]}`, jsonText(word)))
	}
	if !opens(r, gate) {
		return
	}
	tell(w, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	tell(w, `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}`)
	tell(w, "[DONE]")
}

// opens waits until the test lets the model go on; false when who asked has gone.
func opens(r *http.Request, gate chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-r.Context().Done():
		return false
	}
}

func tell(w http.ResponseWriter, data string) {
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush() // who asked may have gone
}

func jsonText(text string) string {
	quote, _ := jsontext.AppendQuote(nil, text) // never fails for valid UTF-8
	return string(quote)
}
