package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/config"
	"github.com/sessile-dev/sessile/sqlite"
)

// connection says what a command talks to, and how it prints what it hears.
type connection struct {
	URL    string `name:"url" placeholder:"URL" help:"Server to talk to (http://127.0.0.1:7474). [SESSILE_URL]"`
	DB     string `name:"db" placeholder:"FILE" help:"Database to work on without a server; one that owns it is asked instead."`
	APIKey string `name:"api-key" placeholder:"KEY" help:"API key, if the server asks for one. [SESSILE_API_KEY]"`
	JSON   bool   `name:"json" help:"Print the data of the answer as JSON."`
}

// target is a branch of a session.
type target struct {
	Session string `placeholder:"ID" help:"Session to work on. [SESSILE_SESSION]"`
	Branch  string `default:"main" placeholder:"NAME" help:"Branch to work on (main)."`
}

// The environment of the commands that ask a server. An empty variable counts as not set.
const (
	envURL     = "SESSILE_URL"
	envAPIKey  = "SESSILE_API_KEY"
	envSession = "SESSILE_SESSION"
)

// sessionOr returns what was given, else what the environment names.
func sessionOr(given string) (string, error) {
	if given == "" {
		given = os.Getenv(envSession)
	}
	if given == "" {
		return "", &usageError{"no session is named", "name one with --session ID or " + envSession + "; sessile sessions list shows them"}
	}
	return given, nil
}

// lockPatience is how long a command waits for another one that works on the same database.
const lockPatience = 5 * time.Second

// shell is a command at work: the server it asks, and the printer of its answers.
type shell struct {
	*client.Client
	*printer
}

// run connects, has the command do its work, and lets go of everything. Only a command that creates may name a database
// that does not exist yet.
func (c *connection) run(ctx context.Context, to streams, creates bool, work func(context.Context, *shell) error) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := newPrinter(to, c.JSON)
	asked, closeAll, err := c.open(ctx, to, p, creates)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	return c.advise(work(ctx, &shell{asked, p}))
}

// advise adds what helps when there was no server where nobody said that there is one.
func (c *connection) advise(err error) error {
	if _, ok := errors.AsType[*client.UnreachableError](err); ok && c.URL == "" && c.DB == "" && os.Getenv(envURL) == "" {
		return &hintedError{err, "start one with: sessile serve, or name a file with --db"}
	}
	return err
}

// open finds the server, or takes its place.
func (c *connection) open(ctx context.Context, to streams, p *printer, creates bool) (*client.Client, func() error, error) {
	o := client.Options{URL: c.URL, APIKey: c.APIKey, UserAgent: "sessile/" + buildVersion().version, OnData: p.keep}
	if o.APIKey == "" {
		o.APIKey = os.Getenv(envAPIKey)
	}
	switch {
	case c.DB != "" && c.URL != "":
		return nil, nil, &usageError{"--db and --url do not go together", ""}
	case c.DB != "":
		return c.openFile(ctx, to, o, creates, lockPatience)
	case o.URL == "":
		o.URL = os.Getenv(envURL)
	}
	asked, err := client.New(o)
	if err != nil {
		return nil, nil, &usageError{strings.TrimPrefix(err.Error(), "client: "), ""}
	}
	return asked, func() error { asked.Close(); return nil }, nil
}

// openFile works on a database: through the socket of the process that owns it, else by owning it for as long as the
// command runs. Another command that does the same is waited for.
func (c *connection) openFile(ctx context.Context, to streams, o client.Options, creates bool, patience time.Duration) (*client.Client, func() error, error) {
	settings, err := config.Load(config.Inputs{Flags: map[string]string{"db": c.DB}})
	if err != nil {
		return nil, nil, err
	}
	if path := strings.TrimPrefix(settings.Database, "sqlite:"); !creates {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, noDatabase(path)
		}
	}
	end := time.Now().Add(patience)
	for {
		asked, closeAll, err := ownFile(ctx, to, settings, o)
		locked, ok := errors.AsType[*sqlite.LockedError](err)
		if !ok {
			return asked, closeAll, err
		}
		if asked, ok := askOwner(ctx, locked, o); ok {
			return asked, func() error { asked.Close(); return nil }, nil
		}
		if !time.Now().Before(end) {
			return nil, nil, err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, nil, err
		}
	}
}

// noDatabase says that a database is missing, and how to make it.
func noDatabase(path string) error {
	hint := "make one with: sessile sessions create --db " + path
	if folder := filepath.Dir(path); !isDir(folder) {
		hint = "its folder " + folder + " does not exist either: check the path, or make the folder first"
	}
	return &hintedError{&reachError{errors.New("there is no database " + path)}, hint}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ownFile opens a database and serves the client from it.
func ownFile(ctx context.Context, to streams, settings *config.Loaded, o client.Options) (*client.Client, func() error, error) {
	accounts, err := newAuthenticator(settings)
	if err != nil {
		return nil, nil, err
	}
	// A command tells of what went wrong, and of nothing else.
	log := newLogger(to.err, config.Log{Level: max(settings.Log.Level, slog.LevelWarn), Format: config.LogText})
	store, _, err := openStore(ctx, settings, log)
	if err != nil {
		return nil, nil, err
	}
	services, err := wire(ctx, store, settings, accounts, log)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	o.HTTPClient = &http.Client{Transport: inProcess{services.handler}}
	asked, err := client.New(o)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return asked, store.Close, nil
}

// askOwner reaches for the process that owns a database. It may have no socket yet, or be a short command that has none.
func askOwner(ctx context.Context, locked *sqlite.LockedError, o client.Options) (*client.Client, bool) {
	if locked.Socket == "" {
		return nil, false
	}
	o.SocketPath = locked.Socket
	asked, err := client.New(o)
	if err != nil {
		return nil, false
	}
	if _, err := asked.Health(ctx); sessile.CodeOf(err) == sessile.CodeInternal {
		asked.Close()
		return nil, false
	}
	return asked, true
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
