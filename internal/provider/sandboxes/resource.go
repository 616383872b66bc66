// Package sandboxes holds the resources sandlot_sandbox, sandlot_persistent_sandbox and
// sandlot_workspace_runtime. They are one implementation: a persistent sandbox is a sandbox with an
// identity that outlives it, and a workspace runtime is one that is provisioned. What only the last
// one has stands in the files runtime_*.go.
package sandboxes

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
)

var (
	_ resource.ResourceWithConfigure      = (*sandboxResource)(nil)
	_ resource.ResourceWithIdentity       = (*sandboxResource)(nil)
	_ resource.ResourceWithImportState    = (*sandboxResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*sandboxResource)(nil)
	_ resource.ResourceWithValidateConfig = (*sandboxResource)(nil)
)

type sandboxResource struct {
	typeName string
	title    string
	kind     backends.Kind // of a workspace runtime, the one that it has by default
	schema   func(context.Context) schema.Schema
	newModel func() model
	client   *client.Client
}

// NewSandbox returns the resource sandlot_sandbox.
func NewSandbox() resource.Resource {
	return &sandboxResource{
		typeName: "sandbox",
		title:    "Sandbox",
		kind:     backends.Session,
		schema:   sessionSchema,
		newModel: func() model { return &sessionModel{} },
	}
}

// NewPersistentSandbox returns the resource sandlot_persistent_sandbox.
func NewPersistentSandbox() resource.Resource {
	return &sandboxResource{
		typeName: "persistent_sandbox",
		title:    "Persistent Sandbox",
		kind:     backends.Persistent,
		schema:   persistentSchema,
		newModel: func() model { return &persistentModel{} },
	}
}

// NewWorkspaceRuntime returns the resource sandlot_workspace_runtime.
func NewWorkspaceRuntime() resource.Resource {
	return &sandboxResource{
		typeName: "workspace_runtime",
		title:    "Workspace Runtime",
		kind:     backends.Persistent,
		schema:   runtimeSchema,
		newModel: func() model { return &runtimeModel{} },
	}
}

// kindOf is the kind of the sandbox that a model stands for.
func (r *sandboxResource) kindOf(m model) backends.Kind {
	if w := m.workspace(); w != nil && w.Kind.ValueString() != "" {
		return backends.Kind(w.Kind.ValueString())
	}
	return r.kind
}

func (r *sandboxResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.typeName
}

func (r *sandboxResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema(ctx)
}

func (r *sandboxResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	identity.Schema(resp, "The id of the sandbox, <backend>/<name>.")
}

func (r *sandboxResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	r.client = configured
}

func (r *sandboxResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config := r.newModel()
	resp.Diagnostics.Append(req.Config.Get(ctx, config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(newChecker(ctx, config).check()...)
}

// isUnknown tells whether an operation failed only because the provider is not configured yet.
func isUnknown(err error) bool { return errors.Is(err, client.ErrUnknown) }
