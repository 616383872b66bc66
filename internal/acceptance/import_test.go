package acceptance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// imported is a configuration whose every part has to come out of an import again.
func (f *fixture) imported(mount string) string {
	common := []string{
		`environment = { A = "1" }`, `secret_environment_wo = { TOKEN = var.token }`, `secret_environment_wo_version = 2`,
		`network = { mode = "deny-all" }`, `desired_state = "running"`, `labels = { a = "1" }`, seed,
		`require_capabilities = ["snapshot"]`, `on_destroy = "purge"`, `timeouts = { create = "3m" }`,
	}
	if f.cloud != nil {
		common[3] = `network = { mode = "restricted", allow_domains = ["a.example"], deny_cidrs = ["192.0.2.0/24"] }`
		common = append(common, `ports = [{ port = 3000, public = true }, { port = 3001, protocol = "tcp", public = true }]`, `cpus = 4`, `memory_mib = 8192`,
			`timeout = "600s"`, `source = { runtime = "node24" }`, `vercel = { region = "iad1", failover_regions = ["fra1", "sfo1"] }`)
	} else {
		common = append(common, `working_directory = "/tmp"`, fmt.Sprintf(`mounts = [{ source = %q, target = "/mnt/a", read_only = true }]`, mount))
	}
	if f.docker() {
		common[3] = `ports = [{ port = 82, protocol = "tcp" }, { port = 81 }]`
		common = append(common, `cpus = 0.5`, `memory_mib = 64`, `user = "1000"`, `command = ["sleep", "5000"]`, `timeout = "60m"`,
			`volumes = { data = { target = "/data" } }`, `docker = { pids_limit = 55, pull_policy = "never", add_capabilities = ["NET_RAW"] }`)
	}
	empty := []string{f.named("empty"), `environment = {}`, `labels = {}`, `mounts = []`, `setup = []`, `require_capabilities = []`, `timeouts = {}`, `snapshot_retention = {}`}
	if f.docker() {
		empty = append(empty, `ports = []`, `volumes = {}`, `docker = {}`)
	}
	if f.cloud != nil {
		empty = append(empty, `ports = []`, `vercel = {}`, `cpus = 2`, `timeout = "300s"`, `network = { mode = "allow-all" }`)
	}
	return secretVariable + f.block(persistent, "empty", empty...) + f.block(persistent, "a", append([]string{f.workspaceID("w"), `generation = 2`, `on_missing = "keep"`, `checkpoint_trigger = "x"`, `snapshot_retention = { keep_last = 2, expiration = "24h" }`}, common...)...) +
		f.block(session, "a", append([]string{f.named("s")}, common...)...) +
		f.importedLanes() +
		f.block(persistent, "least", f.named("least"))
}

// importedLanes are base snapshots and workspaces that use what only they have.
func (f *fixture) importedLanes() string {
	full := f.lane("full", []string{
		says("base"), `schema_version = 1`, `marker_path = "/workspace/m.json"`, `package_managers = {}`, `system_packages = []`,
		`template_files = { "a" = { content = "" }, "b" = { content = "b", mode = "0600" } }`,
	}, `app = "full"`, `template = "web"`, `environment = { A = "" }`, `environment_allowlist = ["LANG"]`, `allow_names = ["API_KEY"]`,
		`smoke_checks = [{ command = ["true"] }, { command = ["cat", "base.txt"], expect = "base" }]`, `verify = false`, `network = { mode = "deny-all" }`,
		`expiration = "24h"`, `retention = { min_age = "1h", keep_previous = 2, purge = true }`, `rebake_trigger = "1"`, `on_destroy = "purge"`, `timeouts = { create = "5m" }`)
	return full + f.lane("empty", []string{`template_version = null`, `commands = []`, `name = "e-` + f.Tag + `"`}, `app = "empty"`, `environment = {}`, `environment_allowlist = []`, `allow_names = []`, `smoke_checks = []`, `retention = {}`, `timeouts = {}`, `verify = false`) +
		f.runtime("a", "r", strings.ReplaceAll(fromLane, lane, baseSnapshot+".full"), `kind = "session"`, `on_destroy = "purge"`, `checkpoint_trigger = "1"`,
			`template = { version = "1", files = { "t" = { content = "t", mode = "0600" } }, max_bytes = 100, migrate = { command = ["true"], verify = ["true"] } }`) +
		f.runtime("empty", "e", "base_snapshot = null", f.source(), `template = { version = "1", files = {} }`)
}

// TestAccImport: what was imported by any of the ways plans empty, and no import touches anything.
func TestAccImport(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Setenv("TF_VAR_token", "canary-"+f.Tag)
		config := f.imported(f.t.TempDir())
		f.Config(config)
		f.settled()
		state := f.Show()
		addresses := state.Addresses()
		ids := map[string]string{}
		for _, address := range addresses {
			ids[address] = state.Text(address, "id")
		}
		watched := f.watch()
		look := func(work func()) {
			f.t.Helper()
			acctest.Untouched(f.t, f.DataDir, work)
			watched.onlyReads("the import")
			watched.forget()
		}

		byID := f.beside(config)
		look(func() {
			for _, address := range addresses {
				byID.Import(address, ids[address]).Succeed()
			}
			byID.Plan().Empty()
		})
		sameState(f, state, byID.Show())

		byBlock := f.beside(config)
		blocks := ""
		for _, address := range addresses {
			blocks += fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, ids[address])
		}
		byBlock.Write("imports.tf", blocks)
		look(func() { onlyImports(f, byBlock.Plan(), addresses) })
		byBlock.Apply().Succeed()
		byBlock.Plan().Empty()
		watched.forget()

		if f.CLI.Terraform() {
			return // identities came with 1.12
		}
		byIdentity := f.beside(config)
		blocks = ""
		for _, address := range addresses {
			blocks += fmt.Sprintf("import {\n  to = %s\n  identity = {\n    id = %q\n  }\n}\n", address, ids[address])
		}
		byIdentity.Write("imports.tf", blocks)
		look(func() { onlyImports(f, byIdentity.Plan(), addresses) })
		byIdentity.Apply().Succeed()
		byIdentity.Plan().Empty()
	}, everywhere()...)
}

// beside is another checkout with the configuration, by the same owner.
func (f *fixture) beside(config string) *fixture {
	other := *f
	other.Workspace = f.Beside()
	other.Config(config)
	return &other
}

// onlyImports fails the test unless the plan imports the addresses and changes nothing.
func onlyImports(f *fixture, plan *acctest.Plan, addresses []string) {
	f.t.Helper()
	plan.Succeed()
	planned := plan.JSON()
	for _, address := range addresses {
		change := planned.Resource(address).Change
		if change.Importing == nil || !slices.Equal(change.Actions, []string{"no-op"}) {
			f.t.Errorf("%s: the plan is %q, imports: %v\n%s", address, change.Actions, change.Importing, planned.Describe())
		}
	}
}

// sameState compares what an import made of an object with what its creation left.
func sameState(f *fixture, created, imported *acctest.State) {
	f.t.Helper()
	for _, address := range created.Addresses() {
		is := imported.Values(address)
		for name, was := range created.Values(address) {
			if fmt.Sprint(was) != fmt.Sprint(is[name]) {
				f.t.Errorf("%s: %s is %v after the import, and was %v", address, name, is[name], was)
			}
		}
	}
}

// TestAccImportWithoutStore: where the record is lost, the first plan only takes the configuration
// into the state.
func TestAccImportWithoutStore(t *testing.T) {
	onEach(t, func(f *fixture) {
		config := f.block(persistent, "a", f.workspaceID("w"), `environment = { A = "1" }`, `labels = { a = "1" }`, `timeouts = { create = "3m" }`, `on_missing = "keep"`, seed)
		f.Config(config)
		f.settled()
		name := f.Show().Text(persistent+".a", "name")
		recordID := f.Show().Text(persistent+".a", "record_id")
		before := f.container(name)
		hash := f.mustHash(name)
		f.loseStore()
		other := f.beside(config)
		other.Import(persistent+".a", f.id(name)).Succeed()
		plan := other.Plan()
		plan.Does("update " + persistent + ".a")
		adopted := []string{"workspace_id", "source", "setup", "timeouts", "on_missing"}
		if f.cloud != nil {
			// It tells nobody the environment, so that is handed in anew.
			adopted = append(append(adopted, "environment"), volatile...)
		}
		for _, attribute := range plan.JSON().Resource(persistent + ".a").Differences() {
			if !slices.Contains(adopted, attribute) {
				f.t.Errorf("the adoption changes %s", attribute)
			}
		}
		other.settled()
		if f.container(name) != before || f.mustHash(name) != hash || f.mark(name, "record") != recordID {
			f.t.Error("the adoption touched the sandbox")
		}
		if found := other.Show().Text(persistent+".a", "record_id"); found != recordID {
			f.t.Errorf("the record is %s, and was %s", found, recordID)
		}
	}, everywhere()...)
}

// container is the identity that the engine gives the sandbox of a name, "" on local: the id of its
// container, or what tells one sandbox of a platform from the next of its name.
func (f *fixture) container(name string) string {
	f.t.Helper()
	switch {
	case f.cloud != nil:
		return f.cloud.must(name).UID
	case f.docker():
		return f.engine.MustContainer(name).ID
	}
	return ""
}

// TestAccImportRefused: what cannot be imported says why, and is not touched.
func TestAccImportRefused(t *testing.T) {
	onEach(t, func(f *fixture) {
		config := f.block(persistent, "a", f.named("a")) + f.block(session, "a", f.named("s"))
		f.Config(config)
		f.Apply().Succeed()
		foreign := f.Unique("foreign")
		if f.cloud != nil {
			_, err := f.cloud.client.CreateSandbox(f.t.Context(), api.CreateRequest{Name: foreign, Tags: map[string]string{"whose": "theirs"}})
			f.cloud.check(err)
		}
		if f.docker() {
			f.engine.Call(http.MethodPost, "/containers/create?name="+foreign, map[string]any{"Image": f.image, "Cmd": []string{"sh"}, "Labels": map[string]string{"sandlot.acctest": f.Tag}})
			f.t.Cleanup(func() { f.engine.Remove(foreign) })
		}
		stranger := f.beside(config)
		stranger.ProviderBlock(fmt.Sprintf("data_dir = %q\nowner = \"stranger\"", f.DataDir))
		other := f.beside(config)
		acctest.Untouched(f.t, f.DataDir, func() {
			other.Import(persistent+".a", f.id(f.Unique("s"))).FailWith("other_kind")
			other.Import(session+".a", f.id(f.Unique("a"))).FailWith("other_kind")
			other.Import(persistent+".a", f.id("absent")).FailWith(missingCode)
			stranger.Import(persistent+".a", f.id(f.Unique("a"))).FailWith("not_ours")
			if f.backend != "local" {
				other.Import(persistent+".a", f.id(foreign)).FailWith("not_ours")
			}
			for _, id := range []string{"", "a", "nowhere/a", f.backend + "/", f.backend + "/../a", f.backend + "/A"} {
				if result := other.Import(persistent+".a", id); result.ExitCode == 0 || len(result.Diagnostics.Errors()) == 0 {
					f.t.Errorf("the id %q is imported:\n%s", id, result)
				}
			}
		})
		if left := other.Show().Addresses(); len(left) > 0 {
			f.t.Errorf("a refused import left %q in the state", left)
		}
		// A name that somebody else has is refused by a create too, which names the import.
		if f.backend == "local" {
			return
		}
		other.Config(f.block(persistent, "a", f.named("foreign")))
		other.Apply().FailWith("not_ours")
		stranger.Config(f.block(persistent, "a", f.named("a")))
		stranger.Apply().FailWith("not_ours")
	}, everywhere()...)
}
