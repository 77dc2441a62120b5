package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
)

// Changes is the log of what changed in sessions; [changelog.Log] is one.
type Changes interface {
	Changes(ctx context.Context, account, sessionID string, since int64, limit int) (changelog.Changes, error)
	Notices(ctx context.Context, account, sessionID string) ([]sessile.Notice, error)
	Acknowledge(ctx context.Context, account, sessionID string, rows []int64) (int, error)
	Watches(ctx context.Context, account, sessionID string) ([]sessile.Watch, error)
	Watch(ctx context.Context, account, sessionID, target string) (sessile.Watch, error)
	Unwatch(ctx context.Context, account, sessionID, target string) (bool, error)
	Next() <-chan struct{}
}

var _ Changes = (*changelog.Log)(nil)

type changeBody struct {
	Sequence   int64             `json:"sequence"`
	SessionKey string            `json:"session_key"`
	SessionID  string            `json:"session_id"`
	AgentID    string            `json:"agent_id"`
	Kind       sessile.EventKind `json:"kind"`
	ActorType  sessile.ActorType `json:"actor_type"`
	ActorID    *string           `json:"actor_id"`
	RunID      *string           `json:"run_id"`
	OccurredAt int64             `json:"occurred_at"`
	Summary    string            `json:"summary"`
	Payload    jsontext.Value    `json:"payload"`
}

func showChange(e *sessile.Event) changeBody {
	return changeBody{
		e.Sequence, e.SessionKey, e.SessionID, e.AgentID, e.Kind, e.ActorType, orNull(e.ActorID), orNull(e.RunID), e.OccurredAt, e.Summary,
		e.Payload,
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type changesMeta struct {
	StateVersion int64 `json:"state_version"`
	HasMore      bool  `json:"has_more"`
	HistoryGap   bool  `json:"history_gap"`
	Earliest     int64 `json:"earliest_available_sequence"`
}

// wantsStream reports whether the client asks for server-sent events.
func wantsStream(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// since reads where a list of changes begins: the query, else for a stream that was broken off its last event.
func (q *query) since(r *http.Request) int64 {
	since := q.integer("since", 0, 1<<53)
	if since != nil {
		return *since
	}
	last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	if err != nil || last < 0 {
		return 0
	}
	return last
}

// listChanges answers GET /sessions/{session}/events: what changed after a version, as a list or, on request, as a stream that
// goes on.
func (h *Handler) listChanges(c *call) (reply, error) {
	q := openQuery(c)
	since, limit := q.since(c.r), q.integer("limit", 1, changelog.MaxChanges)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	most := changelog.MaxChanges
	if limit != nil {
		most = int(*limit)
	}
	next := h.changes.Next()
	changes, err := h.changes.Changes(c.ctx, c.account, c.path("session"), since, most)
	if err != nil {
		return reply{}, err
	}
	if wantsStream(c.r) {
		return reply{status: http.StatusOK, stream: func(w http.ResponseWriter) error {
			return h.followChanges(c, w, changes, since, next)
		}}, nil
	}
	body := struct {
		Data []changeBody `json:"data"`
		Meta changesMeta  `json:"meta"`
	}{make([]changeBody, 0, len(changes.Events)), changesMeta{changes.StateVersion, changes.Truncated, changes.Gap, changes.Earliest}}
	for i := range changes.Events {
		body.Data = append(body.Data, showChange(&changes.Events[i]))
	}
	text, err := encode(body)
	return reply{status: http.StatusOK, body: text}, err
}

// followChanges sends events until the client goes away. It takes the bell before it reads, so it misses none.
func (h *Handler) followChanges(c *call, w http.ResponseWriter, changes changelog.Changes, since int64, next <-chan struct{}) error {
	s := startEvents(w)
	for s.err == nil {
		for i := range changes.Events {
			e := &changes.Events[i]
			since = e.Sequence
			s.sendNumbered(e.Sequence, "change", showChange(e))
		}
		if !changes.Truncated {
			select {
			case <-c.ctx.Done():
				return nil
			case <-next:
			}
		}
		next = h.changes.Next()
		var err error
		if changes, err = h.changes.Changes(c.ctx, c.account, c.path("session"), since, changelog.MaxChanges); err != nil {
			if c.ctx.Err() != nil {
				return nil //nolint:nilerr // the client went away
			}
			s.send("error", h.streamError(err))
			return err
		}
	}
	return s.err
}

type noticeBody struct {
	ID           string `json:"id"`
	TargetKey    string `json:"target_key"`
	ChangesSince int64  `json:"changes_since"`
	Text         string `json:"text"`
	CreatedAt    int64  `json:"created_at"`
}

func showNotices(notices []sessile.Notice) []noticeBody {
	out := make([]noticeBody, 0, len(notices))
	for i := range notices {
		n := &notices[i]
		out = append(out, noticeBody{sessile.NoticeID(n.Row), n.Target, n.Since, changelog.NoticeText(n), n.CreatedAt})
	}
	return out
}

// listNotices answers GET /sessions/{session}/notices, as a list or as a stream of each notice once.
func (h *Handler) listNotices(c *call) (reply, error) {
	q := openQuery(c)
	since := q.since(c.r)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	next := h.changes.Next()
	notices, err := h.changes.Notices(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	if !wantsStream(c.r) {
		return dataReply(http.StatusOK, showNotices(notices))
	}
	return reply{status: http.StatusOK, stream: func(w http.ResponseWriter) error {
		s := startEvents(w)
		for s.err == nil {
			for i := range notices {
				if notices[i].Row > since {
					s.sendNumbered(notices[i].Row, "notice", showNotices(notices[i : i+1])[0])
				}
			}
			for _, n := range notices {
				since = max(since, n.Row)
			}
			select {
			case <-c.ctx.Done():
				return nil
			case <-next:
			}
			next = h.changes.Next()
			if notices, err = h.changes.Notices(c.ctx, c.account, c.path("session")); err != nil {
				if c.ctx.Err() != nil {
					return nil //nolint:nilerr // the client went away
				}
				s.send("error", h.streamError(err))
				return err
			}
		}
		return s.err
	}}, nil
}

// maxAcknowledged bounds the notices of one acknowledgement.
const maxAcknowledged = 1000

// acknowledgeNotices answers POST /sessions/{session}/notices/ack. Ids of no notice are passed over.
func (h *Handler) acknowledgeNotices(c *call) (reply, error) {
	o := openBody(c)
	ids, _ := o.texts("ids", required)
	if len(ids) > maxAcknowledged {
		o.problem("ids", wrongLength, "at most 1000 notices are acknowledged at once")
	}
	if err := o.done(); err != nil {
		return reply{}, err
	}
	var rows []int64
	for _, id := range ids {
		if row, ok := sessile.ParseNoticeID(id); ok {
			rows = append(rows, row)
		}
	}
	drained, err := h.changes.Acknowledge(c.ctx, c.account, c.path("session"), rows)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		Acknowledged int `json:"acknowledged"`
	}{drained})
}

type watchBody struct {
	TargetKey string `json:"target_key"`
	LastSeen  int64  `json:"last_seen"`
	Pending   bool   `json:"pending"` // a notice waits
}

func showWatch(w sessile.Watch) watchBody {
	return watchBody{w.Target, w.LastSeen, w.Notified > w.LastSeen}
}

// listWatches answers GET /sessions/{session}/watches.
func (h *Handler) listWatches(c *call) (reply, error) {
	watches, err := h.changes.Watches(c.ctx, c.account, c.path("session"))
	if err != nil {
		return reply{}, err
	}
	out := make([]watchBody, 0, len(watches))
	for _, w := range watches {
		out = append(out, showWatch(w))
	}
	return dataReply(http.StatusOK, out)
}

// addWatch answers POST /sessions/{session}/watches.
func (h *Handler) addWatch(c *call) (reply, error) {
	o := openBody(c)
	target, _ := o.text("target_key", required, keyRule)
	if err := o.done(); err != nil {
		return reply{}, err
	}
	w, err := h.changes.Watch(c.ctx, c.account, c.path("session"), h.sessions.Normalize(target))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusCreated, showWatch(w))
}

// deleteWatch answers DELETE /sessions/{session}/watches/{target}, whether or not there was one.
func (h *Handler) deleteWatch(c *call) (reply, error) {
	ended, err := h.changes.Unwatch(c.ctx, c.account, c.path("session"), h.sessions.Normalize(c.path("target")))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, struct {
		Deleted bool `json:"deleted"`
	}{ended})
}
