package datasources

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/workspace"
)

var _ datasource.DataSourceWithConfigure = (*handleSource)(nil)

type handleSource struct{ configured }

type handleModel struct {
	RecordID    types.String `tfsdk:"record_id"`
	Shape       types.String `tfsdk:"shape"`
	WorkspaceID types.String `tfsdk:"workspace_id"`
	SessionKey  types.String `tfsdk:"session_key"`
	Directory   types.String `tfsdk:"directory"`
	JSON        types.String `tfsdk:"json"`
}

// NewHandle returns the data source sandlot_handle.
func NewHandle() datasource.DataSource { return &handleSource{} }

func (d *handleSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_handle"
}

func (d *handleSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The record of one sandbox as JSON, in the shape that an application expects. The function `parse_handle` reads it.\n\n" +
			"A shape that does not fit the sandbox (of another backend or kind, or one that needs what it lacks) is an error that says why. The JSON holds plain data, and never a secret.",
		Attributes: map[string]schema.Attribute{
			"record_id": recordIDAttribute("sandbox"),
			"shape": schema.StringAttribute{
				MarkdownDescription: "`workspace-resource` fits every backend. `vercel-persistent` and `vercel-session` are for `vercel`, `agent-env` for `docker`; `spawnbox` and `eve` are for the backends that those programs can attach to.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.OneOf(handle.Shapes()...)},
			},
			"workspace_id": schema.StringAttribute{
				MarkdownDescription: "The id of the workspace, for a sandbox that was named explicitly and so has none.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.LengthBetween(1, 1024)},
			},
			"session_key": schema.StringAttribute{
				MarkdownDescription: "The key under which the application files the sandbox among its own sessions. `eve` needs it.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.LengthBetween(1, 1024)},
			},
			"directory": schema.StringAttribute{
				MarkdownDescription: "The directory of the workspace on the machine of the application, absolute. `agent-env` needs it. Default: the source of the mount that shows it as the workspace, if there is one.",
				Optional:            true,
				Validators:          []validator.String{validators.String("an absolute path", sandbox.CheckAbsolutePath)},
			},
			"json": schema.StringAttribute{MarkdownDescription: "The record.", Computed: true},
		},
	}
}

func (d *handleSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m handleModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	summary := fmt.Sprintf("Unable to Print Handle of %q", m.RecordID.ValueString())
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	record, view, problem := d.look(ctx, m.RecordID.ValueString(), summary)
	if problem != nil {
		resp.Diagnostics.Append(problem)
		return
	}
	described := workspace.DescribeRecord(record, view)
	described.SessionKey, described.Directory = m.SessionKey.ValueString(), m.Directory.ValueString()
	if described.WorkspaceID == "" {
		described.WorkspaceID = sandbox.NormalizeWorkspaceID(m.WorkspaceID.ValueString())
	}
	if described.Directory == "" {
		described.Directory = workspaceMount(view.Observed)
	}
	text, err := handle.Print(handle.Shape(m.Shape.ValueString()), described)
	if err != nil {
		resp.Diagnostics.Append(diagnostics.AttributeError(path.Root("shape"), diagnostics.InvalidValue, summary, err.Error()))
		return
	}
	m.JSON = types.StringValue(string(text))
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// look goes from a record to what stands for it now, which may be nothing: a record is told all the
// same.
func (c *configured) look(ctx context.Context, recordID, summary string) (store.Record, sandbox.View, diag.Diagnostic) {
	at := path.Root("record_id")
	record, err := c.client.Record(ctx, recordID)
	if errors.Is(err, store.ErrNotFound) {
		return record, sandbox.View{}, noRecord(at, recordID, summary)
	}
	var manager *sandbox.Manager
	if err == nil {
		manager, err = c.client.Manager(record.Backend)
	}
	if errors.Is(err, client.ErrUnknown) {
		return record, sandbox.View{}, notKnownYet(at, summary)
	}
	var view sandbox.View
	if err == nil {
		view, err = manager.Look(ctx, record)
	}
	if err != nil {
		return record, sandbox.View{}, diagnostics.FromAttributeError(at, summary, err)
	}
	return record, view, nil
}

// workspaceMount is the host's directory that a sandbox shows as its workspace, "" when there is none.
func workspaceMount(observed backends.Observed) string {
	for _, mount := range observed.Spec.Mounts {
		if mount.Target == observed.Workspace {
			return mount.Source
		}
	}
	return ""
}
