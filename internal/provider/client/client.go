// Package client is what one configured provider hands to its resources: settings, a lifecycle
// manager for each backend, and what was seen during one plan. Nothing here connects to anything
// before it is used.
package client

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/docker"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
)

// ErrUnknown is returned while a setting that an operation needs is not known yet, because it
// depends on something that is still to be applied.
var ErrUnknown = errors.New("the provider configuration is not known yet")

// Settings are the resolved values of the provider block: attribute, else environment, else
// default. Unknown ones stay unknown.
type Settings struct {
	Owner      types.String // null: the store's own
	Namespace  types.String
	NamePrefix types.String
	OnDestroy  types.String
	DataDir    types.String
	// PostgresURL is the database of the records; null for the embedded one in DataDir.
	PostgresURL types.String
	// EncryptionKey is what private keys are encrypted with in the store; null when they are not.
	EncryptionKey types.String
	// DataDirSet is true when DataDir was given, by attribute or environment.
	DataDirSet bool
	// Unknown names the backends whose own settings are not known yet.
	Unknown map[string]bool
	// DockerHost is the configured or inherited engine address, for the check of mounts.
	DockerHost string
	// CI is true when the run is part of continuous integration.
	CI       bool
	Backends backendset.Config
	Hetzner  hetzner.Config
	// Rebind accepts hosts that were made with another token of the same project.
	Rebind bool
}

// Client is made by each Configure anew, so that what it remembers lives for one walk only.
type Client struct {
	Settings
	store    store.Store
	observer effects.Observer
	mu       sync.Mutex
	managers map[string]*sandbox.Manager
	hosts    *cloudhost.Manager
	claims   map[string]bool
	files    files
}

// New makes a client. It does no I/O.
func New(settings Settings, observer effects.Observer) *Client {
	settings.Backends.Local.Observer = observer
	settings.Backends.Docker.Observer = observer
	settings.Backends.Vercel.Observer = observer
	settings.Hetzner.Observer = observer
	settings.Backends.Local.DataDir = settings.DataDir.ValueString()
	return &Client{
		Settings: settings,
		store:    openStore(settings, observer),
		managers: map[string]*sandbox.Manager{},
		claims:   map[string]bool{},
		files:    newFiles(),
		observer: observer,
	}
}

// openStore picks the engine of the records. Neither does I/O before it is used.
func openStore(settings Settings, observer effects.Observer) store.Store {
	if url := settings.PostgresURL.ValueString(); url != "" {
		return postgres.New(postgres.Config{URL: url, Observer: observer})
	}
	return sqlite.New(sqlite.Config{Dir: settings.DataDir.ValueString(), Observer: observer})
}

// Manager returns the lifecycle manager of a backend, [ErrUnknown] while a setting is unknown.
func (c *Client) Manager(backend string) (*sandbox.Manager, error) {
	if _, host := sandbox.CutHost(backend); host != "" {
		if _, err := c.CloudHosts(); err != nil {
			return nil, err
		}
	}
	if c.DataDir.IsUnknown() || c.PostgresURL.IsUnknown() || c.Owner.IsUnknown() || c.Unknown[backend] {
		return nil, ErrUnknown
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if manager, ok := c.managers[backend]; ok {
		return manager, nil
	}
	config := c.Backends
	if _, host := sandbox.CutHost(backend); host != "" {
		config.Docker = docker.Config{OnHost: host, Dial: c.dialer(host), Observer: c.observer}
	}
	made, err := backendset.New(backend, config)
	if err != nil {
		return nil, err
	}
	manager := &sandbox.Manager{Backend: made, Store: c.store, ExplicitOwner: c.Owner.ValueString()}
	c.managers[backend] = manager
	return manager, nil
}

// BaseSnapshots returns what bakes on a backend, [ErrUnknown] while a setting is unknown.
func (c *Client) BaseSnapshots(backend string) (*basesnapshot.Manager, error) {
	manager, err := c.Manager(backend)
	if err != nil {
		return nil, err
	}
	if c.NamePrefix.IsUnknown() {
		return nil, ErrUnknown
	}
	return &basesnapshot.Manager{Sandboxes: manager, NamePrefix: c.NamePrefix.ValueString()}, nil
}

// OwnerKnown is the owner of what this configuration makes, "" while it is not known: the store makes
// one when something is created. It only reads.
func (c *Client) OwnerKnown(ctx context.Context) (string, error) {
	if c.Owner.IsUnknown() || c.DataDir.IsUnknown() || c.PostgresURL.IsUnknown() {
		return "", nil
	}
	return sandbox.Records{Store: c.store, ExplicitOwner: c.Owner.ValueString()}.Owner(ctx)
}

// ManagerOf returns the manager and the name that a sandbox id stands for.
func (c *Client) ManagerOf(id string) (*sandbox.Manager, string, error) {
	backend, name, err := sandbox.ParseID(id)
	if err != nil {
		return nil, "", err
	}
	manager, err := c.Manager(backend)
	return manager, name, err
}

// Record finds the record of an id in the store. It only reads.
func (c *Client) Record(ctx context.Context, id string) (store.Record, error) {
	if c.DataDir.IsUnknown() || c.PostgresURL.IsUnknown() {
		return store.Record{}, ErrUnknown
	}
	return c.store.Get(ctx, id)
}

// Claim notes that a resource of the present plan stands for a sandbox. It returns false when
// another one claimed it before.
func (c *Client) Claim(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claims[id] {
		return false
	}
	c.claims[id] = true
	return true
}

// RequireOwner returns an error when something would be created in CI under an owner id that dies
// with the runner.
func (c *Client) RequireOwner() error {
	if !c.CI || c.Owner.IsUnknown() || c.Owner.ValueString() != "" {
		return nil
	}
	return errors.New("CI is set and the provider has no explicit owner, so a random one would be made that the next runner does not know: what is created now would be nobody's then")
}

// Capabilities returns the static table of a backend.
func Capabilities(backend string) (backends.Capabilities, error) {
	table, ok := backendset.Capabilities(backend)
	if !ok {
		return table, fmt.Errorf("there is no backend %q", backend)
	}
	return table, nil
}
