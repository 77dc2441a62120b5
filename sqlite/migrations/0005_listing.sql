-- What sessions_list narrows by, found through keys (spec/session-tools.md, section 2).

-- +goose Up
ALTER TABLE session ADD COLUMN lane TEXT NOT NULL DEFAULT 'other'; -- what its key and its chat type say it is
ALTER TABLE session ADD COLUMN name TEXT;                          -- its key without the agent, when that is one word
-- What a search looks into. The letters of a row that was removed have to be told to the index once more.
ALTER TABLE session ADD COLUMN search TEXT GENERATED ALWAYS AS (
  ifnull(display_name, '') || char(10) || ifnull(label, '') || char(10) || ifnull(subject, '') || char(10) || public_id || char(10)
  || key || char(10) || ifnull(details ->> 'modelOverride', '') || char(10) || ifnull(settings ->> 'model_provider', '') || '/'
  || ifnull(settings ->> 'model_name', '')) VIRTUAL;

UPDATE session SET name = CASE WHEN lower(key) LIKE 'agent:%:%' THEN substr(key, 7 + instr(substr(key, 7), ':')) ELSE key END;
UPDATE session SET lane = CASE
  WHEN lower(name) LIKE 'cron:%' THEN 'cron' WHEN lower(name) LIKE 'hook:%' THEN 'hook'
  WHEN lower(name) LIKE 'node-%' OR lower(name) LIKE 'node:%' THEN 'node'
  WHEN chat_type IN ('group', 'channel') OR instr(key, ':group:') > 0 OR instr(key, ':channel:') > 0 THEN 'group'
  ELSE 'other' END;
UPDATE session SET name = NULL WHERE instr(name, ':') > 0;

DROP INDEX session_listed;
DROP INDEX session_listed_archived;
DROP INDEX session_spawned_by;
DROP INDEX session_parent;
DROP INDEX session_owner;

-- One index for each way to narrow; all of them end with the order of the list.
CREATE INDEX session_lane ON session
  (account, (archived_at IS NOT NULL), lane, ifnull(pinned_at, 0) DESC, updated_at DESC, key) WHERE deleted_at IS NULL;
CREATE INDEX session_agent ON session
  (account, (archived_at IS NOT NULL), agent, lane, ifnull(pinned_at, 0) DESC, updated_at DESC, key) WHERE deleted_at IS NULL;
CREATE INDEX session_name ON session
  (account, (archived_at IS NOT NULL), name, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND name IS NOT NULL;
CREATE INDEX session_label ON session
  (account, (archived_at IS NOT NULL), label, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND label IS NOT NULL;
CREATE INDEX session_spawned_by ON session
  (account, (archived_at IS NOT NULL), spawned_by, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND spawned_by IS NOT NULL;
CREATE INDEX session_parent_key ON session
  (account, (archived_at IS NOT NULL), parent_key, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND parent_key IS NOT NULL;
CREATE INDEX session_owner_key ON session
  (account, (archived_at IS NOT NULL), owner_key, ifnull(pinned_at, 0) DESC, updated_at DESC, key)
  WHERE deleted_at IS NULL AND owner_key IS NOT NULL;

-- What a session did last; rows that came from elsewhere are not its doing.
CREATE INDEX run_worked ON run (session, (kind = 'ingest'), id);

CREATE VIRTUAL TABLE session_search USING fts5 (search, content = 'session', content_rowid = 'id', tokenize = 'trigram', detail = 'none', columnsize = 0);
INSERT INTO session_search (rowid, search) SELECT id, search FROM session;

-- +goose StatementBegin
CREATE TRIGGER session_search_added AFTER INSERT ON session BEGIN
  INSERT INTO session_search (rowid, search) VALUES (new.id, new.search);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER session_search_changed AFTER UPDATE OF display_name, label, subject, settings, details ON session
WHEN old.search <> new.search BEGIN
  INSERT INTO session_search (session_search, rowid, search) VALUES ('delete', old.id, old.search);
  INSERT INTO session_search (rowid, search) VALUES (new.id, new.search);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER session_search_removed AFTER DELETE ON session BEGIN
  INSERT INTO session_search (session_search, rowid, search) VALUES ('delete', old.id, old.search);
END;
-- +goose StatementEnd
