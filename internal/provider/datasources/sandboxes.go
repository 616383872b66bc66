package datasources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

var _ datasource.DataSourceWithConfigure = (*sandboxesSource)(nil)

type sandboxesSource struct{ configured }

type sandboxesModel struct {
	Backend     types.String   `tfsdk:"backend"`
	CloudHostID types.String   `tfsdk:"cloud_host_id"`
	NamePrefix  types.String   `tfsdk:"name_prefix"`
	Kind        types.String   `tfsdk:"kind"`
	AllOwners   types.Bool     `tfsdk:"all_owners"`
	Sandboxes   []sandboxModel `tfsdk:"sandboxes"`
}

type sandboxModel struct {
	ID        types.String `tfsdk:"id"`
	Name      types.String `tfsdk:"name"`
	Kind      types.String `tfsdk:"kind"`
	Owner     types.String `tfsdk:"owner"`
	Status    types.String `tfsdk:"status"`
	RecordID  types.String `tfsdk:"record_id"`
	CreatedAt types.String `tfsdk:"created_at"`
}

// NewSandboxes returns the data source sandlot_sandboxes.
func NewSandboxes() datasource.DataSource { return &sandboxesSource{} }

func (d *sandboxesSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_sandboxes"
}

func (d *sandboxesSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The sandboxes that a backend holds, told by the marks that this provider writes on everything it makes. Sandboxes that no configuration holds any more are listed too.\n\n" +
			"A backend that cannot be asked is an error, never an empty list.",
		Attributes: map[string]schema.Attribute{
			"backend": schema.StringAttribute{
				MarkdownDescription: "The backend to look at: `local` or `docker`.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.OneOf(backendset.Names()...)},
			},
			"cloud_host_id": cloudHostIDAttribute(),
			"name_prefix": schema.StringAttribute{
				MarkdownDescription: "Only sandboxes whose name starts like this are listed. Default: all names.",
				Optional:            true,
				Validators:          []validator.String{validators.String("the start of a sandbox name", checkNamePrefix)},
			},
			"kind": schema.StringAttribute{
				MarkdownDescription: "Only sandboxes of this kind are listed: `session` or `persistent`. Default: both.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.OneOf(string(backends.Session), string(backends.Persistent))},
			},
			"all_owners": schema.BoolAttribute{
				MarkdownDescription: "Whether sandboxes of other owners are listed too. Default: `false`, only those of the provider's `owner`.",
				Optional:            true,
			},
			"sandboxes": schema.ListNestedAttribute{
				MarkdownDescription: "What was found, sorted by name.",
				Computed:            true,
				NestedObject:        schema.NestedAttributeObject{Attributes: sandboxAttributes()},
			},
		},
	}
}

func sandboxAttributes() map[string]schema.Attribute {
	computed := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"id":         computed("The identity, `<backend>/<name>`, which `terraform import` takes."),
		"name":       computed("The name of the sandbox."),
		"kind":       computed("The kind of the sandbox: `session` or `persistent`."),
		"owner":      computed("The owner that the sandbox is marked with."),
		"status":     computed("The run state: `running`, `stopped`, or `lost` when the data is there and the compute that used it is gone."),
		"record_id":  computed("The id of the sandbox's record, which the data sources `sandlot_directory` and `sandlot_file` take."),
		"created_at": computed("When the sandbox was made, in RFC 3339; null when the backend does not tell."),
	}
}

func (d *sandboxesSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m sandboxesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	at, backend := path.Root("backend"), client.Place(m.Backend, m.CloudHostID).ValueString()
	summary := fmt.Sprintf("Unable to List Sandboxes of Backend %q", backend)
	manager, err := d.client.Manager(backend)
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(notKnownYet(at, summary))
		return
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		m.Sandboxes, err = list(ctx, manager, m)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(at, summary, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// list asks the backend even when nothing there can be ours, so that a failure is never an empty list.
func list(ctx context.Context, manager *sandbox.Manager, filter sandboxesModel) ([]sandboxModel, error) {
	owner, err := manager.Owner(ctx)
	if err != nil {
		return nil, err
	}
	all, err := manager.Backend.List(ctx)
	if err != nil {
		return nil, err
	}
	found := []sandboxModel{}
	for _, observed := range all {
		marks := observed.Marks
		switch {
		case !filter.AllOwners.ValueBool() && (owner == "" || marks.Owner != owner):
		case filter.Kind.ValueString() != "" && string(marks.Kind) != filter.Kind.ValueString():
		case !strings.HasPrefix(observed.Name, filter.NamePrefix.ValueString()):
		default:
			found = append(found, describe(manager.Backend.Name(), observed))
		}
	}
	slices.SortFunc(found, func(a, b sandboxModel) int { return strings.Compare(a.Name.ValueString(), b.Name.ValueString()) })
	return found, nil
}

func describe(backend string, observed backends.Observed) sandboxModel {
	return sandboxModel{
		ID:        types.StringValue(sandbox.ID(backend, observed.Name)),
		Name:      types.StringValue(observed.Name),
		Kind:      convert.TextOrNull(string(observed.Marks.Kind)),
		Owner:     convert.TextOrNull(observed.Marks.Owner),
		Status:    convert.TextOrNull(string(observed.Status)),
		RecordID:  convert.TextOrNull(observed.Marks.Record),
		CreatedAt: convert.TimeOrNull(observed.CreatedAt),
	}
}

// checkNamePrefix accepts what can be made a sandbox name by adding to it.
func checkNamePrefix(prefix string) error {
	if sandbox.CheckName(prefix) != nil && sandbox.CheckName(prefix+"0") != nil {
		return fmt.Errorf("no sandbox name starts with %q: allowed are %s", prefix, sandbox.NameRule)
	}
	return nil
}
