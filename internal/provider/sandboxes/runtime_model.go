package sandboxes

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
)

// runtime is what only a workspace runtime has.
type runtime struct {
	Kind                       types.String `tfsdk:"kind"`
	BaseSnapshot               types.Object `tfsdk:"base_snapshot"`
	Template                   types.Object `tfsdk:"template"`
	Handle                     types.String `tfsdk:"handle"`
	HandleKind                 types.String `tfsdk:"handle_kind"`
	ResourceKind               types.String `tfsdk:"resource_kind"`
	AppliedBaseSnapshotID      types.String `tfsdk:"applied_base_snapshot_id"`
	AppliedBaseSnapshotVersion types.String `tfsdk:"applied_base_snapshot_version"`
	AppliedTemplateVersion     types.String `tfsdk:"applied_template_version"`
	State                      types.String `tfsdk:"state"`
	ExpiresAt                  types.String `tfsdk:"expires_at"`
	AgentEnvironment           types.Map    `tfsdk:"agent_environment"`
}

type runtimeModel struct {
	common
	persistence
	runtime
}

func (m *runtimeModel) parts() (*common, *persistence) { return &m.common, &m.persistence }

func (m *runtimeModel) workspace() *runtime { return &m.runtime }

type baseSnapshotModel struct {
	ID      types.String `tfsdk:"id"`
	Version types.String `tfsdk:"version"`
}

var baseSnapshotType = map[string]attr.Type{"id": types.StringType, "version": types.StringType}

type templateModel struct {
	Version  types.String `tfsdk:"version"`
	Files    types.Map    `tfsdk:"files"`
	MaxBytes types.Int64  `tfsdk:"max_bytes"`
	Migrate  types.Object `tfsdk:"migrate"`
}

type migrateModel struct {
	Command types.List `tfsdk:"command"`
	Verify  types.List `tfsdk:"verify"`
}

var migrateType = map[string]attr.Type{
	"command": types.ListType{ElemType: types.StringType}, "verify": types.ListType{ElemType: types.StringType},
}

var templateType = map[string]attr.Type{
	"version": types.StringType, "files": types.MapType{ElemType: templatefiles.Type},
	"max_bytes": types.Int64Type, "migrate": types.ObjectType{AttrTypes: migrateType},
}
