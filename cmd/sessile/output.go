package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// printer writes what a command has to say: for people on a terminal, plain into a pipe, as JSON when asked.
type printer struct {
	streams
	json     bool
	terminal bool
	colour   bool
	data     jsontext.Value // of the last answer
}

func newPrinter(to streams, json bool) *printer {
	terminal := isTerminal(to.out)
	return &printer{streams: to, json: json, terminal: terminal, colour: terminal && os.Getenv("NO_COLOR") == ""}
}

// keep remembers the data of an answer, as it came.
func (p *printer) keep(data jsontext.Value) { p.data = data }

// show prints the data of the last answer if JSON was asked for, else what fn writes.
func (p *printer) show(fn func(b *strings.Builder)) error {
	if p.json {
		return p.printJSON(p.data)
	}
	var b strings.Builder
	fn(&b)
	return p.print(b.String())
}

func (p *printer) print(text string) error {
	_, err := io.WriteString(p.out, text)
	return err
}

// printJSON prints one document: a line, or on a terminal indented.
func (p *printer) printJSON(data jsontext.Value) error {
	if !p.terminal {
		return p.print(string(data) + "\n")
	}
	shown := data.Clone()
	if err := shown.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		shown = data
	}
	return p.print(visible(string(shown)) + "\n")
}

// printText prints a text of somebody else. Only into a pipe goes everything that is in it.
func (p *printer) printText(text string) error {
	if p.terminal {
		text = visible(text)
	}
	return p.print(text + "\n")
}

// visible replaces what could steer a terminal or reorder a line, except ends of lines and tabs, by escapes. In JSON text
// they mean the same.
func visible(text string) string {
	return escape(text, func(r rune) bool { return steers(r) && r != '\n' && r != '\t' })
}

// oneLine is visible without ends of lines and tabs, for the cell of a table.
func oneLine(text string) string { return escape(text, steers) }

// steers reports control characters and those that change the direction of text.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

func escape(text string, bad func(rune) bool) string {
	if !strings.ContainsFunc(text, bad) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !bad(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// style is how a text looks on a terminal.
type style string

const (
	styleNone   style = ""
	styleBold   style = "1"
	styleDim    style = "2"
	styleRed    style = "31"
	styleGreen  style = "32"
	styleYellow style = "33"
)

func (p *printer) paint(s style, text string) string {
	if !p.colour || s == styleNone || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// cell is one field of a table.
type cell struct {
	text  string
	style style
}

// nothing stands where there is no value.
func nothing() cell { return cell{"-", styleDim} }

func text(s string) cell {
	if s == "" {
		return nothing()
	}
	return cell{text: s}
}

func optional(s *string) cell {
	if s == nil {
		return nothing()
	}
	return text(*s)
}

func number[T int | int64](n T) cell { return cell{text: fmt.Sprint(n)} }

// moment shows milliseconds since the Unix epoch in the time of this machine.
func moment(ms int64) cell {
	return cell{text: time.UnixMilli(ms).Format(time.DateTime)}
}

func optionalMoment(ms *int64) cell {
	if ms == nil {
		return nothing()
	}
	return moment(*ms)
}

// maxShown is how much of a value a table shows on a terminal.
const maxShown = 60

// value shows a stored value; on a terminal its beginning.
func (p *printer) value(present bool, v jsontext.Value) cell {
	if !present {
		return nothing()
	}
	shown := oneLine(string(v))
	if p.terminal && utf8.RuneCountInString(shown) > maxShown {
		shown = string([]rune(shown)[:maxShown-1]) + "…"
	}
	return cell{text: shown}
}

// table is lines of aligned fields under a head.
type table struct {
	head []string
	rows [][]cell
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// write aligns the fields with two blanks between them. The last one of a line is not padded.
func (t *table) write(b *strings.Builder, p *printer) {
	rows := t.rows
	if len(t.head) > 0 {
		head := make([]cell, len(t.head))
		for i, name := range t.head {
			head[i] = cell{name, styleBold}
		}
		rows = append([][]cell{head}, rows...)
	}
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(oneLine(c.text)))
		}
	}
	for _, row := range rows {
		for i, c := range row {
			shown := oneLine(c.text)
			b.WriteString(p.paint(c.style, shown))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(shown)+2))
			}
		}
		b.WriteByte('\n')
	}
}

// facts is a table without a head: a name and a value on each line.
type facts struct{ table }

func (f *facts) add(name string, c cell) { f.table.add(cell{name, styleBold}, c) }

// more tells on standard error that a list goes on.
func (p *printer) more(total, offset, shown int, hasMore bool) {
	if hasMore && !p.json {
		fmt.Fprintf(p.err, "%d more; go on with --offset %d\n", total-offset-shown, offset+shown)
	}
}
