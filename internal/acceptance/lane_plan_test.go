package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// templateDir makes a directory of template files, one of them executable and one left out.
func templateDir(t *testing.T, dir string) string {
	t.Helper()
	for name, content := range map[string]string{".sandlotignore": "*.log\ncache/\n", "run.sh": "#!/bin/sh\n", "sub/data": "data", "noise.log": "1", "cache/x": "1"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// changeFile writes one file below a template directory.
func changeFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAccManifestHashAtPlan: what counts for the hash and what does not, side by side in one plan
// that reaches no engine.
func TestAccManifestHashAtPlan(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
		root := f.t.TempDir()
		const packages, commands, environment = `system_packages = ["curl", "git=1:2.39"]`, `commands = [["a"], ["b", "c"]]`, `environment = { A = "1", B = "2" }`
		rows := []struct {
			name string
			same bool
			// What differs from the first row; empty: nothing.
			file                                      func(dir string)
			packages, commands, environment, manifest string
			lines                                     []string
		}{
			{name: "first", same: true},
			{name: "touched", same: true, file: func(dir string) {
				if err := os.Chtimes(filepath.Join(dir, "sub", "data"), time.Now(), time.Now().Add(-24*time.Hour)); err != nil {
					f.t.Fatal(err)
				}
			}},
			{name: "reordered", same: true, packages: `system_packages = ["git=1:2.39", " curl ", "curl"]`, environment: `environment = { B = "2", A = "1" }`},
			{name: "ignored", same: true, file: func(dir string) {
				changeFile(f.t, filepath.Join(dir, "other.log"), "2")
				changeFile(f.t, filepath.Join(dir, "cache", "x"), "2")
			}},
			{name: "umask", same: true, file: func(dir string) {
				if err := os.Chmod(filepath.Join(dir, "sub", "data"), 0o600); err != nil {
					f.t.Fatal(err)
				}
			}},
			{name: "settings", same: true, lines: []string{`smoke_checks = [{ command = ["true"] }]`, `verify = false`, `expiration = "1h"`, `rebake_trigger = "x"`, `retention = { keep_previous = 3 }`, `network = { mode = "allow-all" }`}},
			{name: "byte", file: func(dir string) { changeFile(f.t, filepath.Join(dir, "sub", "data"), "date") }},
			{name: "mode", file: func(dir string) {
				if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o644); err != nil {
					f.t.Fatal(err)
				}
			}},
			{name: "added", file: func(dir string) { changeFile(f.t, filepath.Join(dir, "more"), "") }},
			{name: "unignored", file: func(dir string) { changeFile(f.t, filepath.Join(dir, ".sandlotignore"), "cache/\n") }},
			{name: "order", commands: `commands = [["b", "c"], ["a"]]`},
			{name: "argument", commands: `commands = [["a"], ["b c"]]`},
			{name: "value", environment: `environment = { A = "1", B = "3" }`},
			{name: "variable", environment: `environment = { A = "1", C = "2" }`},
			{name: "package", packages: `system_packages = ["curl", "git=1:2.40"]`},
			{name: "marker", manifest: `marker_path = "/workspace/m"`},
			{name: "label", manifest: `template_version = "2"`},
			{name: "allowlist", lines: []string{`environment_allowlist = ["LANG"]`}},
		}
		config := ""
		or := func(text, otherwise string) string {
			if text == "" {
				return otherwise
			}
			return text
		}
		for _, row := range rows {
			dir := templateDir(f.t, filepath.Join(root, row.name))
			if row.file != nil {
				row.file(dir)
			}
			manifest := []string{or(row.packages, packages), or(row.commands, commands), fmt.Sprintf(`template_files = { "." = { source = %q } }`, dir), or(row.manifest, "")}
			config += f.lane(row.name, manifest, append([]string{fmt.Sprintf("app = %q", row.name), or(row.environment, environment)}, row.lines...)...)
		}
		f.Config(config)
		planned := f.Plan().Planned().JSON()
		hash := func(name string) any {
			return planned.Resource(baseSnapshot + "." + name).Change.After["manifest_hash"]
		}
		seen := map[any]string{}
		for _, row := range rows {
			found := hash(row.name)
			if text, known := found.(string); !known || len(text) != 64 {
				f.t.Fatalf("%s: the hash is %v at plan", row.name, found)
			}
			if row.same != (found == hash("first")) {
				f.t.Errorf("%s: that the hash is the same is %t", row.name, !row.same)
			}
			if other, twice := seen[found]; twice && !row.same {
				f.t.Errorf("%s and %s have the same hash", row.name, other)
			}
			seen[found] = row.name
		}
		if tree := acctest.ReadTree(f.t, f.DataDir); len(tree) > 0 {
			f.t.Errorf("the plan made %v", tree)
		}
	}, "docker")
}

// TestAccManifestInputs follows the inputs of one lane: files that are touched, ignored, changed and
// missing, and values that are not known yet.
func TestAccManifestInputs(t *testing.T) {
	onEach(t, func(f *fixture) {
		dir := templateDir(f.t, filepath.Join(f.t.TempDir(), "files"))
		round := `
variable "round" { default = "1" }
resource "terraform_data" "text" {
  input            = "one"
  triggers_replace = var.round
}
`
		config := round + f.lane("it", []string{fmt.Sprintf(`template_files = { "." = { source = %q }, "text" = { content = terraform_data.text.output } }`, dir)})
		f.Config(config)
		plan := f.Plan().Planned()
		if unknown := plan.JSON().Resource(lane).Change.AfterUnknown["manifest_hash"]; unknown != true {
			f.t.Error("the hash is planned although the content of a file is not known")
		}
		f.settled()
		f.haveSnapshots(1)
		before := f.Show()
		keeps := func(when string) {
			f.t.Helper()
			if after := f.Show(); after.Text(lane, "snapshot_id") != before.Text(lane, "snapshot_id") || after.Text(lane, "history") != before.Text(lane, "history") {
				f.t.Errorf("%s: another snapshot is current", when)
			}
		}
		if err := os.Chtimes(filepath.Join(dir, "run.sh"), time.Now(), time.Unix(1, 0)); err != nil {
			f.t.Fatal(err)
		}
		changeFile(f.t, filepath.Join(dir, "more.log"), "2")
		f.Plan().Empty()

		// Not known again, and the same in the end: nothing is baked.
		second := acctest.Var("round", "2")
		f.Plan(second).Does("replace terraform_data.text", "update "+lane)
		f.settled(second)
		keeps("an unknown input that stays the same")

		changeFile(f.t, filepath.Join(dir, "sub", "data"), "date")
		planned := f.Plan(second).Does("update " + lane)
		if found := planned.JSON().Resource(lane).Change; found.After["manifest_hash"] == found.Before["manifest_hash"] || found.AfterUnknown["snapshot_id"] != true {
			f.t.Errorf("the plan does not show another hash and a new snapshot: %v", found.After)
		}
		// Between plan and apply the files change once more: what was planned is not what would be baked.
		changeFile(f.t, filepath.Join(dir, "sub", "data"), "late")
		if result := f.ApplyPlan(planned); result.ExitCode == 0 {
			f.t.Errorf("an apply baked other files than were planned:\n%s", result)
		}
		keeps("files that changed after the plan")
		f.haveSnapshots(1)
		f.haveBoxes(0)

		if err := os.RemoveAll(dir); err != nil {
			f.t.Fatal(err)
		}
		found := f.Plan(second).FailWith("invalid_value").Diagnostics.Errors()[0]
		mentions(f, found.Detail, dir)
		f.Destroy(second).FailWith("invalid_value")
		f.Destroy(second, acctest.NoRefresh()).Succeed()
	}, "local")
}
