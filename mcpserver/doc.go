// Package mcpserver serves the agents' tools, and the state that they keep, over the Model Context Protocol.
//
// A [Server] speaks streamable HTTP through [Server.ServeMCP], which a program mounts behind its own authentication, and
// any other transport, such as standard input and output, through [Server.Serve]. Every connection acts for one caller: an
// account and, by the header X-Sessile-Session or by the program, one session. Its tools are those that the runner of
// package agenttool leaves that caller; what they answer is given both as structured content and as compact JSON text,
// and what they refuse is a result with isError, so that the model sees it.
//
// The key-value state of the session is also readable and can be subscribed to, one resource a namespace:
//
//	sessile://session/{key}/{namespace}
//
// Both parts are percent-encoded. A resource holds what the operation list answers, with revisions.
//
// [Relay] serves one connection by passing everything on to a server that is reached over HTTP.
//
// Arguments of tools are handed over as they came: the protocol library would refuse what the tools have words of their
// own for.
package mcpserver
