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
	Version  string                   `json:"version"`
	Files    map[string]*fileSettings `json:"files"` // null and empty are kept apart
	MaxBytes int64                    `json:"max_bytes"`
	Migrate  []string                 `json:"migrate,omitempty"`
	Verify   []string                 `json:"verify,omitempty"`
}

type fileSettings struct {
	Source  *string `json:"source,omitempty"`
	Content *string `json:"content,omitempty"`
	Mode    *string `json:"mode,omitempty"`
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
	kept.Template = &templateSettings{Version: template.Version.ValueString(), MaxBytes: template.MaxBytes.ValueInt64()}
	if !template.Files.IsNull() {
		kept.Template.Files = map[string]*fileSettings{}
	}
	for target, element := range template.Files.Elements() {
		if file, ok := object[templatefiles.Model](c, element); ok {
			kept.Template.Files[target] = &fileSettings{file.Source.ValueStringPointer(), file.Content.ValueStringPointer(), file.Mode.ValueStringPointer()}
		}
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
	files := types.MapNull(templatefiles.Type)
	if s.Files != nil {
		values := map[string]attr.Value{}
		for target, file := range s.Files {
			values[target] = types.ObjectValueMust(templatefiles.Type.AttrTypes, map[string]attr.Value{
				"source": types.StringPointerValue(file.Source), "content": types.StringPointerValue(file.Content), "mode": types.StringPointerValue(file.Mode),
			})
		}
		files = types.MapValueMust(templatefiles.Type, values)
	}
	migrate := types.ObjectNull(migrateType)
	if len(s.Migrate) > 0 {
		verify := types.ListNull(types.StringType)
		if len(s.Verify) > 0 {
			verify = convert.List(s.Verify)
		}
		migrate = types.ObjectValueMust(migrateType, map[string]attr.Value{"command": convert.List(s.Migrate), "verify": verify})
	}
	return types.ObjectValueMust(templateType, map[string]attr.Value{
		"version": types.StringValue(s.Version), "files": files, "max_bytes": types.Int64Value(s.MaxBytes), "migrate": migrate,
	})
}
