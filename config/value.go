package config

import (
	"errors"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The checks below say what is allowed and leave out what was given: the caller knows whether it may be shown.

func address(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("allowed is host:port, such as 127.0.0.1:7474 or [::1]:7474")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return errors.New("the port must be a number from 0 to 65535")
	}
	return nil
}

func database(text string) error {
	scheme, _, found := strings.Cut(text, "://")
	switch {
	case found && (scheme == "postgres" || scheme == "postgresql"):
		return errors.New("PostgreSQL is not built yet; allowed is a path or sqlite:PATH")
	case found:
		return errors.New("allowed is a path or sqlite:PATH")
	case text == "" || text == "sqlite:":
		return errors.New("a path is needed")
	case strings.ContainsRune(text, 0):
		return errors.New("a path cannot hold a null byte")
	}
	return nil
}

func baseURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("allowed is an http or https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("allowed is a URL without user, query and fragment; a key goes into model.apiKey")
	}
	return nil
}

func filled(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it must not be empty")
	}
	return nil
}

func oneOf(allowed ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(allowed, text) {
			return nil
		}
		last := len(allowed) - 1
		return errors.New("allowed is " + strings.Join(allowed[:last], ", ") + " or " + allowed[last])
	}
}

func parseSwitch(text string) (bool, error) {
	switch text {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errors.New("allowed is true or false")
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, errors.New("allowed is a whole number from 1 up")
	}
	return n, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("allowed is a duration above zero with a unit, such as 1500ms, 60s or 2m")
	}
	return d, nil
}

func parseLevel(text string) (slog.Level, error) {
	switch text {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, errors.New("allowed is debug, info, warn or error")
}
