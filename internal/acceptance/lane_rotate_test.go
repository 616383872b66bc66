package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// dependents hang on a workspace.
func dependents(address string) string {
	label := strings.ReplaceAll(address, ".", "_")
	return fmt.Sprintf(`
resource "sandlot_file" "%[1]s" {
  sandbox_id = %[2]s.id
  path       = "mine.txt"
  content    = %[2]s.handle
}
resource "sandlot_command" "%[1]s" {
  sandbox_id = %[2]s.id
  command    = ["cat", "/workspace/base.txt"]
  triggers   = { base = %[2]s.applied_base_snapshot_version }
}
`, label, address)
}

// TestAccRotation changes the base under a workspace: it and all that hangs on it plan nothing, what
// is new starts from the new snapshot, and reverting the manifest goes back without a bake.
func TestAccRotation(t *testing.T) {
	onEach(t, func(f *fixture) {
		const fresh = workspaceRuntime + ".fresh"
		old := f.runtime("it", "old") + dependents(work)
		f.Config(f.lane("it", []string{says("one")}) + old)
		f.settled()
		first := f.Show()

		f.Config(f.lane("it", []string{says("two")}) + old + f.runtime("fresh", "fresh"))
		plan := f.Plan().Does("update "+lane, "create "+fresh)
		planned := plan.JSON()
		if planned.Resource(lane).Change.AfterUnknown["snapshot_id"] != true {
			f.t.Error("the new snapshot is known before it is baked")
		}
		for _, address := range []string{work, "sandlot_file.sandlot_workspace_runtime_it", "sandlot_command.sandlot_workspace_runtime_it"} {
			change := planned.Resource(address)
			if found := change.Differences(); !slices.Equal(change.Change.Actions, []string{"no-op"}) || len(found) > 0 {
				f.t.Errorf("%s: the plan is %v, and changes %q", address, change.Change.Actions, found)
			}
		}
		f.ApplyPlan(plan).Succeed()
		f.Plan().Empty()
		second := f.Show()
		if second.Text(lane, "previous_snapshot_id") != first.Text(lane, "snapshot_id") || second.Text(lane, "snapshot_id") == first.Text(lane, "snapshot_id") {
			f.t.Error("the pointer was not moved, or what was before is not known")
		}
		for address, text := range map[string]string{work: "one\n", fresh: "two\n"} {
			if found := f.read(second.Text(address, "name"), "base.txt"); found != text {
				f.t.Errorf("%s has the base %q", address, found)
			}
		}
		if second.Text(fresh, "applied_base_snapshot_id") != second.Text(lane, "snapshot_id") || second.Text(work, "applied_base_snapshot_id") != first.Text(lane, "snapshot_id") {
			f.t.Error("the provenance of the workspaces is wrong")
		}

		// Rolling back uses the snapshot that is there.
		count := len(f.snapshots())
		f.Config(f.lane("it", []string{says("one")}) + old + f.runtime("fresh", "fresh"))
		f.Plan().Does("update " + lane)
		f.settled()
		back := f.Show()
		for _, attribute := range []string{"snapshot_id", "version", "manifest_hash", "created_at"} {
			if is, was := back.Text(lane, attribute), first.Text(lane, attribute); is != was {
				f.t.Errorf("after the way back %s is %s, and was %s", attribute, is, was)
			}
		}
		f.haveSnapshots(count)
		f.haveBoxes(2)
		if back.Text(lane, "previous_snapshot_id") != second.Text(lane, "snapshot_id") {
			f.t.Error("there is no way forward again")
		}
	}, everywhere()...)
}

// stateful passes where it runs first, and fails in whatever was made from there.
const stateful = `smoke_checks = [{ command = ["sh", "-c", "! test -e checked && : > checked"] }]`

// TestAccFailedBake: whatever fails in a bake, the lane points where it did, nothing of the bake is
// left, and the next plan offers it again.
func TestAccFailedBake(t *testing.T) {
	onOne(t, func(f *fixture) {
		failing := f.lane("it", []string{`commands = [["sh", "-c", "echo the cause is this >&2; exit 3"]]`})
		f.Config(failing)
		mentions(f, errorText(f, f.Apply().FailWith("bake_failed"), "bake_failed"), "command 1", "status 3", "the cause is this", "apply again")
		if left := f.Show().Addresses(); len(left) > 0 {
			f.t.Errorf("a failed first bake left %v in the state", left)
		}
		f.haveBoxes(0)
		f.haveSnapshots(0)
		f.Plan().Does("create " + lane)

		good := f.lane("it", []string{says("one")}) + f.runtime("it", "kept")
		f.Config(good)
		f.settled()
		before := f.Show()
		for _, bad := range []struct {
			step  string
			lines []string
			text  string
		}{
			{"smoke check 1 in the seed", []string{`smoke_checks = [{ command = ["cat", "base.txt"], expect = "three" }]`}, "two"},
			{"in a sandbox from the new snapshot", []string{stateful}, "two"},
			{"in a sandbox from the new snapshot", []string{stateful}, "one"},
		} {
			f.Config(f.lane("it", []string{says(bad.text)}, bad.lines...) + f.runtime("it", "kept"))
			f.Plan().Does("update " + lane)
			mentions(f, errorText(f, f.Apply().FailWith("bake_failed"), "bake_failed"), bad.step)
			if after := f.Show(); after.Text(lane, "snapshot_id") != before.Text(lane, "snapshot_id") || after.Text(lane, "status") != "ready" {
				f.t.Errorf("%s: the lane points at another snapshot", bad.step)
			}
			f.haveSnapshots(1)
			f.haveBoxes(1)
			f.Plan().Does("update " + lane)
			f.Config(good)
			f.Plan(acctest.Args("-refresh-only")).Planned() // the history grew
		}
		f.Config(good)
		f.settled()
		if history := before.Text(lane, "history"); f.Show().Text(lane, "history") == history {
			f.t.Error("the failed bakes are not told")
		}
		// What failed comes out once its cause is mended.
		f.Config(f.lane("it", []string{says("two")}) + f.runtime("it", "kept"))
		f.settled()
		f.haveSnapshots(2)
	}, everywhere()...)
}

// TestAccLaneLife goes through what can become of a lane besides a rotation.
func TestAccLaneLife(t *testing.T) {
	onEach(t, func(f *fixture) {
		data := fmt.Sprintf("data %q \"shop\" {\n  backend = %q\n  app = \"shop\"\n  depends_on = [%s]\n}\n", baseSnapshot, f.backend, lane)
		with := func(lines ...string) string { return f.lane("it", []string{says("one")}, lines...) }
		f.Config(with())
		f.settled()
		first := f.Show().Text(lane, "snapshot_id")

		// Gone outside: it says so, and is baked again.
		f.loseSnapshot(first)
		f.Plan().Does("update " + lane).Warn("snapshot_unusable")
		f.settled()
		second := f.Show().Text(lane, "snapshot_id")
		f.haveSnapshots(1)

		// Another lane: the old one is retired, and its snapshot stays.
		f.Config(with(`app = "other"`) + data)
		f.Plan().Does("replace "+lane, "read data."+baseSnapshot+".shop").Warn("retained")
		f.Apply().Succeed()
		if state := f.Show(); state.Text("data."+baseSnapshot+".shop", "status") != "retired" || state.Text(lane, "snapshot_id") != second {
			f.t.Errorf("the old lane is %v, the new one %v", state.Values("data."+baseSnapshot+".shop"), state.Values(lane))
		}
		f.haveSnapshots(1) // of one manifest: shared

		// Retired and declared again: revived without a bake.
		f.Config(with(`app = "other"`))
		f.Destroy().Succeed().Warn("retained")
		f.haveSnapshots(1)
		f.Config(with())
		f.settled()
		if found := f.Show().Text(lane, "snapshot_id"); found != second {
			f.t.Errorf("it was not revived: %s, before %s", found, second)
		}
		f.haveSnapshots(1)

		// Another lane under purge: as for a destroy, what retention keeps is an error at plan.
		mine := func(lines ...string) string {
			return f.lane("it", []string{says("two")}, append([]string{`on_destroy = "purge"`}, lines...)...)
		}
		f.Config(mine())
		f.settled()
		f.Config(mine(`template = "next"`))
		f.Plan().FailWith("snapshot_too_young")
		disposable := `retention = { min_age = "0s" }`
		f.Config(mine(disposable))
		f.settled()
		f.Config(mine(`template = "next"`, disposable))
		f.Plan().Does("replace " + lane).Warn("data_lost")
		f.settled()
		f.Destroy().Succeed().Warn("data_lost")
		f.haveSnapshots(1) // that of the lane "other", which is retired
	}, "local", "vercel")
}

// TestAccLaneTakenOver: a second state of the same owner takes a lane over without a bake, and the
// first can do it no harm.
func TestAccLaneTakenOver(t *testing.T) {
	onOne(t, func(f *fixture) {
		config := f.lane("it", []string{says("one")}, `on_destroy = "purge"`, `retention = { min_age = "0s" }`)
		f.Config(config)
		f.settled()
		other := f.beside(config)
		other.settled()
		f.haveSnapshots(1)
		if found, was := other.Show().Text(lane, "snapshot_id"), f.Show().Text(lane, "snapshot_id"); found != was {
			f.t.Errorf("the second state has %s, the first %s", found, was)
		}
		f.Plan().Warn("taken_over")
		f.Config(f.lane("it", []string{says("two")}, `on_destroy = "purge"`, `retention = { min_age = "0s" }`))
		f.Apply().FailWith("taken_over")
		f.Destroy().Succeed().Warn("taken_over")
		f.haveSnapshots(1)
		other.Plan().Empty()
		other.Destroy().Succeed()
		f.nothingLeft()
	}, "local", "vercel")
}
