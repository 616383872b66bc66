package datasources

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/workspace"
)

var _ datasource.DataSourceWithConfigure = (*runtimeSource)(nil)

type runtimeSource struct{ configured }

type runtimeModel struct {
	Backend             types.String `tfsdk:"backend"`
	CloudHostID         types.String `tfsdk:"cloud_host_id"`
	WorkspaceID         types.String `tfsdk:"workspace_id"`
	Generation          types.Int64  `tfsdk:"generation"`
	Exists              types.Bool   `tfsdk:"exists"`
	ID                  types.String `tfsdk:"id"`
	RecordID            types.String `tfsdk:"record_id"`
	Name                types.String `tfsdk:"name"`
	Kind                types.String `tfsdk:"kind"`
	Handle              types.String `tfsdk:"handle"`
	HandleKind          types.String `tfsdk:"handle_kind"`
	State               types.String `tfsdk:"state"`
	Status              types.String `tfsdk:"status"`
	LastError           types.String `tfsdk:"last_error"`
	SessionID           types.String `tfsdk:"current_session_id"`
	SnapshotID          types.String `tfsdk:"current_snapshot_id"`
	BaseSnapshotID      types.String `tfsdk:"applied_base_snapshot_id"`
	BaseSnapshotVersion types.String `tfsdk:"applied_base_snapshot_version"`
	TemplateVersion     types.String `tfsdk:"applied_template_version"`
	CreatedAt           types.String `tfsdk:"created_at"`
	UpdatedAt           types.String `tfsdk:"updated_at"`
	AgentEnvironment    types.Map    `tfsdk:"agent_environment"`
}

// NewWorkspaceRuntime returns the data source sandlot_workspace_runtime.
func NewWorkspaceRuntime() datasource.DataSource { return &runtimeSource{} }

func (d *runtimeSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_workspace_runtime"
}

func (d *runtimeSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	computed := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The runtime of a workspace, as the store and its backend know it, also when another configuration manages it. A stopped one is not woken.\n\n" +
			"A workspace that has no runtime is an answer, not an error: `exists` is `false` then. It can be asked about in the configuration that makes it, which reads it before.",
		Attributes: map[string]schema.Attribute{
			"backend": schema.StringAttribute{
				MarkdownDescription: "The backend that the runtime is on: `local` or `docker`.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.OneOf(backendset.Names()...)},
			},
			"cloud_host_id": cloudHostIDAttribute(),
			"workspace_id": schema.StringAttribute{
				MarkdownDescription: "The id of the workspace.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthBetween(1, 1024)},
			},
			"generation": schema.Int64Attribute{
				MarkdownDescription: "The generation to look at. Default: the newest, which is told here.",
				Optional:            true,
				Computed:            true,
			},
			"exists":                        schema.BoolAttribute{MarkdownDescription: "Whether the workspace has a runtime. All other values are null when it has none.", Computed: true},
			"id":                            computed("The identity, `<backend>/<name>`, which `terraform import` takes."),
			"record_id":                     computed("The id of the record in the store."),
			"name":                          computed("The name of the sandbox."),
			"kind":                          computed("`persistent` or `session`."),
			"handle":                        computed("By what clients attach to the runtime."),
			"handle_kind":                   computed("What `handle` is: `persistent-name` or `session`."),
			"state":                         computed("How far the runtime is: `pending`, `provisioning`, `ready`, `stopped` or `error`."),
			"status":                        computed("How its sandbox stands: `running`, `stopped`, `lost`, `missing`, `interrupted` or `deleting`."),
			"last_error":                    computed("Why the last provisioning or migration failed; null when it did not."),
			"current_session_id":            computed("The id of the present session. It is never an identity."),
			"current_snapshot_id":           computed("The id of the newest snapshot of the workspace's own."),
			"applied_base_snapshot_id":      computed("The base snapshot that the workspace was made from."),
			"applied_base_snapshot_version": computed("The version of that base snapshot."),
			"applied_template_version":      computed("The version of the template that the workspace has."),
			"created_at":                    computed("When the workspace was claimed, in RFC 3339."),
			"updated_at":                    computed("When its record was changed last, in RFC 3339."),
			"agent_environment":             schema.MapAttribute{MarkdownDescription: "Environment variables that tell an agent server about this runtime.", Computed: true, ElementType: types.StringType},
		},
	}
}

func (d *runtimeSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m runtimeModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	at := path.Root("workspace_id")
	summary := fmt.Sprintf("Unable to Read Workspace Runtime %q", m.WorkspaceID.ValueString())
	manager, err := d.client.Manager(client.Place(m.Backend, m.CloudHostID).ValueString())
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(notKnownYet(at, summary))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var record *store.Record
	if err == nil {
		record, err = workspace.Find(ctx, manager, m.WorkspaceID.ValueString(), m.Generation.ValueInt64())
	}
	var view sandbox.View
	if err == nil && record != nil {
		view, err = manager.Look(ctx, *record)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(at, summary, err))
		return
	}
	m.AgentEnvironment = types.MapNull(types.StringType)
	m.Exists = types.BoolValue(record != nil)
	if record != nil {
		d.fill(&m, *record, view)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (d *runtimeSource) fill(m *runtimeModel, record store.Record, view sandbox.View) {
	described := workspace.DescribeRecord(record, view)
	m.Generation = types.Int64Value(record.Generation)
	m.ID = types.StringValue(sandbox.ID(record.Backend, record.Name))
	m.RecordID, m.Name, m.Kind = types.StringValue(record.ID), types.StringValue(record.Name), types.StringValue(record.Kind)
	m.Handle, m.HandleKind = convert.TextOrNull(described.Handle()), convert.TextOrNull(described.HandleKind())
	m.State, m.Status = convert.TextOrNull(string(described.State)), convert.TextOrNull(described.Status)
	m.SessionID, m.SnapshotID = convert.TextOrNull(described.SessionID), convert.TextOrNull(described.SnapshotID)
	m.BaseSnapshotID, m.BaseSnapshotVersion = convert.TextOrNull(described.BaseSnapshotID), convert.TextOrNull(described.BaseSnapshotVersion)
	m.TemplateVersion = convert.TextOrNull(described.TemplateVersion)
	if view.Workspace != nil {
		m.LastError = convert.TextOrNull(view.Workspace.LastError)
	}
	m.CreatedAt = convert.TimeOrNull(record.CreatedAt)
	m.UpdatedAt = convert.TimeOrNull(record.UpdatedAt)
	settings := handle.Settings{NamePrefix: d.client.NamePrefix.ValueString(), Namespace: d.client.Namespace.ValueString()}
	// The only error is a base snapshot without a version; such a record has no environment.
	if environment, err := handle.AgentEnvironment(described, settings); err == nil {
		m.AgentEnvironment = convert.Map(environment)
	}
}
