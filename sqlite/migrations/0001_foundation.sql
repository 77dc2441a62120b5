-- Accounts, sessions, branches, floors with their content, and governed state. All times are milliseconds since the
-- Unix epoch. design.md section 2 tells the layout of state and why it is so.

-- +goose Up
PRAGMA application_id = 1936028524; -- "sesl": the file is a database of this project

CREATE TABLE counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter (name, value) VALUES ('mutation_seq', 0);

CREATE TABLE account (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  namespaces INTEGER NOT NULL DEFAULT 0,
  items      INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

-- Keys are kept as digests.
CREATE TABLE api_key (
  id         TEXT PRIMARY KEY,
  account    INTEGER NOT NULL,
  name       TEXT NOT NULL,
  digest     BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  id         INTEGER PRIMARY KEY,
  public_id  TEXT NOT NULL UNIQUE,
  account    INTEGER NOT NULL,
  key        TEXT NOT NULL,
  agent      TEXT NOT NULL,
  title      TEXT,
  title_fold TEXT,                      -- in lower case, for the search
  label      TEXT,
  channel    TEXT,
  status     TEXT NOT NULL,
  settings   TEXT NOT NULL,
  worldbook  INTEGER,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  pinned_at   INTEGER,
  archived_at INTEGER,
  deleted_at  INTEGER,                  -- also of one that was reset: its transcript stays until its key is deleted
  purge       TEXT                      -- what the clean-up has yet to remove: state, or all
) STRICT;
CREATE UNIQUE INDEX session_key ON session (account, key) WHERE deleted_at IS NULL;
CREATE INDEX session_retired ON session (account, key, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX session_purge ON session (purge) WHERE purge IS NOT NULL;
CREATE INDEX session_worldbook ON session (worldbook) WHERE worldbook IS NOT NULL;
CREATE INDEX session_created ON session (account, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX session_updated ON session (account, updated_at, id) WHERE deleted_at IS NULL;

CREATE TABLE worldbook (
  id          INTEGER PRIMARY KEY,
  public_id   TEXT NOT NULL UNIQUE,
  account     INTEGER NOT NULL,
  name        TEXT NOT NULL,
  version     INTEGER NOT NULL,
  entry_count INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  book        TEXT NOT NULL
) STRICT;
CREATE INDEX worldbook_account ON worldbook (account, created_at, id);

-- A deleted branch stays as a tombstone: its mutations are kept and point at it.
CREATE TABLE branch (
  id           INTEGER PRIMARY KEY,
  session      INTEGER NOT NULL,
  name         TEXT NOT NULL,
  source_floor INTEGER,
  fork_seq     INTEGER NOT NULL DEFAULT 0,
  based        INTEGER NOT NULL DEFAULT 0,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  deleted_at   INTEGER
) STRICT;
CREATE UNIQUE INDEX branch_name ON branch (session, name) WHERE deleted_at IS NULL;
CREATE INDEX branch_named ON branch (name) WHERE deleted_at IS NULL;
CREATE INDEX branch_session ON branch (session);
CREATE INDEX branch_source ON branch (source_floor) WHERE source_floor IS NOT NULL;

CREATE TABLE floor (
  id                 INTEGER PRIMARY KEY,
  public_id          TEXT NOT NULL UNIQUE,
  session            INTEGER NOT NULL,
  branch             INTEGER NOT NULL,
  parent             INTEGER,
  floor_no           INTEGER NOT NULL,
  state              TEXT NOT NULL,
  token_in           INTEGER NOT NULL DEFAULT 0,
  token_out          INTEGER NOT NULL DEFAULT 0,
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  superseded_at      INTEGER,
  superseded_by      INTEGER,
  replaces           INTEGER,           -- the floor it will supersede; hides it from lists until then
  commit_seq         INTEGER,           -- place in the log of its first commit; null for floors without snapshot
  first_committed_at INTEGER,
  snapshot_seq       INTEGER,           -- place in the log of its latest commit
  committed_at       INTEGER,
  deleted_at         INTEGER
) STRICT;
CREATE UNIQUE INDEX floor_number ON floor (branch, floor_no)
  WHERE superseded_at IS NULL AND replaces IS NULL AND deleted_at IS NULL;
CREATE INDEX floor_generating ON floor (branch) WHERE state = 'generating';
CREATE INDEX floor_commit ON floor (branch, commit_seq) WHERE commit_seq IS NOT NULL;
CREATE INDEX floor_session ON floor (session, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX floor_parent ON floor (parent) WHERE parent IS NOT NULL;

CREATE TABLE content_page (
  id        INTEGER PRIMARY KEY,
  public_id TEXT NOT NULL UNIQUE,
  floor     INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  page_no   INTEGER NOT NULL,
  active    INTEGER NOT NULL,
  version   INTEGER NOT NULL,
  summaries TEXT
) STRICT;
CREATE INDEX content_page_floor ON content_page (floor);

CREATE TABLE message (
  id             INTEGER PRIMARY KEY,
  public_id      TEXT NOT NULL UNIQUE,
  page           INTEGER NOT NULL,
  seq            INTEGER NOT NULL,
  role           TEXT NOT NULL,
  content_format TEXT NOT NULL,
  token_count    INTEGER NOT NULL,
  hidden         INTEGER NOT NULL,
  source         TEXT,
  created_at     INTEGER NOT NULL,
  content        TEXT NOT NULL,
  extra          TEXT
) STRICT;
CREATE INDEX message_page ON message (page, seq);

-- The row number of a run is the fencing token of its lease, so it is never used twice.
CREATE TABLE run (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id   TEXT NOT NULL UNIQUE,
  session     INTEGER NOT NULL,
  branch      INTEGER NOT NULL,
  floor       INTEGER,
  kind        TEXT NOT NULL,
  run_type    TEXT NOT NULL,
  status      TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  started_at  INTEGER NOT NULL,
  ended_at    INTEGER,
  error_code  TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX run_lease ON run (branch) WHERE status = 'running';
CREATE INDEX run_running ON run (session) WHERE status = 'running';
CREATE INDEX run_session ON run (session);
CREATE INDEX run_floor ON run (floor);

CREATE TABLE namespace (
  id         INTEGER PRIMARY KEY,
  session    INTEGER NOT NULL,
  name       TEXT NOT NULL,
  built_in   INTEGER NOT NULL,
  owner_type TEXT NOT NULL,
  owner_id   TEXT NOT NULL,
  items      INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX namespace_name ON namespace (session, name);

-- first_seq is null while only discarded mutations name the slot: it is not materialised then.
CREATE TABLE slot (
  id        INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL,
  name      TEXT NOT NULL,
  first_seq INTEGER
) STRICT;
CREATE UNIQUE INDEX slot_name ON slot (namespace, name);
CREATE INDEX slot_listed ON slot (namespace, name, first_seq) WHERE first_seq IS NOT NULL;

CREATE TABLE mutation (
  seq            INTEGER PRIMARY KEY,
  branch         INTEGER NOT NULL,
  slot           INTEGER NOT NULL,
  on_line        INTEGER NOT NULL,      -- moved the head of its branch
  present        INTEGER NOT NULL,
  kind           INTEGER NOT NULL,
  status         INTEGER NOT NULL,
  safety         INTEGER NOT NULL,      -- what may happen to it when its turn runs again
  floor          INTEGER,
  size           INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  run_id         TEXT,
  request_id     TEXT,
  discard_reason TEXT,
  value          TEXT
) STRICT;
CREATE UNIQUE INDEX mutation_line ON mutation (branch, slot, seq DESC) WHERE on_line = 1;
CREATE INDEX mutation_off_line ON mutation (branch, seq) WHERE on_line = 0;
CREATE INDEX mutation_floor ON mutation (floor) WHERE floor IS NOT NULL;

CREATE TABLE visible (
  branch INTEGER NOT NULL,
  slot   INTEGER NOT NULL,
  seq    INTEGER NOT NULL,              -- the own head, else what was inherited
  own    INTEGER NOT NULL,              -- which of the two; a branch can inherit its own head back, over a fork of a fork
  base   INTEGER,                       -- what the branch inherited at its fork
  PRIMARY KEY (branch, slot)
) STRICT, WITHOUT ROWID;

-- Exceptions only: what a floor shows other than its place in the log says. seq is null for an empty cell.
CREATE TABLE floor_slot (
  floor INTEGER NOT NULL,
  slot  INTEGER NOT NULL,
  seq   INTEGER,
  PRIMARY KEY (floor, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX floor_slot_seq ON floor_slot (seq) WHERE seq IS NOT NULL;
