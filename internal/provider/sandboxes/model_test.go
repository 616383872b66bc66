package sandboxes

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
)

// kinds are the three resources with their schemas and models.
func kinds() map[string]struct {
	schema   schema.Schema
	newModel func() model
} {
	ctx := context.Background()
	return map[string]struct {
		schema   schema.Schema
		newModel func() model
	}{
		"session":    {sessionSchema(ctx), func() model { return &sessionModel{} }},
		"persistent": {persistentSchema(ctx), func() model { return &persistentModel{} }},
		"runtime":    {runtimeSchema(ctx), func() model { return &runtimeModel{} }},
	}
}

// values returns the fields of a model by the name of their attribute.
func values(m model) map[string]attr.Value {
	all := map[string]attr.Value{}
	add := func(part reflect.Value) {
		for i := range part.NumField() {
			value, ok := part.Field(i).Interface().(attr.Value)
			if ok {
				all[part.Type().Field(i).Tag.Get("tfsdk")] = value
			}
		}
	}
	common, persistence := m.parts()
	add(reflect.ValueOf(*common))
	if persistence != nil {
		add(reflect.ValueOf(*persistence))
	}
	if w := m.workspace(); w != nil {
		add(reflect.ValueOf(*w))
	}
	return all
}

// TestSetNull checks that an import starts from a null of the right type for every attribute.
func TestSetNull(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds() {
		m := kind.newModel()
		setNull(m)
		all := values(m)
		for attribute := range kind.schema.Attributes {
			if value, ok := all[attribute]; !ok || !value.IsNull() {
				t.Errorf("%s: %s is %v", name, attribute, value)
			}
		}
		if len(all) != len(kind.schema.Attributes) {
			t.Errorf("%s: the model has %d fields, the schema %d attributes", name, len(all), len(kind.schema.Attributes))
		}
		objectType := kind.schema.Type().TerraformType(t.Context())
		state := tfsdk.State{Schema: kind.schema, Raw: tftypes.NewValue(objectType, nil)}
		if diags := state.Set(t.Context(), m); diags.HasError() {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func textSet(texts ...string) types.Set {
	return types.SetValueMust(types.StringType, convert.List(texts).Elements())
}

// fullModel sets every attribute that a configuration can set, in a spelling of its own.
func fullModel(of model) {
	setNull(of)
	m, p := of.parts()
	m.Backend, m.Name = types.StringValue("docker"), types.StringValue("box")
	m.Source = sourceValue(backends.Source{Image: "debian:12"})
	m.CPUs, m.MemoryMiB = types.Float64Value(1.5), types.Int64Value(512)
	m.Environment = convert.Map(map[string]string{"A": "1", "B": ""})
	m.SecretVersion = types.Int64Value(7)
	m.WorkingDirectory, m.User = types.StringValue("/srv"), types.StringValue("agent")
	m.Command = convert.List([]string{"sleep", "1"})
	m.Ports = types.SetValueMust(portType, []attr.Value{
		portValue(backends.Port{Port: 80}), portValue(backends.Port{Port: 53, Protocol: "udp", PublishedPort: 5353, Public: true}),
	})
	m.Mounts = types.SetValueMust(mountType, []attr.Value{mountValue(backends.Mount{Source: "/srv", Target: "/x", ReadOnly: true})})
	m.Volumes = volumesValue(map[string]backends.Volume{"cache": {Target: "/cache"}})
	m.Network = networkValue(backends.Network{Mode: "deny-all"})
	m.Timeout, m.DesiredState = types.StringValue("1h30m0s"), types.StringValue("stopped")
	m.Labels = convert.Map(map[string]string{"team": "a"})
	m.Setup = setupValue([]setupSettings{{Command: []string{"true"}, Environment: map[string]string{"A": "2"}, WorkingDirectory: "/", User: "root", Timeout: "60s"}, {Command: []string{"a", ""}}})
	m.RequireCapabilities = textSet("ports", "volumes")
	m.OnDestroy = types.StringValue("purge")
	m.Docker = dockerValue(backends.DockerOptions{Runtime: "runsc", PidsLimit: 9, AddCapabilities: []string{"NET_RAW"}, AllowEngineSocket: true, PullPolicy: "never"})
	m.Vercel = vercelValue(backends.VercelOptions{Region: "iad1", FailoverRegions: []string{"fra1"}})
	m.Timeouts = timeouts.Value{Object: timeoutsValue(map[string]string{"create": "3m", "read": "60s"})}
	if p != nil {
		p.Generation, p.OnMissing = types.Int64Value(2), types.StringValue("keep")
		p.CheckpointTrigger = types.StringValue("release-1")
		p.SnapshotRetention = types.ObjectValueMust(retentionType, map[string]attr.Value{"expiration": types.StringValue("720h"), "keep_last": types.Int64Value(3)})
	}
	if w := of.workspace(); w != nil {
		text := "x"
		mode := "0600"
		full := &runtimeSettings{Kind: "session", BaseSnapshot: &baseSnapshotSettings{"s", "v"}, Template: &templateSettings{
			Version: "2", MaxBytes: 9, Migrate: []string{"true"}, Verify: []string{"test", "-e", "x"},
			Files: map[string]*templatefiles.Input{"a": {Source: &text, Mode: &mode}, "b": {Content: &text}},
		}}
		full.apply(w)
	}
}

func everything() backends.Capabilities {
	return backends.Capabilities{NetworkModes: []string{backends.NetworkAllowAll, backends.NetworkDenyAll}, DockerOptions: true, VercelOptions: true}
}

// TestImportKnowsEveryAttribute checks that what a record keeps and what a backend tells bring back
// every attribute of a configuration, so that the plan after an import is empty.
func TestImportKnowsEveryAttribute(t *testing.T) {
	t.Parallel()
	// Filled by ImportState itself, or never read back.
	apart := []string{"id", "record_id", "backend", "cloud_host_id", "name", "workspace_id", "generation", "secret_environment_wo"}
	for name, kind := range kinds() {
		c := &converter{ctx: t.Context()}
		configured, imported := kind.newModel(), kind.newModel()
		fullModel(configured)
		m, _ := configured.parts()
		raw, err := c.settingsOf(configured)
		if err != nil {
			t.Fatal(err)
		}
		setNull(imported)
		into, _ := imported.parts()
		if err := applySettings(raw, imported); err != nil {
			t.Fatal(err)
		}
		c.observe(into, c.spec(m, types.MapNull(types.StringType)), everything())
		if c.diags.HasError() {
			t.Fatal(c.diags)
		}
		want, found := values(configured), values(imported)
		for attribute, definition := range kind.schema.Attributes {
			settable := definition.IsOptional() || definition.IsRequired()
			if !settable || slices.Contains(apart, attribute) {
				continue
			}
			if want[attribute].IsNull() {
				t.Errorf("%s: the test does not set %s", name, attribute)
			}
			if !found[attribute].Equal(want[attribute]) {
				t.Errorf("%s: %s became %s, want %s", name, attribute, found[attribute], want[attribute])
			}
		}
	}
}

func TestSettingsOfNothing(t *testing.T) {
	t.Parallel()
	for name, kind := range kinds() {
		c := &converter{ctx: t.Context()}
		empty, imported := kind.newModel(), kind.newModel()
		setNull(empty)
		setNull(imported)
		raw, err := c.settingsOf(empty)
		if err != nil {
			t.Fatal(err)
		}
		if err := applySettings(raw, imported); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(values(empty), values(imported)) {
			t.Errorf("%s: %v became %v", name, values(empty), values(imported))
		}
		if err := applySettings([]byte("{"), imported); err == nil {
			t.Errorf("%s: settings that are no JSON are accepted", name)
		}
	}
}

// TestObserveKeepsSpelling checks that a value that means the same stays as it is written.
func TestObserveKeepsSpelling(t *testing.T) {
	t.Parallel()
	c := &converter{ctx: t.Context()}
	spelled := func(alter func(*common)) *common {
		of := &sessionModel{}
		setNull(of)
		alter(&of.common)
		return &of.common
	}
	port := func(number int64, protocol types.String, public types.Bool) attr.Value {
		return types.ObjectValueMust(portType.AttrTypes, map[string]attr.Value{
			"port": types.Int64Value(number), "protocol": protocol, "published_port": types.Int64Null(), "public": public,
		})
	}
	for _, test := range []struct {
		name  string
		state func(*common)
		spec  backends.Spec
		same  bool
	}{
		{"empty environment", func(m *common) { m.Environment = convert.Map(nil) }, backends.Spec{}, true},
		{"empty labels", func(m *common) { m.Labels = convert.Map(nil) }, backends.Spec{}, true},
		{"empty mounts", func(m *common) { m.Mounts = types.SetValueMust(mountType, nil) }, backends.Spec{}, true},
		{"duration", func(m *common) { m.Timeout = types.StringValue("60m") }, backends.Spec{Timeout: time.Hour}, true},
		{"another duration", func(m *common) { m.Timeout = types.StringValue("60m") }, backends.Spec{Timeout: time.Minute}, false},
		{
			"default protocol given",
			func(m *common) {
				m.Ports = types.SetValueMust(portType, []attr.Value{port(80, types.StringValue("tcp"), types.BoolValue(false))})
			},
			backends.Spec{Ports: []backends.Port{{Port: 80}}},
			true,
		},
		{
			"default protocol told",
			func(m *common) {
				m.Ports = types.SetValueMust(portType, []attr.Value{port(80, types.StringNull(), types.BoolNull())})
			},
			backends.Spec{Ports: []backends.Port{{Port: 80, Protocol: "tcp"}}},
			true,
		},
		{
			"a port gone",
			func(m *common) {
				m.Ports = types.SetValueMust(portType, []attr.Value{port(80, types.StringNull(), types.BoolNull())})
			},
			backends.Spec{},
			false,
		},
		{"default network told", func(*common) {}, backends.Spec{Network: backends.Network{Mode: "allow-all"}}, true},
		{
			"default network given",
			func(m *common) {
				m.Network = networkValue(backends.Network{Mode: "allow-all"})
			},
			backends.Spec{},
			true,
		},
		{"another network", func(*common) {}, backends.Spec{Network: backends.Network{Mode: "deny-all"}}, false},
		{
			"socket and pull policy",
			func(m *common) {
				m.Docker = dockerValue(backends.DockerOptions{AllowEngineSocket: true, PullPolicy: "never"})
			},
			backends.Spec{},
			true,
		},
		{"a network with lists", func(m *common) {
			m.Network = networkValue(backends.Network{Mode: "restricted", AllowDomains: []string{"a", "b"}})
		}, backends.Spec{Network: backends.Network{Mode: "restricted", AllowDomains: []string{"b", "a"}}}, true},
		{"another list", func(m *common) {
			m.Network = networkValue(backends.Network{Mode: "restricted", AllowDomains: []string{"a", "b"}})
		}, backends.Spec{Network: backends.Network{Mode: "restricted", AllowDomains: []string{"a"}}}, false},
		{"another region", func(*common) {}, backends.Spec{Vercel: &backends.VercelOptions{Region: "fra1"}}, false},
		{"a label more", func(*common) {}, backends.Spec{Labels: map[string]string{"a": "1"}}, false},
	} {
		before, after := spelled(test.state), spelled(test.state)
		c.observe(after, test.spec, everything())
		if same := reflect.DeepEqual(*before, *after); same != test.same {
			t.Errorf("%s: unchanged is %v, want %v", test.name, same, test.same)
		}
	}
}

// TestObservePlatformDefaults: what a platform fills in is no change, and what follows from another value
// shows with that one only.
func TestObservePlatformDefaults(t *testing.T) {
	t.Parallel()
	table, known := backendset.Capabilities("vercel")
	if !known {
		t.Fatal("there is no backend vercel")
	}
	told := func(cpus float64) backends.Spec {
		return backends.Spec{
			CPUs: cpus, MemoryMiB: int64(cpus) * 2048, Timeout: 5 * time.Minute, Network: backends.Network{Mode: "allow-all"},
			Vercel: &backends.VercelOptions{Region: "iad1"},
		}
	}
	nothing := func(*common) {}
	cpus := func(count float64) func(*common) {
		return func(m *common) { m.CPUs = types.Float64Value(count) }
	}
	memory := func(size int64) func(*common) {
		return func(m *common) { m.MemoryMiB = types.Int64Value(size) }
	}
	for _, test := range []struct {
		name     string
		state    func(*common)
		told     backends.Spec
		expected func(*common)
	}{
		{"nothing asked for", nothing, told(2), nothing},
		{"the default asked for", cpus(2), told(2), cpus(2)},
		{"CPUs", cpus(4), told(4), cpus(4)},
		{"memory", memory(8192), told(4), memory(8192)},
		{"changed CPUs", cpus(4), told(8), cpus(8)},
		{"changed memory", memory(8192), told(8), memory(16384)},
		{"changed to the default", cpus(4), told(2), nothing},
		{"the default region", func(m *common) { m.Vercel = vercelValue(backends.VercelOptions{Region: "iad1"}) }, told(2), func(m *common) { m.Vercel = vercelValue(backends.VercelOptions{Region: "iad1"}) }},
		{"an environment that cannot be read", func(m *common) { m.Environment = convert.Map(map[string]string{"A": "1"}) }, told(2), func(m *common) { m.Environment = convert.Map(map[string]string{"A": "1"}) }},
	} {
		c := &converter{ctx: t.Context()}
		got, want := &sessionModel{}, &sessionModel{}
		for of, edit := range map[*sessionModel]func(*common){got: test.state, want: test.expected} {
			setNull(of)
			edit(&of.common)
		}
		c.observe(&got.common, test.told, table)
		if !reflect.DeepEqual(got.common, want.common) {
			t.Errorf("%s: %+v, want %+v", test.name, got.common, want.common)
		}
	}
}

func TestCorrelate(t *testing.T) {
	t.Parallel()
	read := func(value attr.Value) (string, bool) {
		text, ok := value.(types.String)
		return text.ValueString(), ok && !text.IsNull()
	}
	same := func(text string) string { return text }
	written := func(text string) attr.Value { return types.StringValue("observed " + text) }
	state := []attr.Value{types.StringValue("a"), types.StringNull(), types.StringValue("b"), types.StringValue("gone")}
	found := correlate(state, []string{"b", "new", "a"}, read, same, written)
	want := []attr.Value{types.StringValue("b"), types.StringValue("observed new"), types.StringValue("a")}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("correlated %v, want %v", found, want)
	}
}
