package sandboxes

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
)

// The functions below make framework values of the domain's. Defaults become null.

func portValue(port backends.Port) attr.Value {
	published, public := types.Int64Null(), types.BoolNull()
	if port.PublishedPort != 0 {
		published = types.Int64Value(int64(port.PublishedPort))
	}
	if port.Public {
		public = types.BoolValue(true)
	}
	protocol := types.StringNull()
	if port.Protocol != "" && port.Protocol != "tcp" {
		protocol = types.StringValue(port.Protocol)
	}
	return types.ObjectValueMust(portType.AttrTypes, map[string]attr.Value{
		"port": types.Int64Value(int64(port.Port)), "protocol": protocol, "published_port": published, "public": public,
	})
}

func mountValue(mount backends.Mount) attr.Value {
	readOnly := types.BoolNull()
	if mount.ReadOnly {
		readOnly = types.BoolValue(true)
	}
	return types.ObjectValueMust(mountType.AttrTypes, map[string]attr.Value{
		"source": types.StringValue(mount.Source), "target": types.StringValue(mount.Target), "read_only": readOnly,
	})
}

func volumesValue(volumes map[string]backends.Volume) types.Map {
	values := make(map[string]attr.Value, len(volumes))
	for name, volume := range volumes {
		values[name] = types.ObjectValueMust(volumeType.AttrTypes, map[string]attr.Value{"target": types.StringValue(volume.Target)})
	}
	return types.MapValueMust(volumeType, values)
}

func dockerValue(options backends.DockerOptions) types.Object {
	pids, capabilities := types.Int64Null(), types.SetNull(types.StringType)
	if options.PidsLimit != 0 {
		pids = types.Int64Value(options.PidsLimit)
	}
	if len(options.AddCapabilities) > 0 {
		capabilities = convert.Set(options.AddCapabilities)
	}
	socket := types.BoolNull()
	if options.AllowEngineSocket {
		socket = types.BoolValue(true)
	}
	return types.ObjectValueMust(dockerType, map[string]attr.Value{
		"runtime": convert.TextOrNull(options.Runtime), "pids_limit": pids, "add_capabilities": capabilities,
		"allow_engine_socket": socket, "pull_policy": convert.TextOrNull(options.PullPolicy),
	})
}

// networkValue is a network policy as a configuration would write it.
func networkValue(network backends.Network) types.Object {
	return types.ObjectValueMust(networkType, map[string]attr.Value{
		"mode": types.StringValue(network.Mode), "allow_domains": stringSetOrNull(network.AllowDomains),
		"allow_cidrs": stringSetOrNull(network.AllowCIDRs), "deny_cidrs": stringSetOrNull(network.DenyCIDRs),
	})
}

func vercelValue(options backends.VercelOptions) types.Object {
	failover := types.ListNull(types.StringType)
	if len(options.FailoverRegions) > 0 {
		failover = convert.List(options.FailoverRegions)
	}
	return types.ObjectValueMust(vercelType, map[string]attr.Value{"region": convert.TextOrNull(options.Region), "failover_regions": failover})
}

func sourceValue(source backends.Source) types.Object {
	if source == (backends.Source{}) {
		return types.ObjectNull(sourceType)
	}
	git := types.ObjectNull(gitType)
	if source.GitURL != "" {
		depth := types.Int64Null()
		if source.GitDepth != 0 {
			depth = types.Int64Value(int64(source.GitDepth))
		}
		git = types.ObjectValueMust(gitType, map[string]attr.Value{
			"url": types.StringValue(source.GitURL), "revision": convert.TextOrNull(source.GitRevision), "depth": depth,
		})
	}
	return types.ObjectValueMust(sourceType, map[string]attr.Value{
		"image": convert.TextOrNull(source.Image), "rootfs": convert.TextOrNull(source.Rootfs), "runtime": convert.TextOrNull(source.Runtime),
		"git": git, "tarball_url": convert.TextOrNull(source.TarballURL),
		"snapshot_id": convert.TextOrNull(source.SnapshotID), "clone_of": convert.TextOrNull(source.CloneOf),
	})
}

// setNull makes every value null, of the right type, where an import has nothing yet.
func setNull(of model) {
	m, p := of.parts()
	*m = common{
		Source:              types.ObjectNull(sourceType),
		Environment:         types.MapNull(types.StringType),
		SecretEnvironment:   types.MapNull(types.StringType),
		Command:             types.ListNull(types.StringType),
		Ports:               types.SetNull(portType),
		Mounts:              types.SetNull(mountType),
		Volumes:             types.MapNull(volumeType),
		Network:             types.ObjectNull(networkType),
		Labels:              types.MapNull(types.StringType),
		Setup:               types.ListNull(setupType),
		RequireCapabilities: types.SetNull(types.StringType),
		Docker:              types.ObjectNull(dockerType),
		Vercel:              types.ObjectNull(vercelType),
		Endpoints:           types.MapNull(types.StringType),
		Capabilities:        types.SetNull(types.StringType),
		Timeouts:            timeouts.Value{Object: types.ObjectNull(timeoutsType)},
	}
	if p != nil {
		*p = persistence{SnapshotRetention: types.ObjectNull(retentionType)}
	}
	if w := of.workspace(); w != nil {
		*w = runtime{
			BaseSnapshot: types.ObjectNull(baseSnapshotType), Template: types.ObjectNull(templateType),
			AgentEnvironment: types.MapNull(types.StringType),
		}
	}
}
