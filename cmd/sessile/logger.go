package main

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"

	"github.com/sessile-dev/sessile/config"
)

// newLogger writes as the settings say: colours for people at a terminal, JSON for machines.
func newLogger(w io.Writer, settings config.Log) *slog.Logger {
	terminal := isTerminal(w)
	format := settings.Format
	if format == config.LogAuto {
		format = config.LogJSON
		if terminal {
			format = config.LogText
		}
	}
	options := &slog.HandlerOptions{Level: settings.Level}
	switch {
	case format == config.LogJSON:
		return slog.New(slog.NewJSONHandler(w, options))
	case terminal && os.Getenv("NO_COLOR") == "":
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: settings.Level, TimeFormat: time.TimeOnly}))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
