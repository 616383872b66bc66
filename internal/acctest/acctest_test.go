package acctest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const box = `
resource "sandlot_persistent_sandbox" "a" {
  backend      = "local"
  workspace_id = "w1"
  labels       = { a = "1" }
}
`

// TestAccWorkspace checks the harness itself: what it reports is what the CLI did.
func TestAccWorkspace(t *testing.T) {
	t.Parallel()
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Config(box)
		w.Validate().Succeed()
		acctest.Untouched(t, w.DataDir, func() { w.Plan().Does("create sandlot_persistent_sandbox.a") })
		w.Apply().Succeed()
		w.Plan().Empty()

		w.Config(`
resource "sandlot_persistent_sandbox" "a" {
  backend      = "local"
  workspace_id = "w1"
  labels       = { a = "2" }
}
`)
		plan := w.Plan().Does("update sandlot_persistent_sandbox.a")
		if found := plan.JSON().Resource("sandlot_persistent_sandbox.a").Differences(); !slices.Contains(found, "labels") {
			t.Errorf("the plan changes %v, not labels", found)
		}
		w.ApplyPlan(plan).Succeed()
		if found := w.Show().Text("sandlot_persistent_sandbox.a", "labels"); found != "map[a:2]" {
			t.Errorf("labels are %s in the state", found)
		}

		w.Config(`
resource "sandlot_persistent_sandbox" "a" {
  backend      = "local"
  workspace_id = "w1"
  cpus         = 2
}
`)
		refused := w.Validate().FailWith("unsupported")
		if found := refused.Diagnostics.Errors()[0].Attribute(); found != "cpus" {
			t.Errorf("the error is on %q", found)
		}
		w.Plan().FailWith("unsupported")
		w.Config(box)
		w.Destroy().Succeed().Warn("retained")
		w.Write("b.tf", "resource \"sandlot_persistent_sandbox\" \"b\" {\n  backend = \"local\"\n  workspace_id = \"w2\"\n}\n")
		w.Import("sandlot_persistent_sandbox.b", "local/absent").FailWith("sandbox_missing")
	})
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for _, step := range []struct {
		name string
		do   func() error
		seen bool
	}{
		{"write", func() error { return os.WriteFile(file, []byte("a"), 0o600) }, true},
		{"read", func() error { _, err := os.ReadFile(file); return err }, false},
		{"mode", func() error { return os.Chmod(file, 0o640) }, true},
		{"same mode again", func() error { return os.Chmod(file, 0o640) }, true},
		{"remove", func() error { return os.Remove(file) }, true},
	} {
		before := acctest.ReadTree(t, dir)
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if found := before.Diff(acctest.ReadTree(t, dir)); (len(found) > 0) != step.seen {
			t.Errorf("%s: seen %q", step.name, found)
		}
	}
}

func TestEngineProxy(t *testing.T) {
	t.Parallel()
	engine := acctest.DockerEngine(t)
	proxy := acctest.NewEngineProxy(t, engine)
	through := acctest.EngineAt(t, proxy.Socket)
	if through.ID() != engine.ID() {
		t.Error("another engine answers through the proxy")
	}
	through.Call("POST", "/v1.41/containers/prune?filters=%7B%22label%22%3A%5B%22sandlot.absent%22%5D%7D", nil)
	if calls := proxy.Calls(); !slices.Equal(calls, []string{"GET /info", "POST /containers/prune"}) {
		t.Errorf("recorded %q", calls)
	}
	if writes := proxy.Writes(); !slices.Equal(writes, []string{"POST /containers/prune"}) {
		t.Errorf("recorded the writes %q", writes)
	}
}
