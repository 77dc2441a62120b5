package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/config"
)

// keysCommand is sessile keys. Keys belong to a database: they are managed by whoever can open its file, directly or
// through the server that owns it.
type keysCommand struct {
	connection
	Create keysCreate `cmd:"" help:"Make a key for an account and print it; it cannot be shown again."`
	List   keysList   `cmd:"" help:"List keys, without the keys themselves."`
	Revoke keysRevoke `cmd:"" help:"Revoke keys: they let nobody in from now on."`
}

// on connects to the database that was named, or to the one that serve uses by default.
func (c *keysCommand) on(ctx context.Context, to streams, creates bool, work func(context.Context, *shell) error) error {
	there := c.connection
	if there.DB == "" && there.URL == "" && os.Getenv(envURL) == "" {
		settings, err := config.Load(config.Inputs{})
		if err != nil {
			return err
		}
		there.DB = strings.TrimPrefix(settings.Database, "sqlite:")
	}
	return there.run(ctx, to, creates, work)
}

type keysCreate struct {
	Account string `arg:"" help:"Account that the key acts for."`
	Name    string `placeholder:"TEXT" help:"What it is for, for people."`
}

// Run makes a key.
func (c *keysCreate) Run(ctx context.Context, to streams, all *keysCommand) error {
	return all.on(ctx, to, true, func(ctx context.Context, s *shell) error {
		key, err := s.CreateKey(ctx, client.NewKey{AccountID: c.Account, Name: c.Name})
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) { fmt.Fprintln(b, key.Key) })
	})
}

type keysList struct{}

// Run lists keys.
func (*keysList) Run(ctx context.Context, to streams, all *keysCommand) error {
	return all.on(ctx, to, false, func(ctx context.Context, s *shell) error {
		keys, err := s.ListKeys(ctx)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"ID", "ACCOUNT", "CREATED", "REVOKED", "NAME"}}
			for _, key := range keys {
				revoked := text("-")
				if key.RevokedAt != nil {
					revoked = moment(*key.RevokedAt)
				}
				t.add(text(key.ID), text(key.AccountID), moment(key.CreatedAt), revoked, text(key.Name))
			}
			t.write(b, s.printer)
		})
	})
}

type keysRevoke struct {
	IDs []string `arg:"" name:"id" help:"Keys, by the ids that list shows."`
}

// Run revokes keys, one after the other, until one is refused.
func (c *keysRevoke) Run(ctx context.Context, to streams, all *keysCommand) error {
	return all.on(ctx, to, false, func(ctx context.Context, s *shell) error {
		for _, id := range c.IDs {
			if _, err := s.RevokeKey(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}
