package main

import (
	"context"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// whyCommand is sessile why: what keeps a session from another one.
type whyCommand struct {
	connection
	Session string `placeholder:"KEY" help:"The session that asks, by key or id. [SESSILE_SESSION_KEY]"`
	Target  string `required:"" placeholder:"KEY" help:"The other session, as a tool would be given it."`
	Tool    string `default:"sessions_history" placeholder:"NAME" help:"The tool (sessions_history)."`
}

// Run tells whether the session may use the tool on the other one, and which layer refuses.
func (c *whyCommand) Run(ctx context.Context, to streams) error {
	key, err := sessionKeyOr(c.Session)
	if err != nil {
		return err
	}
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		id, err := s.sessionID(ctx, key)
		if err != nil {
			return err
		}
		reason, err := s.Why(ctx, id, c.Target, c.Tool)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			var f facts
			if reason.Allowed {
				f.add("allowed", text("yes"))
			} else {
				f.add("allowed", text("no"))
				f.add("layer", optional(reason.Layer))
				f.add("reason", optional(reason.Reason))
			}
			f.write(b, s.printer)
		})
	})
}

// sessionID finds the id of a session that is named by its key or its id.
func (s *shell) sessionID(ctx context.Context, name string) (string, error) {
	if strings.HasPrefix(name, sessile.PrefixSession) {
		return name, nil
	}
	page, err := s.ListSessions(ctx, client.SessionQuery{Key: name})
	if err != nil {
		return "", err
	}
	if len(page.Items) == 0 {
		return "", sessile.NotFound()
	}
	return page.Items[0].ID, nil
}

// sessionIDs finds the ids of several sessions.
func (s *shell) sessionIDs(ctx context.Context, names []string) ([]string, error) {
	ids := make([]string, len(names))
	for i, name := range names {
		var err error
		if ids[i], err = s.sessionID(ctx, name); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
