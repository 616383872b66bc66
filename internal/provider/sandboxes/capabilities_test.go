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
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
)

// need is an attribute that not every backend has.
type need struct {
	attribute, capability string
	// at is where the refusal stands, when that is not the attribute itself.
	at  string
	set func(*common, *persistence)
	// or is another capability that honors it, too.
	or string
	// unless tells of a table that has the capability and refuses this value all the same.
	unless func(backends.Capabilities) bool
}

// assigned tells whether a platform chooses where ports are reached.
func assigned(table backends.Capabilities) bool { return table.PublicPortsOnly }

func needs() []need {
	source := func(s backends.Source) func(*common, *persistence) {
		return func(m *common, _ *persistence) { m.Source = sourceValue(s) }
	}
	network := func(mode string) func(*common, *persistence) {
		return func(m *common, _ *persistence) {
			m.Network = networkValue(backends.Network{Mode: mode})
		}
	}
	lists := func(network backends.Network) func(*common, *persistence) {
		network.Mode = backends.NetworkRestricted
		return func(m *common, _ *persistence) { m.Network = networkValue(network) }
	}
	vercel := func(options backends.VercelOptions) func(*common, *persistence) {
		return func(m *common, _ *persistence) { m.Vercel = vercelValue(options) }
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
		{attribute: "source", capability: "source_host", or: "source_default", set: func(m *common, _ *persistence) { m.Source = types.ObjectNull(sourceType) }},
		{attribute: "source", capability: "source_default", or: "source_host", set: func(m *common, _ *persistence) { m.Source = types.ObjectNull(sourceType) }},
		{attribute: "source.runtime", capability: "source_runtime", set: source(backends.Source{Runtime: "node24"})},
		{attribute: "source.git.url", capability: "source_git", at: "source.git", set: source(backends.Source{GitURL: "https://example.com/x.git"})},
		{attribute: "source.git.revision", capability: "source_git", at: "source.git", set: source(backends.Source{GitURL: "https://example.com/x.git", GitRevision: "main"})},
		{attribute: "source.git.depth", capability: "source_git", at: "source.git", set: source(backends.Source{GitURL: "https://example.com/x.git", GitDepth: 1})},
		{attribute: "source.tarball_url", capability: "source_tarball", set: source(backends.Source{TarballURL: "https://example.com/x.tar.gz"})},
		{attribute: "source.image", capability: "source_image", set: source(backends.Source{Image: "debian"})},
		{attribute: "source.rootfs", capability: "source_rootfs", set: source(backends.Source{Rootfs: "/srv/root"})},
		{attribute: "source.snapshot_id", capability: "source_snapshot", set: source(backends.Source{SnapshotID: "s"})},
		{attribute: "source.clone_of", capability: "clone", set: source(backends.Source{CloneOf: "b"})},
		{attribute: "network.mode", capability: "network_deny_all", set: network("deny-all")},
		{attribute: "network.mode", capability: "network_allow_all", set: network("allow-all")},
		{attribute: "network.mode", capability: "network_host", set: network("host")},
		{attribute: "network.mode", capability: "network_restricted", set: network("restricted")},
		{attribute: "network.allow_domains", capability: "network_restricted", at: "network.mode", set: lists(backends.Network{AllowDomains: []string{"example.com"}})},
		{attribute: "network.allow_cidrs", capability: "network_restricted", at: "network.mode", set: lists(backends.Network{AllowCIDRs: []string{"192.0.2.0/24"}})},
		{attribute: "network.deny_cidrs", capability: "network_restricted", at: "network.mode", set: lists(backends.Network{DenyCIDRs: []string{"192.0.2.0/24"}})},
		{attribute: "vercel.region", capability: "vercel_options", at: "vercel", set: vercel(backends.VercelOptions{Region: "fra1"})},
		{attribute: "vercel.failover_regions", capability: "vercel_options", at: "vercel", set: vercel(backends.VercelOptions{Region: "fra1", FailoverRegions: []string{"iad1"}})},
		{attribute: "working_directory", capability: "working_directory", set: func(m *common, _ *persistence) { m.WorkingDirectory = types.StringValue("/tmp") }},
		{attribute: "mounts.source", capability: "mounts", at: "mounts", set: mount},
		{attribute: "mounts.target", capability: "mounts", at: "mounts", set: mount},
		{attribute: "mounts.read_only", capability: "mounts", at: "mounts", set: mount},
		{attribute: "ports.port", capability: "ports", at: "ports", set: ports(backends.Port{Port: 8080}), unless: assigned},
		{attribute: "ports.protocol", capability: "ports", at: "ports", set: ports(backends.Port{Port: 8080, Protocol: "udp"}), unless: assigned},
		{attribute: "ports.published_port", capability: "ports", at: "ports", set: ports(backends.Port{Port: 8080, PublishedPort: 8080}), unless: assigned},
		{attribute: "ports.public", capability: "public_ports", at: "ports", set: ports(backends.Port{Port: 8080, Public: true})},
		{attribute: "volumes.target", capability: "volumes", at: "volumes", set: volume},
		{attribute: "cpus", capability: "cpus", set: func(m *common, _ *persistence) { m.CPUs = types.Float64Value(1) }},
		{attribute: "memory_mib", capability: "memory", set: func(m *common, _ *persistence) { m.MemoryMiB = types.Int64Value(4096) }},
		{attribute: "user", capability: "user", set: func(m *common, _ *persistence) { m.User = types.StringValue("agent") }},
		{attribute: "setup.user", capability: "user", at: "setup[0].user", set: func(m *common, _ *persistence) {
			m.Setup = setupValue([]setupSettings{{Command: []string{"true"}, User: "agent"}})
		}},
		{attribute: "command", capability: "command", set: func(m *common, _ *persistence) { m.Command = convert.List([]string{"true"}) }},
		{attribute: "timeout", capability: "timeout", set: func(m *common, _ *persistence) { m.Timeout = types.StringValue(time.Hour.String()) }},
		{attribute: "docker.runtime", capability: "docker_options", at: "docker", set: docker(backends.DockerOptions{Runtime: "runsc"})},
		{attribute: "docker.pids_limit", capability: "docker_options", at: "docker", set: docker(backends.DockerOptions{PidsLimit: 5})},
		{attribute: "docker.add_capabilities", capability: "docker_options", at: "docker", set: docker(backends.DockerOptions{AddCapabilities: []string{"NET_RAW"}})},
		{attribute: "docker.allow_engine_socket", capability: "docker_options", at: "docker", set: docker(backends.DockerOptions{AllowEngineSocket: true})},
		{attribute: "docker.pull_policy", capability: "docker_options", at: "docker", set: docker(backends.DockerOptions{PullPolicy: "never"})},
		{attribute: "checkpoint_trigger", capability: "snapshot", set: func(_ *common, p *persistence) { p.CheckpointTrigger = types.StringValue("1") }},
	}
}

// everywhere are the attributes that every backend honors.
func everywhere() []string {
	return []string{
		"backend", "name", "workspace_id", "generation", "on_missing", "on_destroy", "desired_state", "require_capabilities",
		"environment", "secret_environment_wo", "secret_environment_wo_version", "labels",
		"setup.command", "setup.environment", "setup.working_directory", "setup.timeout",
		"snapshot_retention.expiration", "snapshot_retention.keep_last",
		"cloud_host_id",                                     // judged by TestCloudHostNeedsItsBackend
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
	stands := map[string]bool{"persistent": true, "absolute_paths": true, "system_packages": true, "native_retention": true} // the resource type; sandlot_file; sandlot_base_snapshot; snapshot_retention, which the lifecycle keeps elsewhere
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
			if !table.HostSource && !table.DefaultSource {
				m.Source = sourceValue(backends.Source{Image: "debian"})
			}
			need.set(m, p)
			has, declared := table.Map()[need.capability]
			if !declared {
				t.Fatalf("there is no capability %s", need.capability)
			}
			has = (has || table.Map()[need.or]) && (need.unless == nil || !need.unless(table))
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

// TestCloudHostNeedsItsBackend checks that a sandbox is put on a cloud host only where its backend can
// be there.
func TestCloudHostNeedsItsBackend(t *testing.T) {
	t.Parallel()
	for _, backend := range backendset.Names() {
		of := &persistentModel{}
		setNull(of)
		of.Backend, of.Name, of.CloudHostID = types.StringValue(backend), types.StringValue("box"), types.StringValue("hetzner/team/alpha")
		if backend == "docker" {
			of.Source = sourceValue(backends.Source{Image: "debian"})
		}
		var refused []string
		for _, d := range newChecker(t.Context(), of).check() {
			refused = append(refused, pathOf(d)+" "+lastLine(d.Detail()))
		}
		if want := backend != "docker"; slices.Contains(refused, "cloud_host_id Code: unsupported") != want || !want && len(refused) > 0 {
			t.Errorf("%s: errors %q", backend, refused)
		}
		if place := of.place().ValueString(); place != backend+"@alpha" {
			t.Errorf("the place is %q", place)
		}
	}
}

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
