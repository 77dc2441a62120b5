package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sessile-dev/sessile/lorebook"
)

// lorebookCommand is sessile lorebook.
type lorebookCommand struct {
	Import lorebookImport `cmd:"" help:"Convert a lorebook or character card to a plain book and print it."`
}

type lorebookImport struct {
	File string `arg:"" help:"File to convert; - is standard input."`
}

// maxLorebookBytes bounds a file to import.
const maxLorebookBytes = 64 << 20

// Run converts a file. The book goes to standard output, what was dropped or is read differently to standard error.
func (c *lorebookImport) Run(_ context.Context, to streams) error {
	in := to.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	content, err := io.ReadAll(io.LimitReader(in, maxLorebookBytes+1))
	if err != nil {
		return err
	}
	if len(content) > maxLorebookBytes {
		return errors.New("the file is larger than 64 MiB")
	}
	book, dropped, err := lorebook.Import(content)
	if err != nil {
		return err
	}
	_, warnings, err := lorebook.Parse(book)
	if err != nil {
		return err
	}
	for _, what := range dropped {
		fmt.Fprintln(to.err, "dropped:", what)
	}
	for _, w := range warnings {
		where := ""
		if w.UID != nil {
			where = fmt.Sprintf("entry %d: ", *w.UID)
		}
		if w.Key != "" {
			where += fmt.Sprintf("key %q: ", w.Key)
		}
		fmt.Fprintf(to.err, "warning: %s%s\n", where, w.Reason)
	}
	_, err = fmt.Fprintf(to.out, "%s\n", book)
	return err
}
