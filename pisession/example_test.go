package pisession_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessile-dev/sessile/pisession"
)

func ExampleList() {
	list, err := pisession.List(os.DirFS(filepath.Join("testdata", "agent", "sessions")), pisession.ByProject)
	if err != nil {
		panic(err)
	}
	for _, s := range list {
		fmt.Printf("%s %2d messages: %s\n", s.Modified.Format("15:04:05"), s.Messages, cmp.Or(s.Name, s.FirstMessage))
	}
	// Output:
	// 09:31:17 11 messages: plan the work
	// 09:31:06 16 messages: plan the work
	// 09:30:24  9 messages: compaction demo
}

func ExampleRead() {
	const file = `{"type":"session","version":3,"id":"demo","timestamp":"2026-01-15T09:30:00.000Z","cwd":"/work"}
{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"Sail or row?"}}
{"type":"message","id":"b2","parentId":"a1","message":{"role":"assistant","content":"Sail."}}
{"type":"message","id":"c3","parentId":"a1","message":{"role":"assistant","content":"Row."}}
`
	s, err := pisession.Read(strings.NewReader(file))
	if err != nil {
		panic(err)
	}
	leaf, _ := s.Leaf()
	fmt.Println(s.SessionID(), "stands at", leaf)
	for answer := range s.Children("a1") {
		fmt.Println(answer.ID, answer.Type)
	}
	// Output:
	// demo stands at c3
	// b2 message
	// c3 message
}
