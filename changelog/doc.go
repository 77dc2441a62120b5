// Package changelog keeps the log of what changed in sessions, and tells those who watch them (spec/session-tools.md,
// section 7).
//
//	log := changelog.New(store, changelog.Options{})
//	changes, err := log.Changes(ctx, account, sessionID, since, 200)
//
// Use cases write events with [Record], [HumanMessage] and [ChildSpawned] inside the transaction of the change itself, so
// that there is no change without its event and no event without its change; afterwards they call [Log.Announce]. An event
// says who, what and when, and never what anybody wrote.
//
// Events of some kinds are news for the watchers of a session: its parent, and whoever asked for it. For each pair of
// watcher and target a [sessile.Watch] is the cursor, and at most one notice waits. A notice keeps its text while it waits,
// whatever else happens; when it is acknowledged and more has happened in between, the next one follows ([Drain]). Notices
// are rows: they outlive the process, and reach the watcher wherever it is connected.
//
// A session key whose first part is not "agent:" has a log like every other, but is never told of others: the same key
// could stand for several agents.
package changelog
