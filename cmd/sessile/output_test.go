package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// onTerminal is a printer as it is on a terminal.
func onTerminal(to *bytes.Buffer) *printer {
	return &printer{streams: streams{out: to, err: to}, terminal: true, colour: true}
}

func TestTableOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := onTerminal(&out)
	show := func() string {
		out.Reset()
		err := p.show(func(b *strings.Builder) {
			t := table{head: []string{"SLOT", "VALUE"}}
			t.add(text("a\x1b[31m\n"), p.value(true, jsontext.Value(`"`+strings.Repeat("x", 100)+`"`)))
			t.add(text("größe"), nothing())
			t.write(b, p)
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := "\x1b[1mSLOT\x1b[0m           \x1b[1mVALUE\x1b[0m\n" +
		`a\u001b[31m\n  "` + strings.Repeat("x", 58) + "…\n" +
		"größe          \x1b[2m-\x1b[0m\n"
	if got := show(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	p.colour = false
	if got := show(); strings.Contains(got, "\x1b") {
		t.Errorf("without colours it is\n%q", got)
	}
}

func TestJSON(t *testing.T) {
	const data = `{"a":[1.0,"\u00e9"],"b":"` + "\u009b" + `"}`
	var out bytes.Buffer
	p := onTerminal(&out)
	p.json = true
	p.keep(jsontext.Value(data))
	if err := p.show(nil); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\": [\n    1.0,\n    \"\\u00e9\"\n  ],\n  \"b\": \"\\u009b\"\n}\n"
	if got := out.String(); got != want {
		t.Errorf("on a terminal it is\n%s", got)
	}
	if string(p.data) != data {
		t.Error("printing changes the data")
	}

	out.Reset()
	p.terminal = false
	if err := p.show(nil); err != nil || out.String() != data+"\n" {
		t.Errorf("in a pipe it is %q, %v", out.String(), err)
	}
}

func TestTextOfOthers(t *testing.T) {
	const hostile = "line\n\ttab \x1b]0;title\a \u202eevil\u2069 \r"
	var out bytes.Buffer
	p := onTerminal(&out)
	if err := p.printText(hostile); err != nil {
		t.Fatal(err)
	}
	if want := "line\n\ttab \\u001b]0;title\\u0007 \\u202eevil\\u2069 \\r\n"; out.String() != want {
		t.Errorf("on a terminal it is %q", out.String())
	}
	out.Reset()
	p.terminal = false
	if err := p.printText(hostile); err != nil || out.String() != hostile+"\n" {
		t.Errorf("in a pipe it is %q, %v", out.String(), err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWhatCannotBePrintedIsAFailure(t *testing.T) {
	if code := run(t.Context(), []string{"config", "--table"}, streams{out: full{}, err: &bytes.Buffer{}}); code != exitRefused {
		t.Errorf("exit code %d", code)
	}
}
