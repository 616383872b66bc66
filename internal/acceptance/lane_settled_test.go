package acceptance_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// hostVersion is the version of a program of this machine, as it prints it.
func hostVersion(f *fixture, program string) string {
	f.t.Helper()
	said, err := exec.Command(program, "--version").Output()
	version := regexp.MustCompile(`[0-9]+(\.[0-9]+)+`).FindString(string(said))
	if err != nil || version == "" {
		f.t.Fatalf("%s --version says %q (%v)", program, said, err)
	}
	return version
}

// installer puts a package manager into an image that has none: it notes what it is asked for.
const installer = `template_files = { "/bin/apk" = { content = "#!/bin/sh\nshift 2\nfor p; do echo $p; done > /installed\n", mode = "0755" } }`

// richLanes are base snapshots that use every attribute, spell defaults out or leave them empty.
// extra is added to the full one.
func (f *fixture) richLanes(trigger string) string {
	manifest := []string{
		`schema_version = 1`, says("$STAGE"), `template_version = "v1-` + f.Tag + `"`, `marker_path = "/workspace/marker.json"`,
		`template_files = { "bin/tool" = { content = "#!/bin/sh\necho tool 1.2.3\n", mode = "0755" }, "notes.txt" = { content = "" } }`,
	}
	lines := []string{
		`app = "full"`, `template = "web"`, `environment = { STAGE = "ci", API_KEY = "public" }`, `environment_allowlist = ["HTTPS_PROXY", "LANG"]`,
		`allow_names = ["API_KEY"]`, `smoke_checks = [{ command = ["cat", "base.txt"], expect = "ci" }, { command = ["/workspace/bin/tool"] }]`,
		`verify = true`, `expiration = "720h"`, `retention = { min_age = "1h", keep_previous = 2, purge = true }`,
		fmt.Sprintf("rebake_trigger = %q", trigger), `on_destroy = "retain"`, `timeouts = { create = "5m", read = "1m", update = "5m", delete = "5m" }`,
		`network = { mode = "deny-all" }`,
	}
	var more string
	if f.docker() {
		manifest = append(manifest, fmt.Sprintf("source = { snapshot_id = %s.least.snapshot_id }", baseSnapshot), `system_packages = [" curl ", "busybox", "curl"]`)
		lines = append(lines, "depends_on = ["+baseSnapshot+".least]")
		more = f.lane("least", []string{installer}, `app = "least"`)
	} else {
		manifest = append(manifest, fmt.Sprintf("package_managers = { sed = %q }", hostVersion(f, "sed")))
		more = f.lane("least", nil, `app = "least"`)
	}
	return more + f.lane("full", manifest, lines...) +
		f.lane("empty", []string{`template_version = "e-` + f.Tag + `"`, `system_packages = []`, `package_managers = {}`, `commands = []`, `template_files = {}`},
			`app = "empty"`, `environment = {}`, `environment_allowlist = []`, `allow_names = []`, `smoke_checks = []`, `verify = false`, `retention = {}`, `timeouts = {}`)
}

// richRuntimes are workspaces of both kinds that use every attribute of their own.
func (f *fixture) richRuntimes() string {
	template := `template = { version = "1", files = { "t/a.sh" = { content = "echo a", mode = "0700" }, "t/empty" = { content = "" } }, max_bytes = 4096, migrate = { command = ["sh", "-c", "echo migrated > migrated"], verify = ["test", "-f", "migrated"] } }`
	full := strings.ReplaceAll(fromLane, lane, baseSnapshot+".full")
	lines := []string{
		full, template, `kind = "persistent"`, `environment = { A = "1" }`, `secret_environment_wo = { TOKEN = var.token }`, `secret_environment_wo_version = 1`,
		`labels = { team = "a" }`, `generation = 1`, `on_missing = "keep"`, `on_destroy = "retain"`, `checkpoint_trigger = "a"`,
		`snapshot_retention = { keep_last = 2, expiration = "48h" }`, `desired_state = "running"`, seed,
	}
	return f.runtime("full", "full", lines...) +
		f.runtime("session", "session", full, template, `kind = "session"`, seed) +
		f.runtime("stopped", "stopped", full, `kind = "session"`, `desired_state = "stopped"`, `template = { version = "x", files = {} }`) +
		f.runtime("bare", "bare", "base_snapshot = null", f.source())
}

// TestAccLanesAndRuntimesSettle: whatever is spelled out or left to defaults, the plan after an
// apply is empty, also after each change in place.
func TestAccLanesAndRuntimesSettle(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Setenv("TF_VAR_token", "canary-"+f.Tag)
		config := secretVariable + f.richLanes("1") + f.richRuntimes()
		f.Config(config)
		f.Validate().Succeed()
		f.settled()
		f.haveBoxes(4)
		if f.docker() {
			if found, _ := f.engine.ReadFile(f.nameOf(workspaceRuntime+".full"), "/installed"); string(found) != "busybox\ncurl\n" {
				f.t.Errorf("installed was %q", found)
			}
		}
		full := workspaceRuntime + ".full"
		state := f.Show()
		first := state.Text(baseSnapshot+".full", "snapshot_id")
		if state.Text(full, "applied_base_snapshot_id") != first || state.Text(full, "applied_template_version") != "1" {
			f.t.Error("the provenance is not what was asked for")
		}
		// Each of these is a change in place; all of them in one apply.
		changed := strings.NewReplacer(
			`environment = { A = "1" }`, `environment = { A = "2", B = "" }`,
			`labels = { team = "a" }`, `labels = { team = "b" }`,
			`version = "1", files`, `version = "2", files`,
			"on_missing = \"keep\"\n  on_destroy = \"retain\"", "on_missing = \"error\"\n  on_destroy = \"purge\"",
			`desired_state = "stopped"`, `desired_state = "running"`,
			`expiration = "720h"`, `expiration = "1440h"`,
			`purge = true }`, `purge = false }`,
			`min_age = "1h"`, `min_age = "2h"`,
			`read = "1m"`, `read = "2m"`,
			`command = ["/workspace/bin/tool"]`, `command = ["/workspace/bin/tool"], expect = "1.2.3"`,
		).Replace(config)
		changed = strings.ReplaceAll(changed, `verify = false`, `verify = true`)
		f.Config(changed)
		plan := f.Plan()
		updates := []string{"update " + baseSnapshot + ".full", "update " + baseSnapshot + ".empty"}
		for _, label := range []string{"full", "session", "stopped"} {
			updates = append(updates, "update "+workspaceRuntime+"."+label)
		}
		plan.Does(updates...)
		f.settled()
		f.Plan(acctest.NoRefresh()).Empty()
		// A new bake by trigger alone, beside workspaces that stay as they are.
		before := f.Show().Text(baseSnapshot+".full", "snapshot_id")
		f.Config(strings.Replace(changed, `rebake_trigger = "1"`, `rebake_trigger = "2"`, 1))
		f.Plan().Does("update " + baseSnapshot + ".full")
		f.settled()
		state = f.Show()
		if state.Text(baseSnapshot+".full", "snapshot_id") == before || state.Text(full, "applied_base_snapshot_id") != first {
			f.t.Error("the trigger did not bake anew, or a workspace followed it")
		}
		if rows := strings.Count(storeRows(f.t, f.DataDir), "current true"); rows != 3 {
			f.t.Errorf("%d snapshots are current", rows)
		}
		f.Destroy().Succeed()
	}, everywhere()...)
}
