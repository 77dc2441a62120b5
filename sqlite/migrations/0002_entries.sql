-- Key-value entries of the agents' own tool (spec/kv-tool.md). They hang on a home, which one or more session keys lead to.

-- +goose Up
CREATE TABLE home (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account    INTEGER NOT NULL,
  entries    INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  deleted_at INTEGER
) STRICT;
CREATE INDEX home_deleted ON home (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE home_key (
  account INTEGER NOT NULL,
  key     TEXT NOT NULL,
  home    INTEGER NOT NULL,
  PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX home_key_home ON home_key (home);

-- Values stand apart, under the number of the write that made them: copying a home copies no value, and large values stay
-- out of the tree of keys.
CREATE TABLE entry (
  home       INTEGER NOT NULL,
  namespace  TEXT NOT NULL,
  key        TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  size       INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (home, namespace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_revision ON entry (revision);
CREATE INDEX entry_expires ON entry (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE entry_value (
  revision INTEGER PRIMARY KEY,
  value    TEXT NOT NULL
) STRICT;
