-- What extensions keep on branches (spec/extension-state.md). What they keep for a whole session is an entry of its home.

-- +goose Up
-- own tells what was written on the branch from what it inherited at its fork. A dropped one has no value.
CREATE TABLE extension (
  branch   INTEGER NOT NULL,
  plugin   TEXT NOT NULL,
  own      INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  dropped  INTEGER NOT NULL,
  PRIMARY KEY (branch, plugin, own, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX extension_revision ON extension (revision);

-- Branches that inherited a value show the same row.
CREATE TABLE extension_value (
  revision INTEGER PRIMARY KEY,
  value    TEXT NOT NULL
) STRICT;
