package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExamplesVercelWorkspacesAlone runs the script without an account and without a simulator at hand: it
// serves one itself, and leaves nothing beside it.
func TestExamplesVercelWorkspacesAlone(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.example("vercel-workspaces")
		for _, name := range []string{"VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"} {
			f.Setenv(name, "")
		}
		f.Setenv("SIM", f.simulator())
		f.Setenv("TF_VAR_owner", f.Owner)
		f.script("run.sh", "alone").Succeed()
		left, err := filepath.Glob(filepath.Join(f.Dir, "*.tfstate*"))
		if err != nil || len(left) > 0 {
			f.t.Errorf("there are %v (%v)", left, err)
		}
		if _, err := os.Stat(f.DataDir); !os.IsNotExist(err) {
			f.t.Errorf("records were kept outside the run: %v", err)
		}
		if sent := f.cloud.server.Requests(); len(sent) > 0 {
			f.t.Errorf("the test's own simulator got %d requests", len(sent))
		}
	}, "vercel")
}
