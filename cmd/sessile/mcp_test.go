package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocolClient starts sessile mcp as a client of the protocol does.
func protocolClient(t *testing.T, dir string, env []string, flags ...string) *mcp.ClientSession {
	t.Helper()
	command := exec.Command("sessile", append([]string{"mcp"}, flags...)...)
	command.Dir = dir
	command.Env = slices.Concat(env, []string{"GORACE=" + noRaceSleep})
	var complaints strings.Builder
	command.Stderr = &complaints
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("it ended with %v: %s", err, complaints.String())
		}
	})
	return session
}

func sessionState(t *testing.T, session *mcp.ClientSession, arguments map[string]any) string {
	t.Helper()
	result, err := session.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: "session_state", Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

var (
	keepMood = map[string]any{"operation": "set", "namespace": "n", "key": "mood", "value": "quiet"}
	readMood = map[string]any{"operation": "get", "namespace": "n", "key": "mood"}
)

// Clients share a database without a server: the first owns it, the others and the command line go through it.
func TestProtocolOnAFile(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "state.db")
	first := protocolClient(t, dir, cleanEnv(), "--session", "main", "--db", db)
	if got := sessionState(t, first, keepMood); got != `{"ok":true}` {
		t.Fatal(got)
	}
	second := protocolClient(t, dir, append(cleanEnv(), "SESSILE_SESSION_KEY=agent:main:main"), "--db", db)
	if got := sessionState(t, second, readMood); got != `{"value":"quiet"}` {
		t.Errorf("the second client reads %s", got)
	}
	other := protocolClient(t, dir, cleanEnv(), "--session", "other", "--db", db)
	if got := sessionState(t, other, readMood); got != `{"value":null}` {
		t.Errorf("another session reads %s", got)
	}
	line := exec.CommandContext(t.Context(), "sessile", "kv", "--db", db, "--session", "main", "get", "n", "mood")
	line.Env = cleanEnv()
	if output, err := line.CombinedOutput(); err != nil || string(output) != "quiet\n" {
		t.Errorf("the command line reads %q, %v", output, err)
	}
}

// Against a server, with a key that lets in.
func TestProtocolOnAServer(t *testing.T) {
	dir := t.TempDir()
	env := append(cleanEnv(), "SESSILE_AUTH_MODE=api_key", "SESSILE_API_KEYS=good:alice,other:bob")
	p, err := startServer(dir, env, "--db", "state.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	alice := protocolClient(t, dir, append(cleanEnv(), "SESSILE_API_KEY=good"), "--session", "main", "--url", p.url)
	if got := sessionState(t, alice, keepMood); got != `{"ok":true}` {
		t.Fatal(got)
	}
	bob := protocolClient(t, dir, append(cleanEnv(), "SESSILE_URL="+p.url), "--session", "main", "--api-key", "other")
	if got := sessionState(t, bob, readMood); got != `{"value":null}` {
		t.Errorf("another account reads %s", got)
	}
	for _, flags := range [][]string{{"--session", "main", "--url", p.url}, {"--session", "main", "--url", p.url, "--api-key", "bad"}} {
		refused := exec.CommandContext(t.Context(), "sessile", append([]string{"mcp"}, flags...)...)
		refused.Env = cleanEnv()
		if output, err := refused.CombinedOutput(); err == nil || refused.ProcessState.ExitCode() != exitReach {
			t.Errorf("%v: exit code %d: %s", flags, refused.ProcessState.ExitCode(), output)
		}
	}
	if err := p.stop(); err != nil { // while both clients listen
		t.Error(err)
	}
}
