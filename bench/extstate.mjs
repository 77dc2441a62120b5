// The baseline of bench/extstate.go: how the TypeScript package works, over node:sqlite. It rebuilds the tree at every call
// of the branch scope, and a write is three transactions (spec/extension-state.md, sections 4.1 and 7).
// Arguments: directory, milliseconds for one figure, plugins of the cold reads. Prints one JSON object: figure -> calls/s.
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

const [dir, ms, plugins] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const db = new DatabaseSync(join(dir, "node.sqlite"));
db.exec("PRAGMA busy_timeout = 5000");
db.exec("PRAGMA journal_mode = WAL");
db.exec(`CREATE TABLE IF NOT EXISTS state (plugin_id TEXT NOT NULL, session_id TEXT NOT NULL, branch_id TEXT NOT NULL,
  value TEXT NOT NULL, PRIMARY KEY (plugin_id, session_id, branch_id))`);
db.exec("CREATE TABLE IF NOT EXISTS write_lock (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at INTEGER NOT NULL)");
const insertLock = db.prepare("INSERT OR IGNORE INTO write_lock (session_id, holder, acquired_at) VALUES (?, ?, ?)");
const deleteLock = db.prepare("DELETE FROM write_lock WHERE session_id = ? AND holder = ?");
const replace = db.prepare("INSERT OR REPLACE INTO state (plugin_id, session_id, branch_id, value) VALUES (?, ?, ?, ?)");
const select = db.prepare("SELECT value FROM state WHERE plugin_id = ? AND session_id = ? AND branch_id = ?");
const me = `pid:${process.pid}`;
let cache = new Map();

function key(ctx) {
  if (!ctx.branch) return "";
  const parents = new Map();
  const children = new Map();
  for (const e of ctx.entries) {
    parents.set(e.id, e.parentId);
    if (e.parentId !== null) children.set(e.parentId, (children.get(e.parentId) ?? 0) + 1);
  }
  let at = ctx.leaf;
  for (;;) {
    const parent = parents.get(at);
    if (parent === null || parent === undefined || children.get(parent) !== 1) return at;
    at = parent;
  }
}

function read(ctx, plugin) {
  const branch = key(ctx);
  const triple = JSON.stringify([plugin, ctx.session, branch]);
  let text = cache.get(triple);
  if (text === undefined) {
    text = select.get(plugin, ctx.session, branch)?.value ?? null;
    cache.set(triple, text);
  }
  if (text === null) throw new Error("no value");
  return JSON.parse(text);
}

function write(ctx, plugin, value) {
  const text = JSON.stringify(value);
  const branch = key(ctx);
  if (insertLock.run(ctx.session, me, Date.now()).changes !== 1) throw new Error("locked");
  try {
    replace.run(plugin, ctx.session, branch, text);
    cache.set(JSON.stringify([plugin, ctx.session, branch]), text);
  } finally {
    deleteLock.run(ctx.session, me);
  }
}

const value = (n) => ({ n, text: "x".repeat(1000) });

function rate(call) {
  const start = performance.now();
  let n = 0;
  let took;
  do {
    for (let i = 0; i < 8; i++) call(n++);
    took = performance.now() - start;
  } while (took < ms);
  return (n * 1000) / took;
}

const figures = {};
for (const entries of [0, 10, 500, 5000]) {
  const ctx = { branch: entries > 0, session: `s${entries}`, leaf: `e${entries - 1}`, entries: [] };
  for (let i = 0; i < entries; i++) ctx.entries.push({ id: `e${i}`, parentId: i > 0 ? `e${i - 1}` : null });
  db.exec("BEGIN");
  for (let i = 0; i < plugins; i++) replace.run(`p${i}`, ctx.session, key(ctx), JSON.stringify(value(i)));
  db.exec("COMMIT");
  const name = entries > 0 ? `branch, ${entries} entries` : "session";
  figures[`write, ${name}`] = rate((n) => write(ctx, "p0", value(n)));
  figures[`cached read, ${name}`] = rate(() => read(ctx, "p0"));
  cache = new Map();
  let took = 0;
  let reads = 0;
  while (took < ms) {
    cache = new Map();
    const start = performance.now();
    for (let i = 0; i < plugins && took + performance.now() - start < ms; i++, reads++) read(ctx, `p${i}`);
    took += performance.now() - start;
  }
  figures[`cold read, ${name}`] = (reads * 1000) / took;
}
db.close();
console.log(JSON.stringify(figures));
