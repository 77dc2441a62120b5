// Package statemodel is governed state as spec/governed-state.md tells it, in memory and without a thought for speed:
// what the real services answer is compared with what this model answers.
//
// It keeps full copies of everything. A branch has heads, one [Version] per slot. A committed floor has a snapshot, a
// whole map from slot to version, built by section 1.7 when it commits and again when it is retried:
//
//	what the floor's own turn wrote
//	else the head its branch had when the floor first committed,
//	     if the parent stores nothing of the slot or the head was written after the parent first committed
//	else what the parent's snapshot shows now
//	else nothing, but stored
//
// The head of section 1.7 is, at a first commit, the branch's head of that moment; ruling 12 makes a retry look at the
// same one again. A retry moves a head only if nobody else wrote it after the floor first committed.
//
// Reads follow section 1.6: the asked floor's snapshot; or the branch's head, else the snapshot of its latest
// committed floor, else, on a registered branch without one, that of the floor it was registered from.
//
// Section 7 is recounted from scratch whenever it is asked for: the versions that some head or some snapshot shows,
// each once. Operations that a limit refuses happen on a copy, which is then thrown away.
//
// Time is a counter that every operation advances, so that commits and writes are ordered; the milliseconds that
// answers show are the caller's ([Model.SetTime]). The model is for one account. It is not safe for concurrent use.
package statemodel
