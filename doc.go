// Package sessile holds the nouns of Sessile, the store of the session state of AI agents: accounts, sessions,
// branches, floors, messages, cells and their mutations, together with the error codes, the limits, the ids and the
// ports through which use cases reach a database. It does no IO and imports nothing of the project.
//
// # The packages
//
// Use cases stand above the ports and know no driver: [github.com/sessile-dev/sessile/state] writes and reads cells,
// [github.com/sessile-dev/sessile/session] manages sessions, branches and floors, and
// [github.com/sessile-dev/sessile/turn] runs conversations. A driver, such as
// [github.com/sessile-dev/sessile/sqlite], implements [Store]; what it must do is written down as a test suite in
// [github.com/sessile-dev/sessile/storetest].
//
//	store, err := sqlite.Open(ctx, "state.db", sqlite.Options{})
//	cells := state.New(store, state.Options{})
//	value, err := cells.Write(ctx, "default", sessionID, address, jsontext.Value(`{"level":3}`))
//
// # The log
//
// Every write to a cell is a [Mutation], appended to one log under the next sequence number. A branch sees a cell
// through a visible head, a pointer into that log; a committed floor is a point in the log ([Floor.CommitSeq]), so a
// snapshot costs nothing to take. The rules are those of spec/governed-state.md, sections 1.6 and 1.7.
package sessile
