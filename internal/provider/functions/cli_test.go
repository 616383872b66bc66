package functions_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestAccFunctions calls the functions through the CLIs, and holds sandbox_name to the names that
// the resource derives from the same values and from the same defaults.
func TestAccFunctions(t *testing.T) {
	t.Parallel()
	testkit.Bubblewrap(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Config(`
resource "sandlot_persistent_sandbox" "a" {
  backend      = "local"
  workspace_id = " W\u00f6rk/4711 "
}

resource "sandlot_persistent_sandbox" "b" {
  backend      = "local"
  workspace_id = "b"
  generation   = 3
}

output "defaults" {
  value = sandlot_persistent_sandbox.a.name == provider::sandlot::sandbox_name(sandlot_persistent_sandbox.a.workspace_id)
}

output "generation" {
  value = sandlot_persistent_sandbox.b.name == provider::sandlot::sandbox_name("b", "sandlot", "dev", 3)
}

output "path" {
  value = provider::sandlot::resolve_path(sandlot_persistent_sandbox.a.workspace, "a/../b")
}
`)
		w.Apply().Succeed()
		w.Plan().Empty()
		state := w.Show()
		if state.Output("defaults") != true || state.Output("generation") != true || state.Output("path") != "/workspace/b" {
			t.Errorf("defaults %v, generation %v, path %v", state.Output("defaults"), state.Output("generation"), state.Output("path"))
		}

		w.Provider("  name_prefix = \"agents\"\n  namespace = \"prod\"\n")
		w.Config(`
resource "sandlot_persistent_sandbox" "c" {
  backend      = "local"
  workspace_id = "c"
}

output "same" {
  value = sandlot_persistent_sandbox.c.name == provider::sandlot::sandbox_name("c", "agents", "prod")
}
`)
		w.Apply().Succeed()
		if w.Show().Output("same") != true {
			t.Error("the names differ")
		}

		for call, code := range map[string]string{
			`sandbox_name("a", "Agents")`:          "invalid_value",
			`sandbox_name("a", "p", "n", 1.5)`:     "invalid_value",
			`resolve_path("/workspace", "../etc")`: "path_escapes",
		} {
			w.Config("output \"x\" {\n  value = provider::sandlot::" + call + "\n}\n")
			result := w.Plan()
			if result.ExitCode != 1 || !strings.Contains(result.Diagnostics.Errors()[0].Detail, code) {
				t.Errorf("%s:\n%s", call, result)
			}
		}
	})
}

// TestAccParseHandle reads records in expressions, as a configuration that takes over an
// application's sandboxes does: a null is a null, a number a number, and a sensitive record makes a
// sensitive result.
func TestAccParseHandle(t *testing.T) {
	t.Parallel()
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Config(`
locals {
  old = provider::sandlot::parse_handle(jsonencode({
    workspaceId = "w", sandboxId = "sbx_1", createdAt = "2026-04-30T08:00:00Z", lastUsedAt = "2026-04-30T09:30:00+01:00", added = [1]
  }))
  resource = provider::sandlot::parse_handle(jsonencode({
    workspaceId = "w", provider = "local", resourceKind = "sandbox", handleKind = "persistent-name", handle = "n", state = "ready"
    metadata = { port = 1 }, createdAt = "2026-04-30T08:00:00Z", updatedAt = "2026-04-30T08:00:00Z"
  }))
  instance = provider::sandlot::parse_handle(jsonencode({
    spec     = { provider = "docker", owner = "o", name = "n", cwd = "/c", services = { web = { port = 3000 }, db = { image = "postgres:18" } } }
    services = { web = { port = 3000, protocol = "http" }, db = { internal = true } }
  }))
}

output "old" {
  value = [local.old.shape, local.old.session_id, local.old.last_used_at, local.old.name == null, local.old.services == null]
}

output "resource" {
  value = [local.resource.backend, local.resource.handle, jsondecode(local.resource.metadata).port + 1]
}

output "instance" {
  value = [local.instance.services.web.port + 1, local.instance.services.db.internal, local.instance.services.db.port == null]
}

output "sensitive" {
  value     = provider::sandlot::parse_handle(sensitive("{\"driver\":\"apple\",\"name\":\"n\",\"isolated\":true}")).isolated
  sensitive = true
}
`)
		w.Apply().Succeed()
		w.Plan().Empty()
		state := w.Show()
		for output, want := range map[string]any{
			"old":       []any{"vercel-session", "sbx_1", "2026-04-30T08:30:00.000Z", true, true},
			"resource":  []any{"local", "n", 2.0},
			"instance":  []any{3001.0, true, true},
			"sensitive": true,
		} {
			if got := state.Output(output); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %#v, want %#v", output, got, want)
			}
		}

		w.Config("output \"x\" {\n  value = provider::sandlot::parse_handle(jsonencode({ kind = \"vercel-persistent\", workspaceId = \"w\", sandboxName = \"sbx_1\" }))\n}\n")
		result := w.Plan()
		if result.ExitCode != 1 || !strings.Contains(result.Diagnostics.Errors()[0].Detail, "`sandboxName`") {
			t.Errorf("a session id passed as a name:\n%s", result)
		}
	})
}
