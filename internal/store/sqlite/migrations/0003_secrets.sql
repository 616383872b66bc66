-- Sealed values of records. The trigger removes them also for a program that does not know them.
CREATE TABLE secrets (
  record     TEXT NOT NULL,
  name       TEXT NOT NULL,
  sealed     BLOB NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (record, name)
) STRICT;

CREATE TRIGGER records_secrets AFTER DELETE ON records
BEGIN
  DELETE FROM secrets WHERE record = OLD.id;
END;
