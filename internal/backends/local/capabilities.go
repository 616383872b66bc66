package local

import "github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"

// capabilities is the static table of this backend. It is the same with every isolation and on
// every operating system, so that a plan does not depend on the machine it is made on.
func capabilities() backends.Capabilities {
	return backends.Capabilities{
		HostSource:         true,
		RootfsSource:       true,
		SnapshotSource:     true,
		Persistent:         true,
		Snapshot:           true,
		Clone:              true,
		NetworkModes:       []string{backends.NetworkDenyAll, backends.NetworkAllowAll, backends.NetworkHost},
		Mounts:             true,
		StopEmptiesSession: true,
		WorkingDirectory:   true,
		SecretsLiveIn:      "a file with mode 0600 outside the mounts, injected into each command",
	}
}
