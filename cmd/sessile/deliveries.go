package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// deliveriesCommand is sessile deliveries: what goes out to channels.
type deliveriesCommand struct {
	connection
	List   deliveriesList   `cmd:"" help:"List deliveries, the one that changed last at the end."`
	Follow deliveriesFollow `cmd:"" help:"Print deliveries as JSON, one a line, as they come."`
	Ack    deliveriesAck    `cmd:"" help:"Tell that deliveries arrived."`
	Retry  deliveriesRetry  `cmd:"" help:"Have deliveries tried again, also suspended and discarded ones."`
}

// whichDeliveries narrows a list.
type whichDeliveries struct {
	Session string `placeholder:"KEY" help:"Only those of this session."`
	Status  string `enum:",pending,delivered,suspended,discarded" default:"" placeholder:"STATUS" help:"Only those that are pending, delivered, suspended or discarded."`
	Since   int64  `placeholder:"N" help:"Only what changed after this sequence number."`
}

func (w whichDeliveries) query() client.DeliveryQuery {
	return client.DeliveryQuery{SessionKey: w.Session, Status: sessile.OutboxStatus(w.Status), Since: w.Since}
}

type deliveriesList struct {
	whichDeliveries
	Limit int `default:"50" help:"How many to list, 1 to 200 (50)."`
}

// Run lists deliveries.
func (c *deliveriesList) Run(ctx context.Context, to streams, all *deliveriesCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		q := c.query()
		q.Limit = c.Limit
		page, err := s.ListDeliveries(ctx, q)
		if err != nil {
			return err
		}
		if page.Meta.HasMore && !s.json {
			defer fmt.Fprintf(s.err, "more; go on with --since %d\n", page.Meta.LastSequence)
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"ID", "STATUS", "CREATED", "POSTS", "SESSION", "TO", "TEXT"}}
			for i := range page.Items {
				one := &page.Items[i]
				t.add(text(one.ID), text(string(one.Status)), moment(one.CreatedAt), number(one.Attempts), text(one.SessionKey),
					text(one.Route.Channel+":"+one.Route.To), s.beginning(one.Text))
			}
			t.write(b, s.printer)
		})
	})
}

// beginning shows the first line of a text; on a terminal its beginning.
func (p *printer) beginning(words string) cell {
	line, _, _ := strings.Cut(words, "\n")
	if short := []rune(line); p.terminal && len(short) > maxShown {
		line = string(short[:maxShown-1]) + "…"
	}
	return text(line)
}

type deliveriesFollow struct{ whichDeliveries }

// Run prints deliveries as they come.
func (c *deliveriesFollow) Run(ctx context.Context, to streams, all *deliveriesCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		return s.FollowDeliveries(ctx, c.query(), func(client.Delivery) error { return s.print(string(s.data) + "\n") })
	})
}

type someDeliveries struct {
	IDs []string `arg:"" help:"Ids of deliveries."`
}

func (c *someDeliveries) each(ctx context.Context, to streams, all *deliveriesCommand, do func(*client.Client, context.Context, string) (client.Delivery, error)) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		for _, id := range c.IDs {
			d, err := do(s.Client, ctx, id)
			if err != nil {
				return err
			}
			if err := s.say("%s is %s", d.ID, d.Status); err != nil {
				return err
			}
		}
		return nil
	})
}

type (
	deliveriesAck   struct{ someDeliveries }
	deliveriesRetry struct{ someDeliveries }
)

// Run acknowledges deliveries.
func (c *deliveriesAck) Run(ctx context.Context, to streams, all *deliveriesCommand) error {
	return c.each(ctx, to, all, (*client.Client).AcknowledgeDelivery)
}

// Run has deliveries tried again.
func (c *deliveriesRetry) Run(ctx context.Context, to streams, all *deliveriesCommand) error {
	return c.each(ctx, to, all, (*client.Client).RetryDelivery)
}
