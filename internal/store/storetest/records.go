package storetest

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func testAbsentStore(t *testing.T, suite suite) {
	s := suite.client(t)
	if owner, err := s.Owner(t.Context()); err != nil || owner != "" {
		t.Errorf("Owner: %q, %v", owner, err)
	}
	if _, err := s.Get(t.Context(), "id"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 0 {
		t.Errorf("Find: %v, %v", records, err)
	}
	if err := s.Delete(t.Context(), sample(1)); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := s.Update(t.Context(), sample(1)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Update: %v", err)
	}
}

func testInsert(t *testing.T, suite suite) {
	s := suite.client(t)
	before := time.Now().Add(-time.Second)
	for number, change := range []func(*store.Record){
		func(*store.Record) {},
		func(r *store.Record) {
			r.WorkspaceID, r.Attachment, r.Generation, r.Committed = "", "", 0, false
			r.Spec, r.Intent, r.Workspace, r.BaseSnapshot = nil, nil, nil, ""
		},
	} {
		record := sample(number)
		change(&record)
		record.Revision, record.CreatedAt = 77, time.Unix(1, 0) // the store sets these itself
		inserted := mustInsert(t, s, record)
		if inserted.Revision == 77 || inserted.Revision == 0 {
			t.Errorf("revision %d", inserted.Revision)
		}
		if inserted.CreatedAt.Before(before) || !inserted.UpdatedAt.Equal(inserted.CreatedAt) {
			t.Errorf("times %v and %v", inserted.CreatedAt, inserted.UpdatedAt)
		}
		if inserted.CreatedAt.Location() != time.UTC {
			t.Errorf("created at %v, not UTC", inserted.CreatedAt)
		}
		want := record
		want.Revision, want.CreatedAt, want.UpdatedAt = inserted.Revision, inserted.CreatedAt, inserted.UpdatedAt
		wantSame(t, inserted, want)
		got := mustGet(t, suite.client(t), record.ID)
		wantSame(t, got, want)
		if got.CreatedAt.Location() != time.UTC {
			t.Errorf("read as created at %v, not UTC", got.CreatedAt)
		}
	}
	if _, err := s.Get(t.Context(), "other"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of an absent record: %v", err)
	}
}

func testInsertTaken(t *testing.T, suite suite) {
	s := suite.client(t)
	first := mustInsert(t, s, sample(1))
	for _, change := range []struct {
		name string
		edit func(*store.Record)
		free bool
	}{
		{"same key", func(r *store.Record) { r.ID = "new" }, false},
		{"same key, other kind", func(r *store.Record) { r.ID, r.Kind, r.WorkspaceID = "new", "session", "" }, false},
		{"same id", func(r *store.Record) { r.Name = "new" }, false},
		{"other backend", func(r *store.Record) { r.ID, r.Backend = "b", "docker" }, true},
		{"other binding", func(r *store.Record) { r.ID, r.Binding = "i", "binding-2" }, true},
		{"other owner", func(r *store.Record) { r.ID, r.Owner = "o", "owner-2" }, true},
		{"other name", func(r *store.Record) { r.ID, r.Name = "n", "name-2" }, true},
	} {
		record := sample(1)
		change.edit(&record)
		_, err := s.Insert(t.Context(), record)
		if change.free && err != nil {
			t.Errorf("%s: %v", change.name, err)
		}
		if !change.free && !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v, want a conflict", change.name, err)
		}
	}
	wantSame(t, mustGet(t, s, first.ID), first)
}

func testInsertBad(t *testing.T, suite suite) {
	s := suite.client(t)
	for name, edit := range map[string]func(*store.Record){
		"no id":         func(r *store.Record) { r.ID = "" },
		"bad spec":      func(r *store.Record) { r.Spec = []byte("{") },
		"bad intent":    func(r *store.Record) { r.Intent = []byte("") },
		"bad workspace": func(r *store.Record) { r.Workspace = []byte("x") },
	} {
		record := sample(1)
		edit(&record)
		if _, err := s.Insert(t.Context(), record); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 0 {
		t.Errorf("found %v, %v", records, err)
	}
}

func testFind(t *testing.T, suite suite) {
	s := suite.client(t)
	edits := []func(*store.Record){
		func(*store.Record) {},
		func(r *store.Record) { r.Backend = "docker" },
		func(r *store.Record) { r.Binding = "binding-2" },
		func(r *store.Record) { r.Owner = "owner-2" },
		func(r *store.Record) { r.Kind = "session" },
		func(r *store.Record) { r.WorkspaceID, r.BaseSnapshot = "other", "snap-2" },
	}
	want := map[string]store.Record{}
	for number, edit := range edits {
		// Names fall while numbers rise, so an order by insertion would show.
		record := sample(number)
		record.Name = "name-" + strconv.Itoa(9-number)
		edit(&record)
		want[record.ID] = mustInsert(t, s, record)
	}
	for _, c := range []struct {
		query store.Query
		ids   []string
	}{
		{store.Query{}, []string{"id-0005", "id-0004", "id-0003", "id-0002", "id-0001", "id-0000"}},
		{store.Query{Backend: "docker"}, []string{"id-0001"}},
		{store.Query{Binding: "binding-2"}, []string{"id-0002"}},
		{store.Query{Owner: "owner-2"}, []string{"id-0003"}},
		{store.Query{Kind: "session"}, []string{"id-0004"}},
		{store.Query{WorkspaceID: "other"}, []string{"id-0005"}},
		{store.Query{BaseSnapshot: "snap-2"}, []string{"id-0005"}},
		{store.Query{Name: "name-9"}, []string{"id-0000"}},
		{store.Query{WorkspaceID: "wörk space'; --", Backend: "local", Owner: "owner-1"}, []string{"id-0004", "id-0002", "id-0000"}},
		{store.Query{Name: "name-9", Kind: "session"}, nil},
		{store.Query{Name: "name-"}, nil},
		{store.Query{Name: "' OR 1=1 --"}, nil},
	} {
		records, err := s.Find(t.Context(), c.query)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, record := range records {
			ids = append(ids, record.ID)
			wantSame(t, record, want[record.ID])
		}
		if !slices.Equal(ids, c.ids) {
			t.Errorf("%+v found %v, want %v", c.query, ids, c.ids)
		}
	}
}

func testUpdate(t *testing.T, suite suite) {
	s := suite.client(t)
	other := mustInsert(t, s, sample(2))
	first := mustInsert(t, s, sample(1))
	changed := store.Record{
		ID: first.ID, Revision: first.Revision,
		Kind: "session", Backend: "docker", Binding: "b", Owner: "o", Name: "n", WorkspaceID: "",
		Generation: 4, Spec: []byte(`[1]`), Committed: false, Attachment: "", Intent: nil,
	}
	updated, err := s.Update(t.Context(), changed)
	if err != nil {
		t.Fatal(err)
	}
	if updated.Revision == first.Revision {
		t.Error("the revision stayed")
	}
	if !updated.CreatedAt.Equal(first.CreatedAt) || updated.UpdatedAt.Before(first.UpdatedAt) {
		t.Errorf("times %v and %v after %v", updated.CreatedAt, updated.UpdatedAt, first.CreatedAt)
	}
	want := changed
	want.Revision, want.CreatedAt, want.UpdatedAt = updated.Revision, updated.CreatedAt, updated.UpdatedAt
	wantSame(t, updated, want)
	wantSame(t, mustGet(t, suite.client(t), first.ID), want)
	wantSame(t, mustGet(t, s, other.ID), other)

	again := updated
	again.Intent = []byte(`{"operation":"delete"}`)
	if again, err = s.Update(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	wantSame(t, mustGet(t, s, first.ID), again)
}

func testUpdateFenced(t *testing.T, suite suite) {
	s := suite.client(t)
	first := mustInsert(t, s, sample(1))
	other := mustInsert(t, s, sample(2))
	second, err := s.Update(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	stale := first
	stale.Attachment = "thief"
	if _, err := s.Update(t.Context(), stale); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an update of a stale record: %v", err)
	}
	taken := second
	taken.Name = other.Name
	if _, err := s.Update(t.Context(), taken); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an update to a taken key: %v", err)
	}
	wantSame(t, mustGet(t, s, first.ID), second)
	if err := s.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), second); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an update of a deleted record: %v", err)
	}
	if _, err := s.Get(t.Context(), second.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an update brought a deleted record back: %v", err)
	}
}

func testDelete(t *testing.T, suite suite) {
	s := suite.client(t)
	first := mustInsert(t, s, sample(1))
	other := mustInsert(t, s, sample(2))
	second, err := s.Update(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), first); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a delete of a stale record: %v", err)
	}
	wantSame(t, mustGet(t, s, first.ID), second)
	for range 2 {
		if err := s.Delete(t.Context(), second); err != nil {
			t.Errorf("delete: %v", err)
		}
		if _, err := s.Get(t.Context(), first.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("after a delete: %v", err)
		}
	}
	wantSame(t, mustGet(t, s, other.ID), other)
	mustInsert(t, s, sample(1))
}
