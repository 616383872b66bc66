package backends

import (
	"fmt"
	"slices"
	"strings"
)

// Capabilities is what a backend can do. The provider asks this table, never the backend's
// name. It is printed into the documentation and held honest by the conformance suite.
type Capabilities struct {
	// HostSource: a sandbox without a source uses the host's system, read-only.
	HostSource     bool
	ImageSource    bool
	RootfsSource   bool
	SnapshotSource bool
	Persistent     bool
	Snapshot       bool
	Clone          bool
	// NetworkModes are the allowed modes; the first is the default.
	NetworkModes []string
	Mounts       bool
	Ports        bool
	PublicPorts  bool
	Volumes      bool
	CPUs         bool
	Memory       bool
	User         bool
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
	// StopEmptiesSession: stopping a session sandbox loses the files in its workspace.
	StopEmptiesSession bool
	// SecretsLiveIn says where secrets are kept, for the documentation.
	SecretsLiveIn string
}

// Network modes.
const (
	NetworkDenyAll  = "deny-all"
	NetworkAllowAll = "allow-all"
	NetworkHost     = "host"
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
		{"source_image", "`source.image`", func(c Capabilities) bool { return c.ImageSource }},
		{"source_rootfs", "`source.rootfs`", func(c Capabilities) bool { return c.RootfsSource }},
		{"source_snapshot", "`source.snapshot_id`", func(c Capabilities) bool { return c.SnapshotSource }},
		{"clone", "`source.clone_of`", func(c Capabilities) bool { return c.Clone }},
		{"persistent", "`sandlot_persistent_sandbox`", func(c Capabilities) bool { return c.Persistent }},
		{"snapshot", "`checkpoint_trigger`", func(c Capabilities) bool { return c.Snapshot }},
		{"network_deny_all", "`network.mode = \"deny-all\"`", mode(NetworkDenyAll)},
		{"network_allow_all", "`network.mode = \"allow-all\"`", mode(NetworkAllowAll)},
		{"network_host", "`network.mode = \"host\"`", mode(NetworkHost)},
		{"mounts", "`mounts`", func(c Capabilities) bool { return c.Mounts }},
		{"ports", "`ports`", func(c Capabilities) bool { return c.Ports }},
		{"public_ports", "`ports` with `public = true`", func(c Capabilities) bool { return c.PublicPorts }},
		{"volumes", "`volumes`", func(c Capabilities) bool { return c.Volumes }},
		{"cpus", "`cpus`", func(c Capabilities) bool { return c.CPUs }},
		{"memory", "`memory_mib`", func(c Capabilities) bool { return c.Memory }},
		{"user", "`user`", func(c Capabilities) bool { return c.User }},
		{"system_packages", "`manifest.system_packages` of `sandlot_base_snapshot`", func(c Capabilities) bool { return c.SystemPackages }},
		{"command", "`command`", func(c Capabilities) bool { return c.MainProcess }},
		{"timeout", "`timeout`", func(c Capabilities) bool { return c.Timeout }},
		{"absolute_paths", "files outside the workspace", func(c Capabilities) bool { return c.AbsolutePaths }},
		{"docker_options", "`docker`", func(c Capabilities) bool { return c.DockerOptions }},
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
	gaps.need(source.Rootfs != "", c.RootfsSource, "source.rootfs", "It cannot start from a root file system on disk. "+c.sourceHint())
	gaps.need(source.SnapshotID != "", c.SnapshotSource, "source.snapshot_id", "It cannot start from a snapshot. "+c.sourceHint())
	gaps.need(source.CloneOf != "", c.Clone, "source.clone_of", "It cannot clone a sandbox. "+c.sourceHint())
	gaps.need(source == Source{}, c.HostSource, "source", "It has no default system, so a source is required. "+c.sourceHint())
	return append(gaps, c.ChangeGaps(spec)...)
}

// ChangeGaps is Gaps without the source, which a change of an existing sandbox ignores.
func (c Capabilities) ChangeGaps(spec Spec) []Gap {
	var gaps gapList
	gaps.need(spec.CPUs != 0, c.CPUs, "cpus", "It cannot limit CPUs.")
	gaps.need(spec.MemoryMiB != 0, c.Memory, "memory_mib", "It cannot limit memory to a chosen size.")
	gaps.need(spec.User != "", c.User, "user", "It runs every command as one unprivileged user that cannot be chosen.")
	gaps.need(len(spec.Command) > 0, c.MainProcess, "command", "It runs no main process.")
	gaps.need(spec.Timeout != 0, c.Timeout, "timeout", "It runs no main process that could time out.")
	gaps.need(len(spec.Ports) > 0, c.Ports, "ports", "It cannot publish ports.")
	gaps.need(slices.ContainsFunc(spec.Ports, func(p Port) bool { return p.Public }), !c.Ports || c.PublicPorts, "ports", "It cannot publish ports on public interfaces.")
	gaps.need(len(spec.Mounts) > 0, c.Mounts, "mounts", "It cannot mount host directories.")
	gaps.need(len(spec.Volumes) > 0, c.Volumes, "volumes", "It has no named volumes.")
	gaps.need(spec.Docker != nil, c.DockerOptions, "docker", "These options mean something on Docker only.")
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

func (c Capabilities) sourceHint() string {
	var allowed []string
	if c.ImageSource {
		allowed = append(allowed, "image")
	}
	if c.RootfsSource {
		allowed = append(allowed, "rootfs")
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
	return hint + "."
}

func quoted(values []string) string {
	parts := make([]string, len(values))
	for i, value := range values {
		parts[i] = fmt.Sprintf("%q", value)
	}
	return strings.Join(parts, ", ")
}
