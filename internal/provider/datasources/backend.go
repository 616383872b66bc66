package datasources

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

var _ datasource.DataSourceWithConfigure = (*backendSource)(nil)

type backendSource struct{ configured }

type backendModel struct {
	Name         types.String `tfsdk:"name"`
	Available    types.Bool   `tfsdk:"available"`
	Version      types.String `tfsdk:"version"`
	Reason       types.String `tfsdk:"reason"`
	Capabilities types.Set    `tfsdk:"capabilities"`
	NetworkModes types.List   `tfsdk:"network_modes"`
}

// NewBackend returns the data source sandlot_backend.
func NewBackend() datasource.DataSource { return &backendSource{} }

func (d *backendSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_backend"
}

func (d *backendSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What a backend can do, and whether it can be used here and now.\n\n" +
			"An engine that does not answer is no error here: `available` is false then, and `reason` says why. So a configuration can choose between backends.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				MarkdownDescription: "The name of the backend: `local` or `docker`.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.OneOf(backendset.Names()...)},
			},
			"available": schema.BoolAttribute{
				MarkdownDescription: "Whether sandboxes can be made there now. It is false as long as the provider configuration is not known.",
				Computed:            true,
			},
			"version": schema.StringAttribute{
				MarkdownDescription: "The version of the engine or program, as it tells it; null when it tells none.",
				Computed:            true,
			},
			"reason": schema.StringAttribute{
				MarkdownDescription: "Why the backend is not available and what to do about it; null when it is available.",
				Computed:            true,
			},
			"capabilities": schema.SetAttribute{
				MarkdownDescription: "What the backend can do, by the names in the guide *Capabilities*. It is known whether or not the backend is available.",
				Computed:            true,
				ElementType:         types.StringType,
			},
			"network_modes": schema.ListAttribute{
				MarkdownDescription: "The values that `network.mode` accepts there; the first is the default.",
				Computed:            true,
				ElementType:         types.StringType,
			},
		},
	}
}

func (d *backendSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m backendModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	table, err := client.Capabilities(name)
	var found backends.Availability
	if err == nil {
		found, err = d.probe(ctx, name)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(path.Root("name"), `Unable to Read Backend "`+name+`"`, err))
		return
	}
	m.Available = types.BoolValue(found.Available)
	m.Version, m.Reason = convert.TextOrNull(found.Version), convert.TextOrNull(found.Reason)
	m.Capabilities = convert.Set(table.Names())
	m.NetworkModes = convert.List(table.NetworkModes)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (d *backendSource) probe(ctx context.Context, name string) (backends.Availability, error) {
	manager, err := d.client.Manager(name)
	if errors.Is(err, client.ErrUnknown) {
		return backends.Availability{Reason: "The configuration of the provider is not known yet, because it depends on something that is still to be applied."}, nil
	}
	if err != nil {
		return backends.Availability{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return manager.Backend.Probe(ctx), nil
}
