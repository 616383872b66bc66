package vercel_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// patched returns the members of each update since the last look.
func (f fixture) patched() [][]string {
	f.Helper()
	var all [][]string
	for _, request := range f.server.Requests() {
		if request.Method != http.MethodPatch {
			continue
		}
		var body map[string]any
		if err := json.Unmarshal(request.Body, &body); err != nil {
			f.Fatal(err)
		}
		all = append(all, slices.Sorted(maps.Keys(body)))
	}
	f.server.ResetRequests()
	return all
}

// TestChangesAlone: an update holds what differs and nothing else. The environment, which nobody can
// read, is left out when it is known to be as it was: what a running session makes of a new one is not
// known (section 14).
func TestChangesAlone(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	spec := backends.Spec{
		CPUs: 2, Timeout: 10 * time.Minute, Environment: map[string]string{"A": "1"}, Labels: map[string]string{"team": "a"},
		Ports: []backends.Port{{Port: 3000, Public: true}}, Retention: &backends.SnapshotRetention{KeepLast: 2},
		Network: backends.Network{Mode: backends.NetworkRestricted, AllowDomains: []string{"b.example", "a.example"}},
		Vercel:  &backends.VercelOptions{Region: "fra1", FailoverRegions: []string{"iad1"}},
	}
	f.create("box", spec)
	f.server.ResetRequests()
	for _, change := range []struct {
		change func(*backends.Spec)
		sends  string
	}{
		{func(s *backends.Spec) { s.EnvironmentKept = true }, ""},
		{func(s *backends.Spec) { s.EnvironmentKept = false }, "env"},
		{func(s *backends.Spec) {
			s.EnvironmentKept = true
			s.Network.AllowDomains = []string{"a.example", "b.example"}
		}, ""},
		{func(s *backends.Spec) { s.Timeout = 20 * time.Minute }, "timeout"},
		{func(s *backends.Spec) { s.CPUs = 4 }, "resources"},
		{func(s *backends.Spec) { s.Labels = map[string]string{"team": "b"} }, "tags"},
		{func(s *backends.Spec) { s.Ports = append(s.Ports, backends.Port{Port: 4000, Public: true}) }, "ports"},
		{func(s *backends.Spec) { s.Network.DenyCIDRs = []string{"10.0.0.0/8"} }, "networkPolicy"},
		{func(s *backends.Spec) { s.Retention = &backends.SnapshotRetention{KeepLast: 3} }, "keepLastSnapshots"},
		{func(s *backends.Spec) { s.Retention = &backends.SnapshotRetention{Expiration: 48 * time.Hour} }, "keepLastSnapshots snapshotExpiration"},
		{func(s *backends.Spec) { s.Vercel = &backends.VercelOptions{Region: "fra1"} }, "failoverRegions region"},
		{func(s *backends.Spec) { s.Labels, s.Ports = nil, nil }, "ports tags"},
	} {
		change.change(&spec)
		for _, want := range []string{change.sends, ""} {
			if _, err := f.Reconfigure(t.Context(), marks("box", backends.Persistent), spec); err != nil {
				t.Fatal(err)
			}
			var sent []string
			for _, members := range f.patched() {
				sent = append(sent, strings.Join(members, " "))
			}
			if got := strings.Join(sent, ", "); got != want {
				t.Errorf("for %q were sent %q", want, got)
			}
			spec.EnvironmentKept = true // the second time it is
		}
	}
	// The environment is still the first one.
	if env := f.server.Inventory().Sandboxes[0].Env; env["A"] != "1" || len(env) != 1 {
		t.Errorf("the environment is %v", env)
	}
}
