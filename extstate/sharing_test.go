//go:build unix

package extstate_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ncruces/go-sqlite3"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

// The environment that makes this test binary a worker instead of running tests.
const (
	roleVariable = "EXTSTATE_TEST_ROLE" // see work
	argsVariable = "EXTSTATE_TEST_ARGS" // separated by newlines; the file comes first
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := work(role, strings.Split(os.Getenv(argsVariable), "\n")); err != nil {
			fmt.Fprintln(os.Stderr, role, "worker:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// startWorker starts this test binary as a worker. It is killed when the context ends.
func startWorker(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, argsVariable+"="+strings.Join(args, "\n"))
	return cmd
}

// nodeWithSQLite finds a Node that has node:sqlite: SESSILE_NODE24, else node on the path.
func nodeWithSQLite() (string, bool) {
	node := os.Getenv("SESSILE_NODE24")
	if node == "" {
		node = "node"
	}
	path, err := exec.LookPath(node)
	if err != nil || exec.Command(path, "-e", "require('node:sqlite')").Run() != nil {
		return "", false
	}
	return path, true
}

// work is what a worker does. Those that share want a name and how long: milliseconds, or "200x" for 200 writes.
func work(role string, args []string) error {
	path := args[0]
	switch role {
	case "reference", "write one":
		r, err := openReference(path)
		if err != nil {
			return err
		}
		defer r.conn.Close()
		if role == "reference" {
			return share(func(session, branch, value string) error { return r.write("shared", session, branch, value) }, args[1], args[2])
		}
		if err := r.write("role", "s1", "", args[1]); err != nil {
			fmt.Println(err)
			return nil
		}
		fmt.Println("done")
		return nil
	case "extstate":
		s, err := extstate.Open[jsontext.Value](extstate.Options{PluginID: "shared", Scope: extstate.ScopeBranch, DatabasePath: path})
		if err != nil {
			return err
		}
		defer s.Close()
		return share(func(session, branch, value string) error { return shareState(s, session, branch, value) }, args[1], args[2])
	case "pending", "read":
		scope := extstate.ScopeSession
		if role == "pending" {
			scope = extstate.ScopeBranch
		}
		s, err := extstate.Open[jsontext.Value](extstate.Options{PluginID: "role", Scope: scope, DatabasePath: path})
		if err != nil {
			return err
		}
		defer s.Close()
		if role == "pending" {
			if err := s.Write(background, tree(""), jsontext.Value(`"p"`)); err != nil {
				return err
			}
		}
		value, _, err := s.Read(background, tree(""))
		fmt.Println(string(value))
		return err
	}
	return fmt.Errorf("no role %q", role)
}

// shareState writes a value on a branch of its own and reads it back.
func shareState(s *raw, session, branch, value string) error {
	v := tree(branch).in(session).at(branch)
	if err := s.Write(background, v, jsontext.Value(value)); err != nil {
		return err
	}
	back, found, err := s.Read(background, v)
	if err == nil && (!found || string(back) != value) {
		err = fmt.Errorf("wrote %s, read %s", value, back)
	}
	return err
}

// share writes rows of its own to sessions that all workers write to, and says on standard output which are done.
func share(write func(session, branch, value string) error, name, howLong string) error {
	count, err := strconv.Atoi(strings.TrimSuffix(howLong, "x"))
	if err != nil {
		return err
	}
	end := time.Now().Add(time.Duration(count) * time.Millisecond)
	more := func(int) bool { return time.Now().Before(end) }
	if strings.HasSuffix(howLong, "x") {
		more = func(done int) bool { return done < count }
	}
	out := bufio.NewWriter(os.Stdout)
	done, refused := 0, 0
	for n := 0; more(done); n++ {
		session, branch := sharedSession(n), fmt.Sprintf("%s-%d", name, n)
		err := write(session, branch, strconv.Itoa(n))
		switch {
		case isRefusal(err), errors.Is(err, sqlite3.BUSY):
			refused++
			continue
		case err != nil:
			return err
		}
		done++
		fmt.Fprintln(out, "done", session, branch, n)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "refused", refused)
	return out.Flush()
}

func isRefusal(err error) bool {
	var ours *extstate.RefusedError
	return errors.As(err, &referenceRefused{}) || errors.As(err, &ours)
}

func sharedSession(n int) string { return fmt.Sprintf("shared-%d", n%3) }

// Programs of both kinds write to one file at the same time, and nothing that was acknowledged is lost: the proof on
// which the package stands. One worker is killed in the middle.
func TestSharing(t *testing.T) {
	span := 10 * time.Second
	if testing.Short() {
		span = 1500 * time.Millisecond
	}
	path := filepath.Join(t.TempDir(), "states.sqlite")
	ms := strconv.Itoa(int(span.Milliseconds()))

	victim := startWorker(t.Context(), "reference", path, "killed", "600000")
	workers := map[string]*exec.Cmd{}
	for i, role := range shareRoles {
		name := fmt.Sprintf("%s%d", role, i)
		workers[name] = startWorker(t.Context(), role, path, name, ms)
	}
	if node, ok := nodeWithSQLite(); ok {
		workers["node"] = exec.CommandContext(t.Context(), node, filepath.Join("testdata", "share.mjs"), path, "node", ms)
	} else {
		t.Log("no Node with node:sqlite: only Go's driver shares the file")
	}

	killed := make(chan []byte)
	go func() { killed <- killAfter(t, victim, 30) }()
	outputs := runWorkers(t, workers)
	outputs["killed"] = <-killed
	r := startReference(t, path)
	for session, holder := range r.locks(t) {
		if holder != fmt.Sprintf("pid:%d", victim.Process.Pid) {
			t.Errorf("session %s is still locked by %s", session, holder)
		}
	}
	for n := range 3 { // takes over what the killed worker held
		if err := r.write("shared", sharedSession(n), "end", "0"); err != nil {
			t.Error(err)
		}
	}
	if held := r.locks(t); len(held) > 0 {
		t.Errorf("lock rows left: %v", held)
	}
	for name, output := range outputs {
		done, lost := checkWorker(t, r, output)
		refusals := output[bytes.LastIndexByte(bytes.TrimSpace(output), '\n')+1:]
		t.Logf("%s: %d writes done, %d lost, %s", name, done, lost, refusals)
		if done == 0 {
			t.Errorf("%s wrote nothing", name)
		}
	}
	verdict := ""
	if _, err := r.conn.One("PRAGMA integrity_check", func(rows *sqliteconn.Rows) { verdict = rows.Text(0) }); err != nil || verdict != "ok" {
		t.Errorf("the file is %q, %v", verdict, err)
	}
}

// killAfter runs a worker and kills it when it has said n lines.
func killAfter(t *testing.T, cmd *exec.Cmd, n int) []byte {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	var said []byte
	for lines := bufio.NewReader(out); ; n-- {
		line, err := lines.ReadBytes('\n')
		said = append(said, line...)
		if err != nil {
			break
		}
		if n == 0 {
			_ = cmd.Process.Kill() // it may have ended
		}
	}
	_ = cmd.Wait() // was killed
	return said
}

func runWorkers(t *testing.T, workers map[string]*exec.Cmd) map[string][]byte {
	t.Helper()
	var mu sync.Mutex
	var wait sync.WaitGroup
	outputs := map[string][]byte{}
	for name, cmd := range workers {
		wait.Go(func() {
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%s: %v: %s", name, err, stderr.Bytes())
			}
			mu.Lock()
			defer mu.Unlock()
			outputs[name] = out
		})
	}
	wait.Wait()
	return outputs
}

// checkWorker looks for every write that a worker said was done.
func checkWorker(t *testing.T, r *reference, output []byte) (done, lost int) {
	t.Helper()
	for line := range strings.Lines(string(output)) {
		words := strings.Fields(line)
		if len(words) != 4 || words[0] != "done" || !strings.HasSuffix(line, "\n") {
			continue
		}
		done++
		value := ""
		_, err := r.conn.One(`SELECT value FROM state WHERE plugin_id = 'shared' AND session_id = ? AND branch_id = ?`,
			func(rows *sqliteconn.Rows) { value = rows.Text(0) }, words[1], words[2])
		if err != nil || value != words[3] {
			lost++
			t.Errorf("%s, acknowledged, is %q: %v", strings.TrimSpace(line), value, err)
		}
	}
	return done, lost
}

// shareRoles are the workers of TestSharing that run to the end.
var shareRoles = []string{"reference", "reference", "extstate", "extstate"}

type execCmd = exec.Cmd
