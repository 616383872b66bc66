package datasources

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/basesnapshots"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

var _ datasource.DataSourceWithConfigure = (*baseSnapshotSource)(nil)

type baseSnapshotSource struct{ configured }

type baseSnapshotModel struct {
	Backend            types.String `tfsdk:"backend"`
	App                types.String `tfsdk:"app"`
	Template           types.String `tfsdk:"template"`
	Exists             types.Bool   `tfsdk:"exists"`
	ID                 types.String `tfsdk:"id"`
	RecordID           types.String `tfsdk:"record_id"`
	Status             types.String `tfsdk:"status"`
	StatusReason       types.String `tfsdk:"status_reason"`
	SnapshotID         types.String `tfsdk:"snapshot_id"`
	Version            types.String `tfsdk:"version"`
	ManifestHash       types.String `tfsdk:"manifest_hash"`
	PreviousSnapshotID types.String `tfsdk:"previous_snapshot_id"`
	PreviousVersion    types.String `tfsdk:"previous_version"`
	History            types.List   `tfsdk:"history"`
}

// NewBaseSnapshot returns the data source sandlot_base_snapshot.
func NewBaseSnapshot() datasource.DataSource { return &baseSnapshotSource{} }

func (d *baseSnapshotSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_base_snapshot"
}

func (d *baseSnapshotSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	computed := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	name := []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A lane of base snapshots, as the store knows it: what new workspaces start from, what one would go back to, and every bake. It serves configurations that use snapshots which another one bakes.\n\n" +
			"A lane that does not exist is an answer, not an error: `exists` is `false` then. Without a usable snapshot `snapshot_id` is null, and `status_reason` says why.",
		Attributes: map[string]schema.Attribute{
			"backend": schema.StringAttribute{
				MarkdownDescription: "The backend that the lane is on: `local` or `docker`.",
				Required:            true,
				Validators:          []validator.String{validators.OneOf(backendset.Names()...)},
			},
			"app":      schema.StringAttribute{MarkdownDescription: "The application of the lane.", Required: true, Validators: name},
			"template": schema.StringAttribute{MarkdownDescription: "The template of the lane. Default: `default`.", Optional: true, Computed: true, Validators: name},

			"exists":               schema.BoolAttribute{MarkdownDescription: "Whether the lane exists.", Computed: true},
			"id":                   computed("The identity, `<backend>/<app>/<template>`, which `terraform import` takes."),
			"record_id":            computed("The id of the lane's record in the store."),
			"status":               computed("`ready`, `baking`, `failed` or `retired`."),
			"status_reason":        computed("Why `status` is not `ready`; null when it is."),
			"snapshot_id":          computed("The id of the current snapshot, as long as a workspace can start from it."),
			"version":              computed("The label of the current snapshot."),
			"manifest_hash":        computed("The hash of the current snapshot's manifest."),
			"previous_snapshot_id": computed("The snapshot that one would go back to."),
			"previous_version":     computed("The label of that snapshot."),
			"history": schema.ListAttribute{
				MarkdownDescription: "All bakes of the lane, the newest first, with the members that `history` of the resource has.",
				Computed:            true,
				ElementType:         basesnapshots.HistoryType(),
			},
		},
	}
}

func (d *baseSnapshotSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m baseSnapshotModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if m.Template.IsNull() {
		m.Template = types.StringValue(basesnapshots.DefaultTemplate)
	}
	lane := basesnapshot.Lane{App: m.App.ValueString(), Template: m.Template.ValueString()}
	id := basesnapshot.ID(m.Backend.ValueString(), lane)
	at, summary := path.Root("app"), fmt.Sprintf("Unable to Read Base Snapshot %q", id)
	manager, err := d.client.BaseSnapshots(m.Backend.ValueString())
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(notKnownYet(at, summary))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var view basesnapshot.View
	if err == nil {
		view, err = manager.Lookup(ctx, lane)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(at, summary, err))
		return
	}
	m.fill(id, view)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (m *baseSnapshotModel) fill(id string, view basesnapshot.View) {
	m.Exists = types.BoolValue(!view.Missing)
	m.History = basesnapshots.HistoryValue(view.History)
	if view.Missing {
		return
	}
	m.ID, m.RecordID = types.StringValue(id), convert.TextOrNull(view.Attachment.Record)
	m.Status, m.StatusReason = convert.TextOrNull(view.Status), convert.TextOrNull(view.Reason)
	if current := view.Current; current != nil && view.Reason == "" {
		m.SnapshotID, m.Version, m.ManifestHash = convert.TextOrNull(current.SnapshotID), convert.TextOrNull(current.Version), convert.TextOrNull(current.ManifestHash)
	}
	if previous := view.Previous; previous != nil {
		m.PreviousSnapshotID, m.PreviousVersion = convert.TextOrNull(previous.SnapshotID), convert.TextOrNull(previous.Version)
	}
}
