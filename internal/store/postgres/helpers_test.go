package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
)

// soon bounds what must not take long.
const soon = 20 * time.Second

func newStore(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s := postgres.New(postgres.Config{URL: address})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func testRecord(number int) store.Record {
	return store.Record{
		ID: fmt.Sprintf("id-%04d", number), Kind: "session", Backend: "local", Binding: "b", Owner: "o",
		Name: fmt.Sprintf("name-%04d", number), Spec: []byte(`{"cpus":1}`),
	}
}

func mustInsert(ctx context.Context, t *testing.T, s store.Store, number int) store.Record {
	t.Helper()
	record, err := s.Insert(ctx, testRecord(number))
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func mustLock(t *testing.T, s store.Store, key string) (store.Lock, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	held, err := s.Lock(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Unlock() })
	return held, held.Context(t.Context())
}

// wantFailure checks that err is target, names the database and ends with a way on.
func wantFailure(t *testing.T, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: %v, want %v", what, err, target)
		return
	}
	if !strings.Contains(err.Error(), "127.0.0.1") && !strings.Contains(err.Error(), "/test") {
		t.Errorf("%s: %q does not name the database", what, err)
	}
	if !strings.HasSuffix(err.Error(), ".") {
		t.Errorf("%s: %q has no remedy", what, err)
	}
}

// everyRead and everyWrite make one call of each kind and return the errors by name.
func everyRead(ctx context.Context, s store.Store) map[string]error {
	_, ownerErr := s.Owner(ctx)
	_, getErr := s.Get(ctx, "id-0001")
	_, findErr := s.Find(ctx, store.Query{})
	_, _, deletedErr := s.Deleted(ctx, "id-0001")
	_, snapshotsErr := s.FindSnapshots(ctx, store.SnapshotQuery{})
	_, secretErr := s.Secret(ctx, "id-0001", "key")
	return map[string]error{
		"Owner": ownerErr, "Get": getErr, "Find": findErr, "Deleted": deletedErr, "FindSnapshots": snapshotsErr, "Secret": secretErr,
	}
}

func everyWrite(ctx context.Context, s store.Store) map[string]error {
	_, ownerErr := s.EnsureOwner(ctx)
	_, insertErr := s.Insert(ctx, testRecord(77))
	_, updateErr := s.Update(ctx, testRecord(1))
	deleteErr := s.Delete(ctx, testRecord(1))
	snapshot := store.Snapshot{ID: "entry", Lane: "lane"}
	_, addErr := s.InsertSnapshot(ctx, snapshot)
	_, changeErr := s.UpdateSnapshot(ctx, snapshot)
	_, promoteErr := s.PromoteSnapshot(ctx, "lane", snapshot)
	removeErr := s.DeleteSnapshot(ctx, snapshot)
	secretErr := s.PutSecret(ctx, testRecord(1), "key", []byte("sealed"))
	forgetErr := s.DeleteSecret(ctx, testRecord(1), "key")
	return map[string]error{
		"EnsureOwner": ownerErr, "Insert": insertErr, "Update": updateErr, "Delete": deleteErr,
		"InsertSnapshot": addErr, "UpdateSnapshot": changeErr, "PromoteSnapshot": promoteErr, "DeleteSnapshot": removeErr,
		"PutSecret": secretErr, "DeleteSecret": forgetErr,
	}
}
