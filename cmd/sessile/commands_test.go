package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the commands print into testdata, and the table of settings into docs")

// The scripts in testdata/commands run twice: on a file and against a server. $AT is the flag that says which; all else
// is the same, to the byte.
func TestCommands(t *testing.T) {
	for name, at := range map[string]func(*testscript.Env) (string, error){
		"db": func(*testscript.Env) (string, error) { return "--db=state.db", nil },
		"url": func(env *testscript.Env) (string, error) {
			p, err := startServer(env.WorkDir, append(cleanEnv(), env.Vars...), "--db", "state.db")
			if err != nil {
				return "", err
			}
			env.Defer(p.kill)
			return "--url=" + p.url, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/commands",
				RequireExplicitExec: true,
				UpdateScripts:       *update,
				Setup: func(env *testscript.Env) error {
					if err := scriptSetup(env); err != nil {
						return err
					}
					flag, err := at(env)
					env.Setenv("AT", flag)
					return err
				},
				Cmds: scriptCommands(),
			})
		})
	}
}

func scriptLet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: let NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// scriptID sets a variable to the first id of a kind in what the last command printed.
func scriptID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: letid NAME PREFIX")
	}
	for _, id := range idPattern.FindAllString(ts.ReadFile("stdout"), -1) {
		if strings.HasPrefix(id, args[1]+"_") {
			ts.Setenv(args[0], id)
			return
		}
	}
	ts.Fatalf("there is no id with %s", args[1])
}

var (
	idPattern   = regexp.MustCompile(`\b(?:(ses|flr|pag|msg|run|mut|req|dlv)_[0-9a-v]{13,26}|(branch)-[0-9a-v]{8})\b`)
	uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`\b(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|1[0-9]{12})\b`)
)

// scriptMask prints what the last command printed, standard output and then standard error, with names for what differs
// from run to run. A name stays the same within one output only.
func scriptMask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: mask")
	}
	shown, count := map[string]string{}, map[string]int{}
	text := idPattern.ReplaceAllStringFunc(ts.ReadFile("stdout")+ts.ReadFile("stderr"), func(id string) string {
		if name, ok := shown[id]; ok {
			return name
		}
		prefix := id[:strings.IndexAny(id, "_-")+1]
		count[prefix]++
		shown[id] = prefix + strconv.Itoa(count[prefix])
		return shown[id]
	})
	text = uuidPattern.ReplaceAllString(text, "UUID")
	fmt.Fprint(ts.Stdout(), timePattern.ReplaceAllString(text, "TIME"))
}

// What the command alone says to type is typed.
func TestFirstSteps(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	p, err := startServer(t.TempDir(), cleanEnv(), "--db", "state.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	var typed strings.Builder
	for line := range strings.Lines(firstSteps) {
		if command, ok := strings.CutPrefix(line, "    "); ok && command != "sessile serve\n" {
			typed.WriteString(command)
		}
	}
	bash := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail")
	bash.Dir, bash.Env = t.TempDir(), append(cleanEnv(), "SESSILE_URL="+p.url, "GORACE="+noRaceSleep)
	bash.Stdin = strings.NewReader(typed.String())
	output, err := bash.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(output), "{\"level\":5}\n") {
		t.Errorf("it ended with %v:\n%s", err, output)
	}
}

func TestSettingsTableIsCurrent(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "settings.md")
	want := settingsTable()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/settings.md is not what sessile config --table prints: run the tests of this package with -update")
	}
}
