-- What the session tools know of a session, and the log of changes (spec/session-tools.md).

-- +goose Up
ALTER TABLE session ADD COLUMN display_name TEXT;
ALTER TABLE session ADD COLUMN subject      TEXT;
ALTER TABLE session ADD COLUMN chat_type    TEXT;
ALTER TABLE session ADD COLUMN spawned_by   TEXT;
ALTER TABLE session ADD COLUMN parent_key   TEXT;
ALTER TABLE session ADD COLUMN owner_key    TEXT;
ALTER TABLE session ADD COLUMN details      TEXT; -- JSON of everything that no statement looks for

-- The two lists of sessions_list in their order.
CREATE INDEX session_listed ON session (account, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND archived_at IS NULL;
CREATE INDEX session_listed_archived ON session (account, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND archived_at IS NOT NULL;
CREATE INDEX session_spawned_by ON session (account, spawned_by) WHERE spawned_by IS NOT NULL;
CREATE INDEX session_parent ON session (account, parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX session_owner ON session (account, owner_key) WHERE owner_key IS NOT NULL;

-- Sequence numbers are never used twice, whatever is removed.
CREATE TABLE event (
  sequence    INTEGER PRIMARY KEY AUTOINCREMENT,
  account     INTEGER NOT NULL,
  session_key TEXT NOT NULL,
  session_id  TEXT,
  agent       TEXT NOT NULL,
  kind        TEXT NOT NULL,
  actor_type  TEXT NOT NULL,
  actor_id    TEXT,
  run_id      TEXT,
  occurred_at INTEGER NOT NULL,
  summary     TEXT NOT NULL,
  payload     TEXT,
  dedupe      TEXT
) STRICT;
CREATE INDEX event_session ON event (account, session_key, sequence);
CREATE INDEX event_occurred ON event (occurred_at);
CREATE UNIQUE INDEX event_dedupe ON event (account, dedupe) WHERE dedupe IS NOT NULL;

CREATE TABLE event_head (
  account     INTEGER NOT NULL,
  session_key TEXT NOT NULL,
  head        INTEGER NOT NULL,
  pruned      INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, session_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE watch (
  account    INTEGER NOT NULL,
  watcher    TEXT NOT NULL,
  target     TEXT NOT NULL,
  last_seen  INTEGER NOT NULL,
  notified   INTEGER NOT NULL,
  material   INTEGER NOT NULL,
  touched_at INTEGER NOT NULL,
  PRIMARY KEY (account, watcher, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_target ON watch (account, target);
CREATE INDEX watch_touched ON watch (touched_at);

CREATE TABLE notice (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account    INTEGER NOT NULL,
  watcher    TEXT NOT NULL,
  target     TEXT NOT NULL,
  since      INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notice_pair ON notice (account, watcher, target);
CREATE INDEX notice_target ON notice (account, target);
