package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestAccBakeInstallsPackages bakes with a real package manager: what it installed is there in a
// workspace made from the snapshot, and what the bake needed only for itself is not.
func TestAccBakeInstallsPackages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, acctest.CLIs(t)[0], "docker")
	image := testkit.DebianImage(t)
	f.Config(fmt.Sprintf(`resource "sandlot_base_snapshot" "it" {
  backend    = "docker"
  app        = %q
  on_destroy = "purge"
  retention  = { min_age = "0s" }
  manifest = {
    name             = "tools"
    source           = { image = %q }
    system_packages  = ["ripgrep", "jq"]
    package_managers = { rg = "ripgrep" }
  }
  environment  = { APT_LISTCHANGES_FRONTEND = "none", BAKE_ONLY = "canary-of-the-bake" }
  smoke_checks = [{ command = ["rg", "--version"], expect = "ripgrep" }, { command = ["jq", "--version"], expect = "jq-" }]
}

resource "sandlot_workspace_runtime" "it" {
  backend       = "docker"
  %s
  on_destroy    = "purge"
  base_snapshot = { id = sandlot_base_snapshot.it.snapshot_id, version = sandlot_base_snapshot.it.version }
}

resource "sandlot_command" "look" {
  sandbox_id = sandlot_workspace_runtime.it.id
  command    = ["sh", "-c", "rg --version; jq --version; ls /var/lib/apt/lists; env; cat /workspace/.sandlot/base-snapshot.json"]
}

output "said" { value = sandlot_command.look.stdout }
`, f.Unique("app"), image, f.workspaceID("packages")))
	f.Apply().Succeed()
	said := fmt.Sprint(f.Show().Output("said"))
	for _, wanted := range []string{"ripgrep ", "jq-1", `"kind":"sandlot-base-snapshot"`} {
		if !strings.Contains(said, wanted) {
			t.Errorf("%q is not in what the workspace says:\n%s", wanted, said)
		}
	}
	for _, unwanted := range []string{"canary-of-the-bake", "_Packages"} {
		if strings.Contains(said, unwanted) {
			t.Errorf("%q is in what the workspace says:\n%s", unwanted, said)
		}
	}
	f.Plan().Empty()
	f.Destroy().Succeed()
}
