package basesnapshots

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
)

// converter turns framework values into the domain's. Unknown values become zero values, so that what
// is known can be judged before the rest is.
type converter struct {
	ctx   context.Context
	diags diag.Diagnostics
}

func object[T any](c *converter, value attr.Value) (T, bool) {
	return convert.Object[T](c.ctx, value, &c.diags)
}

// texts reads a list or set; null stays nil, empty stays empty.
func texts(values []attr.Value, null bool) []string {
	if null {
		return nil
	}
	return append([]string{}, convert.Texts(values)...)
}

// textMap reads a map; null stays nil, empty stays empty.
func textMap(value types.Map) map[string]string {
	texts := convert.TextMap(value)
	if texts == nil && !value.IsNull() && !value.IsUnknown() {
		return map[string]string{}
	}
	return texts
}

// manifest reads the manifest, as far as it is there and known.
func (c *converter) manifest(value types.Object) ManifestInput {
	m, ok := object[manifestModel](c, value)
	if !ok {
		return ManifestInput{}
	}
	input := ManifestInput{
		SchemaVersion:   m.SchemaVersion.ValueInt64Pointer(),
		Name:            m.Name.ValueString(),
		SystemPackages:  texts(m.SystemPackages.Elements(), m.SystemPackages.IsNull()),
		PackageManagers: textMap(m.PackageManagers),
		TemplateVersion: m.TemplateVersion.ValueStringPointer(),
		MarkerPath:      m.MarkerPath.ValueStringPointer(),
		TemplateFiles:   templatefiles.Inputs(c.ctx, m.TemplateFiles, &c.diags),
	}
	if source, ok := object[sourceModel](c, m.Source); ok {
		input.Source = &SourceInput{
			Image: source.Image.ValueStringPointer(), Rootfs: source.Rootfs.ValueStringPointer(), Runtime: source.Runtime.ValueStringPointer(),
			TarballURL: source.TarballURL.ValueStringPointer(), SnapshotID: source.SnapshotID.ValueStringPointer(),
		}
		if git, ok := object[gitModel](c, source.Git); ok {
			input.Source.Git = &GitInput{git.URL.ValueStringPointer(), git.Revision.ValueStringPointer(), git.Depth.ValueInt64Pointer()}
		}
	}
	if !m.Commands.IsNull() {
		input.Commands = [][]string{}
	}
	for _, command := range m.Commands.Elements() {
		if argv, ok := command.(types.List); ok {
			input.Commands = append(input.Commands, texts(argv.Elements(), false))
		}
	}
	return input
}

// request turns a model into what the domain takes. With files, they are read and hashed; errors about
// them stand at their elements.
func (c *converter) request(m *model, files bool) basesnapshot.Request {
	input := c.manifest(m.Manifest)
	request := basesnapshot.Request{
		Lane:     basesnapshot.Lane{App: m.App.ValueString(), Template: m.Template.ValueString()},
		Manifest: input.Manifest(),
		Environment: basesnapshot.Environment{
			Values:     textMap(m.Environment),
			Allowlist:  texts(m.EnvironmentAllowlist.Elements(), false),
			AllowNames: texts(m.AllowNames.Elements(), false),
			Inherited:  map[string]string{},
		},
		Verify:        m.Verify.ValueBool(),
		Expiration:    convert.Duration(m.Expiration),
		Retention:     c.retention(m.Retention),
		RebakeTrigger: m.RebakeTrigger.ValueString(),
	}
	for _, name := range request.Environment.Allowlist {
		if value, set := os.LookupEnv(name); set {
			request.Environment.Inherited[name] = value
		}
	}
	for _, element := range m.SmokeChecks.Elements() {
		if check, ok := object[smokeCheckModel](c, element); ok {
			request.Checks = append(request.Checks, basesnapshot.SmokeCheck{Command: texts(check.Command.Elements(), false), Expect: check.Expect.ValueString()})
		}
	}
	if network, ok := object[networkModel](c, m.Network); ok {
		request.Network = backends.Network{Mode: network.Mode.ValueString()}
	}
	if manifest, ok := object[manifestModel](c, m.Manifest); ok && files {
		set, problems := templatefiles.Collect(c.ctx, path.Root("manifest").AtName("template_files"), manifest.TemplateFiles, maxTemplateBytes)
		c.diags.Append(problems...)
		request.Manifest.Files = set
	}
	return request
}

func (c *converter) retention(value types.Object) basesnapshot.Retention {
	retention, ok := object[retentionModel](c, value)
	if !ok {
		retention = retentionModel{MinAge: types.StringValue(defaultMinAge), KeepPrevious: types.Int64Value(defaultKeepPrevious)}
	}
	return basesnapshot.Retention{MinAge: convert.Duration(retention.MinAge), KeepPrevious: retention.KeepPrevious.ValueInt64(), Purge: retention.Purge.ValueBool()}
}

// settings are the parts of a configuration that are kept in the record, so that an import knows them.
type settings struct {
	Manifest      ManifestInput     `json:"manifest"`
	Environment   map[string]string `json:"environment"`
	Allowlist     []string          `json:"environment_allowlist"`
	AllowNames    []string          `json:"allow_names"`
	SmokeChecks   []smokeCheck      `json:"smoke_checks"`
	Verify        bool              `json:"verify"`
	Network       *string           `json:"network"`
	Expiration    string            `json:"expiration"`
	Retention     *retention        `json:"retention"`
	RebakeTrigger *string           `json:"rebake_trigger"`
	OnDestroy     string            `json:"on_destroy"`
	Timeouts      map[string]string `json:"timeouts"`
}

type smokeCheck struct {
	Command []string `json:"command"`
	Expect  *string  `json:"expect"`
}

type retention struct {
	MinAge       string `json:"min_age"`
	KeepPrevious int64  `json:"keep_previous"`
	Purge        bool   `json:"purge"`
}

func (c *converter) settings(m *model) (json.RawMessage, error) {
	input := c.manifest(m.Manifest)
	kept := settings{
		Manifest: input, Environment: textMap(m.Environment),
		Allowlist:  texts(m.EnvironmentAllowlist.Elements(), m.EnvironmentAllowlist.IsNull()),
		AllowNames: texts(m.AllowNames.Elements(), m.AllowNames.IsNull()),
		Verify:     m.Verify.ValueBool(), Expiration: m.Expiration.ValueString(),
		RebakeTrigger: m.RebakeTrigger.ValueStringPointer(), OnDestroy: m.OnDestroy.ValueString(),
	}
	if !m.SmokeChecks.IsNull() {
		kept.SmokeChecks = []smokeCheck{}
	}
	for _, element := range m.SmokeChecks.Elements() {
		if check, ok := object[smokeCheckModel](c, element); ok {
			kept.SmokeChecks = append(kept.SmokeChecks, smokeCheck{texts(check.Command.Elements(), false), check.Expect.ValueStringPointer()})
		}
	}
	if network, ok := object[networkModel](c, m.Network); ok {
		kept.Network = network.Mode.ValueStringPointer()
	}
	if r, ok := object[retentionModel](c, m.Retention); ok {
		kept.Retention = &retention{r.MinAge.ValueString(), r.KeepPrevious.ValueInt64(), r.Purge.ValueBool()}
	}
	if !m.Timeouts.IsNull() {
		kept.Timeouts = map[string]string{}
	}
	for name, value := range m.Timeouts.Attributes() {
		if text, ok := value.(types.String); ok && text.ValueString() != "" {
			kept.Timeouts[name] = text.ValueString()
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return raw, nil
}

// applySettings fills an imported model.
func applySettings(raw json.RawMessage, m *model) error {
	var kept settings
	if err := json.Unmarshal(raw, &kept); err != nil {
		return fmt.Errorf("the settings in the record cannot be read: %w", err)
	}
	m.Manifest = kept.Manifest.value()
	m.Environment = mapValue(kept.Environment)
	m.EnvironmentAllowlist, m.AllowNames = setValue(kept.Allowlist), setValue(kept.AllowNames)
	m.SmokeChecks = types.ListNull(smokeCheckType)
	if kept.SmokeChecks != nil {
		values := []attr.Value{}
		for _, check := range kept.SmokeChecks {
			values = append(values, types.ObjectValueMust(smokeCheckType.AttrTypes, map[string]attr.Value{"command": convert.List(check.Command), "expect": types.StringPointerValue(check.Expect)}))
		}
		m.SmokeChecks = types.ListValueMust(smokeCheckType, values)
	}
	m.Verify, m.Expiration = types.BoolValue(kept.Verify), types.StringValue(kept.Expiration)
	if kept.Network != nil {
		m.Network = types.ObjectValueMust(networkType, map[string]attr.Value{"mode": types.StringPointerValue(kept.Network)})
	}
	if r := kept.Retention; r != nil {
		m.Retention = types.ObjectValueMust(retentionType, map[string]attr.Value{
			"min_age": types.StringValue(r.MinAge), "keep_previous": types.Int64Value(r.KeepPrevious), "purge": types.BoolValue(r.Purge),
		})
	}
	m.RebakeTrigger = types.StringPointerValue(kept.RebakeTrigger)
	if kept.OnDestroy != "" {
		m.OnDestroy = types.StringValue(kept.OnDestroy)
	}
	if kept.Timeouts != nil {
		values := map[string]attr.Value{}
		for name := range timeoutsType {
			values[name] = convert.TextOrNull(kept.Timeouts[name])
		}
		m.Timeouts.Object = types.ObjectValueMust(timeoutsType, values)
	}
	return nil
}

func (m ManifestInput) value() types.Object {
	source := types.ObjectNull(sourceType)
	if m.Source != nil {
		source = m.Source.value()
	}
	commands := types.ListNull(argvType)
	if m.Commands != nil {
		values := []attr.Value{}
		for _, argv := range m.Commands {
			values = append(values, convert.List(argv))
		}
		commands = types.ListValueMust(argvType, values)
	}
	return types.ObjectValueMust(manifestType, map[string]attr.Value{
		"schema_version": types.Int64PointerValue(m.SchemaVersion), "name": types.StringValue(m.Name), "source": source,
		"system_packages": setValue(m.SystemPackages), "package_managers": mapValue(m.PackageManagers), "commands": commands,
		"template_files": templatefiles.Value(m.TemplateFiles), "template_version": types.StringPointerValue(m.TemplateVersion), "marker_path": types.StringPointerValue(m.MarkerPath),
	})
}

func (s SourceInput) value() types.Object {
	git := types.ObjectNull(gitType)
	if g := s.Git; g != nil {
		git = types.ObjectValueMust(gitType, map[string]attr.Value{
			"url": types.StringPointerValue(g.URL), "revision": types.StringPointerValue(g.Revision), "depth": types.Int64PointerValue(g.Depth),
		})
	}
	return types.ObjectValueMust(sourceType, map[string]attr.Value{
		"image": types.StringPointerValue(s.Image), "rootfs": types.StringPointerValue(s.Rootfs), "runtime": types.StringPointerValue(s.Runtime),
		"git": git, "tarball_url": types.StringPointerValue(s.TarballURL), "snapshot_id": types.StringPointerValue(s.SnapshotID),
	})
}

func setValue(texts []string) types.Set {
	if texts == nil {
		return types.SetNull(types.StringType)
	}
	return convert.Set(texts)
}

func mapValue(texts map[string]string) types.Map {
	if texts == nil {
		return types.MapNull(types.StringType)
	}
	return convert.Map(texts)
}

// HistoryType is the type of one element of a history.
func HistoryType() types.ObjectType { return entryType }

// HistoryValue returns the entries of a lane as both resource and data source show them.
func HistoryValue(entries []basesnapshot.Entry) types.List {
	values := make([]attr.Value, 0, len(entries))
	for _, entry := range entries {
		values = append(values, types.ObjectValueMust(entryType.AttrTypes, map[string]attr.Value{
			"version": convert.TextOrNull(entry.Version), "snapshot_id": convert.TextOrNull(entry.SnapshotID), "manifest_hash": convert.TextOrNull(entry.ManifestHash),
			"status": convert.TextOrNull(entry.Status), "current": types.BoolValue(entry.Current), "last_error": convert.TextOrNull(entry.LastError),
			"size_bytes": convert.Int64OrNull(entry.SizeBytes), "created_at": convert.TimeOrNull(entry.CreatedAt), "ready_at": convert.TimeOrNull(entry.ReadyAt),
			"retired_at": convert.TimeOrNull(entry.RetiredAt), "expires_at": convert.TimeOrNull(entry.ExpiresAt),
		}))
	}
	return types.ListValueMust(entryType, values)
}
