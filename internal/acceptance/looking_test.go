package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// lookingConfig has every kind of object that a plan looks at.
func (f *fixture) lookingConfig() string {
	return f.block(persistent, "kept", f.workspaceID("look"), `environment = { A = "1" }`, seed) +
		f.block(session, "short", f.named("look")) +
		f.lane("it", []string{says("base")}) + f.runtime("it", "runtime", templateLine("1")) +
		`
data "sandlot_base_snapshot" "it" {
  backend    = "` + f.backend + `"
  app        = "shop"
  depends_on = [sandlot_base_snapshot.it]
}
data "sandlot_workspace_runtime" "it" {
  backend      = "` + f.backend + `"
  workspace_id = sandlot_workspace_runtime.it.workspace_id
  depends_on   = [sandlot_workspace_runtime.it]
}
data "sandlot_handle" "it" {
  record_id = sandlot_workspace_runtime.it.record_id
  shape     = "workspace-resource"
}
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.kept.id
  path       = "notes/a.txt"
  content    = "a"
}
resource "sandlot_command" "it" {
  sandbox_id = sandlot_sandbox.short.id
  command    = ["sh", "-c", "echo hello"]
}
data "sandlot_file" "it" {
  record_id = sandlot_persistent_sandbox.kept.record_id
  path      = "kept"
}
data "sandlot_directory" "it" {
  record_id = sandlot_persistent_sandbox.kept.record_id
  recursive = true
}
data "sandlot_backend" "it" {
  name = "` + f.backend + `"
}
data "sandlot_sandboxes" "it" {
  backend    = "` + f.backend + `"
  depends_on = [sandlot_persistent_sandbox.kept, sandlot_sandbox.short, sandlot_command.it, sandlot_file.it]
}
`
}

// TestLookingNeverTouches plans, refreshes and imports while sandboxes run, are stopped, are lost
// and are gone: no file below the data directory changes and no call but reads reaches the engine.
func TestLookingNeverTouches(t *testing.T) {
	onEach(t, func(f *fixture) {
		if f.backend == "local" {
			testkit.Bubblewrap(f.t)
		}
		f.Config(f.lookingConfig())
		f.Apply().Succeed()
		watched := f.watch()
		state := f.Show()
		kept := state.Text("sandlot_persistent_sandbox.kept", "name")
		look := func(what string, looks ...func()) {
			f.t.Helper()
			for _, one := range looks {
				watched.forget()
				acctest.Untouched(f.t, f.DataDir, one)
				watched.onlyReads(what)
			}
		}
		plan := func() { f.Plan() }
		refresh := func() { f.Apply(acctest.Args("-refresh-only")).Succeed() }
		look("running", plan, refresh, func() { f.PlanDestroy().Succeed() })
		other := f.Beside()
		other.Config(f.block(persistent, "kept", f.workspaceID("look")) + f.lane("it", []string{says("base")}) + f.runtime("it", "runtime", templateLine("1")))
		for _, address := range []string{"sandlot_persistent_sandbox.kept", lane, work} {
			look("import", func() { other.Import(address, state.Text(address, "id")).Succeed() })
		}
		f.vanish(state.Text(work, "name"))
		look("runtime gone", func() { f.Plan().FailWith(lostCode) }, refresh)
		f.loseSnapshot(state.Text(lane, "snapshot_id"))
		look("snapshot gone", plan)
		f.StateRm(work, "data.sandlot_handle.it").Succeed()
		f.Config(strings.Replace(f.lookingConfig(), f.runtime("it", "runtime", templateLine("1")), f.runtime("it", "anew", templateLine("1")), 1))
		f.Apply().Succeed()
		if f.backend == "local" {
			return
		}
		f.stopOutside(kept)
		if f.cloud != nil {
			f.stopOutside(f.nameOf(work))
			// Files can be read in a session only, and none is made for that.
			asleep := func() {
				mentions(f, f.Plan().FailWith("not_running").Diagnostics.Errors()[0].Detail, "desired_state", "never wakes")
			}
			look("stopped", asleep, func() { f.Apply(acctest.Args("-refresh-only")).FailWith("not_running") })
		} else {
			look("stopped", func() { f.Plan().Empty() })
		}
		if f.running(kept) {
			f.t.Error("looking started the sandbox")
		}
		f.vanishCompute(kept)
		look("lost", plan)
		if f.docker() {
			f.engine.RemoveVolume(kept + "-workspace")
		} else {
			f.vanish(kept)
		}
		look("gone", plan)
	}, everywhere()...)
}

// vanishCompute removes what a sandbox runs on and leaves its data, as somebody outside would. A platform
// keeps the data itself, so there it is the snapshot that the next session needs.
func (f *fixture) vanishCompute(name string) {
	f.t.Helper()
	if f.cloud != nil {
		f.loseSnapshot(f.cloud.must(name).Snapshot)
		return
	}
	f.engine.Remove(name)
}

// TestPlanOfNewMakesNothing plans new sandboxes where nothing was ever made: no data directory
// appears, and no engine is needed.
func TestPlanOfNewMakesNothing(t *testing.T) {
	onEach(t, func(f *fixture) {
		if f.docker() {
			f.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
		}
		f.Setenv("PATH", "/nonexistent") // no bwrap either
		f.Config(f.block(persistent, "kept", f.workspaceID("new")) + f.block(session, "short", f.named("new")) + f.lane("it", nil) + f.runtime("it", "runtime", templateLine("1")))
		f.Validate().Succeed()
		f.Plan().Does("create sandlot_persistent_sandbox.kept", "create sandlot_sandbox.short", "create "+lane, "create "+work)
		if tree := acctest.ReadTree(f.t, f.DataDir); len(tree) > 0 {
			f.t.Errorf("the data directory was made: %v", tree)
		}
	}, everywhere()...)
}

// TestLostComputeIsRecovered removes a container by hand: the next apply makes it again on the same
// workspace, with its secrets.
func TestLostComputeIsRecovered(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "kept", f.workspaceID("lost"), seed,
			`secret_environment_wo = { TOKEN = "s3cret-value" }`, `secret_environment_wo_version = 1`) + `
resource "sandlot_command" "it" {
  sandbox_id = sandlot_persistent_sandbox.kept.id
  command    = ["sh", "-c", "printf %s $TOKEN | sha256sum"]
  triggers   = { session = sandlot_persistent_sandbox.kept.session_id }
}
`)
		f.Apply().Succeed()
		before := f.Show()
		name := before.Text("sandlot_persistent_sandbox.kept", "name")
		hash := f.fileHash(name, keptFile)
		f.engine.Remove(name)
		plan := f.Plan().Does("update sandlot_persistent_sandbox.kept", "update sandlot_command.it")
		plan.Warn("interrupted")
		f.Apply().Succeed()
		f.Plan().Empty()
		after := f.Show()
		if now := f.fileHash(name, keptFile); now != hash {
			f.t.Errorf("the workspace changed: %s, before %s", now, hash)
		}
		for _, attribute := range []string{"id", "record_id", "created_at"} {
			if was, is := before.Text("sandlot_persistent_sandbox.kept", attribute), after.Text("sandlot_persistent_sandbox.kept", attribute); was != is {
				f.t.Errorf("%s changed from %q to %q", attribute, was, is)
			}
		}
		if was, is := before.Text("sandlot_command.it", "stdout"), after.Text("sandlot_command.it", "stdout"); was != is {
			f.t.Errorf("the secret changed: its hash was %q and is %q", was, is)
		}
	}, "docker")
}

// names is for messages about lists of objects.
func names(objects acctest.Objects) string {
	return fmt.Sprintf("containers %v, volumes %v, images %v, networks %v", objects.Containers, objects.Volumes, objects.Images, objects.Networks)
}
