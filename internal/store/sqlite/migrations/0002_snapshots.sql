ALTER TABLE records ADD COLUMN workspace TEXT;
ALTER TABLE records ADD COLUMN base_snapshot TEXT NOT NULL DEFAULT '';
CREATE INDEX records_base_snapshot ON records (base_snapshot) WHERE base_snapshot <> '';

-- The registry of base snapshots. Optional times are '' where they have not come.
CREATE TABLE snapshots (
  id            TEXT PRIMARY KEY NOT NULL,
  lane          TEXT NOT NULL,
  backend       TEXT NOT NULL,
  binding       TEXT NOT NULL,
  owner         TEXT NOT NULL,
  manifest_hash TEXT NOT NULL,
  version       TEXT NOT NULL,
  snapshot_id   TEXT NOT NULL,
  status        TEXT NOT NULL,
  is_current    INTEGER NOT NULL,
  seed          TEXT NOT NULL,
  manifest      TEXT,
  source_digest TEXT NOT NULL,
  size_bytes    INTEGER NOT NULL,
  last_error    TEXT NOT NULL,
  ready_at      TEXT NOT NULL,
  retired_at    TEXT NOT NULL,
  expires_at    TEXT NOT NULL,
  revision      INTEGER NOT NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX snapshots_current ON snapshots (lane) WHERE is_current = 1;
CREATE INDEX snapshots_lane ON snapshots (lane);
