package sandboxes

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
)

// runtimeSettings are the settings that only a workspace runtime has.
type runtimeSettings struct {
	Kind         string                `json:"kind"`
	BaseSnapshot *baseSnapshotSettings `json:"base_snapshot,omitempty"`
	Template     *templateSettings     `json:"template,omitempty"`
}

type baseSnapshotSettings struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

type templateSettings struct {
	Version  string                          `json:"version"`
	Files    map[string]*templatefiles.Input `json:"files"` // null and empty are kept apart
	MaxBytes int64                           `json:"max_bytes"`
	Migrate  []string                        `json:"migrate,omitempty"`
	Verify   []string                        `json:"verify,omitempty"`
}

func (c *converter) runtimeSettingsOf(w *runtime) *runtimeSettings {
	if w == nil {
		return nil
	}
	kept := &runtimeSettings{Kind: w.Kind.ValueString()}
	if base, ok := object[baseSnapshotModel](c, w.BaseSnapshot); ok {
		kept.BaseSnapshot = &baseSnapshotSettings{base.ID.ValueString(), base.Version.ValueString()}
	}
	template, ok := object[templateModel](c, w.Template)
	if !ok {
		return kept
	}
	kept.Template = &templateSettings{
		Version: template.Version.ValueString(), MaxBytes: template.MaxBytes.ValueInt64(), Files: templatefiles.Inputs(c.ctx, template.Files, &c.diags),
	}
	if migrate, ok := object[migrateModel](c, template.Migrate); ok {
		kept.Template.Migrate, kept.Template.Verify = convert.Texts(migrate.Command.Elements()), convert.Texts(migrate.Verify.Elements())
	}
	return kept
}

// apply fills an imported model.
func (s *runtimeSettings) apply(w *runtime) {
	if s == nil || w == nil {
		return
	}
	w.Kind = convert.TextOrNull(s.Kind)
	if base := s.BaseSnapshot; base != nil {
		w.BaseSnapshot = types.ObjectValueMust(baseSnapshotType, map[string]attr.Value{
			"id": types.StringValue(base.ID), "version": types.StringValue(base.Version),
		})
	}
	if s.Template != nil {
		w.Template = s.Template.value()
	}
}

func (s *templateSettings) value() types.Object {
	migrate := types.ObjectNull(migrateType)
	if len(s.Migrate) > 0 {
		verify := types.ListNull(types.StringType)
		if len(s.Verify) > 0 {
			verify = convert.List(s.Verify)
		}
		migrate = types.ObjectValueMust(migrateType, map[string]attr.Value{"command": convert.List(s.Migrate), "verify": verify})
	}
	return types.ObjectValueMust(templateType, map[string]attr.Value{
		"version": types.StringValue(s.Version), "files": templatefiles.Value(s.Files), "max_bytes": types.Int64Value(s.MaxBytes), "migrate": migrate,
	})
}
