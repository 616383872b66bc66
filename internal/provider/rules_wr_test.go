package provider

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// planning plans resources through the protocol, on a provider whose data directory is never made.
type planning struct {
	t       *testing.T
	server  tfprotov6.ProviderServer
	all     *tfprotov6.GetProviderSchemaResponse
	dataDir string
	// oneRun makes the plans those of one run, and so of one configuration.
	oneRun bool
}

func newPlanning(t *testing.T) *planning {
	t.Helper()
	t.Setenv("CI", "")
	server, err := providerserver.NewProtocol6WithError(New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	p := &planning{t: t, server: server, all: schemas(t), dataDir: t.TempDir() + "/data"}
	p.configure()
	t.Cleanup(func() {
		if _, err := os.Stat(p.dataDir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("planning made the data directory: %v", err)
		}
	})
	return p
}

func (p *planning) configure() {
	p.t.Helper()
	config := p.object(p.all.Provider, values{"data_dir": p.dataDir, "owner": "test"})
	configured, err := p.server.ConfigureProvider(p.t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.14.0", Config: p.pack(p.all.Provider, config)})
	if err != nil || len(configured.Diagnostics) > 0 {
		p.t.Fatal(err, configured)
	}
}

// values are attributes as plain Go values; what is not there is null.
type values map[string]any

func (p *planning) object(schema *tfprotov6.Schema, given values) tftypes.Value {
	p.t.Helper()
	return p.value(schema.ValueType(), map[string]any(given))
}

// value makes a value of a type; an object lacks nothing but may have nulls.
func (p *planning) value(of tftypes.Type, given any) tftypes.Value {
	p.t.Helper()
	if given == nil {
		return tftypes.NewValue(of, nil)
	}
	if made, ok := given.(tftypes.Value); ok {
		return made
	}
	switch of := of.(type) {
	case tftypes.Object:
		given, _ := given.(map[string]any)
		members := map[string]tftypes.Value{}
		for name, kind := range of.AttributeTypes {
			members[name] = p.value(kind, given[name])
		}
		for name := range given {
			if _, ok := of.AttributeTypes[name]; !ok {
				p.t.Fatalf("there is no attribute %s", name)
			}
		}
		return tftypes.NewValue(of, members)
	case tftypes.Map:
		given, _ := given.(map[string]any)
		members := map[string]tftypes.Value{}
		for name, member := range given {
			members[name] = p.value(of.ElementType, member)
		}
		return tftypes.NewValue(of, members)
	case tftypes.List:
		return tftypes.NewValue(of, p.elements(of.ElementType, given))
	case tftypes.Set:
		return tftypes.NewValue(of, p.elements(of.ElementType, given))
	}
	return tftypes.NewValue(of, given)
}

func (p *planning) elements(of tftypes.Type, given any) []tftypes.Value {
	p.t.Helper()
	list, _ := given.([]any)
	elements := []tftypes.Value{}
	for _, element := range list {
		elements = append(elements, p.value(of, element))
	}
	return elements
}

func (p *planning) pack(schema *tfprotov6.Schema, value tftypes.Value) *tfprotov6.DynamicValue {
	p.t.Helper()
	packed, err := tfprotov6.NewDynamicValue(schema.ValueType(), value)
	if err != nil {
		p.t.Fatal(err)
	}
	return &packed
}

func (p *planning) members(of tftypes.Value) map[string]tftypes.Value {
	p.t.Helper()
	var members map[string]tftypes.Value
	if err := of.As(&members); err != nil {
		p.t.Fatal(err)
	}
	return members
}

// plan plans a create, or a change of what a former plan led to.
func (p *planning) plan(kind string, given values, prior *tftypes.Value) (tftypes.Value, *tfprotov6.PlanResourceChangeResponse) {
	p.t.Helper()
	if !p.oneRun {
		p.configure()
	}
	schema := p.all.ResourceSchemas[kind]
	config := p.object(schema, given)
	before, proposed := tftypes.NewValue(schema.ValueType(), nil), config
	if prior != nil {
		before = *prior
		merged, was := maps.Clone(p.members(config)), p.members(before)
		for _, attribute := range schema.Block.Attributes {
			if attribute.Computed && merged[attribute.Name].IsNull() {
				merged[attribute.Name] = was[attribute.Name]
			}
		}
		proposed = tftypes.NewValue(schema.ValueType(), merged)
	}
	response, err := p.server.PlanResourceChange(p.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: kind, PriorState: p.pack(schema, before), ProposedNewState: p.pack(schema, proposed), Config: p.pack(schema, config),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	planned, err := response.PlannedState.Unmarshal(schema.ValueType())
	if err != nil {
		p.t.Fatal(err)
	}
	return planned, response
}

// made is what a plan leads to: each unknown gets a value, by name where one is given.
func (p *planning) made(planned tftypes.Value, known map[string]string) *tftypes.Value {
	p.t.Helper()
	members := maps.Clone(p.members(planned))
	for name, member := range members {
		switch {
		case member.IsKnown():
		case member.Type().Is(tftypes.String):
			text, ok := known[name]
			if !ok {
				text = "made"
			}
			members[name] = tftypes.NewValue(tftypes.String, text)
		default:
			members[name] = tftypes.NewValue(member.Type(), nil)
		}
	}
	made := tftypes.NewValue(planned.Type(), members)
	return &made
}

// fails wants errors, all of one code at one attribute.
func (p *planning) fails(what string, response *tfprotov6.PlanResourceChangeResponse, code, at string) {
	p.t.Helper()
	count := 0
	for _, d := range response.Diagnostics {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		count++
		if !strings.HasSuffix(d.Detail, "Code: "+code) || d.Attribute.String() != at {
			p.t.Errorf("%s: %s at %v: %s", what, d.Summary, d.Attribute, d.Detail)
		}
	}
	if count == 0 {
		p.t.Errorf("%s: the plan does not fail", what)
	}
}

func (p *planning) succeeds(what string, response *tfprotov6.PlanResourceChangeResponse) {
	p.t.Helper()
	for _, d := range response.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			p.t.Fatalf("%s: %s at %v: %s", what, d.Summary, d.Attribute, d.Detail)
		}
	}
	if len(response.RequiresReplace) > 0 {
		p.t.Errorf("%s: it is replaced for %v", what, response.RequiresReplace)
	}
}

func (p *planning) same(what string, planned tftypes.Value, prior *tftypes.Value, attribute string, want bool) {
	p.t.Helper()
	is, was := p.members(planned)[attribute], p.members(*prior)[attribute]
	if is.Equal(was) != want {
		p.t.Errorf("%s: %s is planned as %s, and was %s", what, attribute, is, was)
	}
}

// TestRuntimePlan: a new base or new files of the same version are no difference, another version
// needs a migration, another kind a purge first, and a template that is too large fails before anything is made.
func TestRuntimePlan(t *testing.T) {
	const kind = "sandlot_workspace_runtime"
	p := newPlanning(t)
	given := func(version, content string, more map[string]any) values {
		template := map[string]any{"version": version, "files": map[string]any{"a": map[string]any{"content": content}}}
		maps.Copy(template, more)
		return values{
			"backend": "local", "workspace_id": "w1", "template": template,
			"base_snapshot": map[string]any{"id": "base-" + version, "version": "v-" + content},
		}
	}
	planned, response := p.plan(kind, given("1", "one", nil), nil)
	p.succeeds("create", response)
	prior := p.made(planned, map[string]string{"applied_template_version": "1", "applied_base_snapshot_id": "base-1", "status": "running", "state": "ready", "id": "local/sandlot-dev-ws-60c5590f72ee"})
	if name := p.members(planned)["name"]; !name.Equal(tftypes.NewValue(tftypes.String, "sandlot-dev-ws-60c5590f72ee")) {
		t.Errorf("the name is planned as %s", name)
	}

	planned, response = p.plan(kind, given("1", "two", nil), prior)
	p.succeeds("new files and a new base", response)
	if !planned.Equal(*prior) {
		difference, err := planned.Diff(*prior)
		t.Errorf("new files and a new base are a difference: %v, %v", difference, err)
	}

	_, response = p.plan(kind, given("2", "two", nil), prior)
	p.fails("another version", response, "migration_failed", `AttributeName("template").AttributeName("version")`)
	planned, response = p.plan(kind, given("2", "two", map[string]any{"migrate": map[string]any{"command": []any{"true"}}}), prior)
	p.succeeds("another version with a migration", response)
	p.same("another version with a migration", planned, prior, "applied_template_version", false)
	p.same("another version with a migration", planned, prior, "base_snapshot", true)

	other := given("1", "one", nil)
	other["kind"] = "session"
	_, response = p.plan(kind, other, prior)
	p.fails("another kind", response, "purge_first", `AttributeName("kind")`)

	_, response = p.plan(kind, given("1", strings.Repeat("x", 1<<20+1), nil), nil)
	p.fails("more than a megabyte", response, "invalid_value", `AttributeName("template").AttributeName("files").ElementKeyString("a")`)
	_, response = p.plan(kind, given("1", strings.Repeat("x", 1<<20+1), map[string]any{"max_bytes": 2 << 20}), nil)
	p.succeeds("more than a megabyte, as allowed", response)
	_, response = p.plan(kind, given("1", "four", map[string]any{"max_bytes": 3}), nil)
	p.fails("more than allowed", response, "invalid_value", `AttributeName("template").AttributeName("files").ElementKeyString("a")`)
}

// TestBaseSnapshotPlan: the hash is known at plan and depends on what is baked, the defaults keep
// snapshots, and names of secrets and a second resource for a lane are refused.
func TestBaseSnapshotPlan(t *testing.T) {
	const kind = "sandlot_base_snapshot"
	given := func(more values, manifest map[string]any) values {
		whole := map[string]any{"name": "web", "commands": []any{[]any{"true"}}}
		maps.Copy(whole, manifest)
		all := values{"backend": "local", "app": "shop", "manifest": whole}
		maps.Copy(all, more)
		return all
	}
	p := newPlanning(t)
	planned, response := p.plan(kind, given(values{"retention": map[string]any{}}, nil), nil)
	p.succeeds("create", response)
	is := p.members(planned)
	for attribute, want := range map[string]string{"template": "default", "expiration": "0s", "on_destroy": "retain", "id": "local/shop/default"} {
		if !is[attribute].Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("%s is planned as %s, want %q", attribute, is[attribute], want)
		}
	}
	if want := p.value(is["retention"].Type(), map[string]any{"min_age": "336h", "keep_previous": 1, "purge": false}); !is["retention"].Equal(want) {
		t.Errorf("retention is planned as %s, want %s", is["retention"], want)
	}
	if verify := is["verify"]; !verify.Equal(tftypes.NewValue(tftypes.Bool, true)) {
		t.Errorf("verify is planned as %s", verify)
	}
	if !is["manifest_hash"].IsFullyKnown() {
		t.Error("the hash is not known at plan")
	}

	settings := values{"retention": map[string]any{}}
	prior := p.made(planned, map[string]string{"status": "ready", "snapshot_id": "snapshot-1"})
	planned, response = p.plan(kind, given(settings, nil), prior)
	p.succeeds("the same", response)
	if !planned.Equal(*prior) {
		difference, err := planned.Diff(*prior)
		t.Errorf("the same is a difference: %v, %v", difference, err)
	}
	planned, response = p.plan(kind, given(settings, map[string]any{"commands": []any{[]any{"false"}}}), prior)
	p.succeeds("another command", response)
	p.same("another command", planned, prior, "manifest_hash", false)
	p.same("another command", planned, prior, "snapshot_id", false)
	p.same("another command", planned, prior, "record_id", true)
	planned, response = p.plan(kind, given(values{"retention": map[string]any{}, "rebake_trigger": "now"}, nil), prior)
	p.succeeds("a trigger", response)
	p.same("a trigger", planned, prior, "manifest_hash", true)
	p.same("a trigger", planned, prior, "snapshot_id", false)

	// What is gone or has expired reads as failed. It is baked again in place.
	failed := p.made(planned, map[string]string{"status": "failed", "snapshot_id": "snapshot-1"})
	planned, response = p.plan(kind, given(values{"retention": map[string]any{}, "rebake_trigger": "now"}, nil), failed)
	p.succeeds("a failed one", response)
	p.same("a failed one", planned, failed, "snapshot_id", false)
	p.same("a failed one", planned, failed, "manifest_hash", true)

	_, response = p.plan(kind, given(values{"environment": map[string]any{"NPM_TOKEN": "the-value"}}, nil), nil)
	p.fails("a secret", response, "secret_name", `AttributeName("environment").ElementKeyString("NPM_TOKEN")`)
	for _, d := range response.Diagnostics {
		if strings.Contains(d.Summary+d.Detail, "the-value") {
			t.Errorf("the error shows the value: %s", d.Detail)
		}
	}
	_, response = p.plan(kind, given(nil, nil), nil)
	p.succeeds("a lane", response)
	p.oneRun = true
	_, response = p.plan(kind, given(nil, nil), nil)
	p.fails("the same lane once more", response, "duplicate_workspace", `AttributeName("app")`)
}
