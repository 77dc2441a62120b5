package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

func TestStream(t *testing.T) {
	s := newServer(t)
	c := newClient(t, client.Options{URL: s.URL})
	session, err := c.CreateSession(t.Context(), client.SessionInput{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var text strings.Builder
	var start client.TurnStart
	turn, err := c.RespondStream(t.Context(), session.ID, client.RespondRequest{Message: "hello there"}, func(e client.StreamEvent) error {
		if len(names) == 0 || names[len(names)-1] != e.Name {
			names = append(names, e.Name)
		}
		switch {
		case e.Start != nil:
			start = *e.Start
		case e.Chunk != nil:
			text.WriteString(*e.Chunk)
		case e.Run != nil && e.Run.RunID == "":
			t.Errorf("a run without an id: %s", e.Data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != turn.GeneratedText || turn.GeneratedText != "echo: hello there" {
		t.Errorf("the pieces are %q, the text is %q", text.String(), turn.GeneratedText)
	}
	if start != (client.TurnStart{FloorID: turn.FloorID, BranchID: "main"}) || turn.FinalState != "committed" {
		t.Errorf("it began as %+v and ended as %+v", start, turn)
	}
	if diff := cmp.Diff([]string{"start", "run"}, names[:2]); diff != "" {
		t.Errorf("the events are %v", names)
	}

	_, err = c.RespondStream(t.Context(), "nope", client.RespondRequest{Message: "x"}, ignore)
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != http.StatusOK || sessile.CodeOf(err) != sessile.CodeNotFound {
		t.Errorf("the error is %v", err)
	}
	_, err = c.RespondStream(t.Context(), session.ID, client.RespondRequest{}, ignore)
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != http.StatusBadRequest {
		t.Errorf("the error is %v", err)
	}
	if _, err = c.RespondStream(t.Context(), "", client.RespondRequest{}, ignore); sessile.CodeOf(err) != sessile.CodeValidation {
		t.Errorf("the error is %v", err)
	}
}

func ignore(client.StreamEvent) error { return nil }

// streaming is a client of a server that streams one text.
func streaming(t *testing.T, text string) *client.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return newClient(t, client.Options{URL: s.URL, MaxAnswerBytes: 200})
}

func TestStrangeStreams(t *testing.T) {
	const done = "event: done\ndata: {\"floor_id\":\"f\"}\n\n"
	tests := map[string]struct {
		text string
		code sessile.Code // internal_error stands for an error without one
	}{
		"done at once":       {done, ""},
		"comments and blank": {"\n: comment\n\nid: 1\nretry: 5\n" + done, ""},
		"lines of Windows":   {strings.ReplaceAll(done, "\n", "\r\n"), ""},
		"data on two lines":  {"event: done\ndata: {\"floor_id\":\ndata: \"f\"}\n\n", ""},
		"something newer":    {"event: thought\ndata: 1\n\n" + done, ""},
		"the end is missing": {"event: chunk\ndata: {\"chunk\":\"x\"}\n\n", sessile.CodeInternal},
		"half an event":      {"event: done\ndata: {}", sessile.CodeInternal},
		"not JSON":           {"event: chunk\ndata: x\n\n" + done, sessile.CodeInternal},
		"an odd end":         {"event: done\ndata: []\n\n", sessile.CodeInternal},
		"an odd error":       {"event: error\ndata: []\n\n", sessile.CodeInternal},
		"an error":           {"event: error\ndata: {\"code\":\"generation_timeout\",\"message\":\"m\"}\n\n" + done, sessile.CodeGenerationTimeout},
	}
	for name, test := range tests {
		turn, err := streaming(t, test.text).RespondStream(t.Context(), "s", client.RespondRequest{Message: "x"}, ignore)
		if sessile.CodeOf(err) != test.code || err == nil && turn.FloorID != "f" {
			t.Errorf("%s: got %+v, %v", name, turn, err)
		}
		if _, ok := errors.AsType[*client.UnreachableError](err); ok != (test.code == sessile.CodeInternal) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}

	_, err := streaming(t, strings.Repeat("event: chunk\ndata: {}\n\n", 20)).RespondStream(t.Context(), "s", client.RespondRequest{}, ignore)
	if _, ok := errors.AsType[*client.LargeAnswerError](err); !ok {
		t.Errorf("the error is %v", err)
	}
	_, err = answering(t, http.StatusOK, `{"data":{}}`).RespondStream(t.Context(), "s", client.RespondRequest{}, ignore)
	if _, ok := errors.AsType[*client.UnreachableError](err); !ok {
		t.Errorf("the error is %v", err)
	}
}

// A caller that has heard enough, or whose context ends, closes the connection.
func TestStreamIsGivenUp(t *testing.T) {
	gone := make(chan struct{}, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: chunk\ndata: {\"chunk\":\"x\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	defer s.Close()
	c := newClient(t, client.Options{URL: s.URL})

	enough := errors.New("enough")
	_, err := c.RespondStream(t.Context(), "s", client.RespondRequest{}, func(client.StreamEvent) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("the error is %v", err)
	}
	<-gone

	ctx, cancel := context.WithCancel(t.Context())
	_, err = c.RespondStream(ctx, "s", client.RespondRequest{}, func(client.StreamEvent) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	<-gone
}
