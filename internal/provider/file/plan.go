package file

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	tfpath "github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// workspace is where the workspace of every sandbox is, as far as a plan can tell.
const workspace = "/workspace"

// ModifyPlan hashes the wanted content, so that a plan shows whether the file changes.
func (r *fileResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, req, resp)
		return
	}
	if r.client == nil {
		return
	}
	var plan, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var state *model
	if !req.State.Raw.IsNull() {
		state = &model{}
		resp.Diagnostics.Append(req.State.Get(ctx, state)...)
		identity.LeaveLeg(ctx, resp.Private, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(checkPath(config)...)
	if config.OnDestroy.IsNull() {
		plan.OnDestroy = r.client.OnDestroy
	}
	keepSpelling(&plan, state)
	r.planContent(ctx, &plan, state, &resp.Diagnostics)
	r.claim(ctx, plan, state, req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if state == nil && !plan.SandboxID.IsUnknown() && !plan.Path.IsUnknown() {
		plan.ID = types.StringValue(plan.SandboxID.ValueString() + ":" + plan.Path.ValueString())
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// keepSpelling leaves a mode alone that means the same.
func keepSpelling(plan, state *model) {
	if state == nil || plan.Mode.IsUnknown() {
		return
	}
	was, errWas := parseMode(state.Mode.ValueString())
	is, errIs := parseMode(plan.Mode.ValueString())
	if errWas == nil && errIs == nil && was == is && plan.Mode.ValueString() == "0644" {
		plan.Mode = state.Mode
	}
}

// planContent plans hash and size. A seed that exists is left alone, whatever its content is now.
func (r *fileResource) planContent(ctx context.Context, plan, state *model, diags *diag.Diagnostics) {
	if state != nil && !plan.Overwrite.ValueBool() && !plan.Overwrite.IsUnknown() {
		plan.SHA256, plan.Size = state.SHA256, state.Size
		return
	}
	content, err := plan.wanted(ctx)
	switch {
	case errors.Is(err, errUnknownContent):
		plan.SHA256, plan.Size = types.StringUnknown(), types.Int64Unknown()
	case err != nil:
		diags.Append(diagnostics.AttributeError(plan.contentPath(), diagnostics.InvalidValue, "Content Cannot Be Read", err.Error()))
	case plan.Overwrite.IsUnknown() || !plan.Overwrite.ValueBool():
		plan.SHA256, plan.Size = types.StringUnknown(), types.Int64Unknown()
	default:
		plan.SHA256, plan.Size = types.StringValue(hashOf(content)), types.Int64Value(int64(len(content)))
	}
}

// claim refuses a second resource for one file.
func (r *fileResource) claim(ctx context.Context, plan model, state *model, req resource.ModifyPlanRequest, diags *diag.Diagnostics) {
	if plan.SandboxID.IsUnknown() || plan.Path.IsUnknown() {
		return
	}
	if state == nil && identity.SecondLeg(ctx, req.Private, diags) {
		return
	}
	resolved, err := sandbox.ResolvePath(workspace, plan.Path.ValueString())
	if err != nil {
		return // the attribute's own validator reports it
	}
	r.planMove(plan, state, resolved, diags)
	if !r.client.Claim("file:" + plan.SandboxID.ValueString() + ":" + resolved) {
		diags.Append(diagnostics.AttributeError(tfpath.Root("path"), diagnostics.DuplicateFile, "Two Resources for One File",
			fmt.Sprintf("Another resource of this configuration writes %q of %s already.", plan.Path.ValueString(), plan.SandboxID.ValueString())))
	}
}

// planMove refuses to move a file to where another resource's own file, which was seeded and may have
// been edited since, is only moved away by the same apply: their order is not known.
func (r *fileResource) planMove(plan model, state *model, resolved string, diags *diag.Diagnostics) {
	from, key := "", func(path string) string { return plan.SandboxID.ValueString() + ":" + path }
	if state != nil {
		old, err := sandbox.ResolvePath(workspace, state.Path.ValueString())
		if err != nil || old == resolved {
			return
		}
		from = key(old)
	}
	if r.client.Move(from, key(resolved), !plan.Overwrite.ValueBool()) {
		return
	}
	diags.Append(diagnostics.AttributeError(tfpath.Root("path"), diagnostics.DuplicateFile, "Path Is Still Taken",
		fmt.Sprintf("%q changes hands between two resources, and the file that is there now has `overwrite = false`: its content stands nowhere else. Move one of them in an apply of its own.", plan.Path.ValueString())))
}

// checkPath refuses absolute paths where the backend has none outside the workspace.
func checkPath(config model) diag.Diagnostics {
	if config.SandboxID.IsUnknown() || config.Path.IsUnknown() || !path.IsAbs(config.Path.ValueString()) {
		return nil
	}
	backend, _, err := sandbox.ParseID(config.SandboxID.ValueString())
	if err != nil {
		return nil // the attribute's own validator reports it
	}
	table, err := client.Capabilities(backend)
	if err != nil || table.AbsolutePaths || sandbox.Within(workspace, path.Clean(config.Path.ValueString())) {
		return nil
	}
	return diag.Diagnostics{diagnostics.AttributeError(tfpath.Root("path"), diagnostics.Unsupported,
		fmt.Sprintf("Not Supported by the Backend %q", backend),
		"It has no files outside the workspace. Write a path relative to the workspace.")}
}

func (r *fileResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if state.OnDestroy.ValueString() == "purge" {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.DataLost, fmt.Sprintf("File %q Will Be Removed", state.ID.ValueString()),
			"The applied state says `on_destroy = \"purge\"`."))
		return
	}
	resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Retained, "Files Are Left in Place",
		state.ID.ValueString()+" stays in its sandbox. To remove it, set `on_destroy = \"purge\"` and apply before the destroy."))
}
