//go:build linux

package local

import (
	"os"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Backend is the embedded backend. It is safe for concurrent use, also by several processes
// on one data directory.
type Backend struct {
	config Config
	names  nameLocks
	tools  toolCache
}

var (
	_ backends.Backend     = (*Backend)(nil)
	_ backends.Snapshotter = (*Backend)(nil)
)

// New returns a backend. It does no I/O.
func New(config Config) *Backend {
	return &Backend{config: config}
}

// Name implements [backends.Backend].
func (b *Backend) Name() string { return backendName }

// Capabilities implements [backends.Backend].
func (b *Backend) Capabilities() backends.Capabilities { return capabilities() }

// asRoot tells whether commands have to be moved to an unprivileged user first.
func (b *Backend) asRoot() bool { return os.Geteuid() == 0 && !b.bare() }

// bare tells whether commands run on the host itself.
func (b *Backend) bare() bool { return b.config.Isolation == IsolationNone }
