// Package docker runs sandboxes as containers of a Docker Engine.
//
// A sandbox is one container of the sandbox's name and one labeled volume for its workspace, so
// that a container lost outside Terraform is made again without loss. What is known about a
// sandbox stands in labels; values that the engine itself keeps are read from there, so that a
// change by hand is seen.
package docker

import (
	"context"
	"net"
	"slices"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

const backendName = "docker"

// Config tells how to reach the engine. The zero value follows the environment and the Docker
// CLI's own configuration.
type Config struct {
	// Host is the engine's address: unix:///…, tcp://…, ssh://…. It wins over Context.
	Host string
	// Context is the name of a Docker CLI context. It wins over DOCKER_HOST.
	Context string
	// CACert, ClientCert and ClientKey are paths of PEM files for TLS to a tcp:// host. They win
	// over DOCKER_CERT_PATH.
	CACert     string
	ClientCert string
	ClientKey  string
	// OnHost names the cloud host that the engine is on, and Dial connects to the engine there; nothing
	// above counts then. Empty for any other engine.
	OnHost string
	Dial   func(ctx context.Context) (net.Conn, error)
	// Observer is told of every call to the engine.
	Observer effects.Observer
}

// Backend implements [backends.Backend] and [backends.Snapshotter] on a Docker Engine.
type Backend struct {
	config Config
	locks  nameLocks
	images imageCache

	mu     sync.Mutex
	engine *engine
}

var (
	_ backends.Backend     = (*Backend)(nil)
	_ backends.Snapshotter = (*Backend)(nil)
)

// New returns a backend. It does no I/O: the client is made on first use.
func New(config Config) *Backend {
	return &Backend{config: config}
}

// Name is "docker", or "docker@<host>" on a cloud host.
func (b *Backend) Name() string {
	if b.config.OnHost != "" {
		return backendName + "@" + b.config.OnHost
	}
	return backendName
}

// Capabilities is what this backend can do.
func (b *Backend) Capabilities() backends.Capabilities {
	return backends.Capabilities{
		ImageSource:      true,
		SnapshotSource:   true,
		Persistent:       true,
		Snapshot:         true,
		Clone:            true,
		NetworkModes:     []string{backends.NetworkAllowAll, backends.NetworkDenyAll},
		Mounts:           true,
		Ports:            true,
		PublicPorts:      true,
		Volumes:          true,
		CPUs:             true,
		Memory:           true,
		User:             true,
		SystemPackages:   true,
		MainProcess:      true,
		Timeout:          true,
		AbsolutePaths:    true,
		WorkingDirectory: true,
		DockerOptions:    true,
		SecretsLiveIn:    "the container's environment, visible to the engine's users",
	}
}

// Probe asks the engine for its version.
func (b *Backend) Probe(ctx context.Context) backends.Availability {
	const operation = "probe engine"
	e, err := b.connect()
	if err != nil {
		return backends.Availability{Reason: reason(err)}
	}
	version, err := e.ServerVersion(ctx)
	if err != nil {
		return backends.Availability{Reason: reason(e.fail(operation, "", err))}
	}
	return backends.Availability{Available: true, Version: version.Version}
}

// Binding is the engine: its id is compared, its address is for people.
func (b *Backend) Binding(ctx context.Context) (backends.Binding, error) {
	const operation = "identify engine"
	e, err := b.connect()
	if err != nil {
		return backends.Binding{}, err
	}
	info, err := e.Info(ctx)
	if err != nil {
		return backends.Binding{}, e.fail(operation, "", err)
	}
	if info.ID == "" {
		return backends.Binding{}, &backends.Error{
			Kind: backends.Failed, Backend: backendName, Operation: operation,
			Detail: "The engine at " + e.address + " tells no id, so it could not be told from another one.",
		}
	}
	return backends.Binding{ID: info.ID, Description: e.address}, nil
}

// Prepare is Binding: an engine needs no preparation.
func (b *Backend) Prepare(ctx context.Context) (backends.Binding, error) {
	return b.Binding(ctx)
}

// Close ends the idle connections to the engine. The backend can be used again afterwards.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine == nil {
		return nil
	}
	err := b.engine.Close()
	b.engine = nil
	return err
}

// nameLocks keeps two writes of this process about one sandbox apart.
type nameLocks struct {
	mu   sync.Mutex
	held map[string]*nameLock
}

type nameLock struct {
	mu    sync.Mutex
	users int
}

// lock takes the locks of all names, in one order for everybody, and returns what frees them.
func (l *nameLocks) lock(names ...string) (unlock func()) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range names {
		l.mu.Lock()
		if l.held == nil {
			l.held = map[string]*nameLock{}
		}
		if l.held[name] == nil {
			l.held[name] = &nameLock{}
		}
		entry := l.held[name]
		entry.users++
		l.mu.Unlock()
		entry.mu.Lock()
	}
	return func() {
		for _, name := range names {
			l.mu.Lock()
			entry := l.held[name]
			if entry.users--; entry.users == 0 {
				delete(l.held, name)
			}
			l.mu.Unlock()
			entry.mu.Unlock()
		}
	}
}
