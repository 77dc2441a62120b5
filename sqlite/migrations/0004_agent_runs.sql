-- Runs of agents, and what goes out to channels (spec/session-tools.md, sections 4 to 6).

-- +goose Up
ALTER TABLE run ADD COLUMN account     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN session_key TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN created_at  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN attempt     INTEGER NOT NULL DEFAULT 1;
ALTER TABLE run ADD COLUMN version     INTEGER NOT NULL DEFAULT 1;
ALTER TABLE run ADD COLUMN error       TEXT;
ALTER TABLE run ADD COLUMN parent      TEXT;    -- id of the run in which it was asked for
ALTER TABLE run ADD COLUMN requester   TEXT;    -- key of the session that asked for it
ALTER TABLE run ADD COLUMN waits_on    INTEGER; -- row of the run whose end it waits for
ALTER TABLE run ADD COLUMN is_open     INTEGER NOT NULL DEFAULT 0; -- an active child of its requester
ALTER TABLE run ADD COLUMN delivery    TEXT NOT NULL DEFAULT '';   -- where its announcement stands
ALTER TABLE run ADD COLUMN due_at      INTEGER;
ALTER TABLE run ADD COLUMN work        TEXT;    -- JSON of what it is to do
ALTER TABLE run ADD COLUMN result      TEXT;
UPDATE run SET created_at = started_at,
  account = ifnull((SELECT s.account FROM session s WHERE s.id = run.session), 0),
  session_key = ifnull((SELECT s.key FROM session s WHERE s.id = run.session), '');

DROP INDEX run_session; -- another one follows
DROP INDEX run_floor;
CREATE INDEX run_floor ON run (floor) WHERE floor IS NOT NULL;
CREATE INDEX run_keyed ON run (account, session_key);
CREATE INDEX run_queued ON run (branch, id) WHERE status = 'queued';
CREATE INDEX run_due ON run (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX run_requested ON run (account, requester, id) WHERE requester IS NOT NULL;
CREATE INDEX run_open ON run (account, requester, id) WHERE is_open = 1;
CREATE INDEX run_open_child ON run (account, session_key, id) WHERE is_open = 1;
CREATE INDEX run_undelivered ON run (account, requester, id) WHERE delivery IN ('pending', 'in_progress', 'suspended');

INSERT INTO counter (name, value) VALUES ('delivery_sequence', 0);
CREATE TABLE delivery (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  account     INTEGER NOT NULL,
  session_key TEXT NOT NULL,
  route       TEXT NOT NULL,
  text        TEXT NOT NULL,
  status      TEXT NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0,
  key         TEXT NOT NULL,
  run_id      TEXT,
  error       TEXT,
  created_at  INTEGER NOT NULL,
  settled_at  INTEGER,
  retry_from  INTEGER NOT NULL DEFAULT 0,
  due_at      INTEGER,
  sequence    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX delivery_key ON delivery (account, key);
CREATE INDEX delivery_sequence ON delivery (account, sequence);
CREATE INDEX delivery_session ON delivery (account, session_key, sequence);
CREATE INDEX delivery_due ON delivery (due_at) WHERE due_at IS NOT NULL;

-- Which notices their watcher was woken for.
ALTER TABLE notice ADD COLUMN woken INTEGER NOT NULL DEFAULT 0;
CREATE INDEX notice_unwoken ON notice (id) WHERE woken = 0;
