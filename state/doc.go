// Package state holds the rules of cells: registering namespaces, writing, resolving, snapshots, diffs and quotas, as
// spec/governed-state.md says in its sections 1.4 to 1.7, 3, 4, 7 and 11.
//
// A [Service] is what a program uses. Its methods check ownership, open one transaction each and are safe for
// concurrent use:
//
//	cells := state.New(store, state.Options{})
//	_, err := cells.Register(ctx, account, sessionID, state.Registration{Namespace: "bond_log", …})
//	value, err := cells.Write(ctx, account, sessionID, state.Address{Branch: "main", Namespace: "bond_log", Slot: "trust"}, v)
//	values, err := cells.Resolve(ctx, account, sessionID, state.ResolveQuery{Branch: "main"})
//
// Other use cases take part in a transaction of their own: a turn checks its writes with [Service.CheckTurnWrites] and
// commits its floor with [Service.CommitFloor]; deletions go through [Service.DeleteFloor] and [Service.DeleteBranch].
//
// [Entries] and [Extensions] are the ungoverned uses: texts of agents under a session's key, and one value of each extension for
// a session or for a branch.
//
// Names and values are expected to be valid when they arrive here; [ValidNamespace] and its neighbours say what valid
// means, and [NormalizeValue] makes a value that may be stored.
package state
