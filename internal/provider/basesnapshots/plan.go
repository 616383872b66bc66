package basesnapshots

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// planner holds one ModifyPlan call. No backend is contacted; template files are read and hashed.
type planner struct {
	converter
	client              *client.Client
	config, plan, state *model // state is nil for a create
	resp                *resource.ModifyPlanResponse
}

// ModifyPlan decides the lane, the hash and whether something is baked.
func (r *snapshotResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, req, resp)
		return
	}
	if r.client == nil {
		return
	}
	p := planner{converter: converter{ctx: ctx}, client: r.client, config: &model{}, plan: &model{}, resp: resp}
	resp.Diagnostics.Append(req.Config.Get(ctx, p.config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, p.plan)...)
	if !req.State.Raw.IsNull() {
		p.state = &model{}
		resp.Diagnostics.Append(req.State.Get(ctx, p.state)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(check(ctx, p.config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if p.config.OnDestroy.IsNull() {
		p.plan.OnDestroy = p.client.OnDestroy
	}
	p.planID()
	p.planHash()
	second := p.state == nil && identity.SecondLeg(ctx, req.Private, &resp.Diagnostics)
	if !p.plan.ID.IsUnknown() && !second && !p.client.Claim("base/"+p.plan.ID.ValueString()) {
		p.diags.Append(diagnostics.AttributeError(path.Root("app"), diagnostics.DuplicateWorkspace, "Two Resources for One Lane",
			fmt.Sprintf("Another resource of this configuration stands for the lane %s already. Give each its own `app` or `template`.", p.plan.ID.ValueString())))
	}
	if p.state == nil {
		if err := p.client.RequireOwner(); err != nil {
			p.diags.Append(diagnostics.AttributeError(path.Root("backend"), diagnostics.OwnerRequired, "Owner Required in CI",
				err.Error()+". Set the provider's `owner`, or SANDLOT_OWNER."))
		}
	} else {
		p.planChange()
		if len(resp.RequiresReplace) > 0 && p.state.OnDestroy.ValueString() == "purge" {
			r.checkPurge(ctx, req.Private, p.state, &p.diags)
		}
		identity.LeaveLeg(ctx, resp.Private, &resp.Diagnostics)
	}
	resp.Diagnostics.Append(p.diags...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, p.plan)...)
	}
}

// planID plans the identity, at plan wherever all of the lane is known.
func (p *planner) planID() {
	if p.plan.Backend.IsUnknown() || p.plan.App.IsUnknown() || p.plan.Template.IsUnknown() {
		p.plan.ID = types.StringUnknown()
		if p.state != nil {
			p.plan.ID = p.state.ID // judged again when it is known
		}
		return
	}
	p.plan.ID = types.StringValue(basesnapshot.ID(p.plan.Backend.ValueString(), p.request(p.plan, false).Lane))
}

// planHash hashes the manifest when all that it depends on is known.
func (p *planner) planHash() {
	p.plan.ManifestHash = types.StringUnknown()
	for _, value := range []attr.Value{p.plan.Manifest, p.plan.Environment, p.plan.EnvironmentAllowlist} {
		raw, err := value.ToTerraformValue(p.ctx)
		if err != nil || !raw.IsFullyKnown() {
			return
		}
	}
	request := p.request(p.plan, true)
	if p.diags.HasError() {
		return
	}
	hash, err := basesnapshot.Hash(request.Manifest, request.Environment.Values, request.Environment.Allowlist)
	if err != nil {
		p.diags.Append(diagnostics.AttributeError(path.Root("manifest"), diagnostics.InvalidValue, "Manifest Cannot Be Hashed", err.Error()))
		return
	}
	p.plan.ManifestHash = types.StringValue(hash)
}

// planChange plans what becomes of an existing lane.
func (p *planner) planChange() {
	plan, state := p.plan, p.state
	plan.RecordID, plan.AttachmentID = state.RecordID, state.AttachmentID
	if !plan.ID.Equal(state.ID) {
		at := p.changedLane()
		p.resp.RequiresReplace = append(p.resp.RequiresReplace, at)
		becomes := "is retired; its snapshots stay"
		code := diagnostics.Retained
		if state.OnDestroy.ValueString() == "purge" {
			becomes, code = "is deleted with its snapshots, since the applied state says `on_destroy = \"purge\"`", diagnostics.DataLost
		}
		p.diags.Append(diagnostics.AttributeWarning(at, code, "Base Snapshot Gets Another Lane", fmt.Sprintf("%s is made. The lane %s %s.", plan.ID.ValueString(), state.ID.ValueString(), becomes)))
		return
	}
	if p.bakes() {
		p.unknownSnapshot()
		return
	}
	plan.Version, plan.SnapshotID, plan.Status, plan.StatusReason = state.Version, state.SnapshotID, state.Status, state.StatusReason
	plan.SourceDigest, plan.SizeBytes, plan.CreatedAt = state.SourceDigest, state.SizeBytes, state.CreatedAt
	plan.PreviousSnapshotID, plan.ExpiresAt, plan.History = state.PreviousSnapshotID, state.ExpiresAt, state.History
	if !plan.Retention.Equal(state.Retention) {
		plan.PreviousSnapshotID, plan.History = types.StringUnknown(), types.ListUnknown(entryType)
	}
}

func (p *planner) changedLane() path.Path {
	switch {
	case !p.plan.Backend.Equal(p.state.Backend):
		return path.Root("backend")
	case !p.plan.App.Equal(p.state.App):
		return path.Root("app")
	}
	return path.Root("template")
}

// bakes tells whether the apply may come to another snapshot: a new one, or an older one of the same
// manifest.
func (p *planner) bakes() bool {
	plan, state := p.plan, p.state
	triggered := !plan.RebakeTrigger.IsNull() && !plan.RebakeTrigger.Equal(state.RebakeTrigger)
	return plan.ManifestHash.IsUnknown() || !plan.ManifestHash.Equal(state.ManifestHash) || triggered ||
		!plan.SmokeChecks.Equal(state.SmokeChecks) || !plan.Expiration.Equal(state.Expiration) ||
		state.Status.ValueString() != store.SnapshotReady
}

func (p *planner) unknownSnapshot() {
	plan := p.plan
	for _, text := range []*types.String{
		&plan.Version, &plan.SnapshotID, &plan.Status, &plan.StatusReason, &plan.PreviousSnapshotID, &plan.SourceDigest, &plan.CreatedAt, &plan.ExpiresAt,
	} {
		*text = types.StringUnknown()
	}
	plan.SizeBytes, plan.History = types.Int64Unknown(), types.ListUnknown(entryType)
}

// planDestroy says what a destroy leaves and what it loses, and refuses what retention forbids.
func (r *snapshotResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	if state.OnDestroy.ValueString() != "purge" {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Retained, "Base Snapshots Are Retired",
			fmt.Sprintf("%s is retired. Its snapshots stay: declaring it again uses them. To delete them, set `on_destroy = \"purge\"` and apply before the destroy.", id)))
		return
	}
	resp.Diagnostics.Append(diagnostics.Warning(diagnostics.DataLost, fmt.Sprintf("Base Snapshots of %q Will Be Deleted", id),
		fmt.Sprintf("The applied state says `on_destroy = \"purge\"`: the lane %s is deleted with all its snapshots.", id)))
	r.checkPurge(ctx, req.Private, &state, &resp.Diagnostics)
}

// checkPurge refuses a purge that retention forbids. What only workspaces forbid is up to the apply.
func (r *snapshotResource) checkPurge(ctx context.Context, from private.Reader, state *model, diags *diag.Diagnostics) {
	if r.client == nil {
		return
	}
	id := state.ID.ValueString()
	manager, lane, err := r.manager(id)
	if isUnknown(err) {
		return // judged again by the delete
	}
	c := converter{ctx: ctx}
	if err == nil {
		attachment, _ := private.Attachment(ctx, from, state.RecordID, state.AttachmentID, diags)
		err = manager.CheckDelete(ctx, lane, attachment, c.retention(state.Retention))
	}
	for _, refusal := range reasons(err) {
		diags.Append(diagnostics.FromAttributeError(path.Root("retention"), fmt.Sprintf("Base Snapshots of %q Cannot Be Purged", id), refusal))
	}
}
