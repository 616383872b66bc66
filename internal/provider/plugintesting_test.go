package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// The test below runs the provider under reattach, as a debugger does: one process and one provider
// value are configured once for each walk, which no other test has. It is for Terraform alone: to
// OpenTofu the framework's harness would have to name a registry, and the rest of the suite runs both.

// underReattach runs steps on Terraform. The harness takes it from the environment.
func underReattach(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	for _, cli := range acctest.CLIs(t) {
		if cli.Terraform() {
			t.Setenv("TF_ACC_TERRAFORM_PATH", cli.Path)
		}
	}
	if os.Getenv("TF_ACC_TERRAFORM_PATH") == "" {
		t.Skip("Terraform is not there") // CLIs failed the test where it has to be
	}
	t.Setenv("TF_ACC", "1")
	t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "sandlot-dev")
	t.Setenv("CI", "")
	t.Setenv("TF_CLI_CONFIG_FILE", "")
	if err := os.Unsetenv("TF_CLI_CONFIG_FILE"); err != nil {
		t.Fatal(err)
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			TypeName: providerserver.NewProtocol6WithError(New("test")()),
		},
		Steps: steps,
	})
}

func TestReattachedBaseAndWorkspace(t *testing.T) {
	testkit.Bubblewrap(t)
	dataDir := filepath.Join(t.TempDir(), "data")
	base, workspace := "sandlot_base_snapshot.it", "sandlot_workspace_runtime.it"
	config := func(manifest string) string {
		return fmt.Sprintf(`
provider "sandlot" {
  data_dir   = %q
  on_destroy = "purge"
}
resource "sandlot_base_snapshot" "it" {
  backend   = "local"
  app       = "reattached"
  manifest  = { name = "web", template_version = %q }
  retention = { min_age = "0s" }
}
resource "sandlot_workspace_runtime" "it" {
  backend       = "local"
  workspace_id  = "reattached"
  base_snapshot = { id = sandlot_base_snapshot.it.snapshot_id, version = sandlot_base_snapshot.it.version }
}
`, dataDir, manifest)
	}
	underReattach(t,
		resource.TestStep{
			Config: config("1"),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(base, tfjsonpath.New("status"), knownvalue.StringExact("ready")),
				statecheck.ExpectKnownValue(workspace, tfjsonpath.New("state"), knownvalue.StringExact("ready")),
				statecheck.ExpectKnownValue(workspace, tfjsonpath.New("applied_base_snapshot_id"), knownvalue.NotNull()),
			},
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		resource.TestStep{ResourceName: base, ImportState: true, ImportStateVerify: true},
		resource.TestStep{ResourceName: workspace, ImportState: true, ImportStateVerify: true},
		resource.TestStep{
			Config: config("2"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(base, plancheck.ResourceActionUpdate),
				plancheck.ExpectUnknownValue(base, tfjsonpath.New("snapshot_id")),
				plancheck.ExpectResourceAction(workspace, plancheck.ResourceActionNoop),
			}},
		},
	)
	// The harness destroyed everything: the lane and the workspace were told to purge.
	for _, folder := range []string{"sandboxes", "snapshots"} {
		if left, err := os.ReadDir(filepath.Join(dataDir, "local", folder)); err != nil || len(left) > 0 {
			t.Errorf("%s still holds %v (%v)", folder, left, err)
		}
	}
}
