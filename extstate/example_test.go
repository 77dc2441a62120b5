package extstate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
)

// A value that follows the branches of a session.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "extstate")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	todos, err := extstate.Open[[]string](extstate.Options{
		PluginID:     "todo",
		Scope:        extstate.ScopeBranch,
		DatabasePath: filepath.Join(dir, "states.sqlite"),
	})
	if err != nil {
		panic(err)
	}
	defer todos.Close()

	session := extstate.NewTree("019bc0fd")
	session.Append("question")
	session.Append("answer")
	if err := todos.Write(ctx, session, []string{"feed the cat"}); err != nil {
		panic(err)
	}

	session.Append("one way")
	session.Goto("answer")
	session.Append("another way") // a fork: both ways start with the list of the trunk
	list, _, err := todos.Read(ctx, session)
	if err != nil {
		panic(err)
	}
	if err := todos.Write(ctx, session, append(list, "paint the door")); err != nil {
		panic(err)
	}
	for _, leaf := range []string{"one way", "another way"} {
		session.Goto(leaf)
		list, found, err := todos.Read(ctx, session)
		fmt.Println(leaf, list, found, err)
	}
	// Output:
	// one way [feed the cat] true <nil>
	// another way [feed the cat paint the door] true <nil>
}

// Looking at a file from outside, and undoing what an extension did.
func ExampleFile() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "extstate")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "states.sqlite")
	mode, err := extstate.Open[jsontext.Value](extstate.Options{PluginID: "mode", DatabasePath: path})
	if err != nil {
		panic(err)
	}
	defer mode.Close()
	session := extstate.NewTree("019bc0fd")
	if err := mode.Write(ctx, session, jsontext.Value(`{"mode":"plan"}`)); err != nil {
		panic(err)
	}

	file, err := extstate.OpenFile(path, extstate.FileOptions{})
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := file.EnableHistory(ctx, 20); err != nil {
		panic(err)
	}
	if err := mode.Write(ctx, session, jsontext.Value(`{"mode":"build"}`)); err != nil {
		panic(err)
	}
	now, err := file.Undo(ctx, extstate.Row{PluginID: "mode", SessionID: "019bc0fd"})
	fmt.Println(string(now.Value), err)
	value, found, err := mode.Read(ctx, session)
	fmt.Println(string(value), found, err)
	// Output:
	// {"mode":"plan"} <nil>
	// {"mode":"plan"} true <nil>
}
