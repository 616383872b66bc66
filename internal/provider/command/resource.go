// Package command holds the resource sandlot_command.
package command

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/inside"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Default time limits. A command may be a long build.
const (
	runTimeout  = 20 * time.Minute
	readTimeout = 2 * time.Minute
)

var (
	_ resource.ResourceWithConfigure      = (*commandResource)(nil)
	_ resource.ResourceWithIdentity       = (*commandResource)(nil)
	_ resource.ResourceWithImportState    = (*commandResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*commandResource)(nil)
	_ resource.ResourceWithValidateConfig = (*commandResource)(nil)
)

type commandResource struct {
	client *client.Client
}

// New returns the resource sandlot_command.
func New() resource.Resource { return &commandResource{} }

func (r *commandResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_command"
}

func (r *commandResource) IdentitySchema(ctx context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	identity.Schema(resp, "The id of the command, <sandbox_id>:<random>.")
}

func (r *commandResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	configured, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	r.client = configured
}

func (r *commandResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(check(config)...)
	}
}

// check judges what is known of a configuration.
func check(config model) diag.Diagnostics {
	var diags diag.Diagnostics
	judge := func(at path.Path, value attr.Value, rule func(string) error) {
		text, ok := value.(types.String)
		if !ok || text.IsUnknown() {
			return
		}
		err := fmt.Errorf("a null value is not possible here")
		if !text.IsNull() {
			err = rule(text.ValueString())
		}
		if err != nil {
			diags.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, "Invalid Value", err.Error()))
		}
	}
	for name, value := range config.Environment.Elements() {
		at := path.Root("environment").AtMapKey(name)
		judge(at, types.StringValue(name), sandbox.CheckEnvironmentName)
		judge(at, value, func(text string) error { return sandbox.CheckEnvironmentValue(name, text) })
	}
	for attribute, argv := range map[string]types.List{"command": config.Command, "destroy_command": config.DestroyCommand} {
		for i, value := range argv.Elements() {
			judge(path.Root(attribute).AtListIndex(i), value, func(text string) error {
				if i == 0 {
					return sandbox.CheckArgv([]string{text})
				}
				return sandbox.CheckArgv([]string{"program", text})
			})
		}
	}
	return append(diags, checkUser(config)...)
}

// checkUser refuses a user where the backend has only one.
func checkUser(config model) diag.Diagnostics {
	if config.User.IsNull() || config.SandboxID.IsUnknown() {
		return nil
	}
	backend, _, err := sandbox.ParseID(config.SandboxID.ValueString())
	if err != nil {
		return nil // the attribute's own validator reports it
	}
	if table, err := client.Capabilities(backend); err != nil || table.User || table.SystemPackages && (config.User.ValueString() == "0" || config.User.ValueString() == "root") {
		return nil
	}
	return diag.Diagnostics{diagnostics.AttributeError(path.Root("user"), diagnostics.Unsupported,
		fmt.Sprintf("Not Supported by the Backend %q", backend),
		"It runs every command as one unprivileged user that cannot be chosen.")}
}

// ModifyPlan plans a run where something changes that the command depends on.
func (r *commandResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(check(config)...)
	if req.State.Raw.IsNull() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !runsAgain(plan, state) {
		plan.ExitCode, plan.Stdout, plan.Stderr = state.ExitCode, state.Stdout, state.Stderr
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
}

// runsAgain tells whether an update runs the command. An imported one has run already: what its
// state does not know is adopted.
func runsAgain(plan, state model) bool {
	if state.Command.IsNull() {
		return false
	}
	return !plan.Command.Equal(state.Command) || !plan.Triggers.Equal(state.Triggers) ||
		!plan.Environment.Equal(state.Environment) || !plan.WorkingDirectory.Equal(state.WorkingDirectory) ||
		!plan.User.Equal(state.User)
}

// ImportState takes the id of a command that has run. Nothing of it can be read back, so the first
// plan adopts the configuration without a run.
func (r *commandResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := identity.ImportID(ctx, req, &resp.Diagnostics)
	sandboxID, suffix, found := strings.Cut(id, ":")
	summary := fmt.Sprintf("Unable to Import Command %q", id)
	if !found || suffix == "" {
		resp.Diagnostics.Append(diagnostics.FromError(summary, &sandbox.Refusal{
			Code: sandbox.Code(diagnostics.InvalidValue), Detail: fmt.Sprintf("%q is not the id of a command: expected <sandbox_id>:<anything>.", id),
		}))
		return
	}
	place, err := inside.Look(ctx, r.client, sandboxID, "")
	if err == nil && place.Gone {
		err = inside.Gone(sandboxID)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("sandbox_id"), sandboxID)...)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, types.StringValue(id))...)
	inside.Bind(ctx, resp.Private, place.Binding, &resp.Diagnostics)
}

func newID(sandboxID string) string {
	var raw [6]byte
	// rand.Read never returns an error since Go 1.24; it ends the process instead.
	_, _ = rand.Read(raw[:])
	return sandboxID + ":" + hex.EncodeToString(raw[:])
}
