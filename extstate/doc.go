// Package extstate keeps the small JSON state of extensions of a coding agent, one value per session or per branch of it,
// in one SQLite file that it shares with the TypeScript package pi-session-state: both kinds of programs may use the file
// at the same time (spec/extension-state.md, which the sections named here are those of). It links no server.
//
//	todos, err := extstate.Open[[]string](extstate.Options{PluginID: "todo", Scope: extstate.ScopeBranch})
//	defer todos.Close()
//	list, found, err := todos.Read(ctx, view)      // found is false when there is none; null is a value
//	err = todos.Write(ctx, view, append(list, "feed the cat"))
//	err = todos.Drop(ctx, view)
//
// # Views and branches
//
// A [View] tells a call where it is: the session, its tree of entries, and the leaf on which the user stands. [Tree] is one
// for programs that have none. The value of [ScopeSession] belongs to the session; that of [ScopeBranch] to the leaf's
// branch, whose key is [BranchKey]: the first entry of the run, the chain of only children, that the leaf is in. A branch
// without a value inherits that of the nearest one above, and its first read writes it down. Without a leaf a value waits
// in memory until there is one (sections 3 to 5).
//
// # Several programs
//
// A write is one transaction and durable on return. It is refused, by a [*RefusedError], while another process holds the
// session by a row of the table write_lock, unless that process is gone or has held it for more than a minute
// (section 7). [State.Hold] holds a session for a read and the write that depends on it. Reads come from memory after
// asking SQLite whether anybody wrote to the file, some microseconds; [Options].StaleCache does without, as the TypeScript
// package does. Their cost does not grow with the tree as long as it is the same one or has grown at its end.
//
// # Faults
//
// A fault is never an absent value. Errors are typed, see errors.go; a tree with a cycle or an empty key is a [*TreeError].
// Of files and settings see [Resolve] and section 9.
//
// # Looking after a file
//
// [OpenFile] opens a file that exists, for looking at locks, sizes and where a value comes from, for setting and dropping
// rows, for a history with undo that knows the writes of every program, and for purging what deleted sessions left,
// backup, merge and check. [Commands] are the two that users have inside their agent.
//
// # Where it differs
//
// From the TypeScript package, by section 15 or because nobody can tell: a write leaves no lock row for others to see,
// since its transaction already keeps them out; an inherited value that is written down never replaces one that another
// process wrote meanwhile; there is one store per file and process, so commands and instances see the same; the status
// changes nothing in the file.
package extstate
