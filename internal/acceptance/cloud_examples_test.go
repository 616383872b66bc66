package acceptance_test

import (
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/machines"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestExamplesInTheCloud applies the examples that need a cloud as they stand in the documentation, on a
// simulated one whose hosts lead to the engine of this machine.
func TestExamplesInTheCloud(t *testing.T) {
	engine := acctest.DockerEngine(t)
	for _, dir := range exampleDirs(t) {
		if walked[dir] || !inCloud(t, dir) {
			continue
		}
		t.Run(strings.ReplaceAll(dir, "/", "_"), func(t *testing.T) {
			onOne(t, func(f *fixture) {
				socket, local := strings.CutPrefix(engine.Host(), "unix://")
				testkit.Need(f.t, "docker", local, "the engine has no socket on this machine")
				server, _ := startProject(f.t, sshguest.Config{Engine: socket})
				f.Setenv("HCLOUD_TOKEN", server.Token())
				f.Setenv("HCLOUD_ENDPOINT", server.URL())
				applyExample(f, dir)
			}, "docker")
		})
	}
}

// TestExamplesCloudHost runs the script that walks through the example's README: it serves a simulated
// cloud with real machines itself, and checks every step.
func TestExamplesCloudHost(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.example("cloud-host")
		// What the script needs is found out, and made, where a failure is told apart from a skip.
		guests, err := machines.New(f.t.Context(), machines.Options{Preinstalled: true, Log: func(message string) { f.t.Log(message) }})
		testkit.Need(f.t, "machines", err == nil, "real machines cannot boot here")
		if err := guests.Close(); err != nil {
			f.t.Error(err)
		}
		f.Setenv("SIM", f.simulator())
		f.Setenv("IMAGE", f.image)
		f.Setenv("TF_VAR_owner", f.Owner)
		f.Setenv("TF_VAR_data_dir", f.DataDir)
		f.script("run.sh", "simulated").Succeed()
	}, "docker")
}
