package acceptance_test

import (
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// TestVercelOffline: a configuration of a test that forgets to name a simulator reaches nothing, also with
// credentials at hand: the platform itself is behind a proxy that does not answer.
func TestVercelOffline(t *testing.T) {
	t.Parallel()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	w := acctest.NewWorkspace(t, clis[0], "")
	w.Setenv("VERCEL_TOKEN", "not-a-token")
	w.Setenv("VERCEL_TEAM_ID", "team_nobody")
	w.Setenv("VERCEL_PROJECT_ID", "prj_nobody")
	w.Config(`resource "sandlot_sandbox" "it" {
  backend = "vercel"
  name    = "` + w.Unique("offline") + `"
}
`)
	result := w.Apply().FailWith("failed")
	host, _, _ := strings.Cut(strings.TrimPrefix(api.DefaultBaseURL, "https://"), "/")
	detail := result.Diagnostics.Errors()[0].Detail
	if !strings.Contains(detail, "The API at "+host+" could not be reached") || !strings.Contains(detail, "proxyconnect") {
		t.Errorf("it is not the dead proxy that stopped it:\n%s", detail)
	}
}
