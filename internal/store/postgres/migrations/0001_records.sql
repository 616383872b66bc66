-- Migrations only add: a program one version behind goes on using the store. The tables are those of
-- the embedded store, number by number, so that one set of statements serves both.
CREATE TABLE sandlot.schema_version (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  major INTEGER NOT NULL,
  minor INTEGER NOT NULL
);

CREATE TABLE sandlot.meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- Times are texts, UTC, RFC 3339 with nine digits of a second, of which PostgreSQL keeps six.
-- Documents are texts too: JSONB refuses the escape of a NUL, which is a valid one.
CREATE TABLE sandlot.records (
  id           TEXT COLLATE "C" PRIMARY KEY,
  kind         TEXT COLLATE "C" NOT NULL,
  backend      TEXT COLLATE "C" NOT NULL,
  binding      TEXT COLLATE "C" NOT NULL,
  owner        TEXT COLLATE "C" NOT NULL,
  name         TEXT COLLATE "C" NOT NULL,
  workspace_id TEXT COLLATE "C" NOT NULL,
  generation   BIGINT NOT NULL,
  spec         TEXT,
  committed    BOOLEAN NOT NULL,
  attachment   TEXT NOT NULL,
  intent       TEXT,
  revision     BIGINT NOT NULL,
  created_at   TEXT COLLATE "C" NOT NULL,
  updated_at   TEXT COLLATE "C" NOT NULL,
  UNIQUE (backend, binding, owner, name)
);

CREATE INDEX records_workspace ON sandlot.records (workspace_id) WHERE workspace_id <> '';

CREATE TABLE sandlot.deletions (
  record     TEXT COLLATE "C" PRIMARY KEY,
  attachment TEXT NOT NULL,
  deleted_at TEXT COLLATE "C" NOT NULL
);

-- Who holds, or held last, each lock. The advisory lock of the same number is the lock itself; the
-- token fences the writes of a holder that lost it.
CREATE TABLE sandlot.claims (
  id     BIGINT PRIMARY KEY,
  key    TEXT NOT NULL,
  token  TEXT NOT NULL,
  holder TEXT NOT NULL,
  since  TEXT NOT NULL
);
