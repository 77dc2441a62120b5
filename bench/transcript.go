package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sessile-dev/sessile/transcript"
)

// maxGrowth is how much longer twice the text may take: 2 for linear time, and room for caches and the collector.
const maxGrowth = 2.3

// family is a kind of text: a head, and a unit that is repeated.
type family struct{ name, head, unit string }

func (f family) text(size int) string {
	return f.head + strings.Repeat(f.unit, size/len(f.unit)+1)[:size-len(f.head)]
}

// timed is how many milliseconds sanitiser and redaction take for the text.
func timed(redactor *transcript.Redactor, text string) float64 {
	runtime.GC() // what came before is not this text's cost, and the collector's own threads are not counted
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime() // of this thread alone: other processes do not count
	redactor.Redact(transcript.Sanitise(text))
	redactor.Redact(text) // what the sanitiser took is hostile to redaction too
	return float64((threadTime() - start).Microseconds()) / 1000
}

// hostile are families of texts that make a careless sanitiser or redactor take the square of their length.
func hostile() []family {
	return []family{
		{"plain prose", "", "The ferry leaves at eleven, and the gate opens at six. "},
		{"nested tags", "", "<think>a"},
		{"openers that never close", "", "<tool_call><x <relevant-memories <function name='a'>{<parameter=b>"},
		{"many <", "", "<"},
		{"quotes in tags", "", `<think a="<think" b='<function name="`},
		{"long Base64", "", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"},
		{"fences", "", "```\n<think>x</think>\n````\n`<|a|>` ``b``` \n~~~\n"},
		{"near credentials", "", "sk-abcdef ghp_abc eyJhbGciOi.eyJ bot12345:abc https://u:p/ TOKEN= apiKey\": --token -----BEGIN PRIVATE KEY-----"},
		{"credentials", "", "API_KEY=abcdefghijklmnopqrstuvwxyz&token=0123456789abcdef https://u:secret@h/ sk-" + "abcdefghijklmnop "},
		{"deep brackets", "<tool_call>", `{"a":[`},
		{"escaped quotes", "", `\"apiKey\":\\"x\\\"secret\":"`},
		{"calls in plain text", "", "[tool:x] {\"a\":\n[Tool Call: b]\nArguments: {\n[TOOL_CALL]{\n[Tool Result for ID 1\n"},
		{"tokens", "", "<|open|>call<|sep|><|channel|>analysis<|tool_call_begin|><｜DSML｜calls a=\"<|start|>"},
		{"code without end", "", "`<|channel|>final<|message|>` ``<details type=\"reasoning\">` [THINK]◁think▷"},
		{"Unicode", "", "◁th＜👩‍👩‍👧思考｜…é\u00a0\u200b日本\xff<\u00a0|"},
		{"peeled in rounds", strings.Repeat("<th", 12), strings.Repeat("<th", 10) + "<think></think>" + strings.Repeat("ink>", 10)},
	}
}

// measureTranscripts prints how long sanitiser and redaction take for texts of 1 MB and of 2 MB: the least of the rounds,
// which is what the text takes when nobody else uses memory and caches. It fails when a family missed the goal.
func measureTranscripts(rounds int) error {
	redactor, err := transcript.NewRedactor(transcript.RedactOptions{})
	if err != nil {
		return err
	}
	const size = 1 << 20
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "family\tms for 1 MB\tms for 2 MB\tgrowth\tgoal\t")
	missed := 0
	for _, family := range hostile() {
		once, twice := family.text(size), family.text(2*size)
		// The same text again and again finds its memory where it left it; fresh pages of the system are not its cost.
		var shorts, longs []float64
		for range rounds + 1 {
			shorts = append(shorts, timed(redactor, once))
		}
		for range rounds + 1 {
			longs = append(longs, timed(redactor, twice))
		}
		short, long := slices.Min(shorts), slices.Min(longs)
		growth := long / short
		verdict := "kept"
		if growth > maxGrowth {
			verdict = "missed"
			missed++
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.2f\tat most %.1f\t%s\n", family.name, short, long, growth, maxGrowth, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed > 0 {
		return fmt.Errorf("%d families missed the goal", missed)
	}
	return nil
}
