ALTER TABLE sandlot.records ADD COLUMN workspace TEXT;
ALTER TABLE sandlot.records ADD COLUMN base_snapshot TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX records_base_snapshot ON sandlot.records (base_snapshot) WHERE base_snapshot <> '';

-- The registry of base snapshots. Optional times are '' where they have not come.
CREATE TABLE sandlot.snapshots (
  id            TEXT COLLATE "C" PRIMARY KEY,
  lane          TEXT COLLATE "C" NOT NULL,
  backend       TEXT COLLATE "C" NOT NULL,
  binding       TEXT COLLATE "C" NOT NULL,
  owner         TEXT COLLATE "C" NOT NULL,
  manifest_hash TEXT COLLATE "C" NOT NULL,
  version       TEXT NOT NULL,
  snapshot_id   TEXT COLLATE "C" NOT NULL,
  status        TEXT NOT NULL,
  is_current    BOOLEAN NOT NULL,
  seed          TEXT NOT NULL,
  manifest      TEXT,
  source_digest TEXT NOT NULL,
  size_bytes    BIGINT NOT NULL,
  last_error    TEXT NOT NULL,
  ready_at      TEXT NOT NULL,
  retired_at    TEXT NOT NULL,
  expires_at    TEXT NOT NULL,
  revision      BIGINT NOT NULL,
  created_at    TEXT COLLATE "C" NOT NULL,
  updated_at    TEXT COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX snapshots_current ON sandlot.snapshots (lane) WHERE is_current;
CREATE INDEX snapshots_lane ON sandlot.snapshots (lane);
