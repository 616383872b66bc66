// Package identity is the identity that all resources have, and how a plan recognizes a resource that
// it sees twice.
package identity

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
)

// Schema is an identity by the id alone.
func Schema(resp *resource.IdentitySchemaResponse, description string) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{Description: description, RequiredForImport: true},
	}}
}

// Set writes the identity, which Create, Read and Update each have to: CLIs that keep none start every
// one of them without, and those that know none pass nil.
func Set(ctx context.Context, identity *tfsdk.ResourceIdentity, id types.String) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.SetAttribute(ctx, path.Root("id"), id)
}

// ImportID returns what an import was asked for, by id or by identity.
func ImportID(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) string {
	if req.ID != "" || req.Identity == nil {
		return req.ID
	}
	var id string
	diags.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &id)...)
	return id
}

// legKey is the key of the private state that marks the first leg.
const legKey = "first_leg"

// LeaveLeg marks the private state in the first leg of what may be a replacement, and SecondLeg
// tells in a plan without state whether it is the second leg of one: the same resource once more.
func LeaveLeg(ctx context.Context, to private.Writer, diags *diag.Diagnostics) {
	diags.Append(to.SetKey(ctx, legKey, []byte("true"))...)
}

// SecondLeg is described at [LeaveLeg].
func SecondLeg(ctx context.Context, from private.Reader, diags *diag.Diagnostics) bool {
	mark, readDiags := from.GetKey(ctx, legKey)
	diags.Append(readDiags...)
	return len(mark) > 0
}
