// Package pisession reads the session files of Pi, a coding agent, the way spec/extension-state.md, section 13, says: the
// tree of entries and its leaf, what lists of sessions show, and where files are and what they are called. It never writes,
// does not touch the system except through the readers and file systems it is given, keeps no state between calls, and
// everything in it may be used by several goroutines at once.
//
//	s, err := pisession.Read(file)                      // one session; ErrNotSession if it is none
//	s.SessionID()                                       // whose state
//	leaf, ok := s.Leaf()                                // where Pi stands after loading the file
//	for e := range s.All() { … }                        // the tree, in the order of the file
//	for _, f := range s.Faults { … }                    // what is damaged, line by line
//
//	there := os.DirFS(filepath.Join(agentDir, "sessions"))
//	list, err := pisession.List(there, pisession.ByProject)        // newest first, as Pi lists them
//	at, err := pisession.Find(there, pisession.ByProject, id)      // the file of one session
//
// # Files
//
// A file is lines of JSON: a header, then entries, appended one by one. Each entry names its parent; one that goes back
// and appends somewhere else makes a branch. The leaf is not stored: after loading, it is the last entry of the file,
// whatever it is. [Session.At] is the same session seen from another entry.
//
// Lines that are blank or no JSON are passed over; what follows them counts. So does a last line without its newline,
// if it is whole: a file may be read while Pi appends to it. Files of version 1 have no ids, and Pi makes some up when
// it next opens such a file. Until then there is no tree to read: All is empty, the rest is as ever. Versions above 3 are
// read as they are.
//
// # Damage
//
// A file can hold what Pi never writes: parents that do not exist or come in a circle, ids that are missing or come twice.
// None of it keeps [Read] from ending. [Session.Faults] tells what was found; whoever walks up the tree must still bound the
// walk by the number of entries.
//
// # Cost
//
// Files are streamed. What is held is one buffer of 64 KiB and, of a session, the ids and types of its entries and the
// texts that lists show, cut at [MaxText]: neither the size of a file nor the length of a line matters.
package pisession
