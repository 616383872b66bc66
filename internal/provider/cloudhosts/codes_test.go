package cloudhosts

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
)

// TestDiagnosticsOfCodes: each code of the API becomes a diagnostic that names what failed, says what the
// code means and ends with a stable code of ours. Nothing of the API's own message stands in it.
func TestDiagnosticsOfCodes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status int
		code   string
		kind   backends.ErrorKind
		says   string
	}{
		{400, "json_error", backends.Invalid, "could not read the request"},
		{401, "unauthorized", backends.Unauthorized, "Check the token"},
		{401, "token_readonly", backends.Unauthorized, "may only read"},
		{403, "forbidden", backends.Unauthorized, "Check the token"},
		{403, "maintenance", backends.Conflict, "under maintenance"},
		{403, "resource_limit_exceeded", backends.NoCapacity, "ask the platform to raise the limit"},
		{405, "method_not_allowed", backends.Unsupported, "Check the endpoint"},
		{410, "deprecated_api_endpoint", backends.Unsupported, "Upgrade the provider"},
		{412, "resource_unavailable", backends.NoCapacity, "Choose another server type or location"},
		{412, "primary_ip_version_mismatch", backends.Invalid, "wrong family"},
		{422, "invalid_input", backends.Invalid, "rejects a value"},
		{422, "service_error", backends.Failed, "Apply again later"},
		{422, "unsupported_error", backends.Unsupported, "cannot do that"},
		{422, "placement_error", backends.NoCapacity, "no place for the server"},
		{422, "primary_ip_assigned", backends.Conflict, "attached to a server already"},
		{422, "primary_ip_datacenter_mismatch", backends.Invalid, "another location"},
		{422, "server_not_stopped", backends.Conflict, "have to be off"},
		{422, "server_has_ipv4", backends.Conflict, "an IPv4 address already"},
		{422, "server_has_ipv6", backends.Conflict, "an IPv6 address already"},
		{422, "primary_ip_already_assigned", backends.Conflict, "attached to a server already"},
		{422, "must_be_unassigned", backends.Conflict, "still attached"},
		{422, "server_is_load_balancer_target", backends.Conflict, "out of the load balancer"},
		{422, "invalid_server_type", backends.Invalid, "does not fit"},
		{423, "protected", backends.Conflict, "Lift the protection"},
		{423, "resource_locked", backends.Conflict, "locked the resource"},
		{429, "rate_limit_exceeded", backends.RateLimited, "too many requests"},
		{500, "server_error", backends.Failed, "The platform failed"},
		{502, "bad_gateway", backends.Failed, "gateway failed"},
		{503, "unavailable", backends.Failed, "not available"},
		{504, "timeout", backends.TimedOut, "did not answer in time"},
		{418, "of_the_future", backends.Failed, "does not know"},
	} {
		t.Run(fmt.Sprint(row.status, " ", row.code), func(t *testing.T) {
			t.Parallel()
			server := simulator.Start(t, simulator.Config{})
			if err := server.Inject(simkit.Fault{Method: "POST", Path: "/ssh_keys", Count: -1, Status: row.status, Code: row.code, Message: "canary of the API"}); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "data")
			manager := &cloudhost.Manager{
				API: hetzner.New(hetzner.Config{
					Endpoint: server.URL(), Token: server.Token(), PollInterval: time.Millisecond, RetryWait: time.Millisecond, Retries: 2, SettleTime: 20 * time.Millisecond,
				}),
				Store: sqlite.New(sqlite.Config{Dir: dir}), DataDir: dir, ExplicitOwner: "test",
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := manager.Create(ctx, cloudhost.Request{
				Name: "it", ServerType: defaultServerType, Location: defaultLocation, Image: defaultImage, DockerPackages: cloudhost.PackagesDocker,
			}, nil)
			if err = errors.Join(err, manager.Store.Close()); err == nil {
				t.Fatal("it did not fail")
			}
			found := diagnostics.FromError(`Unable to Create Cloud Host "it"`, err)
			detail := found.Detail()
			if !strings.HasSuffix(detail, "\n\nCode: "+string(row.kind)) || !strings.Contains(detail, row.says) || !strings.Contains(detail, row.code) {
				t.Errorf("it says %s", detail)
			}
			if strings.Contains(detail, "canary") {
				t.Errorf("it repeats the API: %s", detail)
			}
		})
	}
}
