// Package client talks to a Sessile server over HTTP or over the Unix socket beside a database. It has one method for
// every route, named as the route's handler is; requests and results are structs with the members of the wire
// (spec/governed-state.md, sections 4 to 6, 11 and 12), and stored values are JSON text, kept as they were sent.
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:7474"})
//	value, err := c.WriteValue(ctx, sessionID, client.Address{BranchID: "main", Namespace: "bond_log", Slot: "trust"},
//		jsontext.Value(`{"level":3}`))
//
// # Errors
//
// What the server refused is an [*Error]: a [*sessile.Error] with the server's code, message and details, together with
// the HTTP status. What the client itself refuses, because the server could only refuse it, is a plain [*sessile.Error]
// of code validation_error. Where no Sessile server answered it is an [*UnreachableError]. A context that ended gives
// the context's error.
//
// # Trying again
//
// A reading request that met a broken connection is sent again, and so is any request that the server turned away with
// server_busy, for then nothing was done. Nothing else is ever sent twice: a write whose answer was lost may have taken
// effect.
package client
