package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// sampleSnapshot is an entry with every member set that a caller sets.
func sampleSnapshot(number int) store.Snapshot {
	return store.Snapshot{
		ID:           fmt.Sprintf("entry-%04d", number),
		Lane:         "lane-1",
		Backend:      "docker",
		Binding:      "binding-1",
		Owner:        "owner-1",
		ManifestHash: "0123abcd",
		Version:      "v1'; --",
		SnapshotID:   fmt.Sprintf("snap-%04d", number),
		Status:       store.SnapshotReady,
		Seed:         "seed",
		Manifest:     []byte(`{"name":"ü\u0000\"'"}`),
		SourceDigest: "sha256:1",
		SizeBytes:    5 << 40,
		LastError:    "none yet",
		ReadyAt:      time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		RetiredAt:    time.Date(2026, 2, 2, 3, 4, 5, 600, time.UTC),
		ExpiresAt:    time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func mustInsertSnapshot(t *testing.T, s store.Store, snapshot store.Snapshot) store.Snapshot {
	t.Helper()
	inserted, err := s.InsertSnapshot(t.Context(), snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return inserted
}

func mustPromote(t *testing.T, s store.Store, snapshot store.Snapshot) store.Snapshot {
	t.Helper()
	promoted, err := s.PromoteSnapshot(t.Context(), snapshot.Lane, snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return promoted
}

func mustFindSnapshots(t *testing.T, s store.Store, query store.SnapshotQuery) []store.Snapshot {
	t.Helper()
	found, err := s.FindSnapshots(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// getSnapshot reads the entry with an id.
func getSnapshot(t *testing.T, s store.Store, id string) store.Snapshot {
	t.Helper()
	found := mustFindSnapshots(t, s, store.SnapshotQuery{})
	i := slices.IndexFunc(found, func(one store.Snapshot) bool { return one.ID == id })
	if i < 0 {
		t.Fatalf("%s is not there", id)
	}
	return found[i]
}

// wantSameSnapshot compares entries; the manifest by its meaning.
func wantSameSnapshot(t *testing.T, got, want store.Snapshot) {
	t.Helper()
	if !sameDocument(t, got.Manifest, want.Manifest) {
		t.Errorf("got the manifest %s, want %s", got.Manifest, want.Manifest)
	}
	got.Manifest = want.Manifest
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// wantCurrent checks which entries are the current ones, of all lanes.
func wantCurrent(t *testing.T, s store.Store, want ...string) {
	t.Helper()
	var current []string
	for _, one := range mustFindSnapshots(t, s, store.SnapshotQuery{}) {
		if one.Current {
			current = append(current, one.ID)
		}
	}
	slices.Sort(current)
	if !slices.Equal(current, want) {
		t.Errorf("current are %v, want %v", current, want)
	}
}

func testSnapshotsOfAbsentStore(t *testing.T, suite suite) {
	s := suite.client(t)
	if found := mustFindSnapshots(t, s, store.SnapshotQuery{}); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	if err := s.DeleteSnapshot(t.Context(), sampleSnapshot(1)); err != nil {
		t.Errorf("DeleteSnapshot: %v", err)
	}
	if _, err := s.UpdateSnapshot(t.Context(), sampleSnapshot(1)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("UpdateSnapshot: %v", err)
	}
	if _, err := s.PromoteSnapshot(t.Context(), "lane-1", sampleSnapshot(1)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("PromoteSnapshot: %v", err)
	}
	if _, err := s.PromoteSnapshot(t.Context(), "lane-1", store.Snapshot{}); err != nil {
		t.Errorf("PromoteSnapshot of nothing: %v", err)
	}
}

func testSnapshotInsert(t *testing.T, suite suite) {
	s := suite.client(t)
	full, bare := sampleSnapshot(1), store.Snapshot{ID: "entry-bare", Lane: "lane-1", Status: store.SnapshotBaking}
	for _, snapshot := range []store.Snapshot{full, bare} {
		asked := snapshot
		asked.Current, asked.Revision, asked.CreatedAt = true, 77, time.Unix(1, 0)
		inserted := mustInsertSnapshot(t, s, asked)
		if inserted.Revision == 0 || inserted.Revision == 77 || inserted.CreatedAt.Year() < 2000 || inserted.Current {
			t.Errorf("%+v", inserted)
		}
		want := snapshot
		want.Revision, want.CreatedAt, want.UpdatedAt = inserted.Revision, inserted.CreatedAt, inserted.CreatedAt
		wantSameSnapshot(t, inserted, want)
		wantSameSnapshot(t, getSnapshot(t, suite.client(t), snapshot.ID), want)
		if _, err := s.InsertSnapshot(t.Context(), snapshot); !errors.Is(err, store.ErrConflict) {
			t.Errorf("again: %v", err)
		}
	}
	for name, edit := range map[string]func(*store.Snapshot){
		"no id":        func(s *store.Snapshot) { s.ID = "" },
		"no lane":      func(s *store.Snapshot) { s.Lane = "" },
		"bad manifest": func(s *store.Snapshot) { s.Manifest = []byte("{") },
	} {
		bad := sampleSnapshot(2)
		edit(&bad)
		if _, err := s.InsertSnapshot(t.Context(), bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func testSnapshotFind(t *testing.T, suite suite) {
	s := suite.client(t)
	want := map[string]store.Snapshot{}
	for number, edit := range []func(*store.Snapshot){
		func(*store.Snapshot) {},
		func(s *store.Snapshot) { s.Lane = "lane-2" },
		func(s *store.Snapshot) { s.Backend = "local" },
		func(s *store.Snapshot) { s.Binding = "binding-2" },
		func(s *store.Snapshot) { s.Owner = "owner-2" },
		func(s *store.Snapshot) { s.ManifestHash = "ffff" },
	} {
		// Ids fall while time goes on, so an order by id would show.
		snapshot := sampleSnapshot(9 - number)
		edit(&snapshot)
		want[snapshot.ID] = mustInsertSnapshot(t, s, snapshot)
		time.Sleep(time.Millisecond)
	}
	for _, c := range []struct {
		query store.SnapshotQuery
		ids   []string
	}{
		{store.SnapshotQuery{}, []string{"entry-0004", "entry-0005", "entry-0006", "entry-0007", "entry-0008", "entry-0009"}},
		{store.SnapshotQuery{Lane: "lane-2"}, []string{"entry-0008"}},
		{store.SnapshotQuery{Backend: "local"}, []string{"entry-0007"}},
		{store.SnapshotQuery{Binding: "binding-2"}, []string{"entry-0006"}},
		{store.SnapshotQuery{Owner: "owner-2"}, []string{"entry-0005"}},
		{store.SnapshotQuery{ManifestHash: "ffff"}, []string{"entry-0004"}},
		{store.SnapshotQuery{SnapshotID: "snap-0009"}, []string{"entry-0009"}},
		{store.SnapshotQuery{Backend: "docker", Owner: "owner-1", ManifestHash: "0123abcd"}, []string{"entry-0006", "entry-0008", "entry-0009"}},
		{store.SnapshotQuery{Lane: "lane-2", ManifestHash: "ffff"}, nil},
	} {
		var ids []string
		for _, snapshot := range mustFindSnapshots(t, s, c.query) {
			ids = append(ids, snapshot.ID)
			wantSameSnapshot(t, snapshot, want[snapshot.ID])
		}
		if !slices.Equal(ids, c.ids) {
			t.Errorf("%+v found %v, want %v", c.query, ids, c.ids)
		}
	}
}

func testSnapshotUpdate(t *testing.T, suite suite) {
	s := suite.client(t)
	first := mustInsertSnapshot(t, s, sampleSnapshot(1))
	other := mustInsertSnapshot(t, s, sampleSnapshot(2))
	changed := store.Snapshot{
		ID: first.ID, Revision: first.Revision, Lane: "lane-9", Backend: "b", Binding: "c", Owner: "d", ManifestHash: "e",
		Version: "f", SnapshotID: "g", Status: store.SnapshotFailed, Current: true, LastError: "it broke",
	}
	updated, err := s.UpdateSnapshot(t.Context(), changed)
	if err != nil {
		t.Fatal(err)
	}
	want := changed
	want.Current = false // only a promotion changes that
	want.Revision, want.CreatedAt, want.UpdatedAt = updated.Revision, first.CreatedAt, updated.UpdatedAt
	if updated.Revision == first.Revision || updated.UpdatedAt.Before(first.UpdatedAt) {
		t.Errorf("revision %d, updated %v", updated.Revision, updated.UpdatedAt)
	}
	wantSameSnapshot(t, updated, want)
	wantSameSnapshot(t, getSnapshot(t, suite.client(t), first.ID), want)
	wantSameSnapshot(t, getSnapshot(t, s, other.ID), other)

	if _, err := s.UpdateSnapshot(t.Context(), first); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an update of a stale entry: %v", err)
	}
	if err := s.DeleteSnapshot(t.Context(), first); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a delete of a stale entry: %v", err)
	}
	wantSameSnapshot(t, getSnapshot(t, s, first.ID), want)
	for range 2 {
		if err := s.DeleteSnapshot(t.Context(), updated); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := s.UpdateSnapshot(t.Context(), updated); !errors.Is(err, store.ErrConflict) || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an update of a deleted entry: %v", err)
	}
	if found := mustFindSnapshots(t, s, store.SnapshotQuery{}); len(found) != 1 || found[0].ID != other.ID {
		t.Errorf("found %v", found)
	}
}

func testSnapshotPromote(t *testing.T, suite suite) {
	s := suite.client(t)
	first := mustInsertSnapshot(t, s, sampleSnapshot(1))
	second := mustInsertSnapshot(t, s, sampleSnapshot(2))
	elsewhere := sampleSnapshot(3)
	elsewhere.Lane = "lane-2"
	elsewhere = mustPromote(t, s, mustInsertSnapshot(t, s, elsewhere))

	first.LastError, first.Status = "", store.SnapshotReady
	promoted := mustPromote(t, s, first)
	want := first
	want.Current, want.Revision, want.UpdatedAt = true, promoted.Revision, promoted.UpdatedAt
	wantSameSnapshot(t, promoted, want)
	wantSameSnapshot(t, getSnapshot(t, suite.client(t), first.ID), want)
	wantCurrent(t, s, first.ID, elsewhere.ID)

	second = mustPromote(t, s, second)
	wantCurrent(t, s, second.ID, elsewhere.ID)
	if demoted := getSnapshot(t, s, first.ID); demoted.Revision == promoted.Revision {
		t.Error("the demoted entry kept its revision")
	}
	if _, err := s.PromoteSnapshot(t.Context(), first.Lane, promoted); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a promotion of a stale entry: %v", err)
	}
	if _, err := s.PromoteSnapshot(t.Context(), "lane-2", second); err == nil {
		t.Error("an entry was promoted in a lane that is not its own")
	}
	wantCurrent(t, s, second.ID, elsewhere.ID)
	second = mustPromote(t, s, second) // again
	wantSameSnapshot(t, getSnapshot(t, s, second.ID), second)
	if second, err := s.UpdateSnapshot(t.Context(), second); err != nil || !second.Current {
		t.Errorf("an update of the current entry: %v, %v", second, err)
	}
	if _, err := s.PromoteSnapshot(t.Context(), first.Lane, store.Snapshot{}); err != nil {
		t.Error(err)
	}
	wantCurrent(t, s, elsewhere.ID)
}

// testConcurrentPromotions lets many make their own entry current at once: each succeeds in its
// turn, and one is the current one at any time.
func testConcurrentPromotions(t *testing.T, suite suite) {
	clients := []store.Store{suite.client(t), suite.client(t)}
	var entries []store.Snapshot
	for number := range workers {
		entries = append(entries, mustInsertSnapshot(t, clients[0], sampleSnapshot(number)))
	}
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for range increments {
				if err := promoteAgain(t, clients[worker%len(clients)], entries[worker].ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	watcher := suite.client(t)
	for promoted := false; ; {
		current := 0
		for _, one := range mustFindSnapshots(t, watcher, store.SnapshotQuery{Lane: "lane-1"}) {
			if one.Current {
				current++
			}
		}
		promoted = promoted || current == 1
		if current > 1 || promoted && current == 0 {
			t.Fatalf("%d entries are current", current)
		}
		select {
		case <-done:
			if !promoted {
				t.Error("no entry became current")
			}
			return
		default:
		}
	}
}

// promoteAgain promotes an entry; another one's promotion may demote it meanwhile.
func promoteAgain(t *testing.T, s store.Store, id string) error {
	for {
		found, err := s.FindSnapshots(t.Context(), store.SnapshotQuery{Lane: "lane-1"})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(found, func(one store.Snapshot) bool { return one.ID == id })
		_, err = s.PromoteSnapshot(t.Context(), "lane-1", found[i])
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}
