// Package basesnapshots holds the resource sandlot_base_snapshot.
package basesnapshots

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

var (
	_ resource.ResourceWithConfigure      = (*snapshotResource)(nil)
	_ resource.ResourceWithIdentity       = (*snapshotResource)(nil)
	_ resource.ResourceWithImportState    = (*snapshotResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*snapshotResource)(nil)
	_ resource.ResourceWithValidateConfig = (*snapshotResource)(nil)
)

type snapshotResource struct {
	client *client.Client
}

// New returns the resource sandlot_base_snapshot.
func New() resource.Resource { return &snapshotResource{} }

func (r *snapshotResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_base_snapshot"
}

func (r *snapshotResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{Description: "The id of the lane, <backend>/<app>/<template>.", RequiredForImport: true},
	}}
}

func (r *snapshotResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	r.client = configured
}

// attachmentKey is the key of the private state.
const attachmentKey = "attachment"

// attachmentOf returns what the private state says, or what the state itself knows: core passes no
// private state for a tainted object.
func attachmentOf(ctx context.Context, from private.Reader, m *model, diags *diag.Diagnostics) (sandbox.Attachment, bool) {
	attachment, found := private.Read[sandbox.Attachment](ctx, from, attachmentKey, diags)
	if !found {
		attachment.Record, attachment.Token = m.RecordID.ValueString(), m.AttachmentID.ValueString()
	}
	return attachment, found
}

// setIdentity writes the identity, which Create, Read and Update each have to.
func setIdentity(ctx context.Context, identity *tfsdk.ResourceIdentity, m *model) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.SetAttribute(ctx, path.Root("id"), m.ID)
}

// manager returns what bakes on the backend of a lane's id.
func (r *snapshotResource) manager(id string) (*basesnapshot.Manager, basesnapshot.Lane, error) {
	backend, lane, err := basesnapshot.ParseID(id)
	if err != nil {
		return nil, lane, err
	}
	manager, err := r.client.BaseSnapshots(backend)
	return manager, lane, err
}

// isUnknown tells whether an operation failed only because the provider is not configured yet.
func isUnknown(err error) bool { return errors.Is(err, client.ErrUnknown) }
