package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func TestEffects(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var seen []string
	s := New(Config{Dir: dir, Observer: func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		if effect.System != "store" || !effect.Write {
			t.Errorf("effect %+v", effect)
		}
		seen = append(seen, string(phase)+" "+effect.Action+" "+effect.Object)
	}})
	expect := func(step string, err error, actions ...string) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", step, err)
		}
		var want []string
		for _, action := range actions {
			want = append(want, "before "+action, "after "+action)
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%s had the effects %q, want %q", step, seen, want)
		}
		seen = nil
	}
	if err := readAll(t.Context(), s, "id"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	expect("reading", nil)
	held, err := s.Lock(t.Context(), "key")
	expect("lock", errors.Join(err, held.Unlock()), "lock key")
	_, err = s.EnsureOwner(t.Context())
	expect("first write", err, "migrate sandlot.db", "make owner owner")
	_, err = s.EnsureOwner(t.Context())
	expect("owner again", err)
	record, err := s.Insert(t.Context(), testRecord(1))
	expect("insert", err, "insert record name-0001")
	expect("close", s.Close())
	record, err = s.Update(t.Context(), record)
	expect("update", err, "update record name-0001")
	err = readAll(t.Context(), s, record.ID)
	expect("reading an existing store", err)
	snapshot, err := s.InsertSnapshot(t.Context(), store.Snapshot{ID: "entry", Lane: "lane", ManifestHash: "hash"})
	expect("insert a snapshot", err, "insert snapshot hash")
	snapshot, err = s.UpdateSnapshot(t.Context(), snapshot)
	expect("update a snapshot", err, "update snapshot hash")
	snapshot, err = s.PromoteSnapshot(t.Context(), "lane", snapshot)
	expect("promote a snapshot", err, "promote snapshot hash")
	_, err = s.PromoteSnapshot(t.Context(), "lane", store.Snapshot{})
	expect("promote nothing", err, "promote snapshot lane")
	snapshot.Revision++
	expect("delete a snapshot", s.DeleteSnapshot(t.Context(), snapshot), "delete snapshot hash")
	expect("put a secret", s.PutSecret(t.Context(), record, "key", []byte("sealed")), "put secret name-0001/key")
	expect("delete a secret", s.DeleteSecret(t.Context(), record, "key"), "delete secret name-0001/key")
	err = s.Delete(t.Context(), record)
	expect("delete", err, "delete record name-0001")
	expect("close", s.Close())
}
