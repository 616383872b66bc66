package storetest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// wantSame compares records; documents by meaning, since a store may format them anew.
func wantSame(t *testing.T, got, want store.Record) {
	t.Helper()
	if !sameDocument(t, got.Spec, want.Spec) || !sameDocument(t, got.Intent, want.Intent) {
		t.Errorf("documents differ: got %s and %s, want %s and %s", got.Spec, got.Intent, want.Spec, want.Intent)
	}
	if !got.CreatedAt.Equal(want.CreatedAt) || !got.UpdatedAt.Equal(want.UpdatedAt) {
		t.Errorf("times differ: got %v and %v, want %v and %v", got.CreatedAt, got.UpdatedAt, want.CreatedAt, want.UpdatedAt)
	}
	if !sameDocument(t, got.Workspace, want.Workspace) {
		t.Errorf("got the workspace %s, want %s", got.Workspace, want.Workspace)
	}
	got.Spec, got.Intent, got.Workspace = want.Spec, want.Intent, want.Workspace
	got.CreatedAt, got.UpdatedAt = want.CreatedAt, want.UpdatedAt
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func sameDocument(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	var left, right any
	if err := json.Unmarshal(a, &left); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &right); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(left, right)
}

func mustInsert(t *testing.T, s store.Store, record store.Record) store.Record {
	t.Helper()
	inserted, err := s.Insert(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	return inserted
}

func mustGet(t *testing.T, s store.Store, id string) store.Record {
	t.Helper()
	record, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return record
}
