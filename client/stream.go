package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// StreamEvent is one event of a turn on its way (spec/governed-state.md, 5.3). Exactly one of its other members is set,
// unless the event is of a kind that this client does not know; Data is the event as it came.
type StreamEvent struct {
	Name string // start, run, chunk, tool, summary or something newer
	Data jsontext.Value

	Start     *TurnStart
	Run       *RunRecord
	Chunk     *string // a piece of the text
	Tool      *ToolEvent
	Summaries []string
}

// TurnStart says which floor a turn works on.
type TurnStart struct {
	FloorID  string `json:"floor_id"`
	FloorNo  int64  `json:"floor_no"`
	BranchID string `json:"branch_id"`
}

// RunRecord says how far a run is.
type RunRecord struct {
	FloorID       string         `json:"floor_id"`
	RunID         string         `json:"run_id"`
	RunType       string         `json:"run_type"`
	Status        string         `json:"status"` // running, completed, failed or cancelled
	Phase         string         `json:"phase"`
	PublicPhase   string         `json:"public_phase"` // preparing, generating, verifying, committing or post_processing
	PhaseSeq      int            `json:"phase_seq"`
	AttemptNo     int            `json:"attempt_no"`
	StartedAt     int64          `json:"started_at"`
	UpdatedAt     int64          `json:"updated_at"`
	CompletedAt   *int64         `json:"completed_at"`
	PendingOutput jsontext.Value `json:"pending_output"`
	Verifier      jsontext.Value `json:"verifier"`
	Error         *RunError      `json:"error"`
}

// ToolEvent says what a tool does.
type ToolEvent struct {
	ExecutionID     string  `json:"execution_id"`
	ToolName        string  `json:"tool_name"`
	ProviderID      string  `json:"provider_id"`
	ProviderType    string  `json:"provider_type"`
	SideEffectLevel string  `json:"side_effect_level"`
	Phase           string  `json:"phase"`
	Message         *string `json:"message"`
	DurationMS      *int64  `json:"duration_ms"`
	ReplaySafety    string  `json:"replay_safety"`
}

// RespondStream is [Client.Respond] that tells of the turn while it runs: POST /sessions/{session}/respond/stream. observe
// is called for every event before the last, one after the other. When it returns an error, or ctx ends, the connection
// is closed and the server gives the turn up; RespondStream returns that error. A turn that fails on its way is an
// [*Error] of status 200. MaxAnswerBytes bounds all events together.
func (c *Client) RespondStream(ctx context.Context, sessionID string, r RespondRequest, observe func(StreamEvent) error) (Turn, error) {
	response, err := c.stream(ctx, post(r, "sessions", sessionID, "respond", "stream"))
	if err != nil {
		return Turn{}, err
	}
	defer response.Body.Close()
	limit := &io.LimitedReader{R: response.Body, N: c.options.MaxAnswerBytes}
	events := bufio.NewReader(limit)
	for {
		name, data, err := nextEvent(events)
		switch {
		case err != nil && ctx.Err() == nil && limit.N <= 0:
			return Turn{}, &LargeAnswerError{c.options.MaxAnswerBytes}
		case err != nil:
			return Turn{}, c.broken(ctx, err)
		case name == "error":
			return Turn{}, c.failure(response, data)
		case name == "done":
			return c.done(data)
		}
		event, err := decodeEvent(name, data)
		if err != nil {
			return Turn{}, c.strange(err)
		}
		if err := observe(event); err != nil {
			return Turn{}, err
		}
	}
}

// stream sends a request, again where that is safe, and returns an answer that is a stream of events.
func (c *Client) stream(ctx context.Context, r request) (*http.Response, error) {
	target, body, err := c.prepare(r)
	if err != nil {
		return nil, err
	}
	return again(ctx, c, r.method, func() (*http.Response, time.Duration, error) {
		return c.tryStream(ctx, r, target, body)
	})
}

// tryStream sends a request once. An answer that is no stream is read and becomes an error.
func (c *Client) tryStream(ctx context.Context, r request, target string, body []byte) (*http.Response, time.Duration, error) {
	response, err := c.do(ctx, r, target, body, "text/event-stream")
	if err != nil {
		return nil, 0, err
	}
	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType == "text/event-stream" {
		return response, 0, nil
	}
	defer response.Body.Close()
	if _, err := c.read(ctx, response); err != nil {
		return nil, retryAfter(response), err
	}
	return nil, 0, c.strange(errors.New("its answer is not a stream"))
}

func (c *Client) done(data []byte) (turn Turn, err error) {
	if err := json.Unmarshal(data, &turn, lenient()); err != nil {
		return turn, c.strange(fmt.Errorf("its answer does not fit: %w", err))
	}
	if c.options.OnData != nil {
		c.options.OnData(data)
	}
	return turn, nil
}

func (c *Client) failure(response *http.Response, data []byte) error {
	var body errorBody
	if err := json.Unmarshal(data, &body, lenient()); err != nil {
		return c.strange(fmt.Errorf("its answer does not fit: %w", err))
	}
	return &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id"), refusal: body.decode()}
}

// nextEvent reads lines up to a blank one. A stream that ends before its last event is broken.
func nextEvent(events *bufio.Reader) (name string, data []byte, err error) {
	for {
		line, err := events.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if name != "" {
				return name, data, nil
			}
			continue
		}
		field, text, _ := bytes.Cut(line, []byte(":"))
		text = bytes.TrimPrefix(text, []byte(" "))
		switch string(field) {
		case "event":
			name = string(text)
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, text...)
		}
	}
}

func decodeEvent(name string, data []byte) (StreamEvent, error) {
	e := StreamEvent{Name: name, Data: data}
	var body any
	var chunk struct {
		Chunk string `json:"chunk"`
	}
	var summary struct {
		Summaries []string `json:"summaries"`
	}
	switch name {
	case "start":
		e.Start = new(TurnStart)
		body = e.Start
	case "run":
		e.Run = new(RunRecord)
		body = e.Run
	case "chunk":
		body = &chunk
	case "tool":
		e.Tool = new(ToolEvent)
		body = e.Tool
	case "summary":
		body = &summary
	default:
		return e, nil
	}
	if err := json.Unmarshal(data, body, lenient()); err != nil {
		return e, fmt.Errorf("its event %s does not fit: %w", name, err)
	}
	if name == "chunk" {
		e.Chunk = &chunk.Chunk
	}
	e.Summaries = summary.Summaries
	return e, nil
}
