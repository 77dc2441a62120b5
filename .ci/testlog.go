// Command testlog reads what go test -json prints, shows a line per package and the whole output of what failed, and
// writes how many tests passed, failed and were skipped to the file that is named. A test that has subtests counts
// through them; a package that fails without a failing test counts as one.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// log is what has been read so far. Texts and results are kept by package and test.
type log struct {
	output  map[string]*strings.Builder
	results map[string]string
	parents map[string]bool
	failed  map[string]bool // packages with a failing test
	broken  int             // packages that failed without one
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ./... | testlog FILE")
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, file string) error {
	l := log{
		output:  map[string]*strings.Builder{},
		results: map[string]string{},
		parents: map[string]bool{},
		failed:  map[string]bool{},
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				fmt.Fprint(out, line) // go itself speaks
			} else {
				l.add(e, out)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	passed, failed, skipped := l.count()
	return os.WriteFile(file, fmt.Appendf(nil, "%d %d %d\n", passed, failed, skipped), 0o644)
}

func (l *log) add(e event, out io.Writer) {
	key := e.Package + e.ImportPath + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if l.output[key] == nil {
			l.output[key] = &strings.Builder{}
		}
		l.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			l.test(e, key)
		}
		if e.Action == "fail" {
			if e.FailedBuild != "" {
				l.show(e.FailedBuild+" ", out)
			}
			l.show(key, out)
		}
		if e.Test == "" {
			l.pack(e, out)
		}
		delete(l.output, key)
	}
}

func (l *log) test(e event, key string) {
	l.results[key] = e.Action
	if parent := strings.LastIndexByte(e.Test, '/'); parent >= 0 {
		for name := e.Test; parent >= 0; parent = strings.LastIndexByte(name, '/') {
			name = name[:parent]
			l.parents[e.Package+" "+name] = true
		}
	}
	if e.Action == "fail" {
		l.failed[e.Package] = true
	}
}

func (l *log) pack(e event, out io.Writer) {
	if e.Action == "fail" && !l.failed[e.Package] {
		l.broken++
	}
	if e.Action != "skip" {
		fmt.Fprintf(out, "%-5s %s (%.1f s)\n", e.Action, e.Package, e.Elapsed)
	}
}

func (l *log) show(key string, out io.Writer) {
	if text := l.output[key]; text != nil {
		fmt.Fprint(out, text.String())
	}
}

func (l *log) count() (passed, failed, skipped int) {
	failed = l.broken
	for key, result := range l.results {
		if l.parents[key] {
			continue
		}
		switch result {
		case "pass":
			passed++
		case "fail":
			failed++
		case "skip":
			skipped++
		}
	}
	return passed, failed, skipped
}
