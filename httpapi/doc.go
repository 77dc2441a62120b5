// Package httpapi serves Sessile over HTTP: the routes of spec/governed-state.md, sections 4 to 6 and 11.
//
// A [Handler] is an http.Handler over the use cases, which it knows by small interfaces of its own ([States],
// [Sessions], [Branches], [Floors], [Turns], [Accounts]):
//
//	handler := httpapi.New(httpapi.Options{
//		States: cells, Sessions: sessions, Branches: sessions, Floors: sessions, Turns: turns,
//		Accounts: keys, Version: httpapi.Version{Version: "1.0.0"},
//	})
//	server := &http.Server{Handler: handler}
//
// # How a request goes
//
// [Routes] is the one table of what exists. Every request is checked in the same order: host, route and method,
// authentication, size, content type, JSON, validation, and only then the use case is asked. A route of the state or
// observation surface does not exist at all while that feature is off.
//
// A handler takes a call, reads its query ([query]) or its body ([object]), which collect everything that is wrong with
// it, and returns a reply or an error. One writer renders both: {"data": …} or {"error": {code, message, details}}. One
// table turns a [sessile.Code] into a status; an error without a code is internal_error and tells the outside nothing.
//
// # Values
//
// A stored value is opaque. On its way in it is cut out of the body and handed to [state.NormalizeValue]; on its way out
// its bytes are appended to the answer. Nothing in between decodes it.
package httpapi
