// Package vercel runs sandboxes on Vercel Sandbox, by its REST API.
//
// A sandbox is a named sandbox of the platform, which outlives its sessions: what is stopped is
// resumed by a new session from the snapshot of the last one. Owner, record and workspace stand in
// its tags; kind and name follow from the object itself. Section numbers in comments refer to the
// wire contract of package api.
//
// The platform never tells the environment or the source of a sandbox, so reads leave both out.
package vercel

import (
	"context"
	"sync"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

const backendName = "vercel"

// Config says how to reach the API and on whose behalf. Nothing is read from the environment.
type Config = api.Config

// Backend implements [backends.Backend], [backends.Snapshotter] and [backends.Checker] for one team
// and project.
type Backend struct {
	config Config

	mu     sync.Mutex
	client *api.Client
	// seen is true once the API has answered for this team and project.
	seen bool
	// secrets are those that passed through here, by sandbox, so that output does not show them.
	secrets map[string]map[string]string
	listing listing
}

var (
	_ backends.Glancer     = (*Backend)(nil)
	_ backends.Locator     = (*Backend)(nil)
	_ backends.Backend     = (*Backend)(nil)
	_ backends.Snapshotter = (*Backend)(nil)
	_ backends.Checker     = (*Backend)(nil)
)

// New returns a backend. It does no I/O, and a configuration that cannot work fails the first call.
func New(config Config) *Backend {
	return &Backend{config: config, secrets: map[string]map[string]string{}}
}

// Name is "vercel".
func (b *Backend) Name() string { return backendName }

// Capabilities is what this backend can do.
func (b *Backend) Capabilities() backends.Capabilities { return capabilities() }

func capabilities() backends.Capabilities {
	return backends.Capabilities{
		DefaultSource:   true,
		ImageSource:     true,
		RuntimeSource:   true,
		GitSource:       true,
		TarballSource:   true,
		SnapshotSource:  true,
		Persistent:      true,
		Snapshot:        true,
		Clone:           true,
		NetworkModes:    []string{backends.NetworkAllowAll, backends.NetworkDenyAll, backends.NetworkRestricted},
		Ports:           true,
		PublicPorts:     true,
		PublicPortsOnly: true,
		CPUs:            true,
		Memory:          true,
		SystemPackages:  true,
		Timeout:         true,
		AbsolutePaths:   true,
		VercelOptions:   true,
		NativeRetention: true,

		StopEmptiesSession:    true,
		StopEndsSession:       true,
		SnapshotEndsSession:   true,
		EnvironmentUnreadable: true,
		SourceUnreadable:      true,
		ChangesAtStart:        true,
		FilesNeedCompute:      true,
		TextOutput:            true,
		AssignedSnapshotIDs:   true,
		UnmarkedSnapshots:     true,
		CloneNeedsStop:        true,

		Defaults: backends.Defaults{
			CPUs: defaultVCPUs, MemoryMiB: defaultVCPUs * memoryPerVCPU, MemoryPerCPU: memoryPerVCPU,
			Timeout: 5 * time.Minute, Region: "iad1",
		},
		SecretsLiveIn: "the platform, in the environment of the sandbox, which is never told again",
	}
}

// connect makes the client on first use. Errors as for [api.New].
func (b *Backend) connect() (*api.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client != nil {
		return b.client, nil
	}
	client, err := api.New(b.config)
	if err != nil {
		return nil, err
	}
	b.client = client
	return client, nil
}

// Probe asks for one sandbox, which needs a valid token for the team and the project.
func (b *Backend) Probe(ctx context.Context) backends.Availability {
	if _, err := b.Binding(ctx); err != nil {
		return backends.Availability{Reason: reason(err)}
	}
	return backends.Availability{Available: true, Version: "v3"}
}

// Binding is the team and the project. The API is asked once, so that a token which does not open
// them binds nothing.
func (b *Backend) Binding(ctx context.Context) (backends.Binding, error) {
	client, err := b.connect()
	if err != nil {
		return backends.Binding{}, err
	}
	b.mu.Lock()
	seen := b.seen
	b.mu.Unlock()
	if !seen {
		for _, err := range client.ListSandboxes(ctx, api.SandboxFilter{PageSize: 1}) {
			if err != nil {
				return backends.Binding{}, err
			}
			break
		}
		b.mu.Lock()
		b.seen = true
		b.mu.Unlock()
	}
	return b.Location()
}

// Location implements [backends.Locator]: the team and the project, whether or not the token opens them.
func (b *Backend) Location() (backends.Binding, error) {
	client, err := b.connect()
	if err != nil {
		return backends.Binding{}, err
	}
	return backends.Binding{
		ID:          client.TeamID() + "/" + client.ProjectID(),
		Description: "team " + client.TeamID() + ", project " + client.ProjectID(),
	}, nil
}

// Prepare is Binding: a project needs no preparation.
func (b *Backend) Prepare(ctx context.Context) (backends.Binding, error) { return b.Binding(ctx) }

// remember keeps secrets for the redaction of output, for as long as this backend lives.
func (b *Backend) remember(name string, secrets map[string]string) {
	if len(secrets) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.secrets[name] = secrets
}

func (b *Backend) remembered(name string) map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.secrets[name]
}
