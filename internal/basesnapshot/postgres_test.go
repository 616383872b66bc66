package basesnapshot

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// onPostgres is a manager with a store of its own, as another machine of the team has.
func (f *fixture) onPostgres(database *testkit.Database, backend backends.Backend) *Manager {
	records := postgres.New(postgres.Config{URL: database.URL()})
	f.t.Cleanup(func() {
		if err := records.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return &Manager{NamePrefix: "sandlot", Sandboxes: &sandbox.Manager{Backend: backend, Store: records}}
}

// A team bakes one manifest at the same time: once.
func TestTeamBakes(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	f := newFixture(t)
	results := make([]Result, 6)
	var group sync.WaitGroup
	for i := range results {
		m := f.onPostgres(database, f.backend)
		group.Go(func() {
			request := asked("1")
			request.Lane.Template = fmt.Sprintf("web-%d", i%3)
			var err error
			if results[i], err = m.Create(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	baked := 0
	for _, result := range results {
		if result.Current.SnapshotID != results[0].Current.SnapshotID {
			t.Errorf("one got %q, another %q", result.Current.SnapshotID, results[0].Current.SnapshotID)
		}
		if result.Baked {
			baked++
		}
	}
	if baked != 1 || len(f.snapshots()) != 1 {
		t.Errorf("%d baked, there are %q", baked, f.snapshots())
	}
}

// Whoever loses the lock in the middle of a bake touches nothing any more; the next bake cleans up.
func TestLostLock(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	f := newFixture(t)
	m := f.onPostgres(database, f.backend)
	first, err := m.Create(t.Context(), asked("1"))
	if err != nil {
		t.Fatal(err)
	}
	double := &faulty{whole: f.backend}
	double.fail = func(call, object string) error {
		if call == "CreateSnapshot" {
			database.Cut(t, "true")
		}
		return nil
	}
	_, err = f.onPostgres(database, double).Update(t.Context(), first.Attachment, asked("2"))
	fails(t, err, store.ErrLockLost)
	calls := slices.DeleteFunc(double.noted(), func(call string) bool { return strings.HasPrefix(call, "GetSnapshot") })
	if last := calls[len(calls)-1]; !strings.HasPrefix(last, "Delete sandlot-verify-") {
		t.Errorf("the last call was %q: nothing may be touched after the lock is known to be lost", last)
	}
	if view, err := m.Read(t.Context(), shop, first.Attachment); err != nil || view.Current.SnapshotID != first.Current.SnapshotID || view.Status != store.SnapshotReady {
		t.Errorf("it reads %+v, %v", view, err)
	}
	after, err := m.Update(t.Context(), first.Attachment, asked("2"))
	if err != nil {
		t.Fatal(err)
	}
	if !after.Baked || len(f.snapshots()) != 2 || len(after.History) != 3 {
		t.Errorf("the next update: %+v; there are %q", after, f.snapshots())
	}
	if boxes, err := f.backend.List(t.Context()); err != nil || len(boxes) > 0 {
		t.Errorf("left are %+v (%v)", boxes, err)
	}
}
