package sandboxes

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
)

// common is what all kinds of sandbox have. Collections stay framework values, since any of
// them can be unknown.
type common struct {
	ID                  types.String   `tfsdk:"id"`
	RecordID            types.String   `tfsdk:"record_id"`
	AttachmentID        types.String   `tfsdk:"attachment_id"`
	Backend             types.String   `tfsdk:"backend"`
	CloudHostID         types.String   `tfsdk:"cloud_host_id"`
	Name                types.String   `tfsdk:"name"`
	Source              types.Object   `tfsdk:"source"`
	CPUs                types.Float64  `tfsdk:"cpus"`
	MemoryMiB           types.Int64    `tfsdk:"memory_mib"`
	Environment         types.Map      `tfsdk:"environment"`
	SecretEnvironment   types.Map      `tfsdk:"secret_environment_wo"`
	SecretVersion       types.Int64    `tfsdk:"secret_environment_wo_version"`
	WorkingDirectory    types.String   `tfsdk:"working_directory"`
	User                types.String   `tfsdk:"user"`
	Command             types.List     `tfsdk:"command"`
	Ports               types.Set      `tfsdk:"ports"`
	Mounts              types.Set      `tfsdk:"mounts"`
	Volumes             types.Map      `tfsdk:"volumes"`
	Network             types.Object   `tfsdk:"network"`
	Timeout             types.String   `tfsdk:"timeout"`
	DesiredState        types.String   `tfsdk:"desired_state"`
	Labels              types.Map      `tfsdk:"labels"`
	Setup               types.List     `tfsdk:"setup"`
	RequireCapabilities types.Set      `tfsdk:"require_capabilities"`
	OnDestroy           types.String   `tfsdk:"on_destroy"`
	Docker              types.Object   `tfsdk:"docker"`
	Vercel              types.Object   `tfsdk:"vercel"`
	Status              types.String   `tfsdk:"status"`
	SessionID           types.String   `tfsdk:"session_id"`
	Endpoints           types.Map      `tfsdk:"endpoints"`
	Workspace           types.String   `tfsdk:"workspace"`
	Capabilities        types.Set      `tfsdk:"capabilities"`
	ResolvedImage       types.String   `tfsdk:"resolved_image"`
	CreatedAt           types.String   `tfsdk:"created_at"`
	Timeouts            timeouts.Value `tfsdk:"timeouts"`
}

// place is what ids and records call the backend.
func (m *common) place() types.String { return client.Place(m.Backend, m.CloudHostID) }

// persistence is what a sandbox with an identity of its own has: a persistent one, and a workspace
// runtime.
type persistence struct {
	WorkspaceID       types.String `tfsdk:"workspace_id"`
	Generation        types.Int64  `tfsdk:"generation"`
	OnMissing         types.String `tfsdk:"on_missing"`
	SnapshotRetention types.Object `tfsdk:"snapshot_retention"`
	CheckpointTrigger types.String `tfsdk:"checkpoint_trigger"`
	CurrentSessionID  types.String `tfsdk:"current_session_id"`
	CurrentSnapshotID types.String `tfsdk:"current_snapshot_id"`
	Resumable         types.Bool   `tfsdk:"resumable"`
}

// model is one resource's plan, state or configuration.
type model interface {
	// parts returns what all have, and what those with an identity of their own have (nil otherwise).
	parts() (*common, *persistence)
	// workspace returns what only a workspace runtime has, nil otherwise.
	workspace() *runtime
}

type sessionModel struct {
	common
}

func (m *sessionModel) parts() (*common, *persistence) { return &m.common, nil }

func (m *sessionModel) workspace() *runtime { return nil }

type persistentModel struct {
	common
	persistence
}

func (m *persistentModel) parts() (*common, *persistence) { return &m.common, &m.persistence }

func (m *persistentModel) workspace() *runtime { return nil }

type sourceModel struct {
	Image      types.String `tfsdk:"image"`
	Rootfs     types.String `tfsdk:"rootfs"`
	Runtime    types.String `tfsdk:"runtime"`
	Git        types.Object `tfsdk:"git"`
	TarballURL types.String `tfsdk:"tarball_url"`
	SnapshotID types.String `tfsdk:"snapshot_id"`
	CloneOf    types.String `tfsdk:"clone_of"`
}

var sourceType = map[string]attr.Type{
	"image": types.StringType, "rootfs": types.StringType, "runtime": types.StringType, "git": types.ObjectType{AttrTypes: gitType},
	"tarball_url": types.StringType, "snapshot_id": types.StringType, "clone_of": types.StringType,
}

type gitModel struct {
	URL      types.String `tfsdk:"url"`
	Revision types.String `tfsdk:"revision"`
	Depth    types.Int64  `tfsdk:"depth"`
}

var gitType = map[string]attr.Type{"url": types.StringType, "revision": types.StringType, "depth": types.Int64Type}

type portModel struct {
	Port          types.Int64  `tfsdk:"port"`
	Protocol      types.String `tfsdk:"protocol"`
	PublishedPort types.Int64  `tfsdk:"published_port"`
	Public        types.Bool   `tfsdk:"public"`
}

var portType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"port": types.Int64Type, "protocol": types.StringType, "published_port": types.Int64Type, "public": types.BoolType,
}}

type mountModel struct {
	Source   types.String `tfsdk:"source"`
	Target   types.String `tfsdk:"target"`
	ReadOnly types.Bool   `tfsdk:"read_only"`
}

var mountType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"source": types.StringType, "target": types.StringType, "read_only": types.BoolType,
}}

type volumeModel struct {
	Target types.String `tfsdk:"target"`
}

var volumeType = types.ObjectType{AttrTypes: map[string]attr.Type{"target": types.StringType}}

type networkModel struct {
	Mode         types.String `tfsdk:"mode"`
	AllowDomains types.Set    `tfsdk:"allow_domains"`
	AllowCIDRs   types.Set    `tfsdk:"allow_cidrs"`
	DenyCIDRs    types.Set    `tfsdk:"deny_cidrs"`
}

var networkType = map[string]attr.Type{
	"mode": types.StringType, "allow_domains": types.SetType{ElemType: types.StringType},
	"allow_cidrs": types.SetType{ElemType: types.StringType}, "deny_cidrs": types.SetType{ElemType: types.StringType},
}

type vercelModel struct {
	Region          types.String `tfsdk:"region"`
	FailoverRegions types.List   `tfsdk:"failover_regions"`
}

var vercelType = map[string]attr.Type{"region": types.StringType, "failover_regions": types.ListType{ElemType: types.StringType}}

type dockerModel struct {
	Runtime           types.String `tfsdk:"runtime"`
	PidsLimit         types.Int64  `tfsdk:"pids_limit"`
	AddCapabilities   types.Set    `tfsdk:"add_capabilities"`
	AllowEngineSocket types.Bool   `tfsdk:"allow_engine_socket"`
	PullPolicy        types.String `tfsdk:"pull_policy"`
}

var dockerType = map[string]attr.Type{
	"runtime": types.StringType, "pids_limit": types.Int64Type, "add_capabilities": types.SetType{ElemType: types.StringType},
	"allow_engine_socket": types.BoolType, "pull_policy": types.StringType,
}

type setupModel struct {
	Command          types.List   `tfsdk:"command"`
	Environment      types.Map    `tfsdk:"environment"`
	WorkingDirectory types.String `tfsdk:"working_directory"`
	User             types.String `tfsdk:"user"`
	Timeout          types.String `tfsdk:"timeout"`
}

var setupType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"command": types.ListType{ElemType: types.StringType}, "environment": types.MapType{ElemType: types.StringType},
	"working_directory": types.StringType, "user": types.StringType, "timeout": types.StringType,
}}

type retentionModel struct {
	Expiration types.String `tfsdk:"expiration"`
	KeepLast   types.Int64  `tfsdk:"keep_last"`
}

var retentionType = map[string]attr.Type{"expiration": types.StringType, "keep_last": types.Int64Type}

var timeoutsType = map[string]attr.Type{
	"create": types.StringType, "read": types.StringType, "update": types.StringType, "delete": types.StringType,
}
