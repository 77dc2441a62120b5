package httpapi

import (
	"net/http"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
)

type deliveriesMeta struct {
	Limit   int   `json:"limit"`
	HasMore bool  `json:"has_more"`
	Last    int64 `json:"last_sequence"`
}

// listDeliveries answers GET /deliveries: the outbox by sequence, as a list or, on request, as a stream that goes on.
func (h *Handler) listDeliveries(c *call) (reply, error) {
	q := openQuery(c)
	f := sessile.DeliveryFilter{
		Account: c.account, SessionKey: q.text("session_key", optional, anyText), After: q.since(c.r),
		Status: sessile.OutboxStatus(q.choice("status", "pending", "delivered", "suspended", "discarded")),
	}
	limit := defaultRunPage
	if n := q.integer("limit", 1, maxRunPage); n != nil {
		limit = int(*n)
	}
	if err := q.done(); err != nil {
		return reply{}, err
	}
	f.Limit = limit + 1
	next := h.runs.DeliveriesChanged()
	found, err := h.runs.Deliveries(c.ctx, f)
	if err != nil {
		return reply{}, err
	}
	if wantsStream(c.r) {
		return reply{status: http.StatusOK, stream: func(w http.ResponseWriter) error { return h.followDeliveries(c, w, found, f, next) }}, nil
	}
	meta := deliveriesMeta{Limit: limit, HasMore: len(found) > limit, Last: f.After}
	found = found[:min(len(found), limit)]
	items := make([]agentrun.DeliveryBody, 0, len(found))
	for i := range found {
		items = append(items, agentrun.ShowDelivery(&found[i]))
		meta.Last = found[i].Sequence
	}
	body, err := encode(struct {
		Data []agentrun.DeliveryBody `json:"data"`
		Meta deliveriesMeta          `json:"meta"`
	}{items, meta})
	return reply{status: http.StatusOK, body: body}, err
}

// followDeliveries sends deliveries, again after each change, until the client goes away. It takes the bell before it reads.
func (h *Handler) followDeliveries(c *call, w http.ResponseWriter, found []sessile.Delivery, f sessile.DeliveryFilter, next <-chan struct{}) error {
	s := startEvents(w)
	for s.err == nil {
		for i := range found {
			f.After = found[i].Sequence
			s.sendNumbered(f.After, "delivery", agentrun.ShowDelivery(&found[i]))
		}
		if len(found) < f.Limit {
			select {
			case <-c.ctx.Done():
				return nil
			case <-next:
			}
		}
		next = h.runs.DeliveriesChanged()
		var err error
		if found, err = h.runs.Deliveries(c.ctx, f); err != nil {
			if c.ctx.Err() != nil {
				return nil //nolint:nilerr // the client went away
			}
			s.send("error", h.streamError(err))
			return err
		}
	}
	return s.err
}

// acknowledgeDelivery answers POST /deliveries/{delivery}/ack.
func (h *Handler) acknowledgeDelivery(c *call) (reply, error) {
	if err := openBody(c).done(); err != nil {
		return reply{}, err
	}
	d, err := h.runs.Acknowledge(c.ctx, c.account, c.path("delivery"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, agentrun.ShowDelivery(&d))
}

// retryDelivery answers POST /deliveries/{delivery}/retry.
func (h *Handler) retryDelivery(c *call) (reply, error) {
	if err := openBody(c).done(); err != nil {
		return reply{}, err
	}
	d, err := h.runs.Retry(c.ctx, c.account, c.path("delivery"))
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusOK, agentrun.ShowDelivery(&d))
}
