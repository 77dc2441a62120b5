package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/auth"
	"github.com/sessile-dev/sessile/config"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/model/echo"
	"github.com/sessile-dev/sessile/model/openai"
	"github.com/sessile-dev/sessile/sqlite"
)

type serveCommand struct {
	Settings kong.Plugins `embed:""`
}

// Run serves until a signal asks it to stop.
func (c *serveCommand) Run(ctx context.Context, to streams) error {
	settings, err := config.Load(config.Inputs{Flags: given(c.Settings)})
	if err != nil {
		return err
	}
	accounts, err := newAuthenticator(settings)
	if err != nil {
		return err
	}
	if err := refuseOpenServer(settings); err != nil {
		return err
	}
	// Once a first signal has come, a second one ends the process at once, as it does by default.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return serve(ctx, settings, accounts, newLogger(to.err, settings.Log), to)
}

// serve opens the store, serves until the context ends, and closes the store behind the last answer.
func serve(ctx context.Context, settings *config.Loaded, accounts authenticate, log *slog.Logger, to streams) (err error) {
	store, path, err := openStore(ctx, settings, log)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := store.Close(); closeErr != nil && err == nil {
			err = fmt.Errorf("closing the database: %w", closeErr)
		}
	}()

	services, err := wire(ctx, store, settings, accounts, log)
	if err != nil {
		return err
	}
	if err := services.changes.Prune(ctx); err != nil { // before anybody reads the log
		return fmt.Errorf("removing old events: %w", err)
	}
	return listenAndServe(ctx, server{
		handler:    services.handler,
		address:    settings.Listen,
		socket:     store.SocketPath(),
		background: services.background(),
		log:        log,
		stopping:   services.mcp.Close,
		ready: func(address net.Addr) {
			fmt.Fprintf(to.out, "sessile is listening on http://%s (database %s)\n", address, path)
		},
	})
}

// openStore opens the database and makes the user's data directory if that is where it goes.
func openStore(ctx context.Context, settings *config.Loaded, log *slog.Logger) (*sqlite.Store, string, error) {
	path := databasePath(settings)
	if err := makeDataDir(settings); err != nil {
		return nil, "", err
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{Logger: log})
	if err != nil {
		return nil, "", &reachError{fmt.Errorf("opening the database: %w", err)}
	}
	return store, path, nil
}

func databasePath(settings *config.Loaded) string {
	return strings.TrimPrefix(settings.Database, "sqlite:")
}

// dataDir is where the database lies and what belongs to it.
func dataDir(settings *config.Loaded) string { return filepath.Dir(databasePath(settings)) }

// makeDataDir makes the directory of the default database. A database that was named gets no directory.
func makeDataDir(settings *config.Loaded) error {
	if settings.Source("db") != config.SourceDefault {
		return nil
	}
	if err := os.MkdirAll(dataDir(settings), 0o700); err != nil {
		return &reachError{err}
	}
	return nil
}

// authenticate makes the authenticator once there are keys in a store to look at.
type authenticate func(kept *auth.Keys) auth.Authenticator

// newAuthenticator checks what the settings say about who may call.
func newAuthenticator(settings *config.Loaded) (authenticate, error) {
	switch settings.Auth.Mode {
	case config.AuthOff:
		return func(*auth.Keys) auth.Authenticator { return auth.Off() }, nil
	case config.AuthJWT:
		return func(*auth.Keys) auth.Authenticator {
			return auth.Tokens(auth.TokenOptions{
				Secret: []byte(settings.JWT.Secret.Reveal()), KeysURL: settings.JWT.KeysURL, Claim: settings.JWT.AccountClaim,
			})
		}, nil
	}
	var given []auth.Key
	if list := settings.Auth.APIKeys.Reveal(); list != "" {
		var err error
		if given, err = auth.ParseKeys(list); err != nil {
			return nil, &config.Error{Setting: "apiKeys", Source: settings.Source("apiKeys"), Problem: err.Error()}
		}
	}
	return func(kept *auth.Keys) auth.Authenticator { return auth.KeyHolders(given, kept) }, nil
}

func newModel(settings config.Model) model.Model {
	if settings.Provider == config.ModelOpenAI {
		return openai.New(openai.Options{
			BaseURL: settings.BaseURL, Model: settings.Name, Key: settings.APIKey.Reveal(),
		})
	}
	return echo.New()
}

// refuseOpenServer keeps a server without authentication from being reachable by others unless the settings insist
// (spec/governed-state.md, section 8).
func refuseOpenServer(settings *config.Loaded) error {
	if settings.Auth.Mode != config.AuthOff || settings.Auth.Insecure || isLoopback(settings.Listen) {
		return nil
	}
	return sessile.Errorf(sessile.CodeAuthRequired, "refusing to serve %s without authentication, since others could reach it: "+
		"set SESSILE_AUTH_MODE=api_key and make a key with sessile keys create, or SESSILE_AUTH_INSECURE=true if that is what you want", settings.Listen)
}

// checksHost tells whether requests must name this machine. Without authentication they must (ruling 26), but for a
// server that was opened on all addresses on purpose: it has no name to compare with.
func checksHost(settings *config.Loaded) bool {
	if settings.Auth.Mode != config.AuthOff {
		return false
	}
	return !settings.Auth.Insecure || !isWildcard(settings.Listen)
}

func isLoopback(address string) bool {
	host := hostOf(address)
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func isWildcard(address string) bool {
	host := hostOf(address)
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
