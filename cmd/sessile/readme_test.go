package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of the README are run as they stand there, against a server that was started for them.
func TestReadme(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of the README need %s, which is not installed", tool)
		}
	}
	dir := t.TempDir()
	p, err := startServer(dir, cleanEnv(), "--db", "state.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)

	blocks := readmeBlocks(t)
	const address = "http://127.0.0.1:7474"
	if !strings.Contains(blocks, address) {
		t.Fatalf("the blocks do not name %s", address)
	}
	bash := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail")
	bash.Dir, bash.Env = dir, cleanEnv()
	bash.Stdin = strings.NewReader(strings.ReplaceAll(blocks, address, p.url))
	output, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("the commands ended with %v:\n%s", err, output)
	}

	text := string(output)
	if strings.Contains(text, `"error":{`) {
		t.Errorf("an answer is an error:\n%s", text)
	}
	for _, part := range []string{
		"session ses_", `"source":"live_head"`, "floor flr_", `"source_floor_id":"flr_`,
		`"source":"latest_branch_snapshot"`, `"value":{"level":5}`, `"change_type":"changed"`, `"change_type":"added"`,
		`"lastMessagePreview":"At eleven."`, `"content":"At eleven."`, `"kind":"goal_changed"`, "Session state changes:",
		`"reply":"echo: `, `"kind":"spawn","status":"succeeded"`, `"taskName":"ferry"`, `"status":"done"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the answers lack %s:\n%s", part, text)
		}
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// readmeBlocks joins the blocks of the README that are marked as sh.
func readmeBlocks(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "```sh"):
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			blocks.WriteString(line)
		}
	}
	return blocks.String()
}

// cleanEnv is the environment without settings of ours and without proxies, which curl would ask.
func cleanEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "SESSILE_") || strings.HasSuffix(strings.ToLower(name), "_proxy") {
			continue
		}
		env = append(env, entry)
	}
	return env
}
