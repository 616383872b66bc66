package sandboxes

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
)

// need is an attribute that not every backend has.
type need struct {
	attribute, capability string
	// at is where the refusal stands, when that is not the attribute itself.
	at  string
	set func(*common, *persistence)
}

func needs() []need {
	source := func(s backends.Source) func(*common, *persistence) {
		return func(m *common, _ *persistence) { m.Source = sourceValue(s) }
	}
	network := func(mode string) func(*common, *persistence) {
		return func(m *common, _ *persistence) {
			m.Network = types.ObjectValueMust(networkType, map[string]attr.Value{"mode": types.StringValue(mode)})
		}
	}
	docker := func(options backends.DockerOptions) func(*common, *persistence) {
		return func(m *common, _ *persistence) { m.Docker = dockerValue(options) }
	}
	ports := func(port backends.Port) func(*common, *persistence) {
		return func(m *common, _ *persistence) { m.Ports = types.SetValueMust(portType, []attr.Value{portValue(port)}) }
	}
	mount := func(m *common, _ *persistence) {
		m.Mounts = types.SetValueMust(mountType, []attr.Value{mountValue(backends.Mount{Source: "/srv", Target: "/x", ReadOnly: true})})
	}
	volume := func(m *common, _ *persistence) {
		m.Volumes = volumesValue(map[string]backends.Volume{"x": {Target: "/x"}})
	}
	return []need{
		{"source", "source_host", "", func(m *common, _ *persistence) { m.Source = types.ObjectNull(sourceType) }},
		{"source.image", "source_image", "", source(backends.Source{Image: "debian"})},
		{"source.rootfs", "source_rootfs", "", source(backends.Source{Rootfs: "/srv/root"})},
		{"source.snapshot_id", "source_snapshot", "", source(backends.Source{SnapshotID: "s"})},
		{"source.clone_of", "clone", "", source(backends.Source{CloneOf: "b"})},
		{"network.mode", "network_deny_all", "", network("deny-all")},
		{"network.mode", "network_allow_all", "", network("allow-all")},
		{"network.mode", "network_host", "", network("host")},
		{"mounts.source", "mounts", "mounts", mount},
		{"mounts.target", "mounts", "mounts", mount},
		{"mounts.read_only", "mounts", "mounts", mount},
		{"ports.port", "ports", "ports", ports(backends.Port{Port: 80})},
		{"ports.protocol", "ports", "ports", ports(backends.Port{Port: 80, Protocol: "udp"})},
		{"ports.published_port", "ports", "ports", ports(backends.Port{Port: 80, PublishedPort: 8080})},
		{"ports.public", "public_ports", "ports", ports(backends.Port{Port: 80, Public: true})},
		{"volumes.target", "volumes", "volumes", volume},
		{"cpus", "cpus", "", func(m *common, _ *persistence) { m.CPUs = types.Float64Value(1) }},
		{"memory_mib", "memory", "", func(m *common, _ *persistence) { m.MemoryMiB = types.Int64Value(64) }},
		{"user", "user", "", func(m *common, _ *persistence) { m.User = types.StringValue("agent") }},
		{"setup.user", "user", "setup[0].user", func(m *common, _ *persistence) {
			m.Setup = setupValue([]setupSettings{{Command: []string{"true"}, User: "agent"}})
		}},
		{"command", "command", "", func(m *common, _ *persistence) { m.Command = stringListValue([]string{"true"}) }},
		{"timeout", "timeout", "", func(m *common, _ *persistence) { m.Timeout = types.StringValue(time.Hour.String()) }},
		{"docker.runtime", "docker_options", "docker", docker(backends.DockerOptions{Runtime: "runsc"})},
		{"docker.pids_limit", "docker_options", "docker", docker(backends.DockerOptions{PidsLimit: 5})},
		{"docker.add_capabilities", "docker_options", "docker", docker(backends.DockerOptions{AddCapabilities: []string{"NET_RAW"}})},
		{"docker.allow_engine_socket", "docker_options", "docker", docker(backends.DockerOptions{AllowEngineSocket: true})},
		{"docker.pull_policy", "docker_options", "docker", docker(backends.DockerOptions{PullPolicy: "never"})},
		{"checkpoint_trigger", "snapshot", "", func(_ *common, p *persistence) { p.CheckpointTrigger = types.StringValue("1") }},
	}
}

// everywhere are the attributes that every backend honors.
func everywhere() []string {
	return []string{
		"backend", "name", "workspace_id", "generation", "on_missing", "on_destroy", "desired_state", "require_capabilities",
		"environment", "secret_environment_wo", "secret_environment_wo_version", "working_directory", "labels",
		"setup.command", "setup.environment", "setup.working_directory", "setup.timeout",
		"snapshot_retention.expiration", "snapshot_retention.keep_last",
		"kind", "base_snapshot.id", "base_snapshot.version", // as far as they have snapshots; judged by TestRuntimeNeedsSnapshots
		"template.version", "template.files.source", "template.files.content", "template.files.mode", "template.max_bytes",
		"template.migrate.command", "template.migrate.verify",
		"timeouts.create", "timeouts.read", "timeouts.update", "timeouts.delete",
	}
}

// settable lists the leaves of a schema that a configuration can set.
func settable(prefix string, attributes map[string]schema.Attribute) []string {
	var names []string
	for name, attribute := range attributes {
		if !attribute.IsOptional() && !attribute.IsRequired() {
			continue
		}
		var nested map[string]schema.Attribute
		switch kind := attribute.(type) {
		case schema.SingleNestedAttribute:
			nested = kind.Attributes
		case schema.SetNestedAttribute:
			nested = kind.NestedObject.Attributes
		case schema.ListNestedAttribute:
			nested = kind.NestedObject.Attributes
		case schema.MapNestedAttribute:
			nested = kind.NestedObject.Attributes
		}
		if nested == nil {
			names = append(names, prefix+name)
			continue
		}
		names = append(names, settable(prefix+name+".", nested)...)
	}
	return names
}

// TestEveryAttributeIsJudged fails when an attribute is added to the schema and nobody said whether
// every backend honors it.
func TestEveryAttributeIsJudged(t *testing.T) {
	t.Parallel()
	judged := map[string]bool{}
	for _, need := range needs() {
		judged[need.attribute] = true
	}
	for _, name := range everywhere() {
		if judged[name] {
			t.Errorf("%s is in both lists", name)
		}
		judged[name] = true
	}
	for _, kind := range kinds() {
		for _, name := range settable("", kind.schema.Attributes) {
			if !judged[name] {
				t.Errorf("%s is in neither list", name)
			}
		}
	}
	left := maps.Clone(judged)
	for _, kind := range kinds() {
		for _, name := range settable("", kind.schema.Attributes) {
			delete(left, name)
		}
	}
	delete(left, "source") // absent, it is a wish too
	if len(left) > 0 {
		t.Errorf("these are in no schema: %q", slices.Sorted(maps.Keys(left)))
	}
	stands := map[string]bool{"persistent": true, "absolute_paths": true, "system_packages": true} // the resource type; sandlot_file; sandlot_base_snapshot
	for _, need := range needs() {
		stands[need.capability] = true
	}
	for _, name := range backends.CapabilityNames() {
		if !stands[name] {
			t.Errorf("no attribute stands for the capability %s", name)
		}
	}
}

// TestCapabilityMatrix checks each attribute on each backend: it is accepted where the table has it,
// and an error on the attribute where it has not.
func TestCapabilityMatrix(t *testing.T) {
	t.Parallel()
	for _, backend := range backendset.Names() {
		table, err := client.Capabilities(backend)
		if err != nil {
			t.Fatal(err)
		}
		for _, need := range needs() {
			of := &persistentModel{}
			setNull(of)
			m, p := of.parts()
			m.Backend, m.Name = types.StringValue(backend), types.StringValue("box")
			if !table.HostSource {
				m.Source = sourceValue(backends.Source{Image: "debian"})
			}
			need.set(m, p)
			has, declared := table.Map()[need.capability]
			if !declared {
				t.Fatalf("there is no capability %s", need.capability)
			}
			at := need.at
			if at == "" {
				at = need.attribute
			}
			var refused []string
			for _, d := range newChecker(t.Context(), of).check() {
				refused = append(refused, pathOf(d)+" "+lastLine(d.Detail()))
			}
			var want []string
			if !has {
				want = []string{at + " Code: unsupported"}
			}
			if !slices.Equal(refused, want) {
				t.Errorf("%s on %s, which has %s: %v: errors %q, want %q", need.attribute, backend, need.capability, has, refused, want)
			}
		}
	}
}

func pathOf(d diag.Diagnostic) string {
	if placed, ok := d.(diag.DiagnosticWithPath); ok {
		return placed.Path().String()
	}
	return ""
}

func lastLine(text string) string { return text[strings.LastIndex(text, "\n")+1:] }

// TestRuntimeNeedsSnapshots checks what a workspace runtime needs of a backend beside what its sandbox
// does.
func TestRuntimeNeedsSnapshots(t *testing.T) {
	t.Parallel()
	for _, backend := range backendset.Names() {
		table, err := client.Capabilities(backend)
		if err != nil {
			t.Fatal(err)
		}
		of := &runtimeModel{}
		setNull(of)
		of.Backend, of.WorkspaceID = types.StringValue(backend), types.StringValue("w")
		full := &runtimeSettings{Kind: "session", BaseSnapshot: &baseSnapshotSettings{"s", "v"}}
		full.apply(&of.runtime)
		diags := newChecker(t.Context(), of).check()
		if honored := table.SnapshotSource && table.Snapshot; diags.HasError() == honored {
			t.Errorf("%s, which has snapshots: %v: %v", backend, honored, diags)
		}
	}
}
