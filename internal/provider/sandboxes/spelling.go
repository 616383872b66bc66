package sandboxes

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
)

// spelling is how a configuration writes what a backend tells in its own words: defaults that are
// spelled out, empty collections, durations. An import starts from it, so that the plan after it
// finds only real changes.
type spelling struct {
	Timeout string          `json:"timeout,omitempty"`
	Network string          `json:"network,omitempty"`
	Ports   []portSpelling  `json:"ports,omitempty"`
	Mounts  []mountSpelling `json:"mounts,omitempty"`
	Docker  *dockerSpelling `json:"docker,omitempty"`
	Vercel  *vercelSpelling `json:"vercel,omitempty"`
	// CPUs and MemoryMiB may be a platform's own defaults, spelled out.
	CPUs      *float64 `json:"cpus,omitempty"`
	MemoryMiB *int64   `json:"memory_mib,omitempty"`
	// Empty names the collections that are there and hold nothing.
	Empty []string `json:"empty,omitempty"`
}

type portSpelling struct {
	Port          int64   `json:"port"`
	Protocol      *string `json:"protocol,omitempty"`
	PublishedPort *int64  `json:"published_port,omitempty"`
	Public        *bool   `json:"public,omitempty"`
}

type mountSpelling struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly *bool  `json:"read_only,omitempty"`
}

type dockerSpelling struct {
	Runtime           *string   `json:"runtime,omitempty"`
	PidsLimit         *int64    `json:"pids_limit,omitempty"`
	AddCapabilities   *[]string `json:"add_capabilities,omitempty"`
	AllowEngineSocket *bool     `json:"allow_engine_socket,omitempty"`
	PullPolicy        *string   `json:"pull_policy,omitempty"`
}

type vercelSpelling struct {
	Region   *string   `json:"region,omitempty"`
	Failover *[]string `json:"failover_regions,omitempty"`
}

// collections are those that mean the same when empty as when absent. Setup and the like are among
// them although no backend knows them: their settings cannot tell one from the other either.
func collections(m *common, p *persistence) map[string]attr.Value {
	all := map[string]attr.Value{
		"environment": m.Environment, "labels": m.Labels, "volumes": m.Volumes, "ports": m.Ports, "mounts": m.Mounts,
		"setup": m.Setup, "require_capabilities": m.RequireCapabilities, "timeouts": m.Timeouts.Object,
	}
	if p != nil {
		all["snapshot_retention"] = p.SnapshotRetention
	}
	return all
}

func (c *converter) spellingOf(m *common, p *persistence) spelling {
	s := spelling{Timeout: m.Timeout.ValueString(), CPUs: m.CPUs.ValueFloat64Pointer(), MemoryMiB: m.MemoryMiB.ValueInt64Pointer()}
	if options, ok := object[vercelModel](c, m.Vercel); ok {
		s.Vercel = &vercelSpelling{Region: options.Region.ValueStringPointer()}
		if !options.FailoverRegions.IsNull() {
			regions := append([]string{}, convert.Texts(options.FailoverRegions.Elements())...)
			s.Vercel.Failover = &regions
		}
	}
	if network, ok := object[networkModel](c, m.Network); ok {
		s.Network = network.Mode.ValueString()
	}
	for _, port := range elements[portModel](c, m.Ports.Elements()) {
		s.Ports = append(s.Ports, portSpelling{port.Port.ValueInt64(), port.Protocol.ValueStringPointer(), port.PublishedPort.ValueInt64Pointer(), port.Public.ValueBoolPointer()})
	}
	for _, mount := range elements[mountModel](c, m.Mounts.Elements()) {
		s.Mounts = append(s.Mounts, mountSpelling{mount.Source.ValueString(), mount.Target.ValueString(), mount.ReadOnly.ValueBoolPointer()})
	}
	if options, ok := object[dockerModel](c, m.Docker); ok {
		s.Docker = &dockerSpelling{
			Runtime: options.Runtime.ValueStringPointer(), PidsLimit: options.PidsLimit.ValueInt64Pointer(),
			AllowEngineSocket: options.AllowEngineSocket.ValueBoolPointer(), PullPolicy: options.PullPolicy.ValueStringPointer(),
		}
		if !options.AddCapabilities.IsNull() {
			names := append([]string{}, convert.Texts(options.AddCapabilities.Elements())...)
			s.Docker.AddCapabilities = &names
		}
	}
	for name, value := range collections(m, p) {
		if isEmpty(value) {
			s.Empty = append(s.Empty, name)
		}
	}
	slices.Sort(s.Empty)
	return s
}

// isEmpty tells whether a collection is there and holds nothing; for an object, no member.
func isEmpty(value attr.Value) bool {
	if value.IsNull() || value.IsUnknown() {
		return false
	}
	switch value := value.(type) {
	case types.Map:
		return len(value.Elements()) == 0
	case types.Set:
		return len(value.Elements()) == 0
	case types.List:
		return len(value.Elements()) == 0
	case types.Object:
		for _, member := range value.Attributes() {
			if !member.IsNull() {
				return false
			}
		}
		return true
	}
	return false
}

// apply writes the spelling into an imported model, before what the backend tells.
func (s spelling) apply(m *common, p *persistence) {
	m.Timeout = convert.TextOrNull(s.Timeout)
	m.CPUs, m.MemoryMiB = types.Float64PointerValue(s.CPUs), types.Int64PointerValue(s.MemoryMiB)
	if s.Vercel != nil {
		failover := types.ListNull(types.StringType)
		if s.Vercel.Failover != nil {
			failover = convert.List(*s.Vercel.Failover)
		}
		m.Vercel = types.ObjectValueMust(vercelType, map[string]attr.Value{
			"region": types.StringPointerValue(s.Vercel.Region), "failover_regions": failover,
		})
	}
	if s.Network != "" {
		m.Network = networkValue(backends.Network{Mode: s.Network})
	}
	if len(s.Ports) > 0 {
		m.Ports = types.SetValueMust(portType, s.ports())
	}
	if len(s.Mounts) > 0 {
		m.Mounts = types.SetValueMust(mountType, s.mounts())
	}
	if s.Docker != nil {
		m.Docker = s.Docker.value()
	}
	for _, name := range s.Empty {
		switch name {
		case "environment":
			m.Environment = convert.Map(nil)
		case "labels":
			m.Labels = convert.Map(nil)
		case "volumes":
			m.Volumes = volumesValue(nil)
		case "ports":
			m.Ports = types.SetValueMust(portType, nil)
		case "mounts":
			m.Mounts = types.SetValueMust(mountType, nil)
		case "setup":
			m.Setup = types.ListValueMust(setupType, nil)
		case "require_capabilities":
			m.RequireCapabilities = types.SetValueMust(types.StringType, nil)
		case "timeouts":
			m.Timeouts.Object = nothingIn(timeoutsType)
		case "snapshot_retention":
			if p != nil {
				p.SnapshotRetention = nothingIn(retentionType)
			}
		}
	}
}

func (s spelling) ports() []attr.Value {
	var values []attr.Value
	for _, port := range s.Ports {
		values = append(values, types.ObjectValueMust(portType.AttrTypes, map[string]attr.Value{
			"port": types.Int64Value(port.Port), "protocol": types.StringPointerValue(port.Protocol),
			"published_port": types.Int64PointerValue(port.PublishedPort), "public": types.BoolPointerValue(port.Public),
		}))
	}
	return values
}

func (s spelling) mounts() []attr.Value {
	var values []attr.Value
	for _, mount := range s.Mounts {
		values = append(values, types.ObjectValueMust(mountType.AttrTypes, map[string]attr.Value{
			"source": types.StringValue(mount.Source), "target": types.StringValue(mount.Target), "read_only": types.BoolPointerValue(mount.ReadOnly),
		}))
	}
	return values
}

func (s dockerSpelling) value() types.Object {
	capabilities := types.SetNull(types.StringType)
	if s.AddCapabilities != nil {
		capabilities = convert.Set(*s.AddCapabilities)
	}
	return types.ObjectValueMust(dockerType, map[string]attr.Value{
		"runtime": types.StringPointerValue(s.Runtime), "pids_limit": types.Int64PointerValue(s.PidsLimit), "add_capabilities": capabilities,
		"allow_engine_socket": types.BoolPointerValue(s.AllowEngineSocket), "pull_policy": types.StringPointerValue(s.PullPolicy),
	})
}

// nothingIn is an object whose members are all null.
func nothingIn(members map[string]attr.Type) types.Object {
	values := map[string]attr.Value{}
	for name, member := range members {
		if member == types.Int64Type {
			values[name] = types.Int64Null()
			continue
		}
		values[name] = types.StringNull()
	}
	return types.ObjectValueMust(members, values)
}
