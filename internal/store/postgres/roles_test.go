package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestReadOnlyRole(t *testing.T) {
	database := testkit.Postgres(t)
	reader := newStore(t, database.ReadOnlyURL())
	// A database that was never used.
	for name, err := range everyRead(t.Context(), reader) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := reader.Insert(t.Context(), testRecord(1))
	wantFailure(t, "Insert", err, store.ErrReadOnly)
	if err == nil || !strings.Contains(err.Error(), `CREATE SCHEMA sandlot AUTHORIZATION "reader"`) {
		t.Errorf("%v does not say what to grant", err)
	}
	if got := database.Text(t, "SELECT count(*)::text FROM pg_namespace WHERE nspname = 'sandlot'"); got != "0" {
		t.Error("reading made the schema")
	}

	writer := newStore(t, database.URL())
	record := mustInsert(t.Context(), t, writer, 1)
	if _, err := writer.InsertSnapshot(t.Context(), store.Snapshot{ID: "entry", Lane: "lane"}); err != nil {
		t.Fatal(err)
	}
	if err := writer.PutSecret(t.Context(), record, "key", []byte("sealed")); err != nil {
		t.Fatal(err)
	}
	for name, err := range everyRead(t.Context(), reader) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range everyWrite(t.Context(), reader) {
		wantFailure(t, name, err, store.ErrReadOnly)
	}
	_, err = reader.Lock(t.Context(), "key")
	wantFailure(t, "Lock", err, store.ErrReadOnly)
	if got, err := writer.Get(t.Context(), record.ID); err != nil || got.Revision != record.Revision {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRoleWithoutUsage(t *testing.T) {
	database := testkit.Postgres(t)
	mustInsert(t.Context(), t, newStore(t, database.URL()), 1)
	database.Exec(t, "ALTER SCHEMA sandlot OWNER TO postgres")
	s := newStore(t, database.URL())
	_, err := s.Get(t.Context(), "id-0001")
	if err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), `GRANT USAGE ON SCHEMA sandlot TO "sandlot"`) {
		t.Errorf("Get: %v", err)
	}
	_, err = s.Insert(t.Context(), testRecord(2))
	if !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), `GRANT USAGE ON SCHEMA sandlot TO "sandlot"`) {
		t.Errorf("Insert: %v", err)
	}
}

// A schema that an administrator made needs no privilege on the database.
func TestSchemaMadeByAnother(t *testing.T) {
	database := testkit.Postgres(t)
	database.Exec(t, `ALTER DATABASE `+database.Name()+` OWNER TO postgres`)
	s := newStore(t, database.URL())
	_, err := s.Insert(t.Context(), testRecord(1))
	wantFailure(t, "Insert", err, store.ErrReadOnly)
	if err == nil || !strings.Contains(err.Error(), "CREATE SCHEMA sandlot AUTHORIZATION") {
		t.Errorf("%v does not say what to grant", err)
	}
	database.Exec(t, `CREATE SCHEMA sandlot AUTHORIZATION sandlot`)
	if err := everyRead(t.Context(), s)["Find"]; err != nil {
		t.Errorf("reading an empty schema: %v", err)
	}
	mustInsert(t.Context(), t, s, 1)
}

func TestReadOnlyTransactions(t *testing.T) {
	database := testkit.Postgres(t)
	mustInsert(t.Context(), t, newStore(t, database.URL()), 1)
	database.Exec(t, `ALTER DATABASE `+database.Name()+` SET default_transaction_read_only = on`)
	s := newStore(t, database.URL())
	if err := everyRead(t.Context(), s)["Get"]; err != nil {
		t.Error(err)
	}
	_, err := s.Insert(t.Context(), testRecord(2))
	wantFailure(t, "Insert", err, store.ErrReadOnly)
	_, err = s.Lock(t.Context(), "key")
	wantFailure(t, "Lock", err, store.ErrReadOnly)
}
