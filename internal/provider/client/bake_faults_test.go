package client

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestBakesMeetFaults: a bake that meets a fault ends in one usable snapshot that nothing takes away, or in
// none, and never leaves its seed. The next one makes it good.
func TestBakesMeetFaults(t *testing.T) {
	testkit.Bubblewrap(t)
	const taken = `{"snapshot":{"id":"snap_other","sourceSessionId":"sbx_other","region":"iad1","status":"created","sizeBytes":1,` +
		`"createdAt":1700000000000,"updatedAt":1700000000000,"expiresAt":1900000000000}}`
	for name, row := range map[string]struct {
		fault simulator.Fault
		says  string // "" for success
	}{
		"an expiry that nobody asked for": {
			// The first read of the snapshot is the backend's own, which waits until it can be used.
			simulator.Fault{Method: http.MethodGet, Path: "/v2/sandboxes/snapshots/*", Skip: 1, Status: http.StatusOK, Body: taken, Header: map[string]string{"Content-Type": "application/json"}},
			"it expires at 2030-03-17T17:46:40Z, although it was to stay",
		},
		"lost reply to the snapshot": {simulator.Fault{Method: http.MethodPost, Path: sessionPath + "snapshot", Cut: simulator.CutAfter}, ""},
		"snapshot refused":           {simulator.Fault{Method: http.MethodPost, Path: sessionPath + "snapshot", Status: http.StatusForbidden}, "refused the token"},
		"lost reply to the seed":     {simulator.Fault{Method: http.MethodPost, Path: createPath, Cut: simulator.CutAfter}, ""},
		"no capacity for the seed":   {simulator.Fault{Method: http.MethodPost, Path: createPath, Status: http.StatusPaymentRequired}, "plan or billing"},
		"no capacity to look at it":  {simulator.Fault{Method: http.MethodPost, Path: createPath, Skip: 1, Status: http.StatusPaymentRequired}, "plan or billing"},
		"lost reply to its removal":  {simulator.Fault{Method: http.MethodDelete, Cut: simulator.CutAfter}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, simulator.Settings{})
			p.settings.NamePrefix, p.settings.Namespace = types.StringValue("sandlot"), types.StringValue("dev")
			bake := func() error {
				manager, err := New(p.settings, nil).BaseSnapshots("vercel")
				if err != nil {
					return err
				}
				_, err = manager.Create(t.Context(), basesnapshot.Request{
					Lane:     basesnapshot.Lane{App: "agent", Template: "plain"},
					Manifest: basesnapshot.Manifest{SchemaVersion: 1, Name: "plain", Commands: [][]string{{"sh", "-c", "echo baked > baked.txt"}}},
					Verify:   true,
				})
				return err
			}
			p.must(p.server.Inject(row.fault))
			err := bake()
			if len(p.server.Faults()) > 0 {
				t.Error("the fault was never met")
			}
			p.server.ClearFaults()
			there := p.server.Inventory()
			usable := p.snapshots()
			if row.says == "" {
				p.must(err)
			} else if err == nil || !strings.Contains(diagnostics.FromError("Unable", err).Detail(), row.says) {
				t.Errorf("got %v, want %q", err, row.says)
			}
			if want := map[bool]int{true: 1}[err == nil]; len(there.Sandboxes) > 0 || usable != want {
				t.Errorf("there are %+v, and %d snapshots", there.Sandboxes, usable)
			}
			p.must(bake())
			if left := p.server.Inventory().Sandboxes; len(left) > 0 || p.snapshots() != 1 {
				t.Errorf("in the end there are %+v, and %d snapshots", left, p.snapshots())
			}
		})
	}
}
