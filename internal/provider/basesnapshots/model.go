package basesnapshots

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
)

// model is the resource's plan, state or configuration. Collections stay framework values, since any
// of them can be unknown.
type model struct {
	ID                   types.String   `tfsdk:"id"`
	RecordID             types.String   `tfsdk:"record_id"`
	AttachmentID         types.String   `tfsdk:"attachment_id"`
	Backend              types.String   `tfsdk:"backend"`
	App                  types.String   `tfsdk:"app"`
	Template             types.String   `tfsdk:"template"`
	Manifest             types.Object   `tfsdk:"manifest"`
	Environment          types.Map      `tfsdk:"environment"`
	EnvironmentAllowlist types.Set      `tfsdk:"environment_allowlist"`
	AllowNames           types.Set      `tfsdk:"allow_names"`
	SmokeChecks          types.List     `tfsdk:"smoke_checks"`
	Verify               types.Bool     `tfsdk:"verify"`
	Network              types.Object   `tfsdk:"network"`
	Expiration           types.String   `tfsdk:"expiration"`
	Retention            types.Object   `tfsdk:"retention"`
	RebakeTrigger        types.String   `tfsdk:"rebake_trigger"`
	OnDestroy            types.String   `tfsdk:"on_destroy"`
	ManifestHash         types.String   `tfsdk:"manifest_hash"`
	Version              types.String   `tfsdk:"version"`
	SnapshotID           types.String   `tfsdk:"snapshot_id"`
	Status               types.String   `tfsdk:"status"`
	StatusReason         types.String   `tfsdk:"status_reason"`
	PreviousSnapshotID   types.String   `tfsdk:"previous_snapshot_id"`
	SourceDigest         types.String   `tfsdk:"source_digest"`
	SizeBytes            types.Int64    `tfsdk:"size_bytes"`
	CreatedAt            types.String   `tfsdk:"created_at"`
	ExpiresAt            types.String   `tfsdk:"expires_at"`
	History              types.List     `tfsdk:"history"`
	Timeouts             timeouts.Value `tfsdk:"timeouts"`
}

type manifestModel struct {
	SchemaVersion   types.Int64  `tfsdk:"schema_version"`
	Name            types.String `tfsdk:"name"`
	Source          types.Object `tfsdk:"source"`
	SystemPackages  types.Set    `tfsdk:"system_packages"`
	PackageManagers types.Map    `tfsdk:"package_managers"`
	Commands        types.List   `tfsdk:"commands"`
	TemplateFiles   types.Map    `tfsdk:"template_files"`
	TemplateVersion types.String `tfsdk:"template_version"`
	MarkerPath      types.String `tfsdk:"marker_path"`
}

type sourceModel struct {
	Image      types.String `tfsdk:"image"`
	Rootfs     types.String `tfsdk:"rootfs"`
	Runtime    types.String `tfsdk:"runtime"`
	Git        types.Object `tfsdk:"git"`
	TarballURL types.String `tfsdk:"tarball_url"`
	SnapshotID types.String `tfsdk:"snapshot_id"`
}

type gitModel struct {
	URL      types.String `tfsdk:"url"`
	Revision types.String `tfsdk:"revision"`
	Depth    types.Int64  `tfsdk:"depth"`
}

type smokeCheckModel struct {
	Command types.List   `tfsdk:"command"`
	Expect  types.String `tfsdk:"expect"`
}

type retentionModel struct {
	MinAge       types.String `tfsdk:"min_age"`
	KeepPrevious types.Int64  `tfsdk:"keep_previous"`
	Purge        types.Bool   `tfsdk:"purge"`
}

type networkModel struct {
	Mode types.String `tfsdk:"mode"`
}

var (
	argvType   = types.ListType{ElemType: types.StringType}
	gitType    = map[string]attr.Type{"url": types.StringType, "revision": types.StringType, "depth": types.Int64Type}
	sourceType = map[string]attr.Type{
		"image": types.StringType, "rootfs": types.StringType, "runtime": types.StringType, "git": types.ObjectType{AttrTypes: gitType},
		"tarball_url": types.StringType, "snapshot_id": types.StringType,
	}

	manifestType = map[string]attr.Type{
		"schema_version": types.Int64Type, "name": types.StringType, "source": types.ObjectType{AttrTypes: sourceType},
		"system_packages": types.SetType{ElemType: types.StringType}, "package_managers": types.MapType{ElemType: types.StringType},
		"commands": types.ListType{ElemType: argvType}, "template_files": types.MapType{ElemType: templatefiles.Type},
		"template_version": types.StringType, "marker_path": types.StringType,
	}
	smokeCheckType = types.ObjectType{AttrTypes: map[string]attr.Type{"command": argvType, "expect": types.StringType}}
	retentionType  = map[string]attr.Type{"min_age": types.StringType, "keep_previous": types.Int64Type, "purge": types.BoolType}
	networkType    = map[string]attr.Type{"mode": types.StringType}
	timeoutsType   = map[string]attr.Type{
		"create": types.StringType, "read": types.StringType, "update": types.StringType, "delete": types.StringType,
	}
	entryType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"version": types.StringType, "snapshot_id": types.StringType, "manifest_hash": types.StringType, "status": types.StringType,
		"current": types.BoolType, "last_error": types.StringType, "size_bytes": types.Int64Type, "created_at": types.StringType,
		"ready_at": types.StringType, "retired_at": types.StringType, "expires_at": types.StringType,
	}}
)
