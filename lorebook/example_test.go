package lorebook_test

import (
	"fmt"

	"github.com/sessile-dev/sessile/lorebook"
)

func Example() {
	book, warnings, err := lorebook.Parse([]byte(`{
		"scanDepth": 2,
		"recursive": true,
		"entries": {
			"0": {"uid": 0, "key": ["tide bell"], "content": "The tide bell hangs in the lighthouse.", "order": 80},
			"1": {"uid": 1, "key": ["/light(house|ship)/i"], "content": "It has been dark for years.", "order": 90},
			"2": {"uid": 2, "constant": true, "content": "Nobody in this story whistles.", "order": 1000}
		}
	}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(len(warnings), "warnings")
	for _, uid := range book.Activate([]string{"Who rang the Tide Bell?", "Good evening."}) {
		entry, _ := book.Entry(uid)
		fmt.Println(uid, entry.Content)
	}
	// Output:
	// 0 warnings
	// 2 Nobody in this story whistles.
	// 1 It has been dark for years.
	// 0 The tide bell hangs in the lighthouse.
}

func ExampleBook_Explain() {
	book, _, err := lorebook.Parse([]byte(`{"recursive":true,"entries":[
		{"uid":1,"key":["queen","king"],"content":"He sits on the throne."},
		{"uid":2,"key":["throne"]}]}`))
	if err != nil {
		panic(err)
	}
	for _, m := range book.Explain([]string{"The king?"}).Matches {
		fmt.Printf("%d: %s %q in round %d\n", m.UID, m.Reason, m.Key, m.Round)
	}
	// Output:
	// 1: key "king" in round 0
	// 2: key "throne" in round 1
}

func ExampleParse_warnings() {
	_, warnings, err := lorebook.Parse([]byte(`{"entries":[{"uid":7,"key":["/dragon(?!fly)/i"]}]}`))
	if err != nil {
		panic(err)
	}
	for _, w := range warnings {
		fmt.Println(*w.UID, w.Key, w.Reason)
	}
	// Output:
	// 7 /dragon(?!fly)/i looks like a pattern but is read as a literal: look-ahead is not supported
}

func ExampleImport() {
	book, dropped, err := lorebook.Import([]byte(`{"spec":"chara_card_v2","data":{"name":"Osk",
		"character_book":{"entries":[{"id":3,"keys":["eel"],"content":"Eels are counted."}]}}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(book))
	fmt.Println(dropped)
	// Output:
	// {"entries":[{"id":3,"keys":["eel"],"content":"Eels are counted."}]}
	// [spec data.name]
}
