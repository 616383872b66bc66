package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const purgeLine = `on_destroy = "purge"`

// TestAccPurgeRefusals: what keeps a lane from being purged is an error with a code of its own, which
// names what is in the way and how to go on; the way on works.
func TestAccPurgeRefusals(t *testing.T) {
	onOne(t, func(f *fixture) {
		retained := func(text, retention string) string {
			return f.lane("it", []string{says(text)}, purgeLine, "retention = { "+retention+" }")
		}
		// The snapshot to go back to. Time alone does not keep it.
		f.Config(retained("one", `min_age = "1s"`))
		f.settled()
		first := f.Show()
		f.Config(retained("two", `min_age = "1s"`))
		f.settled()
		time.Sleep(1100 * time.Millisecond)
		refused := f.PlanDestroy().FailWith("snapshot_rollback_candidate")
		mentions(f, errorText(f, refused, "snapshot_rollback_candidate"), first.Text(lane, "snapshot_id"), first.Text(lane, "version"), "keep_previous", `min_age = "0s"`)
		f.Destroy(acctest.NoRefresh()).FailWith("snapshot_rollback_candidate")
		f.haveSnapshots(2)

		// Too young: both of them.
		f.Config(retained("two", `min_age = "48h", keep_previous = 0`))
		f.settled()
		refused = f.PlanDestroy().FailWith("snapshot_too_young")
		for _, d := range refused.Diagnostics.Errors() {
			mentions(f, d.Detail, "48h", "lower `min_age`", "it may be deleted from")
		}
		if found := len(refused.Diagnostics.Errors()); found != 2 {
			f.t.Errorf("%d snapshots are too young", found)
		}

		// A workspace that another configuration retained was made from one: the delete finds that.
		f.Config(retained("two", `min_age = "0s"`))
		f.settled()
		other := f.beside("")
		workspace := other.runtime("it", "kept", fmt.Sprintf("base_snapshot = { id = %q, version = \"v\" }", first.Text(lane, "snapshot_id")))
		other.Config(workspace)
		other.settled()
		name := other.nameOf(work)
		other.Destroy().Succeed().Warn("retained")
		f.PlanDestroy().Succeed()
		mentions(f, errorText(f, f.Destroy().FailWith("snapshot_referenced"), "snapshot_referenced"), first.Text(lane, "snapshot_id"), f.Unique("kept"), f.id(name), "Purge them first")
		f.haveSnapshots(2)
		f.Plan().Empty()

		other.Config(strings.Replace(workspace, "{\n", "{\n  "+purgeLine+"\n", 1))
		other.settled()
		if found := f.read(name, "base.txt"); found != "one\n" {
			f.t.Errorf("the workspace came back with the base %q", found)
		}
		other.Destroy().Succeed()
		f.Destroy().Succeed()
		f.nothingLeft()
	}, everywhere()...)
}

// TestAccPreviewEnvironment destroys a whole environment, whose base was rotated meanwhile, with one
// command, and nothing is left.
func TestAccPreviewEnvironment(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Provider(purgeLine)
		config := func(text string) string {
			return f.lane("it", []string{says(text)}, `retention = { min_age = "0s" }`) +
				f.runtime("it", "a", `template = { version = "1", files = { "t" = { content = "t" } } }`) + f.runtime("other", "b", `kind = "session"`, `checkpoint_trigger = "1"`) +
				dependents(work) + dependents(workspaceRuntime+".other")
		}
		f.Config(config("one"))
		f.Apply().Succeed()
		f.Config(strings.Replace(config("two"), `checkpoint_trigger = "1"`, `checkpoint_trigger = "2"`, 1))
		f.settled()
		if found := len(f.snapshots()); found != 3 {
			f.t.Errorf("there are %d snapshots, expected two bases and a checkpoint", found)
		}
		f.Destroy().Succeed()
		f.nothingLeft()
	}, everywhere()...)
}

// TestAccPrune: with retention.purge each rotation deletes what nothing keeps, and never the current
// snapshot, the one to go back to, or one that a workspace was made from.
func TestAccPrune(t *testing.T) {
	onOne(t, func(f *fixture) {
		config := func(text string) string {
			return f.lane("it", []string{says(text)}, purgeLine, `retention = { min_age = "0s", keep_previous = 1, purge = true }`)
		}
		kept := f.runtime("it", "kept", purgeLine)
		f.Config(config("one") + kept)
		f.settled()
		ids := []string{f.Show().Text(lane, "snapshot_id")}
		for i, step := range []struct {
			text string
			have int
		}{{"two", 2}, {"three", 3}, {"four", 3}, {"four", 3}} {
			f.Config(config(step.text) + kept)
			f.settled()
			state := f.Show()
			ids = append(ids, state.Text(lane, "snapshot_id"))
			f.haveSnapshots(step.have)
			if found := state.Text(lane, "previous_snapshot_id"); i < 3 && found != ids[i] {
				f.t.Errorf("%s: the previous snapshot is %s, expected %s", step.text, found, ids[i])
			}
		}
		history := f.Show().Text(lane, "history")
		for i, there := range []bool{true, false, true, true} {
			if strings.Contains(history, ids[i]) != there {
				f.t.Errorf("that snapshot %d is in the history is not %t", i+1, there)
			}
		}
		// The workspace gone, its base goes with the next rotation.
		f.Config(config("four"))
		f.settled()
		f.Config(config("five"))
		f.settled()
		f.haveSnapshots(2)
		if found := f.Show().Text(lane, "history"); slices.ContainsFunc(ids[:3], func(id string) bool { return strings.Contains(found, id) }) {
			f.t.Errorf("the history still has %s", found)
		}
		f.Destroy().Succeed()
		f.nothingLeft()
	}, "local", "vercel")
}
