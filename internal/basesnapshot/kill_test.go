package basesnapshot

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// The tests below kill a process right before and right after the writes that a clean run was seen to
// make, and then go on. What is right before one write is right after the one before it, so that
// every second point will do, besides the first.

// baseline is a fixture whose lane has a first snapshot.
func baseline(t *testing.T) (*fixture, Result) {
	f := newFixture(t)
	return f, f.create(asked("1"))
}

// killable is a bake with something of everything.
func killable(attachment sandbox.Attachment) task {
	request := asked("2")
	request.RebakeTrigger = "now"
	request.Retention = Retention{Purge: true, KeepPrevious: 1}
	request.Environment.Values = map[string]string{"GIVEN": "value"}
	return task{Operation: "update", Request: request, Attachment: attachment, Files: map[string]string{"etc/file": "x"}}
}

func TestKilledBake(t *testing.T) {
	t.Parallel()
	clean, before := baseline(t)
	_, passed := clean.finish(killable(before.Attachment))
	for _, step := range []string{"store insert snapshot", "store update record", "store promote snapshot", "local write archive"} {
		if !slices.ContainsFunc(passed, func(point string) bool { return strings.HasPrefix(point, "before "+step) }) {
			t.Errorf("a clean run was not seen to %s: %q", step, passed)
		}
	}
	eachPoint(t, passed, func(t *testing.T, point int) {
		f, before := baseline(t)
		work := killable(before.Attachment)
		f.kill(work, point)
		view := f.read(before.Attachment)
		if view.Status != store.SnapshotReady || view.Current == nil || view.TakenOver {
			t.Errorf("after the kill it reads %+v", view)
		}
		after, _ := f.finish(work)
		f.tidy()
		view = f.read(before.Attachment)
		if view.Status != store.SnapshotReady || view.Current.SnapshotID != after.Snapshot || view.Previous == nil || view.Previous.SnapshotID != before.Current.SnapshotID {
			t.Errorf("afterwards it reads %+v", view)
		}
		if got := f.snapshots(); len(got) != 2 {
			t.Errorf("there are the snapshots %q, want the old one and the new one", got)
		}
		f.inside(after.Snapshot, "test $(cat /workspace/made) = 2 && test $(cat /workspace/etc/file) = x")
	})
}

// A bake that fails is killed while it tidies up after itself.
func TestKilledAbort(t *testing.T) {
	t.Parallel()
	failing := func(attachment sandbox.Attachment) task {
		request := asked("2")
		request.Checks = []SmokeCheck{{Command: []string{"sh", "-c", `case $(hostname) in *verify*) exit 1;; esac`}}}
		return task{Operation: "update", Request: request, Attachment: attachment, Fails: true}
	}
	clean, before := baseline(t)
	_, passed := clean.finish(failing(before.Attachment))
	clean.tidy()
	eachPoint(t, passed, func(t *testing.T, point int) {
		if point < len(passed)/2 {
			return // up to there it goes as a bake that succeeds
		}
		f, before := baseline(t)
		f.kill(failing(before.Attachment), point)
		if view := f.read(before.Attachment); view.Status != store.SnapshotReady || view.Current.SnapshotID != before.Current.SnapshotID {
			t.Errorf("after the kill it reads %+v", view)
		}
		after := f.update(before.Attachment, asked("2"))
		f.tidy()
		if !after.Baked || after.Previous.SnapshotID != before.Current.SnapshotID {
			t.Errorf("the next update: %+v", after)
		}
	})
}

func TestKilledFirstBake(t *testing.T) {
	t.Parallel()
	work := task{Operation: "create", Request: asked("1")}
	_, passed := newFixture(t).finish(work)
	eachPoint(t, passed, func(t *testing.T, point int) {
		f := newFixture(t)
		f.kill(work, point)
		// Whoever comes next asks for another manifest: what is left of the first one goes all the same.
		result := f.create(asked("2"))
		f.tidy()
		if view := f.read(result.Attachment); view.Status != store.SnapshotReady || view.Current.SnapshotID != result.Current.SnapshotID {
			t.Errorf("it reads %+v", view)
		}
		f.delete(result.Attachment, true, Retention{}, sandbox.Removed)
		f.empty()
	})
}

// A purge finds what a killed bake left, too.
func TestKilledBakeThenPurge(t *testing.T) {
	t.Parallel()
	clean, before := baseline(t)
	_, passed := clean.finish(killable(before.Attachment))
	eachPoint(t, passed, func(t *testing.T, point int) {
		if point%8 != 0 {
			return // each of them is tried by the tests above
		}
		f, before := baseline(t)
		f.kill(killable(before.Attachment), point)
		f.delete(before.Attachment, true, Retention{}, sandbox.Removed)
		f.empty()
	})
}

func TestKilledPurge(t *testing.T) {
	t.Parallel()
	// Old enough, but what is left after the current one has gone would be kept to go back to.
	retention := Retention{MinAge: time.Nanosecond, KeepPrevious: 1}
	prepare := func(t *testing.T) (*fixture, task) {
		f, before := baseline(t)
		return f, task{Operation: "purge", Request: asked("1"), Attachment: before.Attachment, Retention: retention}
	}
	clean, work := prepare(t)
	_, passed := clean.finish(work)
	clean.empty()
	eachPoint(t, passed, func(t *testing.T, point int) {
		f, work := prepare(t)
		f.kill(work, point)
		if view := f.read(work.Attachment); view.Status == store.SnapshotReady && point > 4 && point < len(passed)/2 {
			t.Errorf("in the middle of a purge it reads %+v", view)
		}
		f.delete(work.Attachment, true, retention, sandbox.Removed)
		f.empty()
	})
	t.Run("then create", func(t *testing.T) {
		eachPoint(t, passed, func(t *testing.T, point int) {
			f, work := prepare(t)
			f.kill(work, point)
			result := f.create(asked("1"))
			f.tidy()
			if view := f.read(result.Attachment); view.Status != store.SnapshotReady {
				t.Errorf("it reads %+v", view)
			}
		})
	})
}

func TestKilledRetire(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T) (*fixture, task) {
		f, before := baseline(t)
		return f, task{Operation: "retire", Request: asked("1"), Attachment: before.Attachment}
	}
	clean, work := prepare(t)
	_, passed := clean.finish(work)
	eachPoint(t, passed, func(t *testing.T, point int) {
		f, work := prepare(t)
		f.kill(work, point)
		outcome, err := f.manager.Delete(t.Context(), shop, work.Attachment, false, Retention{})
		if err != nil || outcome != sandbox.Retained && outcome != sandbox.Forgotten {
			t.Fatalf("the second delete: %q, %v", outcome, err)
		}
		view, err := f.manager.Lookup(t.Context(), shop)
		if err != nil || view.Status != store.SnapshotRetired || view.Current != nil || view.Attachment.Token != "" {
			t.Errorf("it reads %+v, %v", view, err)
		}
		if result := f.create(asked("1")); result.Baked {
			t.Errorf("it was baked again")
		}
		f.tidy()
	})
}

// eachPoint runs a subtest for the first point of a clean run and every other one from there.
func eachPoint(t *testing.T, passed []string, test func(t *testing.T, point int)) {
	t.Helper()
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		if point == 1 || point%2 == 0 {
			test(t, point)
		}
	})
}

// Twenty processes bake one manifest, in lanes of their own and in one lane, on either store: one seed,
// one snapshot, and nobody fails.
func TestConcurrentBakes(t *testing.T) {
	t.Parallel()
	const bakers = 20
	oneLane := func(int) Lane { return shop }
	manyLanes := func(i int) Lane { return Lane{App: "shop", Template: fmt.Sprintf("web-%d", i)} }
	for name, test := range map[string]struct {
		lane  func(i int) Lane
		store func(t *testing.T) (url string)
	}{
		"one lane":                 {oneLane, func(*testing.T) string { return "" }},
		"many lanes":               {manyLanes, func(*testing.T) string { return "" }},
		"one lane on PostgreSQL":   {oneLane, func(t *testing.T) string { return testkit.Postgres(t).URL() }},
		"many lanes on PostgreSQL": {manyLanes, func(t *testing.T) string { return testkit.Postgres(t).URL() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, url := newFixture(t), test.store(t)
			if url != "" {
				f.useDatabase(url)
			}
			answers, passed := make([]answer, bakers), make([][]string, bakers)
			var group sync.WaitGroup
			for i := range answers {
				group.Go(func() {
					request := asked("1")
					request.Lane = test.lane(i)
					var err error
					if answers[i], passed[i], err = f.try(task{URL: url, Operation: "create", Request: request}); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			f.tidy()
			seeds, baked := 0, 0
			for i, said := range answers {
				if said.Baked {
					baked++
				}
				for _, point := range passed[i] {
					if strings.HasPrefix(point, "before local write archive") {
						seeds++
					}
				}
				if said.Snapshot != answers[0].Snapshot {
					t.Errorf("one got %q, another %q", said.Snapshot, answers[0].Snapshot)
				}
			}
			if seeds != 1 || baked != 1 || len(f.snapshots()) != 1 {
				t.Errorf("%d seeds were saved, %d say that they baked, there are the snapshots %q", seeds, baked, f.snapshots())
			}
		})
	}
}

// While one lane is purged, others begin to share its snapshot: whoever got it can use it.
func TestConcurrentPurgeAndShare(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			f, before := baseline(t)
			var group sync.WaitGroup
			group.Go(func() {
				if _, _, err := f.try(task{Operation: "purge", Request: asked("1"), Attachment: before.Attachment}); err != nil {
					t.Error(err)
				}
			})
			request := asked("1")
			request.Lane.Template = "api"
			var got answer
			group.Go(func() {
				var err error
				if got, _, err = f.try(task{Operation: "create", Request: request}); err != nil {
					t.Error(err)
				}
			})
			group.Wait()
			if t.Failed() {
				return
			}
			f.tidy()
			f.inside(got.Snapshot, "cat /workspace/made")
		})
	}
}
