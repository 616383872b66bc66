package sqlite

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
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
		ALTER TABLE records ADD COLUMN snapshots TEXT NOT NULL DEFAULT '[]';
		CREATE TABLE leases (id TEXT PRIMARY KEY) STRICT;
		UPDATE records SET snapshots = '[1]';
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
	execute(t, dir, `CREATE TABLE checked (ok INTEGER CHECK (ok = 1));
		INSERT INTO checked SELECT count(*) FROM records WHERE generation = 9 AND snapshots = '[1]';
		INSERT INTO checked SELECT count(*) FROM schema_version WHERE minor = 2;`)
}

// A later version that only reads does not migrate: it takes fallbacks for what is not there.
func TestOneVersionAhead(t *testing.T) {
	columns := []column{{name: "id", since: 1}, {name: "snapshots", since: 2, fallback: "'[]'"}}
	if got, want := selectList(columns, 1), "id, '[]' AS snapshots"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := selectList(columns, 2), "id, snapshots"; got != want {
		t.Errorf("got %s, want %s", got, want)
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
		if number, err := migrationNumber(name); err != nil || number != i+1 {
			t.Errorf("%s stands in place %d: %v", name, i+1, err)
		}
	}
	if len(names) != current.minor {
		t.Errorf("the schema is %d, there are %d migrations", current.minor, len(names))
	}
	for _, c := range recordColumns() {
		if c.since > current.minor || c.since > 1 && c.fallback == "" {
			t.Errorf("column %+v", c)
		}
	}
	if _, err := migrationNumber("migrations/records.sql"); err == nil {
		t.Error("a migration without a number is accepted")
	}
}
