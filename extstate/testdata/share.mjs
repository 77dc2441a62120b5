// A worker of TestSharing: the protocol of spec/extension-state.md, section 7, over node:sqlite.
// Arguments: file, name of the worker, milliseconds.
import { DatabaseSync } from "node:sqlite";
import { writeSync } from "node:fs";

const [path, name, ms] = process.argv.slice(2);
const db = new DatabaseSync(path);
db.exec("PRAGMA busy_timeout = 5000");
db.exec("PRAGMA journal_mode = WAL");
db.exec(`CREATE TABLE IF NOT EXISTS state (plugin_id TEXT NOT NULL, session_id TEXT NOT NULL, branch_id TEXT NOT NULL,
  value TEXT NOT NULL, PRIMARY KEY (plugin_id, session_id, branch_id))`);
db.exec("CREATE TABLE IF NOT EXISTS write_lock (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at INTEGER NOT NULL)");

const insert = db.prepare("INSERT OR IGNORE INTO write_lock (session_id, holder, acquired_at) VALUES (?, ?, ?)");
const select = db.prepare("SELECT holder, acquired_at AS at FROM write_lock WHERE session_id = ?");
const take = db.prepare("UPDATE write_lock SET holder = ?, acquired_at = ? WHERE session_id = ? AND holder = ? AND acquired_at = ?");
const remove = db.prepare("DELETE FROM write_lock WHERE session_id = ? AND holder = ?");
const replace = db.prepare("INSERT OR REPLACE INTO state (plugin_id, session_id, branch_id, value) VALUES ('shared', ?, ?, ?)");
const me = `pid:${process.pid}`;

function gone(holder) {
  const m = /^pid:(\d+)$/.exec(holder);
  if (!m) return false;
  try {
    process.kill(Number(m[1]), 0);
    return false;
  } catch (e) {
    return e.code !== "EPERM";
  }
}

function acquire(session) {
  const now = Date.now();
  if (insert.run(session, me, now).changes === 1) return true;
  const row = select.get(session);
  if (!row) return insert.run(session, me, now).changes === 1;
  if (row.holder !== me && !gone(row.holder) && now - row.at <= 60000) return false;
  return take.run(me, now, session, row.holder, row.at).changes === 1;
}

function release(session) {
  for (;;) {
    try {
      return remove.run(session, me);
    } catch (e) {
      if (e.errcode !== 5) throw e;
    }
  }
}

let refused = 0;
const end = Date.now() + Number(ms);
for (let n = 0; Date.now() < end; n++) {
  const session = `shared-${n % 3}`;
  try {
    if (!acquire(session)) {
      refused++;
      continue;
    }
    try {
      replace.run(session, `${name}-${n}`, String(n));
    } finally {
      release(session);
    }
  } catch (e) {
    if (e.errcode !== 5) throw e;
    refused++;
    continue;
  }
  writeSync(1, `done ${session} ${name}-${n} ${n}\n`);
}
writeSync(1, `refused ${refused}\n`);
db.close();
