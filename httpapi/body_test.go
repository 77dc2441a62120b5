package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestOversizeOverTheWire checks that a client that sends far too much over a real connection sees the answer, and that
// HEAD has the headers of GET and no body.
func TestOversizeOverTheWire(t *testing.T) {
	server := httptest.NewServer(newTestHandler(&refuser{}, func(o *Options) { o.MaxBodyBytes = 1 << 20 }))
	defer server.Close()
	for name, body := range map[string]io.Reader{
		"announced": bytes.NewReader(make([]byte, 5<<19)),
		"chunked":   io.MultiReader(bytes.NewReader(make([]byte, 5<<19))),
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+writePath, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", "good")
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != 200 || answer.ContentLength != int64(len(`{"data":{"status":"ok"}}`)) || len(body) != 0 {
		t.Errorf("HEAD: %d, %d bytes announced, %d sent", answer.StatusCode, answer.ContentLength, len(body))
	}
}
