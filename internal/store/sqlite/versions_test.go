package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

func TestNewerMajorIsRefused(t *testing.T) {
	dir := filledStore(t, 1)
	execute(t, dir, `UPDATE schema_version SET major = major + 1`)
	before := tree(t, dir)
	s := newStore(t, dir)
	for name, call := range map[string]func() error{
		"Get":    func() error { _, err := s.Get(t.Context(), "id-0000"); return err },
		"Find":   func() error { _, err := s.Find(t.Context(), store.Query{}); return err },
		"Owner":  func() error { _, err := s.Owner(t.Context()); return err },
		"Ensure": func() error { _, err := s.EnsureOwner(t.Context()); return err },
	} {
		if err := call(); !errors.Is(err, store.ErrNewerSchema) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Errorf("before: %v\nafter: %v", before, after)
	}
	if _, err := s.Insert(t.Context(), testRecord(7)); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("Insert: %v", err)
	}
	if err := s.Delete(t.Context(), testRecord(0)); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("Delete: %v", err)
	}
}

// A later version adds columns and tables. This one reads and writes the store all the same, and
// loses nothing of the later version's.
func TestOneVersionBehind(t *testing.T) {
	dir := filledStore(t, 1)
	execute(t, dir, `
		ALTER TABLE records ADD COLUMN later TEXT NOT NULL DEFAULT '[]';
		CREATE TABLE leases (id TEXT PRIMARY KEY) STRICT;
		UPDATE records SET later = '[1]';
		UPDATE schema_version SET minor = minor + 1;`)
	s := newStore(t, dir)
	record, err := s.Get(t.Context(), "id-0000")
	if err != nil {
		t.Fatal(err)
	}
	record.Generation = 9
	if _, err := s.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), testRecord(1)); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 2 {
		t.Fatal(records, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, fmt.Sprintf(`CREATE TABLE checked (ok INTEGER CHECK (ok = 1));
		INSERT INTO checked SELECT count(*) FROM records WHERE generation = 9 AND later = '[1]';
		INSERT INTO checked SELECT count(*) FROM schema_version WHERE minor = %d;`, sqlrows.Current().Minor+1))
}

// This version reads a store of the first one without migrating it: it takes fallbacks for what
// is not there. Its first write migrates.
func TestFirstVersion(t *testing.T) {
	dir := t.TempDir()
	script, err := migrations.ReadFile("migrations/0001_records.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, dir, string(script)+`
		INSERT INTO schema_version (id, major, minor) VALUES (1, 1, 1);
		INSERT INTO records VALUES ('id-0000', 'session', 'local', 'b', 'o', 'name-0000', '', 1,
			NULL, 1, '', NULL, 5, '2026-01-02T03:04:05.000000006Z', '2026-01-02T03:04:05.000000006Z');`)
	before := tree(t, filepath.Join(dir, databaseName))
	s := newStore(t, dir)
	record, err := s.Get(t.Context(), "id-0000")
	if err != nil || record.Workspace != nil || record.BaseSnapshot != "" || record.Revision != 5 {
		t.Fatalf("%+v, %v", record, err)
	}
	if records, err := s.Find(t.Context(), store.Query{BaseSnapshot: "snap"}); err != nil || len(records) != 0 {
		t.Error(records, err)
	}
	if _, err := s.Secret(t.Context(), "id", "key"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if snapshots, err := s.FindSnapshots(t.Context(), store.SnapshotQuery{Lane: "lane"}); err != nil || len(snapshots) != 0 {
		t.Error(snapshots, err)
	}
	if after := tree(t, filepath.Join(dir, databaseName)); !maps.Equal(before, after) {
		t.Error("a read changed the database")
	}
	record.Workspace, record.BaseSnapshot = []byte(`{"a":1}`), "snap"
	if _, err := s.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Find(t.Context(), store.Query{BaseSnapshot: "snap"}); err != nil || len(records) != 1 {
		t.Error(records, err)
	}
	// A program of the first version names its columns, so it leaves the later ones alone.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, `UPDATE records SET generation = 2, revision = 7 WHERE id = 'id-0000'`)
	record, err = s.Get(t.Context(), "id-0000")
	if err != nil || string(record.Workspace) != `{"a":1}` || record.BaseSnapshot != "snap" || record.Generation != 2 {
		t.Errorf("%+v, %v", record, err)
	}
}

// A process killed while it made the store leaves a file without tables.
func TestUnfinishedStore(t *testing.T) {
	dir := t.TempDir()
	if err := New(Config{Dir: dir}).create(); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, dir)
	if err := readAll(t.Context(), s, "id"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), testRecord(1)); err != nil {
		t.Error(err)
	}
	if _, err := s.Insert(t.Context(), testRecord(1)); err != nil {
		t.Error(err)
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if number, err := sqlrows.MigrationNumber(name); err != nil || number != i+1 {
			t.Errorf("%s stands in place %d: %v", name, i+1, err)
		}
	}
	if minor := sqlrows.Current().Minor; len(names) != minor {
		t.Errorf("the schema is %d, there are %d migrations", minor, len(names))
	}
}

// A program that knows no secrets must not leave those of a record that it deletes.
func TestOlderProgramRemovesSecrets(t *testing.T) {
	dir := filledStore(t, 1)
	s := newStore(t, dir)
	record, err := s.Get(t.Context(), "id-0000")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutSecret(t.Context(), record, "key", []byte("sealed")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, `DELETE FROM records; CREATE TABLE checked (ok INTEGER CHECK (ok = 0));
		INSERT INTO checked SELECT count(*) FROM secrets;`)
}
