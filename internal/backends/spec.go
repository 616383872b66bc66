package backends

import (
	"slices"
	"time"
)

// Kind tells how long the data of a sandbox lives.
type Kind string

const (
	// Session: the workspace may go with the compute.
	Session Kind = "session"
	// Persistent: the workspace outlives every stop, and a destroy that retains.
	Persistent Kind = "persistent"
)

// Spec is the wanted specification of a sandbox, in the same words for every backend.
// A zero member means "not asked for"; the backend's documented default applies.
type Spec struct {
	Source      Source            `json:"source,omitzero"`
	CPUs        float64           `json:"cpus,omitempty"`       // CPU cores
	MemoryMiB   int64             `json:"memory_mib,omitempty"` // MiB
	Environment map[string]string `json:"environment,omitempty"`
	Secrets     map[string]string `json:"-"` // never stored or logged
	SecretNames []string          `json:"secret_names,omitempty"`
	// EnvironmentKept tells Reconfigure that environment and secrets are as the last one, or Create, was
	// asked for: a backend that cannot read them has nothing to compare with.
	EnvironmentKept bool `json:"-"`

	WorkingDirectory string            `json:"working_directory,omitempty"`
	User             string            `json:"user,omitempty"`
	Command          []string          `json:"command,omitempty"`
	Ports            []Port            `json:"ports,omitempty"`
	Mounts           []Mount           `json:"mounts,omitempty"`
	Volumes          map[string]Volume `json:"volumes,omitempty"`
	Network          Network           `json:"network,omitzero"`
	Timeout          time.Duration     `json:"timeout,omitempty"` // of the main process
	Labels           map[string]string `json:"labels,omitempty"`
	Docker           *DockerOptions    `json:"docker,omitempty"`
	Vercel           *VercelOptions    `json:"vercel,omitempty"`
	// Retention is for backends whose table has NativeRetention; elsewhere the lifecycle prunes.
	Retention *SnapshotRetention `json:"retention,omitempty"`
}

// Source is where the file system of a new sandbox comes from. At most one member is set;
// none means the backend's own default, where it has one.
type Source struct {
	// Image is an OCI image reference.
	Image string `json:"image,omitempty"`
	// Rootfs is an absolute path of a directory that holds a root file system.
	Rootfs string `json:"rootfs,omitempty"`
	// Runtime is a system that the platform knows by this name.
	Runtime string `json:"runtime,omitempty"`
	// GitURL is a repository whose files the workspace begins with. Used at creation only, as are
	// GitRevision (a branch, tag or commit; empty: the default branch) and GitDepth (commits of
	// history; 0: the platform's choice).
	GitURL      string `json:"git_url,omitempty"`
	GitRevision string `json:"git_revision,omitempty"`
	GitDepth    int    `json:"git_depth,omitempty"`
	// TarballURL is a .tar.gz whose files the workspace begins with. Used at creation only.
	TarballURL string `json:"tarball_url,omitempty"`
	// SnapshotID is a snapshot of this backend. Used at creation only.
	SnapshotID string `json:"snapshot_id,omitempty"`
	// CloneOf is the name of a sandbox of this backend. Used at creation only.
	CloneOf string `json:"clone_of,omitempty"`
}

// Port is a port that the sandbox publishes on the host's loopback interface.
type Port struct {
	Port          int    `json:"port"`
	Protocol      string `json:"protocol,omitempty"`       // "tcp" (also when empty) or "udp"
	PublishedPort int    `json:"published_port,omitempty"` // 0: any free port
	Public        bool   `json:"public,omitempty"`         // all interfaces instead of loopback
}

// Mount binds a host directory or file into the sandbox.
type Mount struct {
	Source   string `json:"source"` // absolute host path
	Target   string `json:"target"` // absolute path inside
	ReadOnly bool   `json:"read_only,omitempty"`
}

// Volume is a named volume that belongs to one sandbox.
type Volume struct {
	Target string `json:"target"` // absolute path inside
}

// Network is the network policy of a sandbox.
type Network struct {
	Mode string `json:"mode,omitempty"` // one of the capability table's modes
	// The lists are for [NetworkRestricted]. A domain may be "*", or have "*" as a whole label.
	AllowDomains []string `json:"allow_domains,omitempty"`
	AllowCIDRs   []string `json:"allow_cidrs,omitempty"`
	// DenyCIDRs win over what is allowed.
	DenyCIDRs []string `json:"deny_cidrs,omitempty"`
}

func (n Network) restricts() bool {
	return len(n.AllowDomains)+len(n.AllowCIDRs)+len(n.DenyCIDRs) > 0
}

// DockerOptions is what only Docker has.
type DockerOptions struct {
	Runtime           string   `json:"runtime,omitempty"`    // e.g. runsc, kata-runtime
	PidsLimit         int64    `json:"pids_limit,omitempty"` // 0: the default of 1024
	AddCapabilities   []string `json:"add_capabilities,omitempty"`
	AllowEngineSocket bool     `json:"allow_engine_socket,omitempty"`
	PullPolicy        string   `json:"pull_policy,omitempty"` // missing (also when empty), always, never
}

// VercelOptions is what only Vercel has.
type VercelOptions struct {
	// Region that sessions run in, such as "iad1"; empty: the platform's choice.
	Region string `json:"region,omitempty"`
	// FailoverRegions are tried in this order when Region has no room.
	FailoverRegions []string `json:"failover_regions,omitempty"`
}

// SnapshotRetention says which snapshots of a sandbox a platform keeps.
type SnapshotRetention struct {
	// KeepLast is how many stay, the newest included; 0 keeps all.
	KeepLast int64 `json:"keep_last,omitempty"`
	// Expiration is how long a snapshot stays after its last use; 0 means for ever.
	Expiration time.Duration `json:"expiration,omitempty"`
}

// Marks are what we write on every object, so that it can be told from others and a lost
// record can be rebuilt (labels on Docker, a file in a local sandbox).
type Marks struct {
	Owner     string `json:"owner"`
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Workspace string `json:"workspace,omitempty"` // 12 hex digits of the workspace id's SHA-256
	Record    string `json:"record"`
}

// Status is the run state of a sandbox.
type Status string

const (
	// StatusRunning: commands can be run.
	StatusRunning Status = "running"
	// StatusStopped: the data is there, nothing runs.
	StatusStopped Status = "stopped"
	// StatusLost: the data is there, the compute that used it is gone. Reconfigure recovers it.
	StatusLost Status = "lost"
)

// Observed is what a backend tells about a sandbox, by reads only.
type Observed struct {
	// Marks are the zero value when the object carries none of ours.
	Marks  Marks
	Name   string
	Status Status
	// SessionID names the present session. It changes with each start and is never an identity.
	SessionID string
	// CurrentSnapshotID is what the next session starts from, where the platform saves what it stops.
	CurrentSnapshotID string
	// Unresumable: it is stopped, and what it would be started from is gone. Start would be [Expired].
	Unresumable bool
	// Endpoints maps "port/protocol" to a URL or address that reaches it from the host.
	Endpoints map[string]string
	// Workspace is the absolute path of the workspace inside.
	Workspace string
	// ResolvedImage is the digest or id that the image reference meant at creation.
	ResolvedImage string
	CreatedAt     time.Time
	// Spec is the configuration as the backend knows it now, without secret values. Values that
	// nobody asked for (an image's own environment, user or command) are left out. Creation-only
	// members of Source are left out.
	Spec Spec
}

// Running tells whether commands can be run.
func (o Observed) Running() bool { return o.Status == StatusRunning }

// EnvironmentWithSecrets returns the plain and the secret variables in one map.
func (s Spec) EnvironmentWithSecrets() map[string]string {
	all := make(map[string]string, len(s.Environment)+len(s.Secrets))
	for name, value := range s.Environment {
		all[name] = value
	}
	for name, value := range s.Secrets {
		all[name] = value
	}
	return all
}

// SortedSecretNames returns the names of the secret variables, whether or not their values
// are at hand.
func (s Spec) SortedSecretNames() []string {
	names := slices.Clone(s.SecretNames)
	for name := range s.Secrets {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
