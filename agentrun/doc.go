// Package agentrun lets agents work together: they send each other messages, spawn sub-agents and get their results, and no
// message and no result is lost (spec/session-tools.md, sections 4 to 6).
//
// Everything is a run, and a run is a row: queued, running, paused or ended. What has to follow from the end of a run, such as
// the next step of a conversation or the announcement of a result, is queued in the transaction that ends it. So a crash
// leaves either both or none, and a reader of the rows misses nothing.
//
//	queued ──► running ──► succeeded | failed | timeout | cancelled
//	              │  ▲
//	              ▼  │ a message came
//	            paused (sessions_yield)
//
// [Service.Run] starts queued runs: one at a time in a session, sub-agents no more at once than is configured. It sleeps until
// a run is queued, a branch comes free or something is due. Package turn executes a run and owns leases and run rows; this
// package decides what runs say and what follows from their ends, as [turn.Follower].
//
//   - send.go, flow.go: a message to another session, its answer, the conversation that may follow, the announcement
//   - spawn.go, child.go: sub-agents, from the checks to the end of a child
//   - announce.go: a result on its way to the session that asked for it
//   - wake.go: sessions are woken for notices
//   - outbox.go, webhook.go: texts on their way to channels
//   - list.go, control.go: what people and agents see of runs, and what they do with them
//
// Waits between runs are stored, so that a ring of sessions that wait for each other is seen before it closes: the send that
// would close it does not wait (see send.go).
package agentrun
