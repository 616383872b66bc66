// Package basesnapshots holds the resource sandlot_base_snapshot.
package basesnapshots

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
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
	identity.Schema(resp, "The id of the lane, <backend>/<app>/<template>.")
}

func (r *snapshotResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	r.client = configured
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
