package datasources

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

var _ datasource.DataSourceWithConfigure = (*orphansSource)(nil)

type orphansSource struct{ configured }

type orphansModel struct {
	Orphans types.List `tfsdk:"orphans"`
}

var orphanType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"kind": types.StringType, "id": types.Int64Type, "name": types.StringType, "record_id": types.StringType,
	"labels": types.MapType{ElemType: types.StringType}, "created_at": types.StringType,
}}

// NewOrphans returns the data source sandlot_orphans.
func NewOrphans() datasource.DataSource { return &orphansSource{} }

func (d *orphansSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_orphans"
}

func (d *orphansSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What carries the label of this provider's owner in the Hetzner project and is on no record of the store: left over where a store was lost or a record was deleted by hand, and billed. " +
			"Nothing is deleted; look at each and remove it yourself. With a store of its own, another configuration of the same owner has records that this one cannot see: its hosts are told here, too.",
		Attributes: map[string]schema.Attribute{
			"orphans": schema.ListNestedAttribute{
				MarkdownDescription: "Servers, then addresses, then SSH keys, each by id.",
				Computed:            true,
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"kind":       schema.StringAttribute{MarkdownDescription: "`server`, `primary_ip` or `ssh_key`.", Computed: true},
					"id":         schema.Int64Attribute{MarkdownDescription: "Its id at Hetzner.", Computed: true},
					"name":       schema.StringAttribute{MarkdownDescription: "Its name at Hetzner.", Computed: true},
					"record_id":  schema.StringAttribute{MarkdownDescription: "The record that its label names, which is not there.", Computed: true},
					"labels":     schema.MapAttribute{MarkdownDescription: "All of its labels.", Computed: true, ElementType: types.StringType},
					"created_at": schema.StringAttribute{MarkdownDescription: "When it was made, in RFC 3339.", Computed: true},
				}},
			},
		},
	}
}

func (d *orphansSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	const summary = "Unable to Look for Orphans"
	manager, err := d.client.CloudHosts()
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(notKnownYet(path.Empty(), summary))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var found []cloudhost.Orphan
	if err == nil {
		found, err = manager.Orphans(ctx)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	values := make([]attr.Value, 0, len(found))
	for _, orphan := range found {
		values = append(values, types.ObjectValueMust(orphanType.AttrTypes, map[string]attr.Value{
			"kind": types.StringValue(orphan.Kind), "id": types.Int64Value(orphan.ID), "name": types.StringValue(orphan.Name),
			"record_id": convert.TextOrNull(orphan.Record), "labels": convert.Map(orphan.Labels), "created_at": convert.TimeOrNull(orphan.CreatedAt),
		}))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &orphansModel{Orphans: types.ListValueMust(orphanType, values)})...)
}
