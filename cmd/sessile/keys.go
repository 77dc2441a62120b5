package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sessile-dev/sessile"
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

// Help is what the help of the command says beyond its line.
func (*keysCommand) Help() string {
	return "Keys are kept in the database: name its file with --db, or leave it out for the one that serve uses by default. " +
		"A running server that owns the file is asked through the socket beside it, and never over the network: --url does not work here."
}

// on connects to the database that was named, or to the one that serve uses by default. A URL is refused: no server
// manages keys over the network.
func (c *keysCommand) on(ctx context.Context, to streams, creates bool, work func(context.Context, *shell) error) error {
	there := c.connection
	if there.DB == "" {
		if there.URL != "" || os.Getenv(envURL) != "" {
			return &usageError{
				"keys cannot be managed over a URL (--url or " + envURL + "), only on the database file or the socket beside it",
				"run this where the database is, with --db FILE; a running server may go on",
			}
		}
		settings, err := config.Load(config.Inputs{})
		if err != nil {
			return err
		}
		there.DB = strings.TrimPrefix(settings.Database, "sqlite:")
		if settings.Source("db") == config.SourceDefault {
			if err := prepareDefault(settings, there.DB, creates); err != nil {
				return err
			}
		}
	}
	return there.run(ctx, to, creates, work)
}

// prepareDefault makes the directory of the default database for a command that creates. Any other one needs the
// database to be there.
func prepareDefault(settings *config.Loaded, path string, creates bool) error {
	if creates {
		return makeDataDir(settings)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return &hintedError{noDatabase(path), "sessile keys create ACCOUNT makes it, with a first key"}
	}
	return nil
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
			_, err := s.RevokeKey(ctx, id)
			if sessile.CodeOf(err) == sessile.CodeNotFound {
				err = &hintedError{err, "sessile keys list shows the ids, and which keys are revoked already"}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
