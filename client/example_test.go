package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/client"
	"github.com/sessile-dev/sessile/sqlite"
)

// exampleServer stands for a server that was started elsewhere.
func exampleServer(ctx context.Context) (url string, stop func()) {
	dir, err := os.MkdirTemp("", "sessile-example")
	if err != nil {
		panic(err)
	}
	store, err := sqlite.Open(ctx, filepath.Join(dir, "example.db"), sqlite.Options{})
	if err != nil {
		panic(err)
	}
	handler, _ := newHandler(store)
	s := httptest.NewServer(handler)
	return s.URL, func() {
		s.Close()
		_ = store.Close()
		_ = os.RemoveAll(dir)
	}
}

// A value that is written at once, and read back.
func Example() {
	ctx := context.Background()
	url, stop := exampleServer(ctx)
	defer stop()

	c, err := client.New(client.Options{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	session, err := c.CreateSession(ctx, client.SessionInput{Title: "First steps"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.RegisterNamespace(ctx, session.ID, client.Registration{
		Namespace: "bond_log", LogicalOwnerType: "plugin", LogicalOwnerID: "@guild/bonds",
	}); err != nil {
		fmt.Println(err)
		return
	}
	trust := client.Address{BranchID: sessile.MainBranch, Namespace: "bond_log", Slot: "trust"}
	if _, err := c.WriteValue(ctx, session.ID, trust, jsontext.Value(`{"level":3}`)); err != nil {
		fmt.Println(err)
		return
	}
	values, err := c.Resolve(ctx, session.ID, client.ResolveQuery{
		BranchID: sessile.MainBranch, Filter: client.Filter{Namespace: "bond_log"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range values {
		fmt.Println(v.Namespace, v.Slot, string(v.Value))
	}
	// Output: bond_log trust {"level":3}
}

// A turn and what it writes become visible together.
func ExampleClient_Respond() {
	ctx := context.Background()
	url, stop := exampleServer(ctx)
	defer stop()
	c, err := client.New(client.Options{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	session, err := c.CreateSession(ctx, client.SessionInput{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.RegisterNamespace(ctx, session.ID, client.Registration{
		Namespace: "bond_log", LogicalOwnerType: "plugin", LogicalOwnerID: "@guild/bonds",
	}); err != nil {
		fmt.Println(err)
		return
	}
	turn, err := c.Respond(ctx, session.ID, client.RespondRequest{
		Message: "The guild opens its doors.",
		TurnOptions: client.TurnOptions{SessionStateWrites: []client.TurnWrite{
			{Namespace: "bond_log", Slot: "trust", Value: jsontext.Value(`5`)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot, err := c.Snapshot(ctx, session.ID, turn.FloorID, client.Filter{Namespace: "bond_log"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(turn.GeneratedText)
	fmt.Println(snapshot[0].Slot, string(snapshot[0].Value))
	// Output:
	// echo: The guild opens its doors.
	// trust 5
}

// What the server refuses is known by its code.
func ExampleError() {
	ctx := context.Background()
	url, stop := exampleServer(ctx)
	defer stop()
	c, err := client.New(client.Options{URL: url})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	_, err = c.GetSession(ctx, "ses_unknown")
	if sessile.CodeOf(err) == sessile.CodeNotFound {
		fmt.Println("there is no such session")
	}
	// Output: there is no such session
}
