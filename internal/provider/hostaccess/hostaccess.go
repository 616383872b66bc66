// Package hostaccess holds the ephemeral resource sandlot_host_access.
package hostaccess

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*access)(nil)

type access struct {
	client *client.Client
}

type model struct {
	RecordID           types.String `tfsdk:"record_id"`
	User               types.String `tfsdk:"user"`
	Address            types.String `tfsdk:"address"`
	PrivateKey         types.String `tfsdk:"private_key"`
	PublicKey          types.String `tfsdk:"public_key"`
	KnownHosts         types.String `tfsdk:"known_hosts"`
	SSHConfig          types.String `tfsdk:"ssh_config"`
	HostKeyFingerprint types.String `tfsdk:"host_key_fingerprint"`
}

// New returns the ephemeral resource sandlot_host_access.
func New() ephemeral.EphemeralResource { return &access{} }

func (a *access) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_host_access"
}

func (a *access) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	a.client = configured
}

func (a *access) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	secret := text("The private key of the client in the form of OpenSSH, without a passphrase.")
	secret.Sensitive = true
	resp.Schema = schema.Schema{
		MarkdownDescription: "How to log in to a cloud host. It is ephemeral: the private key stands in no state and no plan. No API is asked for it: the keys come from the store, or from this machine's `data_dir`.",
		Attributes: map[string]schema.Attribute{
			"record_id": schema.StringAttribute{
				MarkdownDescription: "The `record_id` of the cloud host. It is unknown until the host was made, so that the access is opened after that.",
				Required:            true,
				Validators:          []validator.String{validators.Length(1, 128)},
			},
			"user":                 text("The user to log in as."),
			"address":              text("The address of the host; the port is 22."),
			"private_key":          secret,
			"public_key":           text("The public key of the client."),
			"known_hosts":          text("Lines for a `known_hosts` file that pin the key of the host."),
			"ssh_config":           text("A configuration for `ssh -F`. It names files below this machine's `data_dir`."),
			"host_key_fingerprint": text("The SHA-256 fingerprint of the pinned host key."),
		},
	}
}

func (a *access) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	at, recordID := path.Root("record_id"), m.RecordID.ValueString()
	summary := fmt.Sprintf("Unable to Open the Access to Cloud Host %q", recordID)
	manager, err := a.client.CloudHosts()
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(diagnostics.AttributeError(at, diagnostics.ConfigurationUnsure, summary,
			"The configuration of the provider is not known yet, because it depends on something that is still to be applied."))
		return
	}
	var found cloudhost.Access
	if err == nil {
		found, err = manager.Access(ctx, recordID)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(at, summary, err))
		return
	}
	m.User, m.Address = types.StringValue(found.User), types.StringValue(found.Address)
	m.PrivateKey, m.PublicKey = types.StringValue(found.PrivateKey), types.StringValue(found.PublicKey)
	m.KnownHosts, m.SSHConfig = types.StringValue(found.KnownHosts), types.StringValue(found.SSHConfig)
	m.HostKeyFingerprint = types.StringValue(found.HostKeyFingerprint)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
