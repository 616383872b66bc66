package acceptance_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// hashOfW is what a name says of the workspace id "w", by sha256sum.
const hashOfW = "50e721e49c01"

// TestAccPrecedence: attribute, else environment, else default.
func TestAccPrecedence(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "a", `workspace_id = "w"`))
		base := f.t.TempDir()
		environment := map[string]string{
			"SANDLOT_OWNER": "env-owner", "SANDLOT_NAMESPACE": "envspace", "SANDLOT_NAME_PREFIX": "envfix", "SANDLOT_DATA_DIR": filepath.Join(base, "env"),
		}
		some := maps.Clone(environment)
		some["SANDLOT_DATA_DIR"] = filepath.Join(base, "some")
		for _, level := range []struct {
			name, provider, dataDir, id, owner, onDestroy string
			env                                           map[string]string
		}{
			{"default", "", filepath.Join(f.Home, ".local", "state", "sandlot"), "sandlot-dev-ws-" + hashOfW, "", "retain", nil},
			{"xdg", "", filepath.Join(base, "xdg", "sandlot"), "sandlot-dev-ws-" + hashOfW, "", "retain", map[string]string{"XDG_STATE_HOME": filepath.Join(base, "xdg")}},
			{"environment", "", filepath.Join(base, "env"), "envfix-envspace-ws-" + hashOfW, "env-owner", "retain", environment},
			{
				"attribute", fmt.Sprintf("data_dir = %q\nowner = \"own\"\nnamespace = \"space\"\nname_prefix = \"fix\"\non_destroy = \"purge\"", filepath.Join(base, "attribute")),
				filepath.Join(base, "attribute"), "fix-space-ws-" + hashOfW, "own", "purge", environment,
			},
			{
				"some of each", "namespace = \"space\"",
				filepath.Join(base, "some"), "envfix-space-ws-" + hashOfW, "env-owner", "retain", some,
			},
		} {
			f.ProviderBlock(level.provider)
			for name := range environment {
				f.Setenv(name, level.env[name])
			}
			f.Setenv("XDG_STATE_HOME", level.env["XDG_STATE_HOME"])
			f.DataDir = level.dataDir
			f.settled()
			state := f.Show()
			if id := state.Text(persistent+".a", "id"); id != f.id(level.id) {
				f.t.Errorf("%s: the id is %s, expected %s", level.name, id, level.id)
			}
			owner := f.mark(level.id, "owner")
			if level.owner != "" && owner != level.owner || owner == "" {
				f.t.Errorf("%s: the owner is %q, expected %q", level.name, owner, level.owner)
			}
			if policy := state.Text(persistent+".a", "on_destroy"); policy != level.onDestroy {
				f.t.Errorf("%s: on_destroy is %s", level.name, policy)
			}
			f.Destroy().Succeed()
		}
	}, "local")
}

// TestAccDockerAddress: the attribute wins over the environment.
func TestAccDockerAddress(t *testing.T) {
	onEach(t, func(f *fixture) {
		proxy := acctest.NewEngineProxy(f.t, f.engine)
		f.Config(f.block(session, "a", f.named("a")))
		f.Provider(fmt.Sprintf("docker = { host = %q }", proxy.Host()))
		f.Setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
		f.settled()
		if len(proxy.Calls()) == 0 {
			f.t.Error("the attribute was not used")
		}
		f.Provider("")
		f.Setenv("DOCKER_HOST", proxy.Host())
		proxy.Forget()
		f.Plan().Empty()
		if len(proxy.Calls()) == 0 {
			f.t.Error("the variable was not used")
		}
		f.Destroy().Succeed()
	}, "docker")
}

// TestAccBubblewrapPath: the attribute is used, and a program that is not there is an error of its
// own at apply only.
func TestAccBubblewrapPath(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(session, "a", f.named("a"), seed))
		f.Provider(`local = { bubblewrap_path = "/nowhere/bwrap" }`)
		f.Validate().Succeed()
		f.Plan().Does("create " + session + ".a")
		f.Apply().FailWith("not_installed")
		if left := f.Show().Addresses(); len(left) > 0 || f.exists(f.Unique("a")) {
			f.t.Errorf("a failed create left %q", left)
		}
		f.Provider("")
		f.settled()
	}, "local")
}

// TestAccUnknownProvider: settings that depend on something still to be made hold nothing up.
func TestAccUnknownProvider(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.ProviderBlock(`
  data_dir  = terraform_data.settings.output.data_dir
  owner     = terraform_data.settings.output.owner
  namespace = terraform_data.settings.output.namespace
`)
		settings := fmt.Sprintf(`
variable "round" {
  type    = string
  default = "1"
}
resource "terraform_data" "settings" {
  input            = { data_dir = %q, owner = %q, namespace = "later" }
  triggers_replace = var.round
}
`, f.DataDir, f.Owner)
		f.Config(settings + f.block(persistent, "a", f.workspaceID("w"), seed) + f.block(session, "a", f.named("s")))
		f.Validate().Succeed()
		f.Plan().Does("create terraform_data.settings", "create "+persistent+".a", "create "+session+".a")
		f.settled()
		name := f.Show().Text(persistent+".a", "name")
		if !strings.HasPrefix(name, "sandlot-later-ws-") || f.mark(name, "owner") != f.Owner {
			f.t.Errorf("the name is %s, the owner %s", name, f.mark(name, "owner"))
		}
		hash := f.mustHash(name)
		// While they are unknown again, what exists is taken as it is.
		round := acctest.Var("round", "2")
		f.Plan(round).Does("replace terraform_data.settings").Warn("configuration_unknown")
		f.settled(round)
		if f.mustHash(name) != hash {
			f.t.Error("the data changed")
		}
	}, everywhere()...)
}

// TestAccDeadEngine: only what needs an engine fails without one, and says what to do.
func TestAccDeadEngine(t *testing.T) {
	t.Parallel()
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		f := &fixture{Workspace: acctest.NewWorkspace(t, cli, ""), t: t, backend: "docker", image: "debian:12"}
		for _, host := range []string{"unix:///nowhere/engine.sock", "tcp://127.0.0.1:1"} {
			f.Setenv("DOCKER_HOST", host)
			f.Config(f.block(session, "a", f.named("a")) + f.block(persistent, "a", f.workspaceID("w"), `mounts = [{ source = "/etc/hostname", target = "/mnt/a" }]`))
			f.Validate().Succeed()
			acctest.Untouched(t, f.DataDir, func() {
				plan := f.Plan()
				plan.Does("create "+session+".a", "create "+persistent+".a").NoWarning()
				if id := plan.JSON().Resource(persistent + ".a").Change.After["id"]; !strings.HasPrefix(fmt.Sprint(id), "docker/sandlot-dev-ws-") {
					t.Errorf("the planned id is %v", id)
				}
			})
			result := f.Apply().FailWith("not_running")
			for _, d := range result.Diagnostics.Errors() {
				if !strings.Contains(d.Detail, "ocker") || strings.Count(d.Detail, "\n\n") < 2 {
					t.Errorf("%s: the error has no remedy:\n%s", host, d)
				}
			}
			if left := f.Show().Addresses(); len(left) > 0 {
				t.Errorf("the state has %q", left)
			}
		}
	})
}

// TestAccEngineAway: an engine that does not answer is no absence.
func TestAccEngineAway(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(session, "a", f.named("a")) + f.block(persistent, "a", f.named("b"), seed))
		f.settled()
		f.Setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
		before := f.Show().Addresses()
		f.Plan().FailWith("not_running")
		f.Apply().FailWith("not_running")
		f.Destroy().FailWith("not_running")
		f.Destroy(acctest.NoRefresh()).FailWith("not_running")
		if after := f.Show().Addresses(); len(after) != len(before) {
			f.t.Errorf("the state has %q, and had %q", after, before)
		}
		f.Setenv("DOCKER_HOST", f.engine.Host())
		f.Plan().Empty()
	}, "docker")
}

// TestAccOwnerInCI: an owner that dies with the runner is refused before anything is made.
func TestAccOwnerInCI(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.ProviderBlock(fmt.Sprintf("data_dir = %q", f.DataDir))
		f.Config(f.block(persistent, "a", f.workspaceID("w")) + f.block(session, "a", f.named("s")))
		f.Setenv("CI", "true")
		acctest.Untouched(f.t, f.DataDir, func() {
			f.Validate().Succeed()
			f.Plan().FailWith("owner_required")
			f.Apply().FailWith("owner_required")
		})
		f.Setenv("SANDLOT_OWNER", f.Owner)
		f.settled()
		f.Setenv("SANDLOT_OWNER", "")
		f.Setenv("CI", "false")
		f.Setenv("CI", "")
	}, "local")
}

// TestAccDuplicate: two resources for one sandbox are refused at plan.
func TestAccDuplicate(t *testing.T) {
	onEach(t, func(f *fixture) {
		for _, pair := range []string{
			f.block(persistent, "a", `workspace_id = "w"`) + f.block(persistent, "b", `workspace_id = " w "`),
			f.block(persistent, "a", `workspace_id = "w"`) + f.block(persistent, "b", `name = "sandlot-dev-ws-`+hashOfW+`"`),
			f.block(persistent, "a", f.named("a")) + f.block(session, "b", f.named("a")),
			f.block(session, "a", f.named("a")) + f.block(session, "b", f.named("a")),
		} {
			f.Config(pair)
			acctest.Untouched(f.t, f.DataDir, func() { f.Plan().FailWith("duplicate_workspace") })
		}
		f.Config(f.block(persistent, "a", `workspace_id = "w"`) + f.block(persistent, "b", `workspace_id = "w"`, `generation = 2`))
		f.Plan().Does("create "+persistent+".a", "create "+persistent+".b")
	}, everywhere()...)
}

// TestAccStoredNameWins: a changed prefix or namespace renames nothing, under -replace neither.
func TestAccStoredNameWins(t *testing.T) {
	onEach(t, func(f *fixture) {
		const address = persistent + ".a"
		f.Config(f.block(persistent, "a", f.workspaceID("w"), seed))
		f.settled()
		before := f.Show()
		name := before.Text(address, "name")
		hash := f.mustHash(name)
		f.Provider("name_prefix = \"other\"\nnamespace = \"elsewhere\"")
		f.Plan().Empty()
		f.Plan(acctest.Replace(address)).Does("replace " + address)
		f.Apply(acctest.Replace(address)).Succeed()
		f.Plan().Empty()
		after := f.Show()
		for _, attribute := range []string{"name", "id", "record_id"} {
			if was, is := before.Text(address, attribute), after.Text(address, attribute); was != is {
				f.t.Errorf("%s is %s, and was %s", attribute, is, was)
			}
		}
		if f.mustHash(name) != hash {
			f.t.Error("-replace under retain lost the data")
		}
		// Nor does losing the state, or a taint, double the workspace.
		f.StateRm(address).Succeed()
		f.Plan().Does("create " + address).Warn("reattached")
		f.settled()
		f.Taint(address).Succeed()
		f.settled()
		if id := f.Show().Text(address, "id"); id != before.Text(address, "id") || f.mustHash(name) != hash {
			f.t.Errorf("the id is %s, and was %s; or the data is lost", id, before.Text(address, "id"))
		}
		// What is purged has no name to keep.
		f.Config(f.block(persistent, "a", f.workspaceID("w"), seed, `on_destroy = "purge"`))
		f.settled()
		f.Apply(acctest.Replace(address)).Succeed()
		f.Plan().Empty()
		if renamed := f.Show().Text(address, "name"); !strings.HasPrefix(renamed, "other-elsewhere-ws-") || f.exists(name) {
			f.t.Errorf("the name after a purging replacement is %s", renamed)
		}
	}, everywhere()...)
}

// TestAccOtherBinding: another data directory or engine is an error before any access, and nothing
// leaves the state.
func TestAccOtherBinding(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(session, "a", f.named("a")) + f.block(persistent, "a", f.named("b"), seed) + f.block(persistent, "p", f.named("c"), `on_destroy = "purge"`))
		f.settled()
		hash := f.mustHash(f.Unique("b"))
		before := f.Show().Addresses()
		dirs := []string{filepath.Join(f.t.TempDir(), "other"), filepath.Join(f.t.TempDir(), "used")}
		switch {
		case f.docker():
			proxy := acctest.NewEngineProxy(f.t, f.engine)
			proxy.PretendID("ANOTHER:ENGINE")
			f.Setenv("DOCKER_HOST", proxy.Host())
			dirs = []string{f.DataDir}
		case f.cloud != nil:
			f.Setenv("VERCEL_PROJECT_ID", otherProject.ID)
			dirs = []string{f.DataDir}
		default:
			used := f.beside(f.block(session, "used", f.named("a")))
			used.ProviderBlock(fmt.Sprintf("data_dir = %q\nowner = %q", dirs[1], f.Owner))
			used.Apply().Succeed()
		}
		for _, dir := range dirs {
			f.ProviderBlock(fmt.Sprintf("data_dir = %q\nowner = %q", dir, f.Owner))
			acctest.Untouched(f.t, dir, func() {
				for _, result := range []*acctest.Result{f.Plan().Result, f.Destroy(), f.Destroy(acctest.NoRefresh()), f.Apply(acctest.NoRefresh(), acctest.Replace(persistent+".p"))} {
					result.FailWith("other_binding")
				}
			})
			if after := f.Show().Addresses(); len(after) != len(before) {
				f.t.Errorf("the state has %q, and had %q", after, before)
			}
		}
		f.Provider("")
		if f.docker() {
			f.Setenv("DOCKER_HOST", f.engine.Host())
		}
		if f.cloud != nil {
			f.Setenv("VERCEL_PROJECT_ID", simulator.DefaultProject.ID)
		}
		f.Plan().Empty()
		if f.mustHash(f.Unique("b")) != hash {
			f.t.Error("the data changed")
		}
		if _, err := os.Stat(dirs[0]); f.backend == "local" && err == nil {
			f.t.Error("the other data directory was made by looking")
		}
	}, everywhere()...)
}
