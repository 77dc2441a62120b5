// Package sqlite keeps everything in one SQLite file. It implements [sessile.Store] and decides nothing itself.
//
// # Writing
//
// One goroutine owns the write connection. It takes what waits, gives each update a savepoint of its own and commits
// once for all of them with synchronous=FULL, so an update that returned has reached the disk, a failing one touches no
// other, and many callers share the cost of one sync. No timer is involved: a lone caller waits for nothing. The queue
// is bounded; when it is full the answer is server_busy.
//
// Counters (usage of namespaces and accounts, the sequence number) are carried in memory through a batch and written
// once before its commit; reads inside the batch see them.
//
// # Reading
//
// A pool of read-only connections serves views, each over one consistent state, without ever touching the writer.
//
// # Checkpoints
//
// The writer does not checkpoint on commit. A helper connection copies the log into the file when it passes a size;
// what was appended meanwhile the writer copies between two batches, so the next commit starts the log anew. At a hard
// limit the writer waits for readers.
//
// # Owning the file
//
// One process owns the file: Open takes a lock beside it (PATH.lock, which names the owner) and fails with
// [LockedError] when somebody else holds it. [Store.SocketPath] is where the owner answers others.
//
// The schema stands in migrations/, one file per step, forward only.
package sqlite
