package main

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/client"
)

// toolsCommand is sessile tools: what a session may call, and calling it.
type toolsCommand struct {
	connection
	List toolsList `cmd:"" help:"List the tools that a session may call."`
	Call toolsCall `cmd:"" help:"Call a tool as a session and print what it answers, as JSON."`
}

type toolsList struct {
	Session string `placeholder:"KEY" help:"The session, by key. [SESSILE_SESSION_KEY]"`
}

// Run lists tools.
func (c *toolsList) Run(ctx context.Context, to streams, all *toolsCommand) error {
	key, err := sessionKeyOr(c.Session)
	if err != nil {
		return err
	}
	return all.run(ctx, to, false, func(ctx context.Context, s *shell) error {
		tools, err := s.ListTools(ctx, key)
		if err != nil {
			return err
		}
		return s.show(func(b *strings.Builder) {
			t := table{head: []string{"NAME", "WHAT IT DOES"}}
			for _, one := range tools {
				t.add(text(one.Name), text(one.Description))
			}
			t.write(b, s.printer)
		})
	})
}

type toolsCall struct {
	Session   string `placeholder:"KEY" help:"The session that calls, by key. [SESSILE_SESSION_KEY]"`
	Tool      string `arg:"" help:"The name of a tool."`
	Arguments string `arg:"" optional:"" help:"Its arguments, a JSON object; - reads them from standard input."`
}

// Run calls a tool.
func (c *toolsCall) Run(ctx context.Context, to streams, all *toolsCommand) error {
	key, err := sessionKeyOr(c.Session)
	if err != nil {
		return err
	}
	var arguments jsontext.Value
	if c.Arguments != "" {
		if arguments, err = jsonArgument(to, c.Arguments); err != nil {
			return err
		}
	}
	return all.run(ctx, to, true, func(ctx context.Context, s *shell) error {
		answer, err := s.CallTool(ctx, c.Tool, client.ToolCall{SessionKey: &key, Arguments: arguments})
		if err != nil {
			return err
		}
		return s.printJSON(answer)
	})
}
