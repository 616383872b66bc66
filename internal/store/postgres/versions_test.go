package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func open(t *testing.T, database *testkit.Database) *Store {
	t.Helper()
	s := New(Config{URL: database.URL()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func record(id string) store.Record {
	return store.Record{ID: id, Kind: "session", Backend: "local", Binding: "b", Owner: "o", Name: "name of " + id}
}

func TestNewerMajorIsRefused(t *testing.T) {
	database := testkit.Postgres(t)
	first, err := open(t, database).Insert(t.Context(), record("id"))
	if err != nil {
		t.Fatal(err)
	}
	database.Exec(t, "UPDATE sandlot.schema_version SET major = major + 1")
	s := open(t, database)
	for name, call := range map[string]func() error{
		"Get":    func() error { _, err := s.Get(t.Context(), "id"); return err },
		"Find":   func() error { _, err := s.Find(t.Context(), store.Query{}); return err },
		"Owner":  func() error { _, err := s.Owner(t.Context()); return err },
		"Ensure": func() error { _, err := s.EnsureOwner(t.Context()); return err },
		"Insert": func() error { _, err := s.Insert(t.Context(), record("new")); return err },
		"Update": func() error { _, err := s.Update(t.Context(), first); return err },
		"Delete": func() error { return s.Delete(t.Context(), first) },
		"Lock":   func() error { _, err := s.Lock(t.Context(), "key"); return err },
	} {
		if err := call(); !errors.Is(err, store.ErrNewerSchema) || !strings.Contains(err.Error(), database.Name()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := database.Text(t, "SELECT string_agg(id, ',') FROM sandlot.records"); got != "id" {
		t.Errorf("the records are %s", got)
	}
}

// A later version adds columns and tables. This one reads and writes the store all the same.
func TestOneVersionBehind(t *testing.T) {
	database := testkit.Postgres(t)
	s := open(t, database)
	if _, err := s.Insert(t.Context(), record("id")); err != nil {
		t.Fatal(err)
	}
	database.Exec(t, `ALTER TABLE sandlot.records ADD COLUMN later TEXT NOT NULL DEFAULT '[]';
		UPDATE sandlot.records SET later = '[1]';
		UPDATE sandlot.schema_version SET minor = minor + 1`)
	s = open(t, database)
	found, err := s.Get(t.Context(), "id")
	if err != nil {
		t.Fatal(err)
	}
	found.Generation = 9
	if _, err := s.Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Insert(t.Context(), record("other")); err != nil {
		t.Fatal(err)
	}
	got := database.Text(t, "SELECT generation || later || minor FROM sandlot.records, sandlot.schema_version WHERE records.id = 'id'")
	if want := fmt.Sprintf("9[1]%d", sqlrows.Current().Minor+1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// This version reads a store of the first one without migrating it. Its first write migrates.
func TestFirstVersion(t *testing.T) {
	database := testkit.Postgres(t)
	script, err := migrations.ReadFile("migrations/0001_records.sql")
	if err != nil {
		t.Fatal(err)
	}
	database.Exec(t, `SET ROLE sandlot; CREATE SCHEMA sandlot; `+string(script)+`
		INSERT INTO sandlot.schema_version (id, major, minor) VALUES (1, 1, 1);
		INSERT INTO sandlot.records VALUES ('id', 'session', 'local', 'b', 'o', 'name', '', 1,
			NULL, true, '', NULL, 5, '2026-01-02T03:04:05.000000006Z', '2026-01-02T03:04:05.000000006Z')`)
	s := open(t, database)
	found, err := s.Get(t.Context(), "id")
	if err != nil || found.Workspace != nil || found.BaseSnapshot != "" || found.Revision != 5 {
		t.Fatalf("%+v, %v", found, err)
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
	if got := database.Text(t, "SELECT minor::text FROM sandlot.schema_version"); got != "1" {
		t.Errorf("reading migrated to %s", got)
	}
	found.BaseSnapshot = "snap"
	if _, err := s.Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if records, err := s.Find(t.Context(), store.Query{BaseSnapshot: "snap"}); err != nil || len(records) != 1 {
		t.Error(records, err)
	}
}

func TestPartOfAStore(t *testing.T) {
	for name, statement := range map[string]string{
		"no records":  "DROP TABLE sandlot.records CASCADE",
		"no column":   "ALTER TABLE sandlot.records DROP COLUMN spec",
		"no version":  "DELETE FROM sandlot.schema_version",
		"a bad time":  "UPDATE sandlot.records SET created_at = 'yesterday'",
		"no registry": "DROP TABLE sandlot.snapshots",
	} {
		database := testkit.Postgres(t)
		if _, err := open(t, database).Insert(t.Context(), record("id")); err != nil {
			t.Fatal(err)
		}
		database.Exec(t, statement)
		s := open(t, database)
		_, err := s.Get(t.Context(), "id")
		if name == "no registry" {
			_, err = s.FindSnapshots(t.Context(), store.SnapshotQuery{})
		}
		if !errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound) || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The numbers of both engines' migrations mean the same tables, so that one set of columns fits.
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
