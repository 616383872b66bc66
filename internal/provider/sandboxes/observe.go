package sandboxes

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// The functions below bring what a backend tells into a state. A value that means the same as
// what the state holds leaves the state's own spelling (null or empty, "60m" or "1h", an absent
// member or its default), so that only real changes show.

// observe writes the configurable attributes of an existing sandbox into the model.
func (c *converter) observe(m *common, spec backends.Spec, capabilities backends.Capabilities) {
	before := c.spec(m, types.MapNull(types.StringType))
	full, defaults := capabilities.Effective(before), capabilities.Defaults
	// Where one of the two follows from the other, a change shows where the state has a value.
	paired := defaults.MemoryPerCPU != 0 && float64(spec.MemoryMiB) == spec.CPUs*float64(defaults.MemoryPerCPU)
	sameCPUs := full.CPUs == spec.CPUs || paired && before.CPUs == 0 && before.MemoryMiB != 0
	sameMemory := full.MemoryMiB == spec.MemoryMiB || paired && before.MemoryMiB == 0
	keep(&m.CPUs, sameCPUs, spec.CPUs == defaults.CPUs, types.Float64Null(), types.Float64Value(spec.CPUs))
	keep(&m.MemoryMiB, sameMemory, spec.MemoryMiB == defaults.MemoryMiB, types.Int64Null(), types.Int64Value(spec.MemoryMiB))
	keep(&m.WorkingDirectory, before.WorkingDirectory == spec.WorkingDirectory, spec.WorkingDirectory == "", types.StringNull(), types.StringValue(spec.WorkingDirectory))
	keep(&m.User, before.User == spec.User, spec.User == "", types.StringNull(), types.StringValue(spec.User))
	keep(&m.Timeout, full.Timeout == spec.Timeout, spec.Timeout == defaults.Timeout, types.StringNull(), types.StringValue(spec.Timeout.String()))
	unread := capabilities.EnvironmentUnreadable && len(spec.Environment) == 0
	keep(&m.Environment, unread || maps.Equal(before.Environment, spec.Environment), len(spec.Environment) == 0, types.MapNull(types.StringType), convert.Map(spec.Environment))
	keep(&m.Labels, maps.Equal(before.Labels, spec.Labels), len(spec.Labels) == 0, types.MapNull(types.StringType), convert.Map(spec.Labels))
	keep(&m.Command, slices.Equal(before.Command, spec.Command), len(spec.Command) == 0, types.ListNull(types.StringType), convert.List(spec.Command))
	keep(&m.Volumes, maps.Equal(before.Volumes, spec.Volumes), len(spec.Volumes) == 0, types.MapNull(volumeType), volumesValue(spec.Volumes))
	c.observePorts(m, spec.Ports)
	c.observeMounts(m, spec.Mounts)
	defaultMode := ""
	if len(capabilities.NetworkModes) > 0 {
		defaultMode = capabilities.NetworkModes[0]
	}
	network := spec.Network
	network.Mode = orElse(network.Mode, defaultMode)
	keep(&m.Network, sameNetwork(full.Network, network), network.Mode == defaultMode, types.ObjectNull(networkType), networkValue(network))
	if capabilities.VercelOptions && spec.Vercel != nil {
		same := full.Vercel.Region == spec.Vercel.Region && slices.Equal(full.Vercel.FailoverRegions, spec.Vercel.FailoverRegions)
		plain := spec.Vercel.Region == defaults.Region && len(spec.Vercel.FailoverRegions) == 0
		keep(&m.Vercel, same, plain, types.ObjectNull(vercelType), vercelValue(*spec.Vercel))
	}
	if capabilities.DockerOptions {
		c.observeDocker(m, before.Docker, spec.Docker)
	}
	c.observeSource(m, before.Source, spec.Source)
}

// observeRetention writes what a platform that keeps snapshots itself was told to keep.
func (c *converter) observeRetention(p *persistence, spec backends.Spec, capabilities backends.Capabilities) {
	if p == nil || !capabilities.NativeRetention {
		return
	}
	is := sandbox.Retention{}
	if spec.Retention != nil {
		is = sandbox.Retention{KeepLast: spec.Retention.KeepLast, Expiration: spec.Retention.Expiration}
	}
	expiration, keepLast := types.StringNull(), types.Int64Null()
	if is.Expiration != 0 {
		expiration = types.StringValue(is.Expiration.String())
	}
	if is.KeepLast != 0 {
		keepLast = types.Int64Value(is.KeepLast)
	}
	keep(&p.SnapshotRetention, c.retention(p.SnapshotRetention) == is, is == sandbox.Retention{}, types.ObjectNull(retentionType),
		types.ObjectValueMust(retentionType, map[string]attr.Value{"expiration": expiration, "keep_last": keepLast}))
}

func sameNetwork(a, b backends.Network) bool {
	same := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return a.Mode == b.Mode && same(a.AllowDomains, b.AllowDomains) && same(a.AllowCIDRs, b.AllowCIDRs) && same(a.DenyCIDRs, b.DenyCIDRs)
}

func (c *converter) observePorts(m *common, ports []backends.Port) {
	normal := func(p backends.Port) backends.Port {
		p.Protocol = orElse(p.Protocol, "tcp")
		return p
	}
	values := correlate(m.Ports.Elements(), ports,
		func(value attr.Value) (backends.Port, bool) {
			read := c.ports(types.SetValueMust(portType, []attr.Value{value}))
			if len(read) != 1 {
				return backends.Port{}, false
			}
			return normal(read[0]), true
		}, normal, portValue)
	keep(&m.Ports, sameSet(m.Ports.Elements(), values), len(values) == 0, types.SetNull(portType), types.SetValueMust(portType, values))
}

func (c *converter) observeMounts(m *common, mounts []backends.Mount) {
	same := func(mount backends.Mount) backends.Mount { return mount }
	values := correlate(m.Mounts.Elements(), mounts,
		func(value attr.Value) (backends.Mount, bool) {
			read := c.mounts(types.SetValueMust(mountType, []attr.Value{value}))
			if len(read) != 1 {
				return backends.Mount{}, false
			}
			return read[0], true
		}, same, mountValue)
	keep(&m.Mounts, sameSet(m.Mounts.Elements(), values), len(values) == 0, types.SetNull(mountType), types.SetValueMust(mountType, values))
}

func (c *converter) observeDocker(m *common, before, now *backends.DockerOptions) {
	normal := func(options *backends.DockerOptions) backends.DockerOptions {
		if options == nil {
			return backends.DockerOptions{}
		}
		return *options
	}
	was, is := normal(before), normal(now)
	// Whether the socket may be mounted and when the image is pulled is our own rule: no engine knows it.
	is.AllowEngineSocket, is.PullPolicy = was.AllowEngineSocket, was.PullPolicy
	slices.Sort(was.AddCapabilities)
	slices.Sort(is.AddCapabilities)
	equal := was.Runtime == is.Runtime && was.PidsLimit == is.PidsLimit && slices.Equal(was.AddCapabilities, is.AddCapabilities)
	empty := is.Runtime == "" && is.PidsLimit == 0 && len(is.AddCapabilities) == 0 && !is.AllowEngineSocket && is.PullPolicy == ""
	keep(&m.Docker, equal, empty, types.ObjectNull(dockerType), dockerValue(is))
}

// observeSource writes the members of the source that do not lapse with the creation.
func (c *converter) observeSource(m *common, before, now backends.Source) {
	if now.Image == "" && now.Rootfs == "" || before.Image == now.Image && before.Rootfs == now.Rootfs {
		return
	}
	m.Source = sourceValue(now)
}

// observeComputed writes what only a backend knows. unknownOnly leaves planned values alone: what
// a plan promised is kept, and the next read tells the truth. What was true at creation is written
// once: a container made again on the same data is still the same sandbox.
func (c *converter) observeComputed(m *common, p *persistence, view sandbox.View, unknownOnly bool) {
	observed := view.Observed
	set := func(target *types.String, text string) {
		if !unknownOnly || target.IsUnknown() {
			*target = convert.TextOrNull(text)
		}
	}
	setOnce := func(target *types.String, text string) {
		if target.IsUnknown() || target.IsNull() {
			*target = convert.TextOrNull(text)
		}
	}
	set(&m.Status, string(view.Status))
	set(&m.SessionID, observed.SessionID)
	if !unknownOnly || m.Endpoints.IsUnknown() {
		m.Endpoints = convert.Map(observed.Endpoints)
	}
	setOnce(&m.CreatedAt, convert.TimeOrNull(observed.CreatedAt).ValueString())
	setOnce(&m.Workspace, observed.Workspace)
	setOnce(&m.ResolvedImage, observed.ResolvedImage)
	if p == nil {
		return
	}
	set(&p.CurrentSessionID, observed.SessionID)
	if view.CurrentSnapshotID != "" || p.CurrentSnapshotID.IsUnknown() {
		set(&p.CurrentSnapshotID, view.CurrentSnapshotID)
	}
	if !unknownOnly || p.Resumable.IsUnknown() {
		p.Resumable = types.BoolValue(view.Status != sandbox.StatusMissing && view.Status != sandbox.StatusDeleting && !observed.Unresumable)
	}
}

func keep[T any](target *T, same, empty bool, null, value T) {
	switch {
	case same:
	case empty:
		*target = null
	default:
		*target = value
	}
}

// correlate returns a value for each observed item: the state's own where it means the same.
func correlate[T comparable](state []attr.Value, observed []T, read func(attr.Value) (T, bool), normal func(T) T, value func(T) attr.Value) []attr.Value {
	var values []attr.Value
	for _, item := range observed {
		found := value(item)
		for _, candidate := range state {
			if known, ok := read(candidate); ok && known == normal(item) {
				found = candidate
				break
			}
		}
		values = append(values, found)
	}
	return values
}

func sameSet(a, b []attr.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for _, value := range a {
		if !slices.ContainsFunc(b, value.Equal) {
			return false
		}
	}
	return true
}

func orElse(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
