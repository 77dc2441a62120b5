package agentrun

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/session"
)

// RouteBody is a route on the wire.
type RouteBody struct {
	Channel   string         `json:"channel"`
	To        string         `json:"to"`
	AccountID string         `json:"account_id,omitzero"`
	ThreadID  jsontext.Value `json:"thread_id,omitzero"`
}

// DeliveryBody is a delivery on the wire: in lists, in streams and in posts (design.md section 5).
type DeliveryBody struct {
	ID             string               `json:"id"`
	SessionKey     string               `json:"session_key"`
	Route          RouteBody            `json:"route"`
	Text           string               `json:"text"`
	Status         sessile.OutboxStatus `json:"status"`
	Attempts       int64                `json:"attempts"`
	IdempotencyKey string               `json:"idempotency_key"`
	RunID          *string              `json:"run_id"`
	Error          *string              `json:"error"`
	CreatedAt      int64                `json:"created_at"`
	SettledAt      *int64               `json:"settled_at"`
	NextAttemptAt  *int64               `json:"next_attempt_at"`
	Sequence       int64                `json:"sequence"`
}

// ShowDelivery is the form of a delivery on the wire.
func ShowDelivery(d *sessile.Delivery) DeliveryBody {
	b := DeliveryBody{
		ID: sessile.DeliveryID(d.Row), SessionKey: d.SessionKey, Text: d.Text, Status: d.Status, Attempts: d.Attempts, IdempotencyKey: d.Key,
		CreatedAt: d.CreatedAt, Sequence: d.Sequence,
	}
	_ = json.Unmarshal(d.Route, &b.Route) // it is ours
	if d.RunID != "" {
		b.RunID = &d.RunID
	}
	if d.Error != "" {
		b.Error = &d.Error
	}
	if d.SettledAt != 0 {
		b.SettledAt = &d.SettledAt
	}
	if d.DueAt != 0 {
		b.NextAttemptAt = &d.DueAt
	}
	return b
}

func (s *Service) addDelivery(tx sessile.Tx, from *sessile.Session, route session.Route, text string, run *sessile.Run, key string) error {
	stored, err := json.Marshal(RouteBody{route.Channel, route.To, route.AccountID, route.ThreadID})
	if err != nil {
		return err
	}
	d := sessile.Delivery{
		Account: from.Account, SessionKey: from.Key, Route: stored, Text: text, Status: sessile.OutboxPending, Key: key, RunID: run.ID,
		RetryFrom: tx.Now(),
	}
	if s.options.Webhook.URL != "" {
		d.DueAt = tx.Now()
	}
	_, err = tx.AddDelivery(&d)
	return err
}

// Deliveries lists the outbox by sequence.
func (s *Service) Deliveries(ctx context.Context, f sessile.DeliveryFilter) (deliveries []sessile.Delivery, err error) {
	if f.SessionKey != "" {
		f.SessionKey = s.sessions.Keys().Normalize(f.SessionKey)
	}
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		deliveries, err = tx.Deliveries(f)
		return err
	})
	return deliveries, err
}

// Acknowledge marks a delivery as delivered; it may be called again. Codes: not_found.
func (s *Service) Acknowledge(ctx context.Context, account, id string) (sessile.Delivery, error) {
	return s.changeDelivery(ctx, account, id, func(tx sessile.Tx, d *sessile.Delivery) bool {
		if d.Status == sessile.OutboxDelivered {
			return false
		}
		d.Status, d.SettledAt, d.DueAt = sessile.OutboxDelivered, tx.Now(), 0
		return true
	})
}

// Retry has a delivery that is not delivered posted again at once, or offered again where nothing is posted. Codes: not_found.
func (s *Service) Retry(ctx context.Context, account, id string) (sessile.Delivery, error) {
	return s.changeDelivery(ctx, account, id, func(tx sessile.Tx, d *sessile.Delivery) bool {
		if d.Status == sessile.OutboxDelivered {
			return false
		}
		d.Status, d.SettledAt, d.RetryFrom = sessile.OutboxPending, 0, tx.Now()
		if s.options.Webhook.URL != "" {
			d.DueAt = tx.Now()
		}
		return true
	})
}

func (s *Service) changeDelivery(ctx context.Context, account, id string, change func(sessile.Tx, *sessile.Delivery) bool) (d sessile.Delivery, err error) {
	row, ok := sessile.ParseDeliveryID(id)
	if !ok {
		return d, sessile.NotFound()
	}
	err = s.store.Update(ctx, func(tx sessile.Tx) error {
		var found bool
		if d, found, err = tx.Delivery(account, row); err != nil {
			return err
		}
		if !found {
			return sessile.NotFound()
		}
		if !change(tx, &d) {
			return nil
		}
		return tx.UpdateDelivery(&d)
	})
	if err == nil {
		s.posted.ring()
	}
	return d, err
}
