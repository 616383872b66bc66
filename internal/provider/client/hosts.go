package client

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/seal"
)

// Place is what ids and records call a backend: on a cloud host the name of that stands in there. It is
// unknown while either is, and while the id of the host is none, which its own validator reports.
func Place(backend, cloudHostID types.String) types.String {
	if cloudHostID.IsNull() || backend.IsUnknown() {
		return backend
	}
	_, host, err := cloudhost.ParseID(cloudHostID.ValueString())
	if cloudHostID.IsUnknown() || err != nil {
		return types.StringUnknown()
	}
	return types.StringValue(sandbox.OnHost(backend.ValueString(), host))
}

// CloudHosts returns what looks after cloud hosts, [ErrUnknown] while a setting is unknown.
func (c *Client) CloudHosts() (*cloudhost.Manager, error) {
	if c.DataDir.IsUnknown() || c.PostgresURL.IsUnknown() || c.EncryptionKey.IsUnknown() || c.Owner.IsUnknown() || c.Unknown[cloudhost.Backend] {
		return nil, ErrUnknown
	}
	keyring, err := seal.Parse(c.EncryptionKey.ValueString())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts == nil {
		c.hosts = &cloudhost.Manager{
			API: hetzner.New(c.Hetzner), Store: c.store, Keyring: keyring, SharedStore: c.PostgresURL.ValueString() != "",
			DataDir: c.DataDir.ValueString(), ExplicitOwner: c.Owner.ValueString(), Rebind: c.Rebind, Observer: c.observer,
		}
	}
	return c.hosts, nil
}

// RequireLastingStore returns an error when the keys of a cloud host would die with a CI runner.
func (c *Client) RequireLastingStore() error {
	if !c.CI || c.DataDirSet || !c.PostgresURL.IsNull() {
		return nil
	}
	return errors.New("CI is set and the store is the embedded one in the default directory, so that the keys of the host would be gone with the runner: nobody could use or purge the host then")
}

// dialer connects to the engine of a cloud host of ours. What keeps it from that becomes an error of a
// backend, so that a sleeping host is never taken for an engine that lost everything.
func (c *Client) dialer(host string) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		manager, err := c.CloudHosts()
		var record string
		if err == nil {
			record, err = manager.RecordID(ctx, host)
		}
		var conn net.Conn
		if err == nil {
			conn, err = manager.DialEngine(ctx, record)
		}
		if err != nil {
			return nil, hostFailure(host, err)
		}
		return conn, nil
	}
}

// hostFailure is what an engine on a cloud host cannot be reached for.
func hostFailure(host string, err error) error {
	failure := &backends.Error{Kind: backends.NotRunning, Backend: "docker", Operation: "reach cloud host", Object: host, Err: err}
	var refusal *sandbox.Refusal
	if !errors.As(err, &refusal) {
		return failure
	}
	failure.Detail, failure.Remedy, failure.Err = refusal.Detail, refusal.Remedy, refusal.Err
	switch refusal.Code {
	case cloudhost.CodeSleeping:
		failure.Kind = backends.HostSleeping
		failure.Remedy = fmt.Sprintf("Wake it: set `desired_state = \"running\"` on the `sandlot_cloud_host` %q and apply.", host)
	case sandbox.CodeOtherBinding:
		failure.Kind = backends.OtherBinding
	}
	return failure
}
