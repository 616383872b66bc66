// Package cloudhosts holds the resource sandlot_cloud_host.
package cloudhosts

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
)

var (
	_ resource.ResourceWithConfigure      = (*hostResource)(nil)
	_ resource.ResourceWithIdentity       = (*hostResource)(nil)
	_ resource.ResourceWithImportState    = (*hostResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*hostResource)(nil)
	_ resource.ResourceWithValidateConfig = (*hostResource)(nil)
)

type hostResource struct {
	client *client.Client
}

// New returns the resource sandlot_cloud_host.
func New() resource.Resource { return &hostResource{} }

func (r *hostResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cloud_host"
}

func (r *hostResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	identity.Schema(resp, "The id of the host, hetzner/<owner>/<name>.")
}

func (r *hostResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	r.client = configured
}
