package datasources

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

var _ datasource.DataSourceWithConfigure = (*hostSource)(nil)

type hostSource struct{ configured }

type hostModel struct {
	RecordID           types.String `tfsdk:"record_id"`
	ID                 types.String `tfsdk:"id"`
	Name               types.String `tfsdk:"name"`
	Status             types.String `tfsdk:"status"`
	ServerID           types.Int64  `tfsdk:"server_id"`
	ServerType         types.String `tfsdk:"server_type"`
	Location           types.String `tfsdk:"location"`
	Image              types.String `tfsdk:"image"`
	IPv4Address        types.String `tfsdk:"ipv4_address"`
	HostKeyFingerprint types.String `tfsdk:"host_key_fingerprint"`
	SSHConfigPath      types.String `tfsdk:"ssh_config_path"`
	Labels             types.Map    `tfsdk:"labels"`
	IdleTimeout        types.String `tfsdk:"idle_timeout"`
	ExpiresAt          types.String `tfsdk:"expires_at"`
	CreatedAt          types.String `tfsdk:"created_at"`
	Committed          types.Bool   `tfsdk:"committed"`
	CreatedForStart    types.Bool   `tfsdk:"created_for_start"`
	Destroying         types.Bool   `tfsdk:"destroying"`
}

// NewCloudHost returns the data source sandlot_cloud_host.
func NewCloudHost() datasource.DataSource { return &hostSource{} }

func (d *hostSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cloud_host"
}

func (d *hostSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	flag := func(description string) schema.BoolAttribute {
		return schema.BoolAttribute{MarkdownDescription: description, Computed: true}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A cloud host of this provider's store, as the store and the platform know it, also when another configuration manages it. It is neither woken nor touched.",
		Attributes: map[string]schema.Attribute{
			"record_id":            recordIDAttribute("cloud host"),
			"id":                   text("The identity, `hetzner/<owner>/<name>`, which `terraform import` takes."),
			"name":                 text("The name of the host."),
			"status":               text("How the server stands, as the attribute of the resource tells it; `missing` when it is gone."),
			"server_id":            schema.Int64Attribute{MarkdownDescription: "The id of the server at Hetzner.", Computed: true},
			"server_type":          text("The type of the server."),
			"location":             text("Where the server stands."),
			"image":                text("The system image that it was made from."),
			"ipv4_address":         text("The address of the server."),
			"host_key_fingerprint": text("The SHA-256 fingerprint of the pinned host key."),
			"ssh_config_path":      text("A configuration for `ssh -F PATH NAME`; the file is written by applies on this machine."),
			"labels":               schema.MapAttribute{MarkdownDescription: "The user's labels on the server.", Computed: true, ElementType: types.StringType},
			"idle_timeout":         text("After how long without use the host may be put to sleep; `0s` says never."),
			"expires_at":           text("Until when the host is meant to be used, in RFC 3339; null says for ever."),
			"created_at":           text("When the host was made, in RFC 3339."),
			"committed":            flag("Whether the host was ready once."),
			"created_for_start":    flag("Whether the host was made by a run that has not got it ready yet."),
			"destroying":           flag("Whether a purge has begun."),
		},
	}
}

func (d *hostSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m hostModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	at, recordID := path.Root("record_id"), m.RecordID.ValueString()
	summary := fmt.Sprintf("Unable to Read Cloud Host %q", recordID)
	manager, err := d.client.CloudHosts()
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(notKnownYet(at, summary))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var host cloudhost.Host
	if err == nil {
		host, err = manager.ByRecord(ctx, recordID)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(at, summary, err))
		return
	}
	m = describeHost(host)
	m.RecordID = types.StringValue(recordID)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func describeHost(host cloudhost.Host) hostModel {
	return hostModel{
		ID: types.StringValue(host.ID()), Name: types.StringValue(host.Name), Status: convert.TextOrNull(string(host.Status)), ServerID: convert.Int64OrNull(host.ServerID),
		ServerType: convert.TextOrNull(host.ServerType), Location: convert.TextOrNull(host.Location), Image: convert.TextOrNull(host.Image),
		IPv4Address: convert.TextOrNull(host.IPv4), HostKeyFingerprint: convert.TextOrNull(host.HostKeyFingerprint),
		SSHConfigPath: convert.TextOrNull(host.SSHConfigPath), Labels: convert.Map(host.Labels),
		IdleTimeout: types.StringValue(host.IdleTimeout.String()), ExpiresAt: convert.TimeOrNull(host.ExpiresAt), CreatedAt: convert.TimeOrNull(host.CreatedAt),
		Committed: types.BoolValue(host.Committed), CreatedForStart: types.BoolValue(host.CreatedForStart()), Destroying: types.BoolValue(host.Destroying),
	}
}
