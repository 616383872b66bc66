package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// badLane is a base snapshot on local with a fault in its manifest or beside it.
func badLane(manifest, body string) string {
	return badLaneOn("local", manifest, body)
}

func badLaneOn(backend, manifest, body string) string {
	if !givenBy([]string{manifest})("name") {
		manifest = "name = \"web\"\n    " + manifest
	}
	if !givenBy([]string{body})("app") {
		body = "app = \"shop\"\n  " + body
	}
	return fmt.Sprintf("resource \"sandlot_base_snapshot\" \"a\" {\n  backend = %q\n  %s\n  manifest = {\n    %s\n  }\n}\n", backend, body, manifest)
}

// badRuntime is a workspace runtime on local with a fault.
func badRuntime(body string) string {
	if !givenBy([]string{body})("workspace_id") {
		body = "workspace_id = \"w1\"\n  " + body
	}
	return "resource \"sandlot_workspace_runtime\" \"a\" {\n  backend = \"local\"\n  " + body + "\n}\n"
}

func badTemplate(members string) string {
	return badRuntime("template = { version = \"1\", " + members + " }")
}

func badLaneRows() []badRow {
	const invalid, unsupported, secret, required = "invalid_value", "unsupported", "secret_name", ""
	docker := `source = { image = "debian" }`
	long := func(n int) string { return strings.Repeat("x", n) }
	return []badRow{
		// The lane.
		{name: "unknown backend", hcl: badLaneOn("podman", "", ""), at: "backend", code: invalid},
		{name: "app empty", hcl: badLane("", `app = ""`), at: "app", code: invalid},
		{name: "app in upper case", hcl: badLane("", `app = "Shop"`), at: "app", code: invalid},
		{name: "app with slash", hcl: badLane("", `app = "a/b"`), at: "app", code: invalid},
		{name: "template with dots", hcl: badLane("", `template = ".."`), at: "template", code: invalid},
		{name: "two resources of one lane", hcl: badLane("", "") + strings.Replace(badLane("", `template = "default"`), `"a"`, `"b"`, 1), at: "app", code: "duplicate_workspace", plan: true},

		// The manifest.
		{name: "schema version 0", hcl: badLane(`schema_version = 0`, ""), at: "manifest.schema_version", code: invalid},
		{name: "schema version 2", hcl: badLane(`schema_version = 2`, ""), at: "manifest.schema_version", code: invalid},
		{name: "name in upper case", hcl: badLane(`name = "Web"`, ""), at: "manifest.name", code: invalid},
		{name: "source given twice", hcl: badLane(`source = { rootfs = "/srv", snapshot_id = "s" }`, ""), at: "manifest.source", code: invalid},
		{name: "source misspelled", hcl: badLaneOn("docker", `source = { imgae = "debian" }`, ""), at: "manifest.source", code: invalid},
		{name: "no source on docker", hcl: badLaneOn("docker", "", ""), at: "manifest.source", code: unsupported},
		{name: "image on local", hcl: badLane(docker, ""), at: "manifest.source.image", code: unsupported},
		{name: "rootfs on docker", hcl: badLaneOn("docker", `source = { rootfs = "/srv" }`, ""), at: "manifest.source.rootfs", code: unsupported},
		{name: "image no reference", hcl: badLaneOn("docker", `source = { image = "Not An Image" }`, ""), at: "manifest.source.image", code: invalid},
		{name: "rootfs relative", hcl: badLane(`source = { rootfs = "root" }`, ""), at: "manifest.source.rootfs", code: invalid},
		{name: "snapshot empty", hcl: badLane(`source = { snapshot_id = "" }`, ""), at: "manifest.source.snapshot_id", code: invalid},
		{name: "packages on local", hcl: badLane(`system_packages = ["curl"]`, ""), at: "manifest.system_packages", code: unsupported},
		{name: "package that is an option", hcl: badLaneOn("docker", docker+"\n    system_packages = [\"--help\"]", ""), at: "manifest.system_packages[*]", code: invalid},
		{name: "package that is removed", hcl: badLaneOn("docker", docker+"\n    system_packages = [\"curl-\"]", ""), at: "manifest.system_packages[*]", code: invalid},
		{name: "package with shell", hcl: badLaneOn("docker", docker+"\n    system_packages = [\"curl;id\"]", ""), at: "manifest.system_packages[*]", code: invalid},
		{name: "package null", hcl: badLaneOn("docker", docker+"\n    system_packages = [null]", ""), at: "manifest.system_packages[*]", code: invalid},
		{name: "package manager with slash", hcl: badLane(`package_managers = { "/bin/npm" = "1" }`, ""), at: `manifest.package_managers["/bin/npm"]`, code: invalid},
		{name: "package manager of no version", hcl: badLane(`package_managers = { npm = " " }`, ""), at: `manifest.package_managers["npm"]`, code: invalid},
		{name: "package manager null", hcl: badLane(`package_managers = { npm = null }`, ""), at: `manifest.package_managers["npm"]`, code: invalid},
		{name: "command without words", hcl: badLane(`commands = [["true"], []]`, ""), at: "manifest.commands[1]", code: invalid},
		{name: "command without a program", hcl: badLane(`commands = [[""]]`, ""), at: "manifest.commands[0]", code: invalid},
		{name: "command with null", hcl: badLane(`commands = [["echo", null]]`, ""), at: "manifest.commands[0][1]", code: invalid},
		{name: "command with NUL", hcl: badLane(`commands = [["echo", "a\u0000"]]`, ""), at: "manifest.commands[0]", code: invalid},
		{name: "label empty", hcl: badLane(`template_version = ""`, ""), at: "manifest.template_version", code: invalid},
		{name: "marker relative", hcl: badLane(`marker_path = "m.json"`, ""), at: "manifest.marker_path", code: invalid},

		// Template files, of both resources.
		{name: "target upwards", hcl: badLane(`template_files = { "../a" = { content = "x" } }`, ""), at: `manifest.template_files["../a"]`, code: invalid},
		{name: "target of a directory", hcl: badLane(`template_files = { "a/" = { content = "x" } }`, ""), at: `manifest.template_files["a/"]`, code: invalid},
		{name: "content twice", hcl: badLane(`template_files = { "a" = { content = "x", source = "y" } }`, ""), at: `manifest.template_files["a"]`, code: invalid},
		{name: "content misspelled", hcl: badLane(`template_files = { "a" = { contnet = "x" } }`, ""), at: `manifest.template_files["a"]`, code: invalid},
		{name: "file mode with set-id", hcl: badLane(`template_files = { "a" = { content = "x", mode = "4755" } }`, ""), at: `manifest.template_files["a"].mode`, code: invalid},
		{name: "missing template file", hcl: badLane(`template_files = { "a" = { source = "{DIR}/absent" } }`, ""), at: `manifest.template_files["a"]`, code: invalid, plan: true},
		{name: "template file that is a device", hcl: badLane(`template_files = { "a" = { source = "/dev/null" } }`, ""), at: `manifest.template_files["a"]`, code: invalid, plan: true},
		{name: "runtime's target upwards", hcl: badTemplate(`files = { "../a" = { content = "x" } }`), at: `template.files["../a"]`, code: invalid},
		{name: "runtime's content absent", hcl: badTemplate(`files = { "a" = {} }`), at: `template.files["a"]`, code: invalid},
		{name: "runtime's missing file", hcl: badTemplate(`files = { "a" = { source = "{DIR}/absent" } }`), at: `template.files["a"]`, code: invalid, plan: true},
		{name: "runtime's template too large", hcl: badTemplate(`files = { "a" = { content = "12345" }, "b" = { content = "12345" } }, max_bytes = 8`), at: `template.files["a"]`, code: invalid, plan: true},

		// Beside the manifest.
		{name: "variable with hyphen", hcl: badLane("", `environment = { "A-B" = "x" }`), at: `environment["A-B"]`, code: invalid},
		{name: "variable null", hcl: badLane("", `environment = { A = null }`), at: `environment["A"]`, code: invalid},
		{name: "secret by its name", hcl: badLane("", `environment = { NPM_TOKEN = "x", PASSWORD_FILE = "y" }`+"\n  "+`allow_names = ["PASSWORD_FILE"]`), at: `environment["NPM_TOKEN"]`, code: secret},
		{name: "secret on the allowlist", hcl: badLane("", `environment_allowlist = ["aws_secret_access_key"]`), at: "environment_allowlist[*]", code: secret},
		{name: "allowlist with sign", hcl: badLane("", `environment_allowlist = ["A=B"]`), at: "environment_allowlist[*]", code: invalid},
		{name: "allowed name empty", hcl: badLane("", `allow_names = [""]`), at: "allow_names[*]", code: invalid},
		{name: "smoke check without words", hcl: badLane("", `smoke_checks = [{ command = [] }]`), at: "smoke_checks[0].command", code: invalid},
		{name: "smoke check without a program", hcl: badLane("", `smoke_checks = [{ command = ["true"] }, { command = [""] }]`), at: "smoke_checks[1].command", code: invalid},
		{name: "smoke check with null", hcl: badLane("", `smoke_checks = [{ command = ["echo", null] }]`), at: "smoke_checks[0].command[1]", code: invalid},
		{name: "smoke check that expects nothing", hcl: badLane("", `smoke_checks = [{ command = ["true"], expect = "" }]`), at: "smoke_checks[0].expect", code: invalid},
		{name: "smoke check null", hcl: badLane("", `smoke_checks = [null]`), at: "smoke_checks[0].command", code: required},
		{name: "network mode of another design", hcl: badLane("", `network = { mode = "restricted" }`), at: "network.mode", code: invalid},
		{name: "host network on docker", hcl: badLaneOn("docker", docker, `network = { mode = "host" }`), at: "network.mode", code: unsupported},
		{name: "host network on vercel", hcl: badLaneOn("vercel", "", `network = { mode = "host" }`), at: "network.mode", code: unsupported},
		{name: "rootfs on vercel", hcl: badLaneOn("vercel", `source = { rootfs = "/srv" }`, ""), at: "manifest.source.rootfs", code: unsupported},
		{name: "expiration negative", hcl: badLane("", `expiration = "-1h"`), at: "expiration", code: invalid},
		{name: "expiration in days", hcl: badLane("", `expiration = "14d"`), at: "expiration", code: invalid},
		{name: "min_age", hcl: badLane("", `retention = { min_age = "2w" }`), at: "retention.min_age", code: invalid},
		{name: "keep_previous negative", hcl: badLane("", `retention = { keep_previous = -1 }`), at: "retention.keep_previous", code: invalid},
		{name: "on_destroy", hcl: badLane("", `on_destroy = "delete"`), at: "on_destroy", code: invalid},
		{name: "time limit", hcl: badLane("", `timeouts = { create = "soon" }`), at: "timeouts.create", code: invalid},

		// Workspace runtimes.
		{name: "workspace id blank", hcl: badRuntime(`workspace_id = " \t "`), at: "workspace_id", code: invalid},
		{name: "kind", hcl: badRuntime(`kind = "volume"`), at: "kind", code: invalid},
		{name: "base id empty", hcl: badRuntime(`base_snapshot = { id = "", version = "v" }`), at: "base_snapshot.id", code: invalid},
		{name: "base version empty", hcl: badRuntime(`base_snapshot = { id = "s", version = "" }`), at: "base_snapshot.version", code: invalid},
		{name: "template version empty", hcl: badRuntime(`template = { version = "" }`), at: "template.version", code: invalid},
		{name: "template version of 257", hcl: badRuntime(`template = { version = "` + long(257) + `" }`), at: "template.version", code: invalid},
		{name: "max_bytes 0", hcl: badTemplate(`max_bytes = 0`), at: "template.max_bytes", code: invalid},
		{name: "migration without words", hcl: badTemplate(`migrate = { command = [] }`), at: "template.migrate.command", code: invalid},
		{name: "migration without a program", hcl: badTemplate(`migrate = { command = [""] }`), at: "template.migrate.command[0]", code: invalid},
		{name: "verification with null", hcl: badTemplate(`migrate = { command = ["true"], verify = ["true", null] }`), at: "template.migrate.verify[1]", code: invalid},
		{name: "runtime's memory on local", hcl: badRuntime(`memory_mib = 512`), at: "memory_mib", code: unsupported},
		{name: "runtime's secret without version", hcl: badRuntime(`secret_environment_wo = { A = "x" }`), at: "secret_environment_wo_version", code: invalid},

		// Data sources and the store.
		{name: "data of no app", hcl: "data \"sandlot_base_snapshot\" \"a\" {\n  backend = \"local\"\n  app = \"\"\n}\n", at: "app", code: invalid},
		{name: "data of no workspace", hcl: "data \"sandlot_workspace_runtime\" \"a\" {\n  backend = \"local\"\n  workspace_id = \"\"\n}\n", at: "workspace_id", code: required},
		{name: "handle of no shape", hcl: "data \"sandlot_handle\" \"a\" {\n  record_id = \"x\"\n  shape = \"json\"\n}\n", at: "shape", code: required},
		{name: "store of another scheme", provider: `store = { postgres_url = "mysql://u:p@127.0.0.1/x" }`, hcl: badLane("", ""), at: "store.postgres_url", code: invalid},
	}
}

// TestBadInputOfLanes is TestBadInput for base snapshots, workspace runtimes and the store, each row
// under one of the CLIs: that they show an error where the provider puts it is tested there.
func TestBadInputOfLanes(t *testing.T) {
	t.Parallel()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	w := newWorld(t)
	t.Run("rows", func(t *testing.T) {
		for i, row := range badLaneRows() {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				w.refuses(t, clis[i%len(clis)], row)
			})
		}
	})
	w.untouched(t)
}
