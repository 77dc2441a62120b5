package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
)

// sessionsCommand is sessile sessions.
type sessionsCommand struct {
	connection
	List      sessionsList      `cmd:"" help:"List sessions."`
	Show      sessionsShow      `cmd:"" help:"Show a session."`
	Create    sessionsCreate    `cmd:"" help:"Create a session and print its id."`
	Archive   sessionsArchive   `cmd:"" help:"Archive sessions: they can be read, but take no writes and no turns."`
	Unarchive sessionsUnarchive `cmd:"" help:"Bring archived sessions back."`
	Pin       sessionsPin       `cmd:"" help:"Pin a session: lists show it first."`
	Unpin     sessionsUnpin     `cmd:"" help:"Take the pin of a session away."`
	Label     sessionsLabel     `cmd:"" help:"Label a session, or take its label away."`
	Goal      sessionsGoal      `cmd:"" help:"Say what a session is to achieve, or take that away."`
	Reset     sessionsReset     `cmd:"" help:"Begin a session anew: the same key, a new id, an empty transcript."`
	Fork      sessionsFork      `cmd:"" help:"Make a session with the transcript of another."`
	Delete    sessionsDelete    `cmd:"" help:"Delete sessions with all their state."`
	Events    sessionsEvents    `cmd:"" help:"List what happened to a session."`
	Notices   sessionsNotices   `cmd:"" help:"List what a session is to be told of others."`
	Watches   sessionsWatches   `cmd:"" help:"List what a session watches."`
	Watch     sessionsWatch     `cmd:"" help:"Have a session be told of what happens to another."`
	Unwatch   sessionsUnwatch   `cmd:"" help:"End a watch."`
}

// paging selects a stretch of a list.
type paging struct {
	Limit     int    `default:"50" help:"How many to list, 1 to 100 (50)."`
	Offset    int    `default:"0" help:"How many to skip (0)."`
	SortOrder string `enum:"asc,desc" default:"desc" help:"Order: asc or desc (desc)."`
}

func (p paging) by(name string) client.Paging {
	return client.Paging{Limit: p.Limit, Offset: p.Offset, SortBy: name, SortOrder: p.SortOrder}
}

type sessionsList struct {
	paging
	Status  string `enum:",active,archived" default:"" help:"Only those that are active, or archived."`
	Keyword string `placeholder:"TEXT" help:"Only those with this in their title."`
	SortBy  string `enum:"created_at,updated_at" default:"created_at" help:"Sort by created_at or updated_at (created_at)."`
}

// Run lists sessions.
func (c *sessionsList) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		page, err := s.ListSessions(ctx, client.SessionQuery{
			Status: sessile.SessionStatus(c.Status), Keyword: c.Keyword, Paging: c.by(c.SortBy),
		})
		if err != nil {
			return err
		}
		defer s.more(page.Meta.Total, page.Meta.Offset, len(page.Items), page.Meta.HasMore)
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"ID", "STATUS", "CREATED", "UPDATED", "TITLE"}}
			for _, one := range page.Items {
				t.add(text(one.ID), text(string(one.Status)), moment(one.CreatedAt), moment(one.UpdatedAt), optional(one.Title))
			}
			t.write(b, s.printer)
		})
	})
}

type sessionsShow struct {
	ID string `arg:"" optional:"" help:"Session, by id or key; by default the one that SESSILE_SESSION names."`
}

// Run shows a session.
func (c *sessionsShow) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	name, err := sessionOr(c.ID)
	if err != nil {
		return err
	}
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		id, err := s.sessionID(ctx, name)
		if err != nil {
			return err
		}
		one, err := s.GetSession(ctx, id)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			var f facts
			f.add("id", text(one.ID))
			f.add("key", text(one.Key))
			f.add("title", optional(one.Title))
			if one.Label != nil {
				f.add("label", text(*one.Label))
			}
			f.add("status", text(string(one.Status)))
			f.add("created", moment(one.CreatedAt))
			f.add("updated", moment(one.UpdatedAt))
			for _, setting := range []struct {
				name string
				text *string
			}{
				{"model provider", one.ModelProvider},
				{"model name", one.ModelName},
				{"prompt mode", one.PromptMode},
				{"preset", one.PresetID},
				{"worldbook", one.WorldbookProfileID},
				{"regex profile", one.RegexProfileID},
			} {
				if setting.text != nil {
					f.add(setting.name, text(*setting.text))
				}
			}
			if isGiven(one.Metadata) {
				f.add("metadata", s.value(true, one.Metadata))
			}
			f.write(b, s.printer)
		})
	})
}

func isGiven(v jsontext.Value) bool { return len(v) > 0 && string(v) != "null" }

type sessionsCreate struct {
	Key      string `placeholder:"KEY" help:"Stable name of the session, such as agent:main:main; one is made by default."`
	Label    string `placeholder:"TEXT" help:"Label of the session."`
	Title    string `placeholder:"TEXT" help:"Title of the session."`
	Metadata string `placeholder:"JSON" help:"Metadata, an object; - reads it from standard input."`
}

// Run creates a session.
func (c *sessionsCreate) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	input := client.SessionInput{Title: c.Title, Key: c.Key}
	if c.Label != "" {
		input.Label = client.SetTo(c.Label)
	}
	if c.Metadata != "" {
		metadata, err := jsonArgument(to, c.Metadata)
		if err != nil {
			return err
		}
		input.Metadata = metadata
	}
	return all.run(ctx, to, true, func(ctx context.Context, s *shell) error {
		one, err := s.CreateSession(ctx, input)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) { fmt.Fprintln(b, one.ID) })
	})
}

type sessionsArchive struct {
	IDs  []string `arg:"" name:"id" help:"Sessions, by id or key."`
	Undo bool     `help:"Bring them back instead."`
}

// Run archives sessions or brings them back.
func (c *sessionsArchive) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	status := sessile.SessionArchived
	if c.Undo {
		status = sessile.SessionActive
	}
	return all.setStatus(ctx, to, c.IDs, status)
}

type sessionsUnarchive struct {
	IDs []string `arg:"" name:"id" help:"Sessions, by id or key."`
}

// Run brings archived sessions back.
func (c *sessionsUnarchive) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.setStatus(ctx, to, c.IDs, sessile.SessionActive)
}

func (c *sessionsCommand) setStatus(ctx context.Context, to streams, names []string, status sessile.SessionStatus) error {
	return c.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		ids, err := s.sessionIDs(ctx, names)
		if err != nil {
			return err
		}
		if len(ids) == 1 {
			one, err := s.UpdateSession(ctx, ids[0], client.SessionInput{Status: status})
			if err != nil {
				return err
			}
			return s.show(func(b *strings.Builder) { fmt.Fprintf(b, "%s is %s\n", one.ID, one.Status) })
		}
		batch, err := s.SetStatuses(ctx, ids, status)
		if err != nil {
			return err
		}
		return s.showBatch(batch.Results)
	})
}

type sessionsDelete struct {
	IDs []string `arg:"" name:"id" help:"Sessions, by id or key."`
}

// Run deletes sessions.
func (c *sessionsDelete) Run(ctx context.Context, to streams, all *sessionsCommand) error {
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		ids, err := s.sessionIDs(ctx, c.IDs)
		if err != nil {
			return err
		}
		if len(ids) == 1 {
			gone, err := s.DeleteSession(ctx, ids[0])
			if err != nil {
				return err
			}
			return s.show(func(b *strings.Builder) { fmt.Fprintf(b, "%s is deleted\n", oneLine(gone.ID)) })
		}
		batch, err := s.DeleteSessions(ctx, ids)
		if err != nil {
			return err
		}
		return s.showBatch(batch.Results)
	})
}

// showBatch shows what became of each session; if it did not go well with all, the command has failed.
func (s *shell) showBatch(results []client.BatchResult) error {
	var failed error
	t := table{head: []string{"ID", "ACTION"}}
	for _, r := range results {
		t.add(text(r.ID), text(r.Action))
		switch r.Action {
		case "not_found":
			failed = sessile.Errorf(sessile.CodeNotFound, "not all of these sessions exist")
		case "conflict":
			failed = sessile.Errorf(sessile.CodeActiveRunInProgress, "not all of these sessions are at rest")
		}
	}
	if err := s.show(func(b *strings.Builder) { t.write(b, s.printer) }); err != nil {
		return err
	}
	return failed
}
