package sandboxes

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// converter turns framework values into the domain's. Unknown values become zero values, so that
// what is known can be judged before the rest is.
type converter struct {
	ctx   context.Context
	diags diag.Diagnostics
}

// spec returns the specification that a model asks for. The secrets are those in secrets, which
// stand in the configuration only.
func (c *converter) spec(m *common, secrets types.Map) backends.Spec {
	spec := backends.Spec{
		Source:           c.source(m.Source),
		CPUs:             m.CPUs.ValueFloat64(),
		MemoryMiB:        m.MemoryMiB.ValueInt64(),
		Environment:      convert.TextMap(m.Environment),
		Secrets:          convert.TextMap(secrets),
		WorkingDirectory: m.WorkingDirectory.ValueString(),
		User:             m.User.ValueString(),
		Command:          convert.Texts(m.Command.Elements()),
		Ports:            c.ports(m.Ports),
		Mounts:           c.mounts(m.Mounts),
		Volumes:          c.volumes(m.Volumes),
		Timeout:          convert.Duration(m.Timeout),
		Labels:           convert.TextMap(m.Labels),
		Docker:           c.docker(m.Docker),
		Vercel:           c.vercel(m.Vercel),
	}
	if network, ok := object[networkModel](c, m.Network); ok {
		spec.Network = backends.Network{
			Mode: network.Mode.ValueString(), AllowDomains: convert.Texts(network.AllowDomains.Elements()),
			AllowCIDRs: convert.Texts(network.AllowCIDRs.Elements()), DenyCIDRs: convert.Texts(network.DenyCIDRs.Elements()),
		}
	}
	return spec
}

func (c *converter) source(value types.Object) backends.Source {
	source, ok := object[sourceModel](c, value)
	if !ok {
		return backends.Source{}
	}
	clone := source.CloneOf.ValueString()
	if _, name, err := sandbox.ParseID(clone); err == nil {
		clone = name
	}
	git, _ := object[gitModel](c, source.Git)
	return backends.Source{
		Image:       source.Image.ValueString(),
		Rootfs:      source.Rootfs.ValueString(),
		Runtime:     source.Runtime.ValueString(),
		GitURL:      git.URL.ValueString(),
		GitRevision: git.Revision.ValueString(),
		GitDepth:    int(git.Depth.ValueInt64()),
		TarballURL:  source.TarballURL.ValueString(),
		SnapshotID:  source.SnapshotID.ValueString(),
		CloneOf:     clone,
	}
}

func (c *converter) ports(value types.Set) []backends.Port {
	var ports []backends.Port
	for _, port := range elements[portModel](c, value.Elements()) {
		ports = append(ports, backends.Port{
			Port:          int(port.Port.ValueInt64()),
			Protocol:      port.Protocol.ValueString(),
			PublishedPort: int(port.PublishedPort.ValueInt64()),
			Public:        port.Public.ValueBool(),
		})
	}
	return ports
}

func (c *converter) mounts(value types.Set) []backends.Mount {
	var mounts []backends.Mount
	for _, mount := range elements[mountModel](c, value.Elements()) {
		mounts = append(mounts, backends.Mount{
			Source:   mount.Source.ValueString(),
			Target:   mount.Target.ValueString(),
			ReadOnly: mount.ReadOnly.ValueBool(),
		})
	}
	return mounts
}

func (c *converter) volumes(value types.Map) map[string]backends.Volume {
	var volumes map[string]backends.Volume
	for name, element := range value.Elements() {
		volume, ok := object[volumeModel](c, element)
		if !ok {
			continue
		}
		if volumes == nil {
			volumes = map[string]backends.Volume{}
		}
		volumes[name] = backends.Volume{Target: volume.Target.ValueString()}
	}
	return volumes
}

func (c *converter) vercel(value types.Object) *backends.VercelOptions {
	options, ok := object[vercelModel](c, value)
	if !ok {
		return nil
	}
	return &backends.VercelOptions{Region: options.Region.ValueString(), FailoverRegions: convert.Texts(options.FailoverRegions.Elements())}
}

func (c *converter) docker(value types.Object) *backends.DockerOptions {
	options, ok := object[dockerModel](c, value)
	if !ok {
		return nil
	}
	return &backends.DockerOptions{
		Runtime:           options.Runtime.ValueString(),
		PidsLimit:         options.PidsLimit.ValueInt64(),
		AddCapabilities:   convert.Texts(options.AddCapabilities.Elements()),
		AllowEngineSocket: options.AllowEngineSocket.ValueBool(),
		PullPolicy:        options.PullPolicy.ValueString(),
	}
}

func (c *converter) setup(value types.List) []backends.Command {
	var steps []backends.Command
	for _, step := range elements[setupModel](c, value.Elements()) {
		steps = append(steps, backends.Command{
			Argv:             convert.Texts(step.Command.Elements()),
			Environment:      convert.TextMap(step.Environment),
			WorkingDirectory: step.WorkingDirectory.ValueString(),
			User:             step.User.ValueString(),
			Timeout:          convert.Duration(step.Timeout),
		})
	}
	return steps
}

func (c *converter) retention(value types.Object) sandbox.Retention {
	retention, ok := object[retentionModel](c, value)
	if !ok {
		return sandbox.Retention{}
	}
	return sandbox.Retention{KeepLast: retention.KeepLast.ValueInt64(), Expiration: convert.Duration(retention.Expiration)}
}

// object is [convert.Object] with the converter's own diagnostics.
func object[T any](c *converter, value attr.Value) (T, bool) {
	return convert.Object[T](c.ctx, value, &c.diags)
}

// elements reads the known elements of a collection of objects.
func elements[T any](c *converter, values []attr.Value) []T {
	var read []T
	for _, value := range values {
		if element, ok := object[T](c, value); ok {
			read = append(read, element)
		}
	}
	return read
}
