package agentrun

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
)

// Webhook is where deliveries are posted.
type Webhook struct {
	URL    string
	Secret string // signs the posts; "" leaves them unsigned
}

const (
	// postTimeout bounds one post.
	postTimeout = 10 * time.Second
	// postsAtOnce bounds how many are on their way together.
	postsAtOnce = 8
	// postFor is how long a delivery is tried before it is suspended.
	postFor = 24 * time.Hour
	// signatureHeader holds the signature of the body.
	signatureHeader = "X-Sessile-Signature"
)

// nextPost is when a delivery is posted again that was tried for a time: after 5, 10 and 20 s, then doubling from a minute to
// an hour (conformance/WIRE.md). ok is false when it is time to give up.
func nextPost(elapsed time.Duration) (wait time.Duration, ok bool) {
	if elapsed >= postFor {
		return 0, false
	}
	at := time.Duration(0)
	for _, delay := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
		if at += delay; at > elapsed {
			return max(at-elapsed, time.Second), true
		}
	}
	for delay := time.Minute; ; delay = min(2*delay, time.Hour) {
		if at += delay; at > elapsed {
			return max(at-elapsed, time.Second), true
		}
	}
}

// deliver posts what is due until the context ends.
func (s *Service) deliver(ctx context.Context) {
	if s.options.Webhook.URL == "" {
		return
	}
	for ctx.Err() == nil {
		posted := s.posted.next()
		wait, err := s.postDue(ctx)
		if err != nil && ctx.Err() == nil {
			s.options.Logger.Warn("deliveries could not be looked at", "error", err)
			wait = retryAfter
		}
		if wait == 0 {
			select {
			case <-ctx.Done():
			case <-posted:
			}
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-posted:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// postDue posts what is due and tells how long it takes until something else is; 0 for nothing.
func (s *Service) postDue(ctx context.Context) (time.Duration, error) {
	for {
		now := s.options.Now().UnixMilli()
		var due []sessile.Delivery
		var next int64
		err := s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
			if due, err = tx.DueDeliveries(now, postsAtOnce); err != nil || len(due) > 0 {
				return err
			}
			next, err = tx.NextDelivery(now)
			return err
		})
		if err != nil {
			return 0, err
		}
		if len(due) == 0 {
			if next == 0 {
				return 0, nil
			}
			return time.Duration(max(next-now, 1)) * time.Millisecond, nil
		}
		var posts sync.WaitGroup
		failures := make([]error, len(due))
		for i := range due {
			posts.Go(func() { failures[i] = s.postOne(ctx, &due[i]) })
		}
		posts.Wait()
		for _, err := range failures {
			if err != nil {
				return 0, err
			}
		}
		s.posted.ring()
	}
}

// postOne posts a delivery and stores what came of it. It returns errors of the store alone.
func (s *Service) postOne(ctx context.Context, d *sessile.Delivery) error {
	d.Attempts++
	problem := s.attempt(ctx, d)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.store.Update(context.WithoutCancel(ctx), func(tx sessile.Tx) error {
		now, found, err := tx.Delivery(d.Account, d.Row)
		if err != nil || !found {
			return err
		}
		now.Attempts = d.Attempts
		switch {
		case now.Status != sessile.OutboxPending: // acknowledged meanwhile
		case problem == "":
			now.Status, now.Error, now.SettledAt, now.DueAt = sessile.OutboxDelivered, "", tx.Now(), 0
		default:
			now.Error = problem
			wait, again := nextPost(time.Duration(tx.Now()-now.RetryFrom) * time.Millisecond)
			if now.DueAt = tx.Now() + wait.Milliseconds(); !again {
				now.Status, now.SettledAt, now.DueAt = sessile.OutboxSuspended, tx.Now(), 0
			}
		}
		return tx.UpdateDelivery(&now)
	})
}

// attempt posts once; "" means that it was taken.
func (s *Service) attempt(ctx context.Context, d *sessile.Delivery) (problem string) {
	body, err := json.Marshal(ShowDelivery(d))
	if err != nil {
		return "the delivery could not be encoded"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.options.Webhook.URL, bytes.NewReader(body))
	if err != nil {
		return "the address of the webhook is not valid"
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", d.Key)
	if s.options.Webhook.Secret != "" {
		mac := hmac.New(sha256.New, []byte(s.options.Webhook.Secret))
		mac.Write(body)
		request.Header.Set(signatureHeader, "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	response, err := s.options.Client.Do(request)
	if err != nil {
		return "the webhook could not be reached"
	}
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
	_ = response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Sprintf("the webhook answered status %d", response.StatusCode)
	}
	return ""
}
