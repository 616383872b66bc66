package datasources_test

import (
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestAccBackend(t *testing.T) {
	t.Parallel()
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Provider("  docker = { host = \"unix:///nonexistent/engine.sock\" }\n")
		w.Config(`
data "sandlot_backend" "local" {
  name = "local"
}

data "sandlot_backend" "docker" {
  name = "docker"
}
`)
		untouched(t, w, func() { w.Apply().Succeed().NoWarning() })
		w.Plan().Empty()
		state := w.Show()
		want(t, state, "data.sandlot_backend.local", map[string]any{
			"network_modes": []any{"deny-all", "allow-all", "host"},
		})
		local := state.Values("data.sandlot_backend.local")
		if available := local["available"] == true; available != (local["reason"] == nil) || available != (local["version"] != nil) {
			t.Errorf("contradictory: %v", local)
		}
		if capabilities := state.Text("data.sandlot_backend.local", "capabilities"); !strings.Contains(capabilities, "source_host") || strings.Contains(capabilities, "source_image") {
			t.Errorf("capabilities are %s", capabilities)
		}
		// No engine is no error, and what a backend can do is known without.
		want(t, state, "data.sandlot_backend.docker", map[string]any{"available": false, "version": nil})
		if state.Text("data.sandlot_backend.docker", "reason") == "" {
			t.Error("there is no reason")
		}
		if capabilities := state.Text("data.sandlot_backend.docker", "capabilities"); !strings.Contains(capabilities, "source_image") {
			t.Errorf("capabilities are %s", capabilities)
		}

		w.Config("data \"sandlot_backend\" \"other\" {\n  name = \"other\"\n}\n")
		if result := w.Validate(); result.ExitCode != 1 || result.Diagnostics.Errors()[0].Attribute() != "name" {
			t.Errorf("an unknown name is accepted:\n%s", result)
		}
	})
}

// TestAccUnknownProvider plans while the provider configuration depends on something unmade.
func TestAccUnknownProvider(t *testing.T) {
	t.Parallel()
	testkit.Bubblewrap(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Provider("  local = { isolation = terraform_data.isolation.output }\n")
		const unmade = "resource \"terraform_data\" \"isolation\" {\n  input = \"bubblewrap\"\n}\n"
		w.Config(unmade + `
data "sandlot_backend" "local" {
  name = "local"
}

output "reason" {
  value = data.sandlot_backend.local.reason
}
`)
		w.Plan().Does("create terraform_data.isolation")
		w.Apply().Succeed()
		if reason, _ := w.Show().Output("reason").(string); !strings.Contains(reason, "not known yet") {
			t.Errorf("the reason is %q", reason)
		}
		w.Apply().Succeed()
		if reason, _ := w.Show().Output("reason").(string); strings.Contains(reason, "not known yet") {
			t.Errorf("the reason is still %q", reason)
		}
		w.Run("destroy", acctest.Args("-auto-approve")).Succeed()
		failsOn(t, w, unmade+"\ndata \"sandlot_sandboxes\" \"all\" {\n  backend = \"local\"\n}\n", "configuration_unknown", "backend")
	})
}
