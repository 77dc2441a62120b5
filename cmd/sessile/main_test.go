package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessile-dev/sessile/config"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sessile": main})
}

// The scripts in testdata/script run the command as a user does. Beside the usual commands they know
//
//	start NAME [flag...]   starts sessile serve on a free port, waits until it listens, and sets $NAME to its URL
//	end NAME               asks it to end by SIGTERM and expects exit code 0
//	crash NAME             ends it by SIGKILL
//	get URL [Header:text]  prints the status and the body of an answer
//	exits CODE command...  expects an exit code
//	let NAME               sets $NAME to what the last command printed
//	letid NAME PREFIX      sets $NAME to the first id with this prefix that it printed
//	sql FILE STATEMENT     does to a SQLite file what another program might have done
//	mask                   gives ids and times in what the last command printed names that stay the same
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup:               scriptSetup,
		Cmds:                scriptCommands(),
	})
}

// noRaceSleep keeps the race detector from waiting a second at the end of every process, of which the scripts start many.
const noRaceSleep = "atexit_sleep_ms=0"

func scriptSetup(env *testscript.Env) error {
	env.Setenv("XDG_DATA_HOME", env.WorkDir+"/data")
	env.Setenv("LOCALAPPDATA", env.WorkDir+"/data")
	env.Setenv("HOME", env.WorkDir+"/home")
	env.Setenv("GORACE", noRaceSleep)
	env.Values[processes{}] = map[string]*process{}
	return nil
}

// scriptCommands are the commands that testscript does not have. A name that it has would be its own, whatever stands here:
// its stop, for one, ends the script as passed.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"start": scriptStart,
		"end":   scriptEnd,
		"crash": scriptCrash,
		"get":   scriptGet,
		"exits": scriptExits,
		"let":   scriptLet,
		"letid": scriptID,
		"mask":  scriptMask,
		"sql":   scriptSQL,
	}
}

// processes is the key of the servers of a script, by name.
type processes struct{}

func scriptStart(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: start NAME [flag...]")
	}
	p, err := startServer(ts.MkAbs("."), scriptEnv(ts), args[1:]...)
	ts.Check(err)
	ts.Defer(p.kill)
	ts.Value(processes{}).(map[string]*process)[args[0]] = p
	ts.Setenv(args[0], p.url)
}

func scriptEnv(ts *testscript.TestScript) []string {
	names := []string{"PATH", "HOME", "XDG_DATA_HOME", "LOCALAPPDATA", "TMPDIR", "GORACE"}
	for _, s := range config.Settings() {
		names = append(names, s.Env)
	}
	var env []string
	for _, name := range names {
		if text := ts.Getenv(name); text != "" {
			env = append(env, name+"="+text)
		}
	}
	return env
}

func named(ts *testscript.TestScript, args []string) *process {
	if len(args) != 1 {
		ts.Fatalf("usage: end NAME or crash NAME")
	}
	p := ts.Value(processes{}).(map[string]*process)[args[0]]
	if p == nil {
		ts.Fatalf("no server %s was started", args[0])
	}
	return p
}

func scriptEnd(ts *testscript.TestScript, _ bool, args []string) {
	p := named(ts, args)
	ts.Check(p.stop())
	ts.Logf("%s", p.log())
}

func scriptCrash(ts *testscript.TestScript, _ bool, args []string) { named(ts, args).kill() }

func scriptGet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: get URL [Header:text]")
	}
	request, err := http.NewRequest(http.MethodGet, args[0], nil)
	ts.Check(err)
	for _, header := range args[1:] {
		name, text, _ := strings.Cut(header, ":")
		request.Header.Set(name, text)
		if name == "Host" {
			request.Host = text
		}
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s\n", response.StatusCode, body)
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// process is a server that runs for a test.
type process struct {
	url  string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how, to be read after done

	mu     sync.Mutex
	output bytes.Buffer
}

// startServer starts sessile serve on a free port and returns when it listens.
func startServer(dir string, env []string, flags ...string) (*process, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)
	cmd := exec.Command("sessile", args...)
	cmd.Dir, cmd.Env = dir, env
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = p
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(p, lines.Text())
		if rest, ok := strings.CutPrefix(lines.Text(), "sessile is listening on "); ok {
			p.url, _, _ = strings.Cut(rest, " ")
			break
		}
	}
	go func() {
		_, _ = io.Copy(p, out)
		p.err = cmd.Wait()
		close(p.done)
	}()
	if p.url == "" {
		p.kill()
		return nil, fmt.Errorf("the server did not start: %s", p.log())
	}
	return p, nil
}

// Write collects what the process prints.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(text)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// stop ends the process as a supervisor does and expects it to say that all is well.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	if p.err != nil {
		return fmt.Errorf("the server ended with %w: %s", p.err, p.log())
	}
	return nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
