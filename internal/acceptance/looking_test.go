package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
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
		var proxy *acctest.EngineProxy
		if f.docker() {
			proxy = acctest.NewEngineProxy(t, f.engine)
			f.Setenv("DOCKER_HOST", proxy.Host())
		} else {
			needBubblewrap(f.t)
		}
		f.Config(f.lookingConfig())
		f.Apply().Succeed()
		state := f.Show()
		kept := state.Text("sandlot_persistent_sandbox.kept", "name")
		look := func(what string, looks ...func()) {
			for _, one := range looks {
				acctest.Untouched(f.t, f.DataDir, func() {
					if proxy != nil {
						proxy.Forget()
					}
					one()
				})
			}
			if proxy == nil {
				return
			}
			if calls := proxy.Calls(); len(calls) == 0 {
				f.t.Errorf("%s: no call reached the engine, so nothing was looked at", what)
			}
			if writes := proxy.Writes(); len(writes) > 0 {
				f.t.Errorf("%s: more than reads reached the engine: %v", what, writes)
			}
		}
		plan := func() { f.Plan() }
		look("running", plan, func() { f.Apply(acctest.Args("-refresh-only")).Succeed() }, func() { f.PlanDestroy().Succeed() })
		other := f.Beside()
		other.Config(f.block(persistent, "kept", f.workspaceID("look")) + f.lane("it", []string{says("base")}) + f.runtime("it", "runtime", templateLine("1")))
		for _, address := range []string{"sandlot_persistent_sandbox.kept", lane, work} {
			look("import", func() { other.Import(address, state.Text(address, "id")).Succeed() })
		}
		f.vanish(state.Text(work, "name"))
		look("runtime gone", func() { f.Plan().FailWith(lostCode) }, func() { f.Apply(acctest.Args("-refresh-only")).Succeed() })
		f.loseSnapshot(state.Text(lane, "snapshot_id"))
		look("snapshot gone", plan)
		f.StateRm(work, "data.sandlot_handle.it").Succeed()
		f.Config(strings.Replace(f.lookingConfig(), f.runtime("it", "runtime", templateLine("1")), f.runtime("it", "anew", templateLine("1")), 1))
		f.Apply().Succeed()
		if !f.docker() {
			return
		}
		f.engine.Stop(kept)
		look("stopped", func() { f.Plan().Empty() })
		if f.engine.MustContainer(kept).State.Running {
			f.t.Error("a plan started the container")
		}
		f.engine.Remove(kept)
		look("lost", plan)
		f.engine.RemoveVolume(kept + "-workspace")
		look("gone", plan)
	})
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
