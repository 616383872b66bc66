-- Sealed values of records. The reference removes them also for a program that does not know them.
CREATE TABLE sandlot.secrets (
  record     TEXT COLLATE "C" NOT NULL REFERENCES sandlot.records (id) ON DELETE CASCADE,
  name       TEXT COLLATE "C" NOT NULL,
  sealed     BYTEA NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (record, name)
);
