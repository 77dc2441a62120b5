// Package turn runs conversations: a turn takes the lease of its branch, records the user's message on a draft floor,
// asks the model, and commits floor, answer and state in one transaction, or nothing of them
// (spec/governed-state.md, sections 1.7 and 5).
//
// A [Service] is safe for concurrent use. One turn runs per branch at a time; the lease is a run row, its row number
// the fencing token. A program calls [Service.Recover] before it serves: what a crash left running becomes failed.
package turn
