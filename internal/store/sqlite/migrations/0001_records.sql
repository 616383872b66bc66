-- Migrations only add: a program one version behind goes on using the store.
CREATE TABLE schema_version (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  major INTEGER NOT NULL,
  minor INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
  key   TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT;

-- Times are UTC, RFC 3339 with nine digits of a second.
CREATE TABLE records (
  id           TEXT PRIMARY KEY NOT NULL,
  kind         TEXT NOT NULL,
  backend      TEXT NOT NULL,
  binding      TEXT NOT NULL,
  owner        TEXT NOT NULL,
  name         TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  generation   INTEGER NOT NULL,
  spec         TEXT,
  committed    INTEGER NOT NULL,
  attachment   TEXT NOT NULL,
  intent       TEXT,
  revision     INTEGER NOT NULL,
  created_at   TEXT NOT NULL,
  updated_at   TEXT NOT NULL,
  UNIQUE (backend, binding, owner, name)
) STRICT;

-- Who held a record when it was deleted, so that a state whose own delete was cut short can be told
-- from one whose sandbox somebody else deleted.
CREATE TABLE deletions (
  record     TEXT PRIMARY KEY NOT NULL,
  attachment TEXT NOT NULL,
  deleted_at TEXT NOT NULL
) STRICT;

CREATE INDEX records_workspace ON records (workspace_id) WHERE workspace_id <> '';
