package storetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// wantSecret checks a sealed value; nil means that there is none.
func wantSecret(t *testing.T, s store.Store, record, name string, want []byte) {
	t.Helper()
	got, err := s.Secret(t.Context(), record, name)
	if want == nil {
		if !errors.Is(err, store.ErrNotFound) || got != nil {
			t.Errorf("%s of %s: %q, %v, want nothing", name, record, got, err)
		}
		return
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s of %s: %q, %v, want %q", name, record, got, err, want)
	}
}

func testSecrets(t *testing.T, suite suite) {
	s := suite.client(t)
	wantSecret(t, s, "id-0001", "key", nil)
	if err := s.DeleteSecret(t.Context(), sample(1), "key"); err != nil {
		t.Errorf("delete in an absent store: %v", err)
	}
	first, other := mustInsert(t, s, sample(1)), mustInsert(t, s, sample(2))
	put := func(record store.Record, name string, sealed []byte) {
		t.Helper()
		if err := s.PutSecret(t.Context(), record, name, sealed); err != nil {
			t.Fatal(err)
		}
	}
	sealed := []byte("\x00\xff'; --\n")
	put(first, "key", sealed)
	put(first, "next key", bytes.Repeat([]byte{0xfe}, 1<<20))
	put(other, "key", []byte("of the other"))
	wantSecret(t, suite.client(t), first.ID, "key", sealed)
	wantSecret(t, s, first.ID, "next key", bytes.Repeat([]byte{0xfe}, 1<<20))
	wantSecret(t, s, first.ID, "absent", nil)
	wantSecret(t, s, "absent", "key", nil)
	wantSame(t, mustGet(t, s, first.ID), first)
	put(first, "key", []byte("changed"))
	wantSecret(t, s, first.ID, "key", []byte("changed"))

	for name, sealed := range map[string][]byte{"": []byte("a"), "empty": {}, "none": nil} {
		if err := s.PutSecret(t.Context(), first, name, sealed); err == nil {
			t.Errorf("%q took %q", name, sealed)
		}
	}
	second, err := s.Update(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutSecret(t.Context(), first, "key", []byte("stale")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a put under a stale record: %v", err)
	}
	if err := s.DeleteSecret(t.Context(), first, "key"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a delete under a stale record: %v", err)
	}
	wantSecret(t, s, first.ID, "key", []byte("changed"))
	for range 2 {
		if err := s.DeleteSecret(t.Context(), second, "key"); err != nil {
			t.Error(err)
		}
		wantSecret(t, s, first.ID, "key", nil)
	}

	if err := s.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	wantSecret(t, s, first.ID, "next key", nil)
	wantSecret(t, s, other.ID, "key", []byte("of the other"))
	if err := s.PutSecret(t.Context(), second, "key", sealed); !errors.Is(err, store.ErrConflict) || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a put to a deleted record: %v", err)
	}
	if err := s.DeleteSecret(t.Context(), second, "next key"); err != nil {
		t.Error(err)
	}
}
