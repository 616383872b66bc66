package functions_test

import (
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// TestAccFunctions calls the functions through the CLIs, and holds sandbox_name to the names that
// the resource derives from the same values and from the same defaults.
func TestAccFunctions(t *testing.T) {
	t.Parallel()
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
