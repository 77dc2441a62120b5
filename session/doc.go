// Package session holds the use cases around conversations: sessions, branches, floors and messages
// (spec/governed-state.md, section 6). It owns what a list shows and what may be deleted; cells are the business of
// package state, which it calls to clean up behind a deleted branch or floor.
//
// A [Service] is safe for concurrent use. [Service.Run] removes the rows of deleted sessions in the background; the
// program that owns the store runs it.
package session
