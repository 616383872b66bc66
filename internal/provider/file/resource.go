// Package file holds the resource sandlot_file.
package file

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	tfpath "github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/inside"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// timeout is the default limit of each operation.
const timeout = 5 * time.Minute

var (
	_ resource.ResourceWithConfigure      = (*fileResource)(nil)
	_ resource.ResourceWithIdentity       = (*fileResource)(nil)
	_ resource.ResourceWithImportState    = (*fileResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*fileResource)(nil)
	_ resource.ResourceWithValidateConfig = (*fileResource)(nil)
)

type fileResource struct {
	client *client.Client
}

// New returns the resource sandlot_file.
func New() resource.Resource { return &fileResource{} }

func (r *fileResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_file"
}

func (r *fileResource) IdentitySchema(ctx context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	identity.Schema(resp, "The id of the file, <sandbox_id>:<path>.")
}

func (r *fileResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	r.client = configured
}

func (r *fileResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(checkPath(config)...)
	}
}

func checkBase64(text string) error {
	if _, err := base64.StdEncoding.DecodeString(text); err != nil {
		return fmt.Errorf("this is not standard Base64: %w", err)
	}
	return nil
}

// ImportState takes `<sandbox_id>:<path>` and reads the file.
func (r *fileResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := identity.ImportID(ctx, req, &resp.Diagnostics)
	sandboxID, filePath, found := strings.Cut(id, ":")
	summary := fmt.Sprintf("Unable to Import File %q", id)
	if !found || filePath == "" {
		resp.Diagnostics.Append(diagnostics.FromError(summary, &sandbox.Refusal{
			Code: sandbox.Code(diagnostics.InvalidValue), Detail: fmt.Sprintf("%q is not the id of a file: expected <sandbox_id>:<path>.", id),
		}))
		return
	}
	place, err := inside.Look(ctx, r.client, sandboxID, "")
	if err == nil && place.Gone {
		err = inside.Gone(sandboxID)
	}
	if err == nil {
		_, err = place.Manager.HashFile(ctx, place.Observed, filePath)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	for attribute, value := range map[string]any{
		"id": id, "sandbox_id": sandboxID, "path": filePath, "overwrite": true, "on_destroy": r.client.OnDestroy,
	} {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, tfpath.Root(attribute), value)...)
	}
	inside.Bind(ctx, resp.Private, place.Binding, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, types.StringValue(id))...)
}
