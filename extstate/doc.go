// Package extstate shares the state of extensions with the TypeScript package pi-session-state: one SQLite file, used by
// programs of both kinds at the same time (spec/extension-state.md).
package extstate
