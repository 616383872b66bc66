package bench_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// benchPackages take more than 100 MB on disk.
var benchPackages = []string{"git", "python3", "ripgrep", "build-essential"}

// BenchmarkFirstBoot measures the first boot of a workspace from a base snapshot on Docker, beside a
// workspace whose setup installs the same packages: the ratio says how many times faster it is.
func BenchmarkFirstBoot(b *testing.B) {
	engine := acctest.DockerEngine(b)
	image := testkit.DebianImage(b)
	quoted := `"` + strings.Join(benchPackages, `", "`) + `"`
	base := fmt.Sprintf(`resource "sandlot_base_snapshot" "tools" {
  backend    = "docker"
  app        = "bench-%d"
  on_destroy = "purge"
  retention  = { min_age = "0s" }
  manifest = {
    name            = "tools"
    source          = { image = %q }
    system_packages = [%s]
  }
  smoke_checks = [{ command = ["git", "--version"] }, { command = ["gcc", "--version"] }]
}
`, os.Getpid(), image, quoted)
	warm := base + fmt.Sprintf(`resource "sandlot_workspace_runtime" "warm" {
  backend       = "docker"
  workspace_id  = "bench-warm-%d"
  on_destroy    = "purge"
  base_snapshot = { id = sandlot_base_snapshot.tools.snapshot_id, version = sandlot_base_snapshot.tools.version }
}
`, os.Getpid())
	cold := fmt.Sprintf(`resource "sandlot_workspace_runtime" "cold" {
  backend      = "docker"
  workspace_id = "bench-cold-%d"
  on_destroy   = "purge"
  source       = { image = %q }
  setup = [
    { command = ["apt-get", "update"] },
    { command = ["apt-get", "install", "-y", "--no-install-recommends", %s], environment = { DEBIAN_FRONTEND = "noninteractive" } },
  ]
}
`, os.Getpid(), image, quoted)
	for b.Loop() {
		w := workspace(b, acctest.Build(b), base)
		engine.CleanUp("sandlot.owner=" + w.Owner)
		w.Apply().Succeed()
		w.Config(warm)
		first := elapsed(func() { w.Apply().Succeed() })
		w.Destroy().Succeed()

		other := workspace(b, acctest.Build(b), cold)
		engine.CleanUp("sandlot.owner=" + other.Owner)
		slow := elapsed(func() { other.Apply().Succeed() })
		other.Destroy().Succeed()

		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(first.Milliseconds()), "from-base-ms")
		b.ReportMetric(float64(slow.Milliseconds()), "cold-ms")
		b.ReportMetric(float64(slow)/float64(first), "times-faster")
	}
}
