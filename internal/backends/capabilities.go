package backends

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Capabilities is what a backend can do. The provider asks this table, never the backend's
// name. It is printed into the documentation and held honest by the conformance suite.
type Capabilities struct {
	// HostSource: a sandbox without a source uses the host's system, read-only.
	HostSource bool
	// DefaultSource: a sandbox without a source uses the platform's own default system.
	DefaultSource bool
	ImageSource   bool
	// RuntimeSource: a system that the platform names, such as "node24".
	RuntimeSource  bool
	RootfsSource   bool
	GitSource      bool
	TarballSource  bool
	SnapshotSource bool
	Persistent     bool
	Snapshot       bool
	Clone          bool
	// NetworkModes are the allowed modes; the first is the default.
	NetworkModes []string
	Mounts       bool
	Ports        bool
	PublicPorts  bool
	// PublicPortsOnly: each port is public, over tcp, at an address that the platform chooses.
	PublicPortsOnly bool
	Volumes         bool
	CPUs            bool
	Memory          bool
	User            bool
	// WorkingDirectory: commands that choose no directory can be given another one than the workspace.
	WorkingDirectory bool
	// SystemPackages: commands that run as root can install packages into the system, where later
	// commands, those of a restart and snapshots find them.
	SystemPackages bool
	// MainProcess: `command` can be chosen.
	MainProcess bool
	// Timeout of the main process.
	Timeout bool
	// AbsolutePaths: files outside the workspace can be read and written.
	AbsolutePaths bool
	// DockerOptions: the `docker` attribute means something.
	DockerOptions bool
	// VercelOptions: the `vercel` attribute means something.
	VercelOptions bool
	// NativeRetention: the platform itself keeps and evicts snapshots by [Spec].Retention.
	NativeRetention bool
	// StopEmptiesSession: stopping a session sandbox loses the files in its workspace.
	StopEmptiesSession bool
	// StopEndsSession: a session sandbox that has stopped cannot be started again ([Expired]).
	StopEndsSession bool
	// SnapshotEndsSession: taking a snapshot ends the session. A persistent sandbox is started again by it, a
	// session one has stopped then.
	SnapshotEndsSession bool
	// EnvironmentUnreadable: reads tell neither the environment nor the names of secrets. A change
	// replaces both as a whole, so it needs the values of all secrets; without them the environment
	// stays as it is.
	EnvironmentUnreadable bool
	// SourceUnreadable: reads do not tell the source as it was asked for.
	SourceUnreadable bool
	// ChangesAtStart: a changed environment, CPUs and memory count from the next start on.
	ChangesAtStart bool
	// FilesNeedCompute: files are read and written in a running sandbox only ([NotRunning] otherwise).
	FilesNeedCompute bool
	// TextOutput: the output of commands is UTF-8; what is not is replaced by U+FFFD.
	TextOutput bool
	// AssignedSnapshotIDs: the platform chooses the ids of snapshots, see [Snapshotter].
	AssignedSnapshotIDs bool
	// UnmarkedSnapshots: snapshots carry no marks. They are listed while their sandbox exists.
	UnmarkedSnapshots bool
	// CloneNeedsStop: only a stopped sandbox can be cloned ([Conflict] otherwise).
	CloneNeedsStop bool
	// Defaults is what a backend tells of members that nobody asked for.
	Defaults Defaults
	// SecretsLiveIn says where secrets are kept, for the documentation.
	SecretsLiveIn string
}

// Defaults are values that a platform fills in and tells as its own. Zero members are neither.
type Defaults struct {
	CPUs      float64
	MemoryMiB int64
	// MemoryPerCPU is set where memory follows from CPUs and the other way round, in MiB.
	MemoryPerCPU int64
	Timeout      time.Duration
	Region       string
}

// Effective returns spec with the values that members nobody asked for stand for: what a read tells
// of a sandbox that was made by it.
func (c Capabilities) Effective(spec Spec) Spec {
	defaults := c.Defaults
	if perCPU := defaults.MemoryPerCPU; perCPU != 0 {
		switch {
		case spec.CPUs != 0 && spec.MemoryMiB == 0:
			spec.MemoryMiB = int64(spec.CPUs * float64(perCPU))
		case spec.CPUs == 0 && spec.MemoryMiB != 0:
			spec.CPUs = float64(spec.MemoryMiB) / float64(perCPU)
		}
	}
	if spec.CPUs == 0 {
		spec.CPUs = defaults.CPUs
	}
	if spec.MemoryMiB == 0 {
		spec.MemoryMiB = defaults.MemoryMiB
	}
	if spec.Timeout == 0 {
		spec.Timeout = defaults.Timeout
	}
	if spec.Network.Mode == "" && len(c.NetworkModes) > 0 {
		spec.Network.Mode = c.NetworkModes[0]
	}
	if c.VercelOptions {
		options := VercelOptions{}
		if spec.Vercel != nil {
			options = *spec.Vercel
		}
		if options.Region == "" {
			options.Region = defaults.Region
		}
		spec.Vercel = &options
	}
	return spec
}

// Network modes.
const (
	NetworkDenyAll  = "deny-all"
	NetworkAllowAll = "allow-all"
	NetworkHost     = "host"
	// NetworkRestricted denies what the lists of [Network] do not allow.
	NetworkRestricted = "restricted"
)

// capability names one row of the table.
type capability struct {
	name        string
	description string
	has         func(Capabilities) bool
}

func capabilityRows() []capability {
	mode := func(m string) func(Capabilities) bool {
		return func(c Capabilities) bool { return slices.Contains(c.NetworkModes, m) }
	}
	return []capability{
		{"source_host", "no `source`: the host's system, read-only", func(c Capabilities) bool { return c.HostSource }},
		{"source_default", "no `source`: the platform's default system", func(c Capabilities) bool { return c.DefaultSource }},
		{"source_image", "`source.image`", func(c Capabilities) bool { return c.ImageSource }},
		{"source_runtime", "`source.runtime`", func(c Capabilities) bool { return c.RuntimeSource }},
		{"source_rootfs", "`source.rootfs`", func(c Capabilities) bool { return c.RootfsSource }},
		{"source_git", "`source.git`", func(c Capabilities) bool { return c.GitSource }},
		{"source_tarball", "`source.tarball_url`", func(c Capabilities) bool { return c.TarballSource }},
		{"source_snapshot", "`source.snapshot_id`", func(c Capabilities) bool { return c.SnapshotSource }},
		{"clone", "`source.clone_of`", func(c Capabilities) bool { return c.Clone }},
		{"persistent", "`sandlot_persistent_sandbox`", func(c Capabilities) bool { return c.Persistent }},
		{"snapshot", "`checkpoint_trigger`", func(c Capabilities) bool { return c.Snapshot }},
		{"network_deny_all", "`network.mode = \"deny-all\"`", mode(NetworkDenyAll)},
		{"network_allow_all", "`network.mode = \"allow-all\"`", mode(NetworkAllowAll)},
		{"network_host", "`network.mode = \"host\"`", mode(NetworkHost)},
		{"network_restricted", "`network.mode = \"restricted\"` with lists of domains and address ranges", mode(NetworkRestricted)},
		{"mounts", "`mounts`", func(c Capabilities) bool { return c.Mounts }},
		{"ports", "`ports`", func(c Capabilities) bool { return c.Ports }},
		{"public_ports", "`ports` with `public = true`", func(c Capabilities) bool { return c.PublicPorts }},
		{"volumes", "`volumes`", func(c Capabilities) bool { return c.Volumes }},
		{"cpus", "`cpus`", func(c Capabilities) bool { return c.CPUs }},
		{"memory", "`memory_mib`", func(c Capabilities) bool { return c.Memory }},
		{"user", "`user`", func(c Capabilities) bool { return c.User }},
		{"working_directory", "`working_directory`", func(c Capabilities) bool { return c.WorkingDirectory }},
		{"system_packages", "`manifest.system_packages` of `sandlot_base_snapshot`", func(c Capabilities) bool { return c.SystemPackages }},
		{"command", "`command`", func(c Capabilities) bool { return c.MainProcess }},
		{"timeout", "`timeout`", func(c Capabilities) bool { return c.Timeout }},
		{"absolute_paths", "files outside the workspace", func(c Capabilities) bool { return c.AbsolutePaths }},
		{"docker_options", "`docker`", func(c Capabilities) bool { return c.DockerOptions }},
		{"vercel_options", "`vercel`", func(c Capabilities) bool { return c.VercelOptions }},
		{"native_retention", "`snapshot_retention` kept by the platform, also for the snapshots it takes itself", func(c Capabilities) bool { return c.NativeRetention }},
	}
}

// CapabilityNames are the names that `require_capabilities` accepts, in the order of the table.
func CapabilityNames() []string {
	rows := capabilityRows()
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.name
	}
	return names
}

// CapabilityDescriptions maps each name to the attribute it stands for, as Markdown.
func CapabilityDescriptions() map[string]string {
	descriptions := map[string]string{}
	for _, row := range capabilityRows() {
		descriptions[row.name] = row.description
	}
	return descriptions
}

// Map returns every capability name with whether the backend has it.
func (c Capabilities) Map() map[string]bool {
	all := map[string]bool{}
	for _, row := range capabilityRows() {
		all[row.name] = row.has(c)
	}
	return all
}

// Names returns the names of the capabilities that the backend has, in the order of the table.
func (c Capabilities) Names() []string {
	var names []string
	for _, row := range capabilityRows() {
		if row.has(c) {
			names = append(names, row.name)
		}
	}
	return names
}

// Gap is one option of a specification that a backend cannot honor.
type Gap struct {
	// Attribute is the path in the schema, by its dots: "source.image", "cpus".
	Attribute string
	// Detail says what is not possible and what is.
	Detail string
}

type gapList []Gap

func (g *gapList) need(wanted, has bool, attribute, detail string) {
	if wanted && !has {
		*g = append(*g, Gap{Attribute: attribute, Detail: detail})
	}
}

// Gaps returns the options of spec that this table does not have, in a stable order.
func (c Capabilities) Gaps(spec Spec) []Gap {
	var gaps gapList
	source := spec.Source
	gaps.need(source.Image != "", c.ImageSource, "source.image", "It cannot start from an OCI image. "+c.sourceHint())
	gaps.need(source.Runtime != "", c.RuntimeSource, "source.runtime", "It knows no runtimes by name. "+c.sourceHint())
	gaps.need(source.Rootfs != "", c.RootfsSource, "source.rootfs", "It cannot start from a root file system on disk. "+c.sourceHint())
	gaps.need(source.GitURL != "", c.GitSource, "source.git", "It cannot start from a Git repository. "+c.sourceHint())
	gaps.need(source.TarballURL != "", c.TarballSource, "source.tarball_url", "It cannot start from an archive. "+c.sourceHint())
	gaps.need(source.SnapshotID != "", c.SnapshotSource, "source.snapshot_id", "It cannot start from a snapshot. "+c.sourceHint())
	gaps.need(source.CloneOf != "", c.Clone, "source.clone_of", "It cannot clone a sandbox. "+c.sourceHint())
	gaps.need(source == Source{}, c.HostSource || c.DefaultSource, "source", "It has no default system, so a source is required. "+c.sourceHint())
	return append(gaps, c.ChangeGaps(spec)...)
}

// ChangeGaps is Gaps without the source, which a change of an existing sandbox ignores.
func (c Capabilities) ChangeGaps(spec Spec) []Gap {
	var gaps gapList
	gaps.need(spec.CPUs != 0, c.CPUs, "cpus", "It cannot limit CPUs.")
	gaps.need(spec.MemoryMiB != 0, c.Memory, "memory_mib", "It cannot limit memory to a chosen size.")
	gaps.need(spec.User != "", c.User, "user", "It runs every command as one unprivileged user that cannot be chosen.")
	gaps.need(spec.WorkingDirectory != "", c.WorkingDirectory, "working_directory", "Commands run in the workspace, or where they choose themselves.")
	gaps.need(len(spec.Command) > 0, c.MainProcess, "command", "It runs no main process.")
	gaps.need(spec.Timeout != 0, c.Timeout, "timeout", "It runs no main process that could time out.")
	gaps.need(len(spec.Ports) > 0, c.Ports, "ports", "It cannot publish ports.")
	gaps.need(slices.ContainsFunc(spec.Ports, func(p Port) bool { return p.Public }), !c.Ports || c.PublicPorts, "ports", "It cannot publish ports on public interfaces.")
	gaps.need(len(spec.Ports) > 0 && !slices.ContainsFunc(spec.Ports, notAssigned), !c.PublicPortsOnly || !slices.ContainsFunc(spec.Ports, private), "ports", "Every port is open to everybody at an address that the platform chooses: say so by `public = true`.")
	gaps.need(slices.ContainsFunc(spec.Ports, notAssigned), !c.PublicPortsOnly, "ports", "The platform chooses the address of a port and publishes tcp only: leave out `published_port`, and `protocol` or make it \"tcp\".")
	gaps.need(len(spec.Mounts) > 0, c.Mounts, "mounts", "It cannot mount host directories.")
	gaps.need(len(spec.Volumes) > 0, c.Volumes, "volumes", "It has no named volumes.")
	gaps.need(spec.Docker != nil, c.DockerOptions, "docker", "These options mean something on Docker only.")
	gaps.need(spec.Vercel != nil, c.VercelOptions, "vercel", "These options mean something on Vercel only.")
	gaps.need(spec.Retention != nil, c.NativeRetention, "snapshot_retention", "It does not evict snapshots by itself.")
	gaps.need(spec.Network.restricts(), spec.Network.Mode == NetworkRestricted, "network.mode", "Lists of what may be reached mean something in the mode \"restricted\" only.")
	if mode := spec.Network.Mode; mode != "" && !slices.Contains(c.NetworkModes, mode) {
		gaps = append(gaps, Gap{"network.mode", fmt.Sprintf("It has no network mode %q. Allowed: %s.", mode, quoted(c.NetworkModes))})
	}
	return gaps
}

// Refuse returns [Unsupported] for the first of gaps, nil when there is none. Backends call it
// before anything else: in Create with Gaps, in Reconfigure with ChangeGaps.
func Refuse(backend, operation string, gaps []Gap) error {
	if len(gaps) == 0 {
		return nil
	}
	return &Error{Kind: Unsupported, Backend: backend, Operation: operation, Object: gaps[0].Attribute, Detail: gaps[0].Detail}
}

func private(p Port) bool { return !p.Public }

// notAssigned tells whether a port asks for what a platform that assigns addresses cannot give.
func notAssigned(p Port) bool {
	return p.PublishedPort != 0 || p.Protocol != "" && p.Protocol != "tcp"
}

func (c Capabilities) sourceHint() string {
	var allowed []string
	if c.ImageSource {
		allowed = append(allowed, "image")
	}
	if c.RuntimeSource {
		allowed = append(allowed, "runtime")
	}
	if c.RootfsSource {
		allowed = append(allowed, "rootfs")
	}
	if c.GitSource {
		allowed = append(allowed, "git")
	}
	if c.TarballSource {
		allowed = append(allowed, "tarball_url")
	}
	if c.SnapshotSource {
		allowed = append(allowed, "snapshot_id")
	}
	if c.Clone {
		allowed = append(allowed, "clone_of")
	}
	hint := "Allowed: " + quoted(allowed)
	if c.HostSource {
		return hint + ", or no source for the host's system."
	}
	if c.DefaultSource {
		return hint + ", or no source for the platform's default system."
	}
	return hint + "."
}

func quoted(values []string) string {
	parts := make([]string, len(values))
	for i, value := range values {
		parts[i] = fmt.Sprintf("%q", value)
	}
	return strings.Join(parts, ", ")
}
