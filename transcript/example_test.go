package transcript_test

import (
	"fmt"

	"github.com/sessile-dev/sessile/transcript"
)

func ExampleView_Page() {
	redactor, err := transcript.NewRedactor(transcript.RedactOptions{Patterns: []string{"berth-[0-9]+"}})
	if err != nil {
		panic(err)
	}
	stored := []transcript.Row{
		{Seq: 1, ID: "msg_1", Role: "user", Content: transcript.Text("My code is berth-12345.")},
		{Seq: 2, ID: "msg_2", Role: "toolResult", Content: transcript.Text("3.1 m")},
		{Seq: 3, ID: "msg_3", Role: "assistant", Content: transcript.Text("<think>Just say it.</think>High water at ten.")},
	}
	view := transcript.NewView(redactor)
	page := view.Page(transcript.Page{Rows: stored[1:], Paged: true, Offset: 0, Total: 3})
	for _, m := range page.Messages {
		fmt.Println(string(m))
	}
	fmt.Println("more from", *page.NextOffset)

	page = view.Page(transcript.Page{Rows: stored[:1], Paged: true, Offset: 2, Total: 3})
	fmt.Println(string(page.Messages[0]))
	fmt.Println("redacted", page.ContentRedacted, "more", *page.HasMore)
	// Output:
	// {"role":"assistant","content":"High water at ten.","__openclaw":{"seq":3,"id":"msg_3"}}
	// more from 1
	// {"role":"user","content":"My code is ***.","redacted":true,"__openclaw":{"seq":1,"id":"msg_1"}}
	// redacted true more false
}

func ExampleSanitise() {
	fmt.Println(transcript.Sanitise("<think>Two ships, I believe.</think>Two ships.<|im_end|>"))
	fmt.Println(transcript.Sanitise("Write `<think>` to begin."))
	// Output:
	// Two ships.
	// Write `<think>` to begin.
}

func ExampleRedactor_Redact() {
	redactor, err := transcript.NewRedactor(transcript.RedactOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(redactor.Redact("postgres://keeper:wet-rope@db/tides"))
	// Output: postgres://keeper:***@db/tides true
}

func ExampleReply() {
	rows := []transcript.Row{
		{Role: "user", Content: transcript.Text("ping")},
		{Role: "assistant", Content: []byte(`[{"type":"text","text":"<think>easy</think>pong"}]`)},
	}
	reply := transcript.Reply(rows)
	_, silent := transcript.ControlWord(reply)
	fmt.Println(reply, silent)
	// Output: pong false
}

func ExampleTitle() {
	view := transcript.NewView(nil)
	rows := []transcript.Row{{Role: "user", Content: transcript.Text("When does\nthe ferry leave?")}}
	fmt.Println(transcript.Title(transcript.TitleParts{FirstUserText: view.FirstUserText(rows), SessionID: "0123abcd-ef"}))
	fmt.Println(transcript.Title(transcript.TitleParts{SessionID: "0123abcd-ef", UpdatedAt: 1772625600000}))
	// Output:
	// When does the ferry leave?
	// 0123abcd (2026-03-04)
}
